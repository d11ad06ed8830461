package report

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// Peak returns how much a core held at most and what that was: the answer in the first line,
// then the composition. Its CSV has a row for each thing that lay on the fullest core of each
// device, and one for a device on which nothing ever lay.
func Peak(r *replay.Result) Document {
	d := Document{json: func(w io.Writer) error { return writeJSON(w, r.Peak()) }, head: csvPeak{}, rows: rowsOf(peakRows(r))}
	row, most := fullestL1(r), mostRegistered(r)
	switch {
	case row != nil:
		writePeak(&d.page, r, row)
	case most != nil:
		bytes := most.CorePeak
		d.page.line("peak%s: %s CB bytes registered at once%s, %s: %s", r.Only.Suffix(), grouped(bytes), ofUsable(r.SpecOf(most.ID), bytes), deviceName(r, most.ID), shown.End(r.File, 60))
		d.page.note(slices.Concat([]note{{"basis", "registered: " + nothingRan(r) + ", so that nothing says what lay in L1 at one time"}}, untoldNotes(r), unseenNotes(r), boundNotes(r))...)
	default:
		d.page.line("peak%s: nothing is known to have been in L1: %s", r.Only.Suffix(), shown.End(r.File, 60))
		d.page.note(append(untoldNotes(r), unseenNotes(r)...)...)
	}
	return d
}

// mostRegistered returns the device on which most was registered at once, the first of
// equals; nil if some have run.
func mostRegistered(r *replay.Result) (best *replay.Device) {
	for i := range r.Devices {
		if d := &r.Devices[i]; r.Log && r.Checks.Runs == 0 && d.CorePeak > 0 && (best == nil || d.CorePeak > best.CorePeak) {
			best = d
		}
	}
	return best
}

// boundNotes say in which way figures of what was registered are a bound.
func boundNotes(r *replay.Result) []note {
	return append(anomalyNotes(r, "bound", replay.CodeEveryCore), anomalyNotes(r, "bound", replay.CodeNoAddresses)...)
}

// fullestL1 returns the row of the device with the highest peak, the first of equals;
// nil if nothing was in L1.
func fullestL1(r *replay.Result) (best *replay.DeviceL1) {
	for i := range r.L1 {
		if row := &r.L1[i]; row.Peak != nil && (best == nil || row.Peak.Bytes > best.Peak.Bytes) {
			best = row
		}
	}
	return best
}

func writePeak(page *page, r *replay.Result, row *replay.DeviceL1) {
	p := row.Peak.Composed()
	program := peakProgram(p)
	page.line("peak%s: %s bytes%s, %s, core %s, %s%s", r.Only.Suffix(), grouped(p.Bytes), ofUsable(r.SpecOf(row.ID), p.Bytes), deviceName(r, row.ID), p.Core,
		shortOp(r, p.Op, p.At, p.T), besideText(r, p, program))
	page.line("%s: %s", shown.End(r.File, 60), length(r))
	notes := []note{{"at", whose(r, p.Op, p.At, p.T, 70)}, {"program", programText(r, program)}}
	if text := equalPeaks(r, row); text != "" {
		notes = append(notes, note{"as full", text})
	}
	page.note(notes...)
	writeResidents(page, fmt.Sprintf("what lay on core %s then, by address", p.Core), r, p.Residents)
	notes = slices.Concat(composition(r, row.ID, p), peakRemarks(r, row), untoldNotes(r), unseenNotes(r))
	if most := mostRegistered(r); most != nil {
		notes = append(notes, note{"apart", fmt.Sprintf("%s CB bytes registered at once on a core of %s; %s", grouped(most.CorePeak), deviceName(r, most.ID), nothingRan(r))})
		notes = append(notes, boundNotes(r)...)
	}
	page.apart(notes)
}

// peakProgram returns the program whose buffers are largest on the core of the peak;
// nil if no program's buffers are there.
func peakProgram(p *replay.L1Peak) *replay.ProgramRun {
	var best *replay.L1Resident
	for i := range p.Residents {
		if x := &p.Residents[i]; x.Program != nil && (best == nil || x.Bytes > best.Bytes) {
			best = x
		}
	}
	if best == nil {
		return nil
	}
	return best.Program
}

// shortOp names what ran in a few words.
func shortOp(r *replay.Result, op replay.Name, at uint64, t json.Number) string {
	if op == "" {
		return r.Where(at, t)
	}
	return shown.Start(string(caller(op)), 24)
}

// besideText names the program in the first line.
func besideText(r *replay.Result, p *replay.L1Peak, program *replay.ProgramRun) string {
	switch {
	case program == nil:
		return ", no program"
	case program.Op == p.Op:
		return ", its own program"
	}
	return ", left over from " + shortOp(r, program.Op, program.At, program.T)
}

func programText(r *replay.Result, program *replay.ProgramRun) string {
	if program == nil {
		return "none has buffers on the core"
	}
	return runText(r, *program, 70)
}

// equalPeaks says where else so much was held.
func equalPeaks(r *replay.Result, row *replay.DeviceL1) string {
	var parts []string
	if row.Peak.Cores.Len() > 1 {
		parts = append(parts, coresText(row.Peak.Cores))
	}
	same, lower := 0, 0
	for i := range r.L1 {
		switch o := &r.L1[i]; {
		case o == row:
		case o.Peak != nil && o.Peak.Bytes == row.Peak.Bytes:
			same++
		default:
			lower++
		}
	}
	if same > 0 {
		parts = append(parts, shown.Plural(same, "other device"))
	}
	if lower > 0 {
		parts = append(parts, "not so "+shown.Plural(lower, "other device"))
	}
	return strings.Join(parts, "; ")
}

// composition says what kinds of things held how many bytes, and which bytes more
// than one of them held.
func composition(r *replay.Result, on event.Opt[uint64], p *replay.L1Peak) []note {
	notes := []note{{"tracked", fmt.Sprintf("%s bytes: %s", grouped(p.Bytes), kindsText(p))}}
	for _, s := range p.Shared {
		var kinds []string
		for _, k := range s.Kinds {
			kinds = append(kinds, k.String())
		}
		text := fmt.Sprintf("%s bytes are %s at once and count once", grouped(s.Bytes), strings.Join(kinds, " + "))
		notes = append(notes, note{"overlap", text})
	}
	if p.WithKernels > p.Bytes {
		notes = append(notes, note{"in all", fmt.Sprintf("%s bytes: tracked, and the %s below the base of circular buffers, where kernels and the reserved area are",
			grouped(p.WithKernels), grouped(p.WithKernels-p.Bytes))})
	}
	switch {
	case r.SpecOf(on).L1Size == 0:
		notes = append(notes, note{"free", "not known, as the size of L1 is not"})
	case p.Largest.IsEmpty():
		notes = append(notes, note{"free", "nothing between the base of circular buffers and L1_SMALL"})
	case p.Top == p.Largest:
		notes = append(notes, note{"free", "largest gap " + gapText(p.Largest)})
	default:
		notes = append(notes, note{"free", fmt.Sprintf("largest gap %s; highest gap %s", gapText(p.Largest), gapText(p.Top))})
	}
	if s := p.Spike; s != nil {
		notes = append(notes, spikeNotes(r, s)...)
	}
	return notes
}

// spikeNotes say which allocation came before which free: what happened around the peak, in its
// order, and what the other order would have been worth.
func spikeNotes(r *replay.Result, s *replay.Spike) []note {
	return []note{
		{"spike", fmt.Sprintf("a new %s was allocated before the one it replaces was freed: with the free first the core would have held %s bytes", s.New.Kind, grouped(s.Without))},
		{"first", fmt.Sprintf("the old one, of %s bytes, allocated by %s", grouped(s.Old.Size), whose(r, s.Old.Op, s.Old.At, s.Old.T, 60))},
		{"then", fmt.Sprintf("the new one, of %s bytes, allocated by %s: the peak", grouped(s.New.Size), whose(r, s.New.Op, s.New.At, s.New.T, 60))},
		{"last", "the old one is freed at " + r.Where(s.FreedAt, s.FreedT)},
	}
}

func gapText(r l1.Range) string { return fmt.Sprintf("%s bytes at %s", grouped(r.Len()), rangeText(r)) }

// peakRemarks say what the figures rest on.
func peakRemarks(r *replay.Result, row *replay.DeviceL1) []note {
	notes := []note{{"basis", "tracked = held by circular buffers, L1 buffers and the like, each byte once; a program's buffers stay until the next program on the core"}}
	switch row.Addresses {
	case replay.AddressesSynthesised:
		notes = append(notes, note{"placed", fmt.Sprintf("L1 buffers have no addresses in the %s and were placed top-down: synthesised", r.Source())})
	case replay.AddressesMixed:
		notes = append(notes, note{"placed", fmt.Sprintf("some L1 buffers have no address in the %s and were placed top-down: synthesised", r.Source())})
	case replay.AddressesRecorded, replay.AddressesNone:
	}
	if row.Assumed > 0 {
		notes = append(notes, note{"assumed", fmt.Sprintf("the cores of %s are not known: taken to lie on all", shown.Plural(row.Assumed, "sharded buffer"))})
	}
	return append(notes, note{"chip", chipText(r, r.SpecOf(row.ID))})
}

// untoldNotes say what the capture hides, because of which the true peak may be higher.
func untoldNotes(r *replay.Result) []note {
	notes := append(reasonNotes("hidden", r.Hidden()), anomalyNotes(r, "unsized", replay.CodeBufferUnsized)...)
	if n := r.Hits.Inferred; n > 0 {
		notes = append(notes, note{"inferred", fmt.Sprintf("%s that hit the program cache: taken to run what the last run of the same operation ran", shown.Plural(n, "operation"))})
	}
	return notes
}

// A csvPeak is one thing that lay on the fullest core of a device, and its peak.
type csvPeak struct {
	csvFile
	replay.DevicePeak
	Resident *replay.L1Resident `json:"resident"`
}

func peakRows(r *replay.Result) iter.Seq[csvPeak] {
	return func(yield func(csvPeak) bool) {
		for _, on := range r.Peak().Devices {
			row := csvPeak{csvFile: newCSVFile(r, on.Device), DevicePeak: on}
			if on.Peak == nil || len(on.Peak.Residents) == 0 {
				if !yield(row) {
					return
				}
				continue
			}
			for i := range on.Peak.Residents {
				if row.Resident = &on.Peak.Residents[i]; !yield(row) {
					return
				}
			}
		}
	}
}
