package render

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Peak returns how much a core held at most and what that was: the answer in the first line,
// then the composition. Its CSV has a row for each thing that lay on the fullest core of each
// device, and one for a device on which nothing ever lay.
func Peak(r *answer.Result) Output {
	d := Output{json: func(w io.Writer) error { return writeJSON(w, r.Peak()) }, csv: func() flatTable { return peakCSV(r) }}
	row, most := r.Fullest(), mostRegistered(r)
	switch {
	case row != nil:
		writePeak(&d.page, r, row)
	case most != nil:
		bytes := most.CorePeak
		d.page.line("%s%s registered at once on a core of %s: %s", head("peak", r), bytesText(r.SpecOf(most.ID), bytes), deviceName(r, most.ID), nothingRan(r))
		d.page.note(slices.Concat(untrackedNotes(r), boundNotes(r), textNotes("?", doubts(r)))...)
	default:
		d.page.line("%snothing is known to have been in L1", head("peak", r))
		d.page.note(untrackedNotes(r)...)
	}
	return d
}

// mostRegistered returns the device on which most was registered at once, the first of
// equals; nil if some have run.
func mostRegistered(r *answer.Result) (best *answer.Device) {
	for i := range r.Devices {
		if d := &r.Devices[i]; r.Log && r.Checks.Runs == 0 && d.CorePeak > 0 && (best == nil || d.CorePeak > best.CorePeak) {
			best = d
		}
	}
	return best
}

// boundNotes name the reasons why figures of registered programs are a bound.
func boundNotes(r *answer.Result) []note {
	return anomalyNotes(r, "bound", answer.CodeEveryCore)
}

// usableNotes say where more of usable L1 was held than at a peak.
func usableNotes(r *answer.Result, row *answer.DeviceL1, p *answer.L1Peak) []note {
	u := row.Usable
	if u == nil || u.Bytes <= p.Below {
		return nil
	}
	return []note{{"usable", fmt.Sprintf("at most %s, at another moment: %s", bytesText(r.SpecOf(row.ID), u.Bytes), r.Whose(caller(u.Op), u.At, u.T, 40))}}
}

func writePeak(page *page, r *answer.Result, row *answer.DeviceL1) {
	p := row.Peak.Composed()
	text := areasText(r.SpecOf(row.ID), p.Below, p.Bytes) + " on " + subject(r)
	if len(r.L1) > 1 {
		text += " of " + deviceName(r, row.ID)
	}
	page.line("%s%s%s", head("peak", r), text, doubtful(r))
	writeResidents(page, atPeak(r, row), r, p.Residents, 0)
	notes := slices.Concat(composition(r, row.ID, p), staleNotes(r), usableNotes(r, row, p), untrackedNotes(r))
	if most := mostRegistered(r); most != nil {
		notes = append(notes, note{"apart", fmt.Sprintf("%s CB bytes registered at once on a core of %s; %s", grouped(most.CorePeak), deviceName(r, most.ID), nothingRan(r))})
		notes = append(notes, boundNotes(r)...)
	}
	page.apart(append(notes, textNotes("?", append(doubts(r), bufferDoubts(row)...))...))
	page.detail(func() []note { return append(peakDetails(r, row), chipNotes(r)...) })
}

// shortOp names what ran in a few words.
func shortOp(r *answer.Result, op answer.Name, at uint64, t json.Number) string {
	if op == "" {
		return r.Where(at, t)
	}
	return shown.Start(string(caller(op)), 24)
}

// peakDetails say where else so much was held, and how much each kind held.
func peakDetails(r *answer.Result, row *answer.DeviceL1) (notes []note) {
	p := row.Peak.Composed()
	if text := equalPeaks(r, row); text != "" {
		notes = append(notes, note{"as full", text})
	}
	notes = append(notes, note{"tracked", fmt.Sprintf("%s bytes: %s", grouped(p.Bytes), kindsText(p))})
	if p.WithKernels > p.Bytes {
		notes = append(notes, note{"in all", fmt.Sprintf("%s bytes: tracked, and the %s below the base of circular buffers, where kernels and the reserved area are",
			grouped(p.WithKernels), grouped(p.WithKernels-p.Bytes))})
	}
	return notes
}

// equalPeaks says where else so much was held.
func equalPeaks(r *answer.Result, row *answer.DeviceL1) string {
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

// composition names bytes that several kinds share, and the free ranges.
func composition(r *answer.Result, on event.Opt[uint64], p *answer.L1Peak) []note {
	var notes []note
	for _, s := range p.Shared {
		var kinds []string
		for _, k := range s.Kinds {
			kinds = append(kinds, k.String())
		}
		text := fmt.Sprintf("%s bytes are %s at once and count once", grouped(s.Bytes), strings.Join(kinds, " + "))
		notes = append(notes, note{"overlap", text})
	}
	most := ""
	if len(r.Untracked()) > 0 {
		most = "at most "
	}
	switch {
	case r.SpecOf(on).L1Size == 0:
		notes = append(notes, note{"free", "not known, as the size of L1 is not"})
	case p.Largest.IsEmpty():
		notes = append(notes, note{"free", "nothing"})
	case p.Top == p.Largest:
		notes = append(notes, note{"free", "largest gap " + most + gapText(p.Largest)})
	default:
		notes = append(notes, note{"free", fmt.Sprintf("largest gap %s%s; highest gap %s%s", most, gapText(p.Largest), most, gapText(p.Top))})
	}
	if s := p.Spike; s != nil {
		notes = append(notes, spikeNotes(r, s)...)
	}
	return notes
}

// spikeNotes say which allocation came before which free: what happened around the peak, in its
// order, and what the other order would have been worth.
func spikeNotes(r *answer.Result, s *answer.Spike) []note {
	return []note{
		{"spike", fmt.Sprintf("a new %s was allocated before the one it replaces was freed: with the free first the core would have held %s bytes", s.New.Kind, grouped(s.Without))},
		{"first", fmt.Sprintf("the old one, of %s bytes, allocated by %s", grouped(s.Old.Size), r.Named(s.Old, 60))},
		{"then", fmt.Sprintf("the new one, of %s bytes, allocated by %s: the peak", grouped(s.New.Size), r.Named(s.New, 60))},
		{"last", "the old one is freed at " + r.Where(s.FreedAt, s.FreedT)},
	}
}

func gapText(r l1.Range) string { return fmt.Sprintf("%s bytes at %s", grouped(r.Len()), rangeText(r)) }

// bufferDoubts are the assumptions about L1 buffers of a device.
func bufferDoubts(row *answer.DeviceL1) (out []string) {
	switch row.Addresses {
	case answer.AddressesSynthesised:
		out = append(out, "L1 buffers placed from the top down")
	case answer.AddressesMixed:
		out = append(out, "some L1 buffers placed from the top down")
	case answer.AddressesRecorded, answer.AddressesNone:
	}
	if row.Assumed > 0 {
		out = append(out, "cores of "+shown.Plural(row.Assumed, "sharded buffer")+" not known: taken as all")
	}
	return out
}

// untrackedNotes name everything that the capture hides: the true peak may be higher.
func untrackedNotes(r *answer.Result) []note { return reasonNotes("hidden", r.Untracked()) }
