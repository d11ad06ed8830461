package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A Filter narrows what a Result says to one device, one core, or some operations. The zero
// Filter leaves everything.
//
// A program run is left if it is on the device, if it places something on the core, and if it is of the operation.
// It is judged as a whole, beside everything that others left in L1. A peak is the core's alone. Operations narrow
// nothing but runs and lists of programs: a core holds buffers of all.
type Filter struct {
	Device event.Opt[uint64]  `json:"device"` // as the source names it
	Core   event.Opt[l1.Core] `json:"core"`
	Op     Name               `json:"op"` // a pattern, as HasOp matches it; "" = any
}

// IsZero reports whether the Filter leaves everything.
func (f Filter) IsZero() bool { return f == Filter{} }

// HasDevice reports whether a device is left.
func (f Filter) HasDevice(id event.Opt[uint64]) bool { return !f.Device.OK || f.Device == id }

// HasCores reports whether one of some cores is left.
func (f Filter) HasCores(cores l1.CoreSet) bool { return !f.Core.OK || cores.Has(f.Core.V) }

// HasOp reports whether an operation is left: one with a function on its path that the pattern
// names, where * stands for any text. "ttnn.matmul" has the path "model > ttnn.matmul >
// MatmulDeviceOperation", and so do "*matmul" and "Matmul*".
func (f Filter) HasOp(op Name) bool { return f.Op == "" || OpMatches(string(f.Op), string(op)) }

// Suffix is a text for the end of an answer that the Filter narrows: " (only ttnn.matmul on core 3-0 of device
// 0)".
func (f Filter) Suffix() string {
	var words []string
	if f.Op != "" {
		words = append(words, shown.Start(string(f.Op), 60))
	}
	if f.Core.OK {
		words = append(words, "on core "+f.Core.V.String())
	}
	if f.Device.OK {
		words = append(words, fmt.Sprintf("of device %d", f.Device.V))
	}
	if len(words) == 0 {
		return ""
	}
	return " (only " + strings.TrimPrefix(strings.TrimPrefix(strings.Join(words, " "), "on "), "of ") + ")"
}

// between joins the functions of an operation.
const between = " > "

// OpMatches reports whether a pattern names a function on the path of an operation, or the
// whole path.
func OpMatches(pattern, op string) bool {
	return matches(pattern, op) || slices.ContainsFunc(strings.Split(op, between), func(name string) bool { return matches(pattern, name) })
}

// matches reports whether a pattern names a text. Cost: O(len(pattern) + len(text) x parts of the pattern).
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && text == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		if _, text, ok = strings.Cut(text, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(text, parts[last])
}

// Groups are the groups of cores that the Filter leaves.
func (f Filter) Groups(all []CoreGroup) []CoreGroup {
	if !f.Core.OK {
		return all
	}
	for _, g := range all {
		if g.Cores.Has(f.Core.V) {
			g.Cores, g.Count = l1.CoreSetOf(f.Core.V), 1
			return []CoreGroup{g}
		}
	}
	return nil
}
