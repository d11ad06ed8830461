package capture

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// replayDevice is one device id of a capture.
type replayDevice struct {
	id   Opt[uint64]
	slot device.ID
	row  Device

	run    []program.CB // what was placed since the last free that reached the device
	cbs    int          // circular buffers among them
	first  uint64       // counter of the run's first circular buffer
	last   uint64
	op     string
	alive  *layout         // what the last run that ended holds, until it is freed
	missed map[uint64]bool // meshes whose frees did not reach the device's run

	start    uint64  // counter of the run's first node
	newest   uint64  // and of its last
	depth    int     // functions that ran then
	key      opKey   // what they were
	launched int     // nodes of the run that are enqueued
	latest   *layout // of these

	cores  l1.CoreSet
	detail map[*layout]int // first row of a layout in ProgramsDetail
}

// A layout is a program as it stands in a capture, shared by all runs with the same
// content. By kind of buffer it has a Program that counts.
type layout struct {
	counted [numKinds]*program.Program // nil where the run has none of the kind
	rest    *program.Program           // dataflow buffers and scratchpads as they are; nil without
	cbs     []program.Placed           // circular buffers of the run
	cores   l1.CoreSet                 // covered by a local circular buffer
	sizes   [numKinds]uint64           // sum of the sizes of local ones, without cores
	loose   uint64                     // of circular buffers, those that name no core
	detail  ProgramDetail              // but for First, Last and Op

	placed, recorded, mixed, beyond bool
}

// place takes in a node that places a CB, dataflow buffer or scratchpad.
func (d *replayDevice) place(p *replayer, n *Node) error {
	kind := kindOf(n.Type)
	d.run = append(d.run, program.CB{
		Kind: kind, Cores: n.Cores, Size: n.Size.V, Global: n.Global,
		Address: n.Address.V, Fixed: n.Address.V != 0,
	})
	figures := &d.row.Dataflow
	switch kind {
	case program.CircularBuffer:
		if d.cbs++; d.cbs == 1 {
			d.first, d.op = n.Counter, p.opPath()
		}
		d.last = n.Counter
		d.row.CBNodes++
		if n.Global {
			d.row.GlobalCBs++
		} else {
			d.row.LocalCBs++
			if n.Cores.Len() == 0 {
				p.note(CodeUnattributed, int64(n.Counter), "")
			}
		}
		return nil
	case program.Scratchpad:
		figures = &d.row.Scratchpad
	}
	figures.Nodes++
	if n.Global {
		figures.Borrowed++
	} else {
		figures.Local++
	}
	return nil
}

// end turns the run into a program, registers it for good, and as alive.
func (d *replayDevice) end(p *replayer) error {
	if len(d.run) == 0 {
		return nil
	}
	l := d.latest
	if d.launched < len(d.run) {
		var err error
		if l, err = p.layoutOf(d.run); err != nil {
			return d.inputError(p, err)
		}
	}
	d.run, d.cbs, d.launched = d.run[:0], 0, 0
	for kind, counted := range l.counted {
		if counted == nil {
			continue
		}
		f := p.fleet(kind)
		for _, fleet := range []*device.Fleet{f.registered, f.resident} {
			dev, err := fleet.Device(d.slot)
			if err != nil {
				if dev, err = fleet.AddDevice(d.slot, counted.Spec()); err != nil {
					return d.inputError(p, err)
				}
			}
			if _, err := fleet.Register(counted, dev.Set()); err != nil {
				return d.inputError(p, err)
			}
		}
		logical := counted.Occupied(program.CircularBuffer).Logical()
		sum := &d.row.RegisteredLogical
		switch program.Kind(kind) {
		case program.DataflowBuffer:
			sum = &d.row.Dataflow.RegisteredLogical
		case program.Scratchpad:
			sum = &d.row.Scratchpad.RegisteredLogical
		}
		if *sum > l1.MaxAddr-logical {
			return &InputError{File: p.file, Node: int64(d.last), Reason: "sizes sum to more than 2^63-1 bytes"}
		}
		*sum += logical
	}
	d.alive = l
	d.count(p, l)
	return nil
}

// count takes a finished run into the device's row.
func (d *replayDevice) count(p *replayer, l *layout) {
	if l.counted[program.CircularBuffer] != nil {
		row := l.detail
		row.First, row.Last, row.Op = d.first, d.last, d.op
		if d.detail == nil {
			d.detail = map[*layout]int{}
		}
		if _, seen := d.detail[l]; !seen {
			d.detail[l] = len(d.row.ProgramsDetail)
			d.cores = d.cores.Union(l.cores)
		}
		d.row.ProgramsDetail = append(d.row.ProgramsDetail, row)
		d.row.Programs++
		d.row.LogicalPeak = max(d.row.LogicalPeak, row.Logical)
		d.row.LogicalSizesPeak = max(d.row.LogicalSizesPeak, l.sizes[program.CircularBuffer])
		d.row.UnattributedPeak = max(d.row.UnattributedPeak, l.loose)
		d.row.HighestEnd = max(d.row.HighestEnd, row.HighestEnd)
		if row.Overlapping {
			p.note(CodeOverlap, int64(d.first), d.op)
		}
		if l.mixed {
			p.note(CodeMixedAddresses, int64(d.first), d.op)
		}
		if l.beyond {
			p.note(CodeBeyondL1, int64(d.first), d.op)
		}
		p.result.Addresses = p.result.Addresses.with(l.recorded, l.synthesised())
	}
	p.result.Placed = p.result.Placed || l.placed
}

func (l *layout) synthesised() bool {
	return slices.ContainsFunc(l.cbs, func(cb program.Placed) bool { return !cb.Global && !cb.Fixed })
}

func (a Addresses) with(recorded, synthesised bool) Addresses {
	recorded = recorded || a == AddressesRecorded || a == AddressesMixed
	synthesised = synthesised || a == AddressesSynthesised || a == AddressesMixed
	switch {
	case recorded && synthesised:
		return AddressesMixed
	case recorded:
		return AddressesRecorded
	case synthesised:
		return AddressesSynthesised
	}
	return a
}

// free ends what is alive.
func (d *replayDevice) free(p *replayer) {
	if d.alive == nil {
		return
	}
	for kind, counted := range d.alive.counted {
		if counted == nil {
			continue
		}
		fleet := p.fleets[kind].resident
		if dev, err := fleet.Device(d.slot); err == nil {
			_ = fleet.Unregister(counted.ID(), dev.Set()) // it was registered when the run ended
		}
	}
	d.alive = nil
}

func (d *replayDevice) inputError(p *replayer, err error) error {
	return &InputError{File: p.file, Node: int64(d.first), Reason: err.Error(), Err: err}
}

func (p *replayer) fleet(kind int) fleets {
	f := &p.fleets[kind]
	if f.registered == nil {
		*f = fleets{device.NewFleet(), device.NewFleet()}
	}
	return *f
}

// layoutOf returns the layout of a run, built once for equal runs.
func (p *replayer) layoutOf(run []program.CB) (*layout, error) {
	var key []byte
	for _, cb := range run {
		key = append(key, byte(cb.Kind), 0)
		if cb.Global {
			key[len(key)-1] = 1
		}
		key = binary.LittleEndian.AppendUint64(key, cb.Address)
		key = binary.LittleEndian.AppendUint64(key, cb.Size)
		key = binary.LittleEndian.AppendUint32(key, uint32(cb.Cores.Len()))
		for r := range cb.Cores.All() {
			key = append(key, r.Start.X, r.Start.Y, r.End.X, r.End.Y)
		}
	}
	if l := p.layouts[string(key)]; l != nil {
		return l, nil
	}
	l, err := p.build(run)
	if err != nil {
		return nil, err
	}
	p.layouts[string(key)] = l
	return l, nil
}

// build places a run. Circular buffers and the rest are programs of their own,
// since they are placed and counted apart. Where some addresses are recorded and
// some are not, the recorded ones come first: they are facts to place around.
func (p *replayer) build(run []program.CB) (*layout, error) {
	spec := p.decide()
	id := program.ID(len(p.layouts) * numKinds)
	l := &layout{}
	circular, others := program.NewBuilder(id), program.NewBuilder(id+program.ID(program.DataflowBuffer))
	for _, fixed := range []bool{true, false} {
		for _, cb := range run {
			if cb.Fixed != fixed {
				continue
			}
			if cb.Kind == program.CircularBuffer {
				circular.CB(cb)
			} else {
				others.CB(cb)
			}
		}
	}
	one, err := circular.Build(spec)
	if err != nil {
		return nil, err
	}
	if one.Len() > 0 {
		l.counted[program.CircularBuffer] = one
		l.describe(one)
	}
	rest, err := others.Build(spec)
	if err != nil {
		return nil, err
	}
	if rest.Len() > 0 {
		l.rest = rest
		if err := l.countOthers(rest, id); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// describe fills in what the layout says of its circular buffers.
func (l *layout) describe(one *program.Program) {
	f := one.Occupied(program.CircularBuffer)
	l.detail = ProgramDetail{Logical: f.Logical(), Bytes: f.Bytes()}
	for g := range f.Groups() {
		l.detail.Core = max(l.detail.Core, g.Bytes())
	}
	var fixed, unknown bool
	for _, cb := range one.CBs() {
		l.cbs = append(l.cbs, cb)
		if cb.Global {
			l.detail.GlobalCBs++
			continue
		}
		l.detail.LocalCBs++
		fixed, unknown = fixed || cb.Fixed, unknown || !cb.Fixed
		l.sizes[program.CircularBuffer] += cb.Size
		if cores := cb.Cores.Cores(); cores.IsEmpty() {
			l.loose += cb.Size
		} else {
			l.cores = l.cores.Union(cores)
			if cb.Size > 0 {
				l.detail.HighestEnd = max(l.detail.HighestEnd, cb.Range.End)
			}
		}
	}
	l.detail.Cores = l.cores.Len()
	l.recorded, l.placed, l.mixed = fixed, unknown, fixed && unknown
	for finding := range one.Findings() {
		switch finding.Code {
		case program.Overlap:
			l.detail.Overlapping = true
		case program.BeyondL1:
			l.beyond = true
		}
	}
}

// countOthers makes programs that a fleet can count out of the dataflow buffers and
// scratchpads of a run: circular buffers at the addresses they got.
func (l *layout) countOthers(rest *program.Program, id program.ID) error {
	builders := [numKinds]*program.Builder{}
	for _, cb := range rest.CBs() {
		b := builders[cb.Kind]
		if b == nil {
			b = program.NewBuilder(id + program.ID(cb.Kind))
			builders[cb.Kind] = b
		}
		if !cb.Global {
			b.Range(cb.Cores, cb.Range)
			l.sizes[cb.Kind] += cb.Size
			l.placed = l.placed || !cb.Fixed
		} else {
			b.CB(program.CB{Cores: cb.Cores, Global: true})
		}
	}
	for kind, b := range builders {
		if b == nil {
			continue
		}
		var err error
		if l.counted[kind], err = b.Build(rest.Spec()); err != nil {
			return err
		}
	}
	return nil
}

// finish completes and returns the device's row.
func (d *replayDevice) finish(p *replayer) Device {
	d.row.ID = d.id
	d.row.Cores = d.cores.Len()
	d.row.ResidentPeak, d.row.CorePeak, d.row.Registered, d.row.RegisteredCorePeak = d.totals(p, program.CircularBuffer)
	for kind, f := range map[program.Kind]*KindFigures{
		program.DataflowBuffer: &d.row.Dataflow,
		program.Scratchpad:     &d.row.Scratchpad,
	} {
		f.ResidentPeak, f.CorePeak, f.Registered, f.RegisteredCorePeak = d.totals(p, kind)
	}
	if f := p.fleets[program.CircularBuffer]; f.registered != nil {
		if dev, err := f.registered.Device(d.slot); err == nil {
			resident, _ := f.resident.Device(d.slot) // added together
			d.row.RegisteredRangeGranular = dev.Totals().Reserved
			d.row.ResidentFinal = resident.Registered()
			if p.final == nil {
				p.final = f.registered.Snapshot()
			}
			d.row.CoreGroups = coreGroups(p.final, dev, resident)
			d.row.Fullest = d.fullest()
		}
	}
	return d.row
}

func (d *replayDevice) totals(p *replayer, kind program.Kind) (peak, corePeak, registered, registeredCore uint64) {
	f := p.fleets[kind]
	if f.registered == nil {
		return 0, 0, 0, 0
	}
	dev, err := f.registered.Device(d.slot)
	if err != nil {
		return 0, 0, 0, 0
	}
	resident, _ := f.resident.Device(d.slot) // added together
	all, alive := dev.Totals(), resident.Totals()
	return alive.Peak.Registered, alive.Peak.Core, all.Registered, all.Core
}

// coreGroups divides the cores by what is registered on them and by the peak of
// what was alive.
func coreGroups(final *device.Snapshot, dev, resident device.Device) []CoreGroup {
	snapshot, ok := final.Device(dev.ID())
	if !ok {
		return nil
	}
	var out []CoreGroup
	for g := range snapshot.Groups() {
		peaks := map[uint64][]l1.Core{}
		var order []uint64
		for c := range g.Cores.All() {
			peak := resident.Core(c).Peak
			if peaks[peak] == nil {
				order = append(order, peak)
			}
			peaks[peak] = append(peaks[peak], c)
		}
		for _, peak := range order {
			out = append(out, CoreGroup{
				Cores: l1.CoreSetOf(peaks[peak]...), Registered: g.Registered, AlivePeak: peak,
				Regions: slices.Collect(g.Regions()), Programs: g.Programs,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b CoreGroup) int { return firstCore(a.Cores).Compare(firstCore(b.Cores)) })
	return out
}

func firstCore(s l1.CoreSet) l1.Core {
	for c := range s.All() {
		return c
	}
	return l1.Core{X: math.MaxUint8, Y: math.MaxUint8}
}

// fullest finds the core on which most is registered and the program with the
// largest share of it, the first one of equals.
func (d *replayDevice) fullest() *Fullest {
	var f *Fullest
	for _, g := range d.row.CoreGroups {
		switch {
		case f == nil || g.Registered > f.Bytes:
			f = &Fullest{Core: firstCore(g.Cores), Cores: g.Cores.Len(), Bytes: g.Registered}
			if n := len(g.Regions); n > 0 {
				f.End = g.Regions[n-1].End
			}
		case g.Registered == f.Bytes:
			f.Cores += g.Cores.Len()
		}
	}
	if f == nil || f.Bytes == 0 {
		return nil
	}
	best := math.MaxInt
	for l, row := range d.detail {
		g, ok := l.counted[program.CircularBuffer].Occupied(program.CircularBuffer).On(f.Core)
		if ok && (g.Bytes() > f.Share || g.Bytes() == f.Share && row < best) {
			best, f.Share = row, g.Bytes()
			f.Program = d.row.ProgramsDetail[row]
		}
	}
	return f
}
