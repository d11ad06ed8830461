package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/replay"
)

// The answers are those of the Session that package capture had.
func TestAnswersAsBefore(t *testing.T) {
	for _, file := range []string{"../capture/testdata/log/conformance.jsonl", "../examples/events.jsonl"} {
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		var old, now bytes.Buffer
		var before capture.Session
		require.NoError(t, before.Stream(capture.NewLog(bytes.NewReader(log), "log"), &old))
		var s replay.Session
		require.NoError(t, s.Stream(events(bytes.NewReader(log), "log"), &now))
		texts := strings.NewReplacer("Size 18446744073709551615: beyond 2^63-1", "range [2, 1): start lies above end") // says what was given
		require.Equal(t, lines(texts.Replace(old.String())), lines(now.String()))
	}
}

// The Result of a log that only adds is that of package capture.
func TestResultAsBefore(t *testing.T) {
	for _, file := range []string{"../examples/events.jsonl"} {
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		sameAsBefore(t, log)
	}
	ops := []gen.Op{
		gen.AddDevice, gen.AddMesh, gen.Register, gen.Register, gen.Register, gen.Dispatch, gen.Dispatch, gen.Dispatch,
		gen.BeginTrace, gen.Record, gen.Allocate, gen.Allocate, gen.Allocate, gen.Free, gen.Free, gen.Enqueue, gen.Enqueue,
	}
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		w := capture.NewLogWriter(&log)
		fleet := device.NewFleet()
		fleet.Observe(w.Observe)
		for _, m := range gen.History(60, ops...).Draw(t, "history") {
			_, _ = m.Play(mover{fleet})
		}
		require.NoError(t, w.Err())
		sameAsBefore(t, log.Bytes())
	})
}

func sameAsBefore(t require.TestingT, log []byte) {
	old, err := capture.Replay(capture.NewReader(bytes.NewReader(log), "log"), capture.Options{Ask: &capture.Question{Address: 40}})
	if err != nil || bytes.Contains(log, []byte(`"backing":true`)) {
		return // sums over everything that was ever registered; what backs a buffer was live and in the way, in logs only
	}
	defined, specs := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(string(log), "\n") {
		if _, cbs, ok := strings.Cut(line, `"cbs":`); ok && defined[cbs] {
			return // equal programs counted once, whatever their ids
		} else if ok {
			defined[cbs] = true
		}
		if _, spec, ok := strings.Cut(line, `"spec":`); ok {
			specs[spec] = true
		}
	}
	if len(specs) > 1 {
		return // were checked one Spec after the other, not in their order
	}
	now, err := replay.Run("log", events(bytes.NewReader(log), "log"), replay.Options{Ask: &replay.Question{Address: 40}})
	require.NoError(t, err)
	old.Live.List, now.Live.List = nil, nil // equal sizes came in no order
	for i := range old.Held {
		for j := range old.Held[i].Registered {
			old.Held[i].Registered[j].CB = 0 // was counted with those at given addresses first
		}
	}
	for i := range now.Held {
		for j := range now.Held[i].Registered {
			now.Held[i].Registered[j].CB = 0
		}
	}
	now.Placed = old.Placed && now.Placed                                    // dataflow buffers of a log are placed, too
	devices := regexp.MustCompile(`(?m)^ *Devices: \d+\n( *- |.*Device: )?`) // were judged one by one
	require.Equal(t, devices.ReplaceAllString(dump(old), ""), devices.ReplaceAllString(dump(now), ""), "%s", log)
}

var numbered = regexp.MustCompile(`(in program |Program: )[0-9]+`)

// dump writes all that a value shows, in the order of its fields.
func dump(v any) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(v), "")
	return numbered.ReplaceAllString(b.String(), "${1}N") // of programs without ids of their own
}

func write(b *strings.Builder, v reflect.Value, indent string) {
	if v.IsValid() && v.CanInterface() && v.Kind() != reflect.Pointer {
		if s, ok := v.Interface().(fmt.Stringer); ok && v.Type().PkgPath() != "" && v.Type().Name() != "Verdict" {
			fmt.Fprintln(b, s)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Name() == "Program" {
			fmt.Fprintln(b, "-")
			return
		}
		write(b, v.Elem(), indent)
	case reflect.Struct:
		fmt.Fprintln(b)
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "Hidden" || f.Name == "Runs" && v.Field(i).Kind() == reflect.Slice || f.Name == "RunsMore" || f.Name == "Timeline" {
				continue
			}
			fmt.Fprintf(b, "%s%s: ", indent, f.Name)
			write(b, v.Field(i), indent+"  ")
		}
	case reflect.Slice:
		fmt.Fprintln(b, v.Len())
		for i := range v.Len() {
			fmt.Fprintf(b, "%s- ", indent)
			write(b, v.Index(i), indent+"  ")
		}
	case reflect.Map:
		fmt.Fprintln(b, v.Len())
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			fmt.Fprintf(b, "%s%v: ", indent, k)
			write(b, v.MapIndex(k), indent+"  ")
		}
	default:
		fmt.Fprintln(b, v)
	}
}
