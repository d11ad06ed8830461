package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
)

// Pprof writes a moment as a profile that go tool pprof reads. A sample is something that lay
// on each core of the moment: its bytes on one of them, under the operations that brought it.
// The names have no counters of nodes, so that two runs can be subtracted; samples have them
// as the label "node". Each byte counts once. Cost: O(n log n) for n things.
func Pprof(w io.Writer, m Moment) error {
	b := builder{
		known: map[string]*profile.Location{},
		runs:  map[string][]uint64{},
	}
	b.SampleType = []*profile.ValueType{{Type: "l1", Unit: "bytes"}}
	b.DefaultSampleType = "l1"
	b.Comments = []string{
		"cbl1: " + clip(m.File),
		"basis: tracked bytes of one core: circular buffers of the programs that ran last, and L1 buffers; no kernels",
		"moment: " + m.When,
		fmt.Sprintf("cores: each of %s (%d) of %s", m.Cores, m.Cores.Len(), m.Device),
		"owner: " + ownerRule,
	}
	for _, o := range m.owners() {
		b.Sample = append(b.Sample, &profile.Sample{
			Location: b.stack(o), Value: []int64{int64(o.bytes)},
			NumLabel: map[string][]int64{"node": {int64(o.from())}}, NumUnit: map[string][]string{"node": {"number"}},
		})
	}
	return b.Write(w)
}

// A builder is a profile in the making.
type builder struct {
	profile.Profile
	known map[string]*profile.Location // by the name
	runs  map[string][]uint64          // by operation: where its programs begin
}

// stack returns the frames of an owner, the innermost first: the buffer, its program, then
// the operations.
func (b *builder) stack(o holding) (out []*profile.Location) {
	kind := o.Kind.String()
	if o.Kind == fit.KindCB {
		kind = "CB"
	}
	switch {
	case o.Program != nil:
		out = append(out, b.frame(fmt.Sprintf("%s %d", kind, o.CB.V)), b.frame(b.program(string(o.Program.Op), o.Program.At)))
		return append(out, b.operations(string(o.Program.Op))...)
	case o.Buffer != nil:
		return append(append(out, b.frame(kind)), b.operations(string(o.Buffer.Op))...)
	}
	return append(out, b.frame(kind))
}

// program names a program of an operation. Several of one operation are numbered as they
// come by address.
func (b *builder) program(op string, at uint64) string {
	for i, known := range b.runs[op] {
		if known == at {
			return numbered(i)
		}
	}
	b.runs[op] = append(b.runs[op], at)
	return numbered(len(b.runs[op]) - 1)
}

func numbered(i int) string {
	if i == 0 {
		return "program"
	}
	return fmt.Sprint("program ", i+1)
}

// operations returns the frames of operations, the innermost first.
func (b *builder) operations(op string) (out []*profile.Location) {
	if op == "" {
		return []*profile.Location{b.frame("no operation")}
	}
	names := strings.Split(op, " > ")
	for i := range names {
		out = append(out, b.frame(names[len(names)-1-i]))
	}
	return out
}

func (b *builder) frame(name string) *profile.Location {
	name = clip(name)
	if known := b.known[name]; known != nil {
		return known
	}
	f := &profile.Function{ID: uint64(len(b.Function) + 1), Name: name, SystemName: name}
	l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
	b.Function, b.Location, b.known[name] = append(b.Function, f), append(b.Location, l), l
	return l
}

// clip makes a name from a file fit to be shown.
func clip(name string) string { return shown.Visible(shown.Clip(name, shown.MaxOutput)) }
