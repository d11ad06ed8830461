package event

import (
	"encoding/json"
	"strconv"
	"strings"
)

// An Opt is a value that may be absent. Absent is not 0.
type Opt[T any] struct {
	V  T    // the zero value if OK is false
	OK bool // whether the input has the value
}

// Some returns a value that is there.
func Some[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Or returns the value, or def if it is absent.
func (o Opt[T]) Or(def T) T {
	if o.OK {
		return o.V
	}
	return def
}

// MarshalJSON returns the value as JSON has it, and "null" if it is absent.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.OK {
		return []byte("null"), nil
	}
	if n, ok := any(o.V).(uint64); ok { // nearly all are
		return strconv.AppendUint(nil, n, 10), nil
	}
	return json.Marshal(o.V)
}

// UnmarshalJSON reads a value as MarshalJSON writes it.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	*o = Opt[T]{OK: string(text) != "null"}
	return json.Unmarshal(text, &o.V)
}

// A Pos is the place of an event or node in its file.
type Pos struct {
	Offset int64 // bytes of (decompressed) input before its brace
	Line   int64 // of that brace, from 1
	Node   int64 // index among the nodes of a graph or the lines of a log that say something, from 0; -1: the whole of it
}

// An Anomaly is a set of oddities in a line or node that do not stop its reader.
type Anomaly uint8

// The anomalies.
const (
	// AnomalyDuplicateKey: a key comes twice in one object, with equal values.
	AnomalyDuplicateKey Anomaly = 1 << iota
	// AnomalyDeviceTensors: device_tensors cannot be read, so it names no mesh.
	AnomalyDeviceTensors
)

// names returns the anomalies as a log spells them.
func (a Anomaly) names() (names []string) {
	if a.Has(AnomalyDuplicateKey) {
		names = append(names, string(CodeDuplicateKey))
	}
	if a.Has(AnomalyDeviceTensors) {
		names = append(names, "bad-device-tensors")
	}
	return names
}

// anomalyOf returns the anomaly that a log spells so, or none.
func anomalyOf(name string) Anomaly {
	switch name {
	case string(CodeDuplicateKey):
		return AnomalyDuplicateKey
	case "bad-device-tensors":
		return AnomalyDeviceTensors
	}
	return 0
}

// Has reports whether a contains all of b.
func (a Anomaly) Has(b Anomaly) bool { return a&b == b }

// String lists the anomalies in words, separated by commas.
func (a Anomaly) String() string {
	var words []string
	if a.Has(AnomalyDuplicateKey) {
		words = append(words, "duplicate key")
	}
	if a.Has(AnomalyDeviceTensors) {
		words = append(words, "malformed device_tensors")
	}
	return strings.Join(words, ", ")
}
