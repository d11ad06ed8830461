package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzCommand makes any question about any input. The JSON of a verb obeys the laws, and
// stream and explain, which have answers of their own, obey those that are about every
// command. The first byte chooses: the four verbs of inspect, with options or without,
// stream, or explain.
func FuzzCommand(f *testing.F) {
	for i, fixture := range fixtures(f) {
		if len(fixture.data) <= small/2 { // mutations of larger ones take too long
			f.Add(uint8(i), fixture.data)
		}
	}
	for seed := range uint64(20) {
		_, input := extreme(seed)
		f.Add(uint8(seed), input)
	}
	f.Fuzz(func(t *testing.T, verb uint8, input []byte) {
		if len(input) > 2*small {
			t.Skip("needs an input of at most 40 KiB")
		}
		args := fuzzed()[int(verb)%len(fuzzed())]
		var in inspection
		if args == nil {
			in = inspect(input)
		} else {
			in.ask(input, args)
		}
		for _, b := range in.list {
			t.Errorf("%s", b)
		}
	})
}

// fuzzed are the commands that FuzzCommand runs; nil stands for inspect.
func fuzzed() [][]string {
	return [][]string{
		nil,
		{"stream"},
		{"explain"},
		{"explain", "--format", "json"},
		{"report", "--programs", "--cores", "-"},
		{"check", "--budget", "1B", "--format", "json", "-"},
		{"check", "--no-infer", "--l1-small", "32K", "--format", "json", "-"},
		{"peak", "--arch", "wormhole", "--format", "json", "-"},
		{"room", "--sharded", "{[0-0 - 1-1], [3-0 - 3-0]}", "--size", "100000", "--format", "json", "-"},
		{"who", "-", "1499135", "--format", "json"},
		{"who", "-", "0x1b400", "--core", "0-0", "--at", "3"},
	}
}

// ask runs any command twice and checks what is true of all of them.
func (in *inspection) ask(input []byte, args []string) {
	in.verb = args[0]
	a, b := ask(bytes.NewReader(input), args...), ask(bytes.NewReader(input), args...)
	in.hold(a.panicked == "" && b.panicked == "", lawPanic, "%s", a.panicked+b.panicked)
	in.hold(a == b, lawTwice, "first %s, then %s", shown(a), shown(b))
	in.hold(exitOK <= a.code && a.code <= exitTell, lawExit, "%s", shown(a))
	in.hold(a.code != exitUsage || a.err != "", lawExit, "%s", shown(a))
	in.hold(printable(a.out) && printable(a.err), lawJSON, "%s", shown(a))
	if slices.Contains(args, "json") && args[0] != "explain" {
		in.exit(args[0], a)
		var fields map[string]any
		in.parse(args[0], a, &fields)
	}
	if args[0] == "stream" {
		in.streamed(a.out)
	}
}

// streamed checks what stream answered, a line for each query and refused event. What
// the log itself says comes back as it is.
func (in *inspection) streamed(out string) {
	for line := range strings.Lines(out) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var fields map[string]any
		if err := d.Decode(&fields); err != nil {
			in.hold(false, lawJSON, "%v: %.300s", err, line)
			continue
		}
		for _, own := range []string{"t", "id", "process", "tag"} {
			delete(fields, own)
		}
		in.numbers("", fields)
	}
}
