package fit_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/session"
)

var update = flag.Bool("update", false, "TestFew: write testdata/few.txt anew; review the difference")

// TestFew compares the whole answer about a few programs and buffers: testdata/few.txt has a section for each, with events
// in short (testkit.EventLog), then questions behind ?, and behind > what was answered.
//
//	check PROGRAM [hybrid]    the Row of a Verdict
//	grow PROGRAM              how far each buffer may grow
//	head PROGRAM              the room above a program, or of all of them
//	room MODE SIZE [CORES]    where one more L1 buffer fits
//	place MODE SIZE [CORES]   where the allocator puts it
//	try BUFFER                whether a buffer could be allocated where it is, if it was not there
//	blocks ALIGN              the free blocks of a bank of the first device
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) (out []string) {
		var s session.Session
		at := slices.IndexFunc(asked, func(line string) bool { return line[0] == '?' })
		for e, err := range event.NewLog(strings.NewReader(testkit.EventLog(asked[:at]...)), "few").Events() {
			require.NoError(t, err)
			require.Zero(t, e.Anomaly, "line %d", e.Pos.Node)
			require.NoError(t, s.Apply(e))
		}
		var places []fit.Place
		for d := range s.Fleet().Devices() {
			now, _ := s.Fleet().Snapshot().Device(d.ID())
			at := fit.Place{Device: d.ID(), Spec: d.Spec(), Buffers: slices.Collect(d.Buffers()), Programs: slices.Collect(now.Programs())}
			if len(at.Buffers)+len(at.Programs) > 0 { // others are not asked about
				places = append(places, at)
			}
		}
		for _, line := range asked[at:] {
			if len(asked)-at > 1 {
				out = append(out, line)
			}
			out = append(out, answerOf(t, slices.Clone(places), strings.Fields(line)[1:])...)
		}
		return out
	})
}

// answerOf answers a question.
func answerOf(t *testing.T, places []fit.Place, words []string) (out []string) {
	t.Helper()
	line := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	var p *program.Program
	for _, at := range places {
		for _, one := range at.Programs {
			if fmt.Sprint(one.ID()) == words[len(words)-1] || len(words) > 1 && fmt.Sprint(one.ID()) == words[1] {
				p = one
			}
		}
	}
	var next fit.Buffer
	var size uint64
	if words[0] == "room" || words[0] == "place" {
		next.Kind, next.Mode = fit.KindL1, map[string]fit.Mode{"lockstep": fit.Lockstep, "per_core": fit.PerCore, "range_lockstep": fit.RangeLockstep}[words[1]]
		_, err := fmt.Sscan(words[2], &size)
		require.NoError(t, err)
		if len(words) > 3 {
			start, end, _ := strings.Cut(words[3], "..")
			next.Cores = l1.MustParseCoreRangeSet("{[" + start + " - " + cmp.Or(end, start) + "]}").Cores()
		}
	}
	switch words[0] {
	case "check":
		for i := range places {
			places[i].Hybrid = slices.Contains(words, "hybrid")
		}
		return testkit.Brief(t, fit.Check(p, places...).Row())
	case "grow":
		for i := range p.Len() {
			by, ok, err := fit.MayGrow(p, i, places...)
			line("CB %d by %d %t %v", i, by, ok, err)
		}
	case "head":
		rooms := fit.HeadroomOver(places...)
		if p != nil {
			rooms = fit.HeadroomOf(p, places...)
		}
		for _, h := range rooms {
			line("device %d of %d %v: above %d free %d, gap %v", h.Device, h.Devices, h.Cores, h.End, h.Free, h.Gap)
		}
	case "room":
		r := fit.RoomOn(next.Mode, next.Cores, size, places...)
		line("%v: %v, place %v, above %s, below %s", r.Cores, r.Range, r.Place, limitOf(r.Below), limitOf(r.Above))
	case "place":
		b, err := fit.PlaceBuffer(next, size, places...)
		line("%v %v %v %v", b.Cores, b.Range, b.Parts, err)
	case "try":
		var on []fit.Place
		for _, at := range places {
			if i := slices.IndexFunc(at.Buffers, func(b fit.Buffer) bool { return fmt.Sprint(b.ID) == words[1] }); i >= 0 {
				next, at.Buffers = at.Buffers[i], slices.Delete(slices.Clone(at.Buffers), i, i+1)
				on = append(on, at)
			}
		}
		v := fit.CheckBuffer(next, on...)
		line("fits %t, outside %d", v.Fits(), v.Outside)
		for _, o := range v.Overlaps {
			line(" device %d of %d %v: %d bytes with %v at %v", o.Device, o.Devices, o.Cores, o.Bytes, o.With.Buffer, o.With.Range)
		}
		for _, r := range v.Refused {
			line(" refused: %v", r)
		}
	case "blocks":
		var all []l1.Range
		for _, b := range places[0].Buffers {
			for part := range b.All() {
				all = append(all, part.Range)
			}
		}
		var align uint64
		_, err := fmt.Sscan(words[1], &align)
		require.NoError(t, err)
		line("%v", fit.FreeBlocks(places[0].Spec.Usable(), align, all))
	default:
		t.Fatalf("%q is no question", words[0])
	}
	return out
}

func limitOf(r *fit.Resident) string {
	switch {
	case r == nil:
		return "-"
	case r.Program != nil:
		return fmt.Sprint("program ", r.Program.ID())
	}
	return r.Buffer.String()
}
