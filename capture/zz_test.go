package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

func TestZZ(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture.json")
	rapid.Check(t, func(t *rapid.T) {
		text := drawL1(t)
		opt := capture.Options{
			Base: 4096, Align: 64, MaxL1: 16384, L1Small: uint64(rapid.SampledFrom([]int{0, 256}).Draw(t, "L1_SMALL")),
			NoInfer: rapid.IntRange(0, 4).Draw(t, "infer") == 0,
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if rapid.Bool().Draw(t, "ask") {
			opt.Ask = &capture.Question{Address: 4200}
			if at := rapid.IntRange(-1, 60).Draw(t, "at"); at >= 0 {
				opt.Ask.At = capture.Opt[uint64]{V: uint64(at), OK: true}
			}
		}
		old, err := capture.Input{Path: path}.Replay(opt)
		require.NoError(t, err)
		var ask *replay.Question
		if opt.Ask != nil {
			ask = &replay.Question{Address: opt.Ask.Address, At: event.Opt[uint64](opt.Ask.At)}
		}
		if opt.Ask != nil {
			opt.At = opt.Ask.At
		}
		now, err := replay.Run(path, capture.Input{Path: path}.Events(opt), replay.Options{Ask: ask})
		require.NoError(t, err)
		require.Equal(t, strings.Split(dump(old), "\n"), strings.Split(dump(now), "\n"), "%+v %s", opt.Ask, text)
	})
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
			if !f.IsExported() || f.Name == "Hidden" || f.Name == "Runs" && v.Field(i).Kind() == reflect.Slice || f.Name == "RunsMore" {
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
