package device_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/replay/session"
)

var update = flag.Bool("update", false, "TestFew: write testdata/few.txt anew; review the difference")

// TestFew compares all that a fleet shows after a few events: testdata/few.txt has a section for each, with its events
// in short (testkit.EventLog), and behind > what was refused, and then each device. Devices that are alike come once.
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) (out []string) {
		var s session.Session
		for e, err := range event.NewLog(strings.NewReader(testkit.EventLog(asked...)), "few").Events() {
			require.NoError(t, err)
			require.Zero(t, e.Anomaly, "line %d", e.Pos.Node)
			if err := s.Apply(e); err != nil {
				out = append(out, err.Error())
			}
		}
		f := s.Fleet()
		intact(t, f)
		for p := range f.Programs() {
			out = append(out, fmt.Sprintf("%v on %v", p, f.Where(p.ID())))
		}
		shown := map[string]device.ID{}
		for d := range f.Devices() {
			text := deviceText(t, f, d)
			if first, ok := shown[text]; ok {
				out = append(out, fmt.Sprintf("device %d: like device %d", d.ID(), first))
				continue
			}
			shown[text] = d.ID()
			out = append(out, strings.Split(fmt.Sprintf("device %d:%s", d.ID(), text), "\n")...)
		}
		return out
	})
}

// deviceText is all that a fleet shows of a device.
func deviceText(t *testing.T, f *device.Fleet, d device.Device) string {
	t.Helper()
	then, ok := f.Snapshot().Device(d.ID())
	require.True(t, ok)
	require.Equal(t, then.Totals(), d.Totals())
	out := testkit.Brief(t, d.Totals())
	line := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for b := range d.Buffers() {
		line(" %v: %d bytes, %v, on %v", b, b.Size, b.Mode, f.Holding(b.ID))
	}
	for g := range then.Groups() {
		line(" %v: %d bytes of %d, %d programs, %v", g.Cores, g.Registered, g.Logical, g.Programs, regions(g.Regions()))
	}
	for p := range then.Peaks() {
		line(" %v: %d bytes at most", p.Cores, p.Bytes)
	}
	for basis, name := range []string{"in L1", "registered"} {
		for g := range d.UsageGroups(device.Basis(basis)) {
			line(" %v, %s: %d bytes, %d with kernels, shared %v, regions %v", g.Cores, name, g.Usage.Tracked, g.Usage.WithKernels, slices.Collect(g.Usage.Shared()), g.Regions)
			for r := range g.Residents() {
				line("  %s", residentOf(r))
			}
		}
	}
	rooms, err := f.Headroom(nil, of(t, f, d.ID()))
	require.NoError(t, err)
	for _, h := range rooms {
		line(" %v: above %d free %d, gap %v", h.Cores, h.End, h.Free, h.Gap)
	}
	if free, ok := d.LeastHeadroom(); ok {
		line(" free above programs at least %d", free)
	}
	return strings.Join(out, "\n")
}

func residentOf(r fit.Resident) string {
	if r.Program != nil {
		return fmt.Sprintf("%v %d of program %d: %v", r.Kind, r.CB, r.Program.ID(), r.Range)
	}
	return fmt.Sprintf("%v: %v", r.Buffer, r.Range)
}
