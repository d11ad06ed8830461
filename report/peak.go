package report

import (
	"cmp"
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
	d := Document{json: func(w io.Writer) error { return writePeakJSON(w, r) }, head: csvPeak{}, rows: rowsOf(peakRows(r))}
	row, most := fullestL1(r), mostRegistered(r)
	switch {
	case row != nil:
		writePeak(&d.page, r, row)
	case most != nil:
		bytes := most.CorePeak
		d.page.line("peak%s: %s CB bytes registered at once%s, %s: %s", onlyText(r.Only), grouped(bytes), ofUsable(r.SpecOf(most.ID), bytes), deviceName(r, most.ID), shown.End(r.File, 60))
		d.page.note(slices.Concat([]note{{"basis", "registered: " + nothingRan(r) + ", so that nothing says what lay in L1 at one time"}}, untoldNotes(r), unseenNotes(r), boundNotes(r))...)
	default:
		d.page.line("peak%s: nothing is known to have been in L1: %s", onlyText(r.Only), shown.End(r.File, 60))
		d.page.note(append(untoldNotes(r), unseenNotes(r)...)...)
	}
	return d
}

// nothingDispatched reports whether all that is known of programs is that a log registered
// them: what they took at once is then no part of the peak of L1.
func nothingDispatched(r *replay.Result) bool { return r.Log && r.Checks.Runs == 0 }

// onlyRegistered returns the most that the circular buffers of programs that were registered
// at once took of a core of a device; nil where some have run.
func onlyRegistered(r *replay.Result, id event.Opt[uint64]) *uint64 {
	i, ok := slices.BinarySearchFunc(r.Devices, id.V, func(d replay.Device, id uint64) int { return cmp.Compare(d.ID.V, id) })
	if !nothingDispatched(r) || !ok || r.Devices[i].CorePeak == 0 {
		return nil
	}
	return &r.Devices[i].CorePeak
}

// mostRegistered returns the device on which most was registered at once, the first of
// equals; nil if some have run.
func mostRegistered(r *replay.Result) (best *replay.Device) {
	for i := range r.Devices {
		if d := &r.Devices[i]; nothingDispatched(r) && d.CorePeak > 0 && (best == nil || d.CorePeak > best.CorePeak) {
			best = d
		}
	}
	return best
}

// boundNotes say in which way figures of what was registered are a bound.
func boundNotes(r *replay.Result) (notes []note) {
	for _, code := range []replay.Code{replay.CodeEveryCore, replay.CodeNoAddresses} {
		if slices.ContainsFunc(r.Anomalies, func(a replay.AnomalyCount) bool { return a.Code == code }) {
			notes = append(notes, note{"bound", codeText(r, code)})
		}
	}
	return notes
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
	page.line("peak%s: %s bytes%s, %s, core %s, %s%s", onlyText(r.Only), grouped(p.Bytes), ofUsable(r.SpecOf(row.ID), p.Bytes), deviceName(r, row.ID), p.Core,
		shortOp(r, p.Op, place{p.At, p.T}), besideText(r, p, program))
	page.line("%s: %s", shown.End(r.File, 60), length(r))
	notes := []note{{"at", whose(r, p.Op, place{p.At, p.T}, 70)}, {"program", programText(r, program)}}
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
		if x := &p.Residents[i]; x.Program != nil && (best == nil || x.Range.Len() > best.Range.Len()) {
			best = x
		}
	}
	if best == nil {
		return nil
	}
	return best.Program
}

// shortOp names what ran in a few words.
func shortOp(r *replay.Result, op string, at place) string {
	if op == "" {
		return at.text(r)
	}
	return shown.Start(caller(op), 24)
}

// besideText names the program in the first line.
func besideText(r *replay.Result, p *replay.L1Peak, program *replay.ProgramRun) string {
	switch {
	case program == nil:
		return ", no program"
	case program.Op == p.Op:
		return ", its own program"
	}
	return ", left over from " + shortOp(r, program.Op, place{program.At, program.T})
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
		{"first", fmt.Sprintf("the old one, of %s bytes, allocated by %s", grouped(s.Old.Size), whose(r, s.Old.Op, place{s.Old.At, s.Old.T}, 60))},
		{"then", fmt.Sprintf("the new one, of %s bytes, allocated by %s: the peak", grouped(s.New.Size), whose(r, s.New.Op, place{s.New.At, s.New.T}, 60))},
		{"last", "the old one is freed at " + place{s.FreedAt, s.FreedT}.text(r)},
	}
}

func gapText(r l1.Range) string { return fmt.Sprintf("%s bytes at %s", grouped(r.Len()), rangeText(r)) }

// peakRemarks say what the figures rest on.
func peakRemarks(r *replay.Result, row *replay.DeviceL1) []note {
	notes := []note{{"basis", "tracked = held by circular buffers, L1 buffers and the like, each byte once; a program's buffers stay until the next program on the core"}}
	switch row.Addresses {
	case replay.AddressesSynthesised:
		notes = append(notes, note{"placed", fmt.Sprintf("L1 buffers have no addresses in the %s and were placed top-down: synthesised", source(r))})
	case replay.AddressesMixed:
		notes = append(notes, note{"placed", fmt.Sprintf("some L1 buffers have no address in the %s and were placed top-down: synthesised", source(r))})
	case replay.AddressesRecorded, replay.AddressesNone:
	}
	if row.Assumed > 0 {
		notes = append(notes, note{"assumed", fmt.Sprintf("the cores of %s are not known: taken to lie on all", shown.Plural(row.Assumed, "sharded buffer"))})
	}
	return append(notes, note{"chip", chipText(r, r.SpecOf(row.ID))})
}

// untoldNotes say what the capture hides, because of which the true peak may be higher.
func untoldNotes(r *replay.Result) []note {
	var notes []note
	for _, code := range r.Untold() {
		notes = append(notes, note{"hidden", reasonText(r, replay.Reason{Code: code})})
	}
	if text := unsizedText(r); text != "" {
		notes = append(notes, note{"unsized", text})
	}
	if n := r.Hits.Inferred; n > 0 {
		notes = append(notes, note{"inferred", fmt.Sprintf("%s that hit the program cache: taken to run what the last run of the same operation ran", shown.Plural(n, "operation"))})
	}
	return notes
}

// unsizedText says that there are L1 buffers of which no byte is counted, or "".
func unsizedText(r *replay.Result) string {
	if !has(r, replay.CodeBufferUnsized) {
		return ""
	}
	return codeText(r, replay.CodeBufferUnsized)
}

type jsonPeak struct {
	Schema   string           `json:"schema"`
	File     string           `json:"file"`
	Rank     *uint64          `json:"rank"`
	Only     *jsonOnly        `json:"only"`
	Nodes    int64            `json:"nodes"`
	Windows  []jsonWindow     `json:"windows,omitempty"`
	Basis    jsonL1Basis      `json:"basis"`
	Untold   []jsonUntold     `json:"untold"`
	Inferred int64            `json:"hits_inferred"`
	Fullest  *int             `json:"fullest"`
	Devices  []jsonDevicePeak `json:"devices"`
}

type jsonDevicePeak struct {
	Device     *uint64           `json:"device"`
	Kind       replay.DeviceKind `json:"kind"`
	Chips      []uint64          `json:"chips"`
	Addresses  replay.Addresses  `json:"l1_addresses"`
	Unplaced   int64             `json:"l1_buffers_unplaced"`
	Assumed    int64             `json:"l1_buffers_assumed"`
	Peak       *jsonL1Peak       `json:"peak"`
	Registered *uint64           `json:"registered_core_peak_bytes"`
}

// A csvPeak is one thing that lay on the fullest core of a device, and its peak.
type csvPeak struct {
	csvFile
	jsonDevicePeak
	Resident *jsonResident `json:"resident"`
}

func peakRows(r *replay.Result) iter.Seq[csvPeak] {
	return func(yield func(csvPeak) bool) {
		for i := range r.L1 {
			file := newCSVFile(r, r.L1[i].ID)
			peak := newDevicePeak(r, &r.L1[i])
			all := []*jsonResident{nil}
			if peak.Peak != nil && len(peak.Peak.Residents) > 0 {
				all = all[:0]
				for k := range peak.Peak.Residents {
					all = append(all, &peak.Peak.Residents[k])
				}
			}
			for _, one := range all {
				if !yield(csvPeak{file, peak, one}) {
					return
				}
			}
		}
	}
}

func newDevicePeak(r *replay.Result, row *replay.DeviceL1) jsonDevicePeak {
	return jsonDevicePeak{
		optional(row.ID), row.Kind, append([]uint64{}, row.Chips...), row.Addresses, row.Unplaced, row.Assumed, newL1Peak(r.SpecOf(row.ID), row.Peak), onlyRegistered(r, row.ID),
	}
}

type jsonL1Peak struct {
	Bytes       uint64             `json:"tracked_bytes"`
	WithKernels uint64             `json:"with_kernels_bytes"`
	Percent     *float64           `json:"percent_of_l1"`
	Counter     uint64             `json:"counter"`
	T           json.Number        `json:"t,omitempty"`
	Op          string             `json:"op"`
	Core        string             `json:"core"`
	Cores       string             `json:"cores"`
	Count       int                `json:"count"`
	Kinds       map[string]uint64  `json:"kinds"`
	Shared      []replay.SharedRow `json:"shared"`
	Residents   []jsonResident     `json:"residents"`
	Largest     *[2]uint64         `json:"largest_gap"`
	Highest     *[2]uint64         `json:"highest_gap"`
	Spike       *jsonSpike         `json:"spike"`
}

type jsonSpike struct {
	New     jsonBuffer  `json:"new"`
	Old     jsonBuffer  `json:"old"`
	FreedAt uint64      `json:"freed_counter"`
	FreedT  json.Number `json:"freed_t,omitempty"`
	Without uint64      `json:"without_bytes"`
}

// writePeakJSON writes a peak for each device, as cbl1.peak-1.schema.json describes it.
func writePeakJSON(w io.Writer, r *replay.Result) error {
	out := jsonPeak{
		Schema: PeakSchema, File: r.File, Rank: optional(r.Rank), Only: newOnly(r.Only), Nodes: r.Nodes, Windows: newWindows(r), Basis: newL1Basis(r, r.Spec),
		Untold: newUntold(r), Inferred: r.Hits.Inferred, Devices: []jsonDevicePeak{},
	}
	best := fullestL1(r)
	for i := range r.L1 {
		row := &r.L1[i]
		if row == best {
			out.Fullest = &i
		}
		out.Devices = append(out.Devices, newDevicePeak(r, row))
	}
	return writeJSON(w, out)
}

// newUntold says what a capture hides.
func newUntold(r *replay.Result) []jsonUntold {
	out := []jsonUntold{}
	for _, code := range r.Untold() {
		out = append(out, jsonUntold{code, reasonText(r, replay.Reason{Code: code})})
	}
	return out
}

func newL1Peak(s replay.Spec, p *replay.L1Peak) *jsonL1Peak {
	if p == nil {
		return nil
	}
	p = p.Composed()
	out := &jsonL1Peak{
		Bytes: p.Bytes, WithKernels: p.WithKernels, Counter: p.At, T: json.Number(p.T), Op: clip(p.Op),
		Core: p.Core.String(), Cores: p.Cores.String(), Count: p.Cores.Len(), Kinds: newKinds(p.Kinds), Shared: replay.NewSharedRows(slices.Values(p.Shared)),
		Residents: newResidents(p.Residents), Largest: gapPair(p.Largest), Highest: gapPair(p.Top),
	}
	out.Percent = percentOf(p.Bytes, s.L1Size)
	if s := p.Spike; s != nil {
		out.Spike = &jsonSpike{newBuffer(s.New), newBuffer(s.Old), s.FreedAt, json.Number(s.FreedT), s.Without}
	}
	return out
}

func gapPair(r l1.Range) *[2]uint64 {
	if r.IsEmpty() {
		return nil
	}
	return &[2]uint64{r.Start, r.End}
}
