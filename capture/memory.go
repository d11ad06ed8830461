package capture

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// memory follows what lives in the whole L1 of the devices of one capture.
//
// Every id on a buffer event or CB node has an l1Device, meshes too: chips of a mesh
// often show only after its first buffers, and then start with what the mesh has.
type memory struct {
	fleet   *device.Fleet
	devices map[Opt[uint64]]*l1Device
	order   []*l1Device // by id, while none is added

	live    map[device.BufferID]*liveBuffer
	high    []*liveBuffer              // those that lie somewhere, the highest first
	byNode  map[uint64][]*liveBuffer   // by the buffer node that the allocation names, in their order
	loose   map[looseKey][]*liveBuffer // of allocations that name none
	serial  device.BufferID
	waiting *liveBuffer // a sharded buffer of which the next tensor tells the cores

	nodes   map[uint64]uint64 // tensors to come -> the buffer node that names them
	newest  *Node             // the last buffer node, while nothing followed it
	earlier Earlier
}

// An l1Device is the L1 of one device id.
type l1Device struct {
	id    Opt[uint64]
	slot  device.ID
	dev   device.Device
	row   DeviceL1
	kinds struct{ l1, small, dram, count uint64 } // live now

	touched bool // a buffer was allocated or freed
	own     bool // one in L1 under this very id
	ran     bool // a program was

	content sum128 // of the buffers in L1, by content: equal ones make equal sums
	runs    map[*program.Program]ProgramRun
	bytes   []coreBytes            // by x*usualRows+y
	far     map[l1.Core]*coreBytes // of cores beyond these rows
	bound   uint64                 // sum of bytes: what is tracked, if nothing overlaps
	last    *layout                // of the last run
	spike   *l1Spike
	rise    *rise
}

// coreBytes bound from above what a core holds.
type coreBytes struct {
	buffers uint64
	placed  [numKinds]uint64 // by the last program
}

func (b *coreBytes) sum() uint64 {
	n := b.buffers
	for _, k := range b.placed {
		n += k
	}
	return n
}

// An l1Spike is a peak that may turn out to be one: nothing but frees came after it.
type l1Spike struct {
	of  *L1Peak
	new *liveBuffer
}

// A liveBuffer is an allocation that was not freed yet.
type liveBuffer struct {
	id      device.BufferID
	info    BufferInfo
	key     looseKey
	node    Opt[uint64]
	backing map[uint64]device.BufferID // chips whose own allocation is shown too

	sharded bool
	known   bool // cores are, of a sharded one
	cores   l1.CoreSet
	located bool     // r is settled
	r       l1.Range // empty if it lies nowhere
	hash    sum128
	on      []*l1Device
}

// A looseKey is all that pairs the events of a buffer without connections.
type looseKey struct {
	device  Opt[uint64]
	address uint64
	kind    device.Kind
}

// usualRows is more than the rows of any real grid.
const usualRows = 16

// A sum128 is a sum of hashes: the order of what went in does not matter.
type sum128 struct{ hi, lo uint64 }

func (s sum128) plus(o sum128) sum128 {
	lo, carry := bits.Add64(s.lo, o.lo, 0)
	hi, _ := bits.Add64(s.hi, o.hi, carry)
	return sum128{hi, lo}
}

func (s sum128) minus(o sum128) sum128 {
	lo, borrow := bits.Sub64(s.lo, o.lo, 0)
	hi, _ := bits.Sub64(s.hi, o.hi, borrow)
	return sum128{hi, lo}
}

func newMemory() *memory {
	return &memory{
		fleet:   device.NewFleet(),
		devices: map[Opt[uint64]]*l1Device{},
		live:    map[device.BufferID]*liveBuffer{},
		byNode:  map[uint64][]*liveBuffer{},
		loose:   map[looseKey][]*liveBuffer{},
		nodes:   map[uint64]uint64{},
	}
}

func slotOf(id Opt[uint64]) device.ID {
	if !id.OK {
		return noDevice
	}
	return device.ID(id.V)
}

// l1Of returns the device with an id, made from what its meshes have if it is new.
func (p *replayer) l1Of(id Opt[uint64]) (*l1Device, error) {
	m := p.memory
	if d := m.devices[id]; d != nil {
		return d, nil
	}
	d := &l1Device{id: id, slot: slotOf(id), runs: map[*program.Program]ProgramRun{}}
	d.row = DeviceL1{ID: id, Addresses: AddressesNone}
	var err error
	if d.dev, err = m.fleet.AddDevice(d.slot, p.decide()); err != nil {
		return nil, &InputError{File: p.file, Node: -1, Reason: err.Error(), Err: err}
	}
	if p.know.ids[id] = true; !id.OK {
		m.add(d)
		return d, nil
	}
	first := true
	for _, from := range p.meshesOf(id) {
		if !from.touched {
			continue
		}
		if !first || from.ran || !p.sameGrid(from.id, id) {
			p.know.late = true // its history is not the mesh's
		}
		if first {
			p.writeRise(from)
			d.inherit(from)
		}
		first = false
	}
	m.add(d)
	peak, spike := d.row.Peak, d.spike
	for _, b := range m.sortedLive() {
		if p.reaches(b.info.Device, id) && b != m.waiting {
			if err := p.lay(b, d); err != nil {
				return nil, err
			}
		}
	}
	if p.writeRise(d); d.row.Peak == peak {
		d.spike = spike
	}
	return d, nil
}

// meshesOf returns the devices whose buffers lie on a chip too, by id.
func (p *replayer) meshesOf(chip Opt[uint64]) []*l1Device {
	var out []*l1Device
	if d := p.memory.devices[Opt[uint64]{}]; d != nil {
		out = append(out, d)
	}
	for mesh := range p.know.chips {
		if d := p.memory.devices[some(mesh)]; d != nil && p.reaches(some(mesh), chip) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *l1Device) int { return compareID(a.id, b.id) })
	return out
}

// inherit takes over the history of a mesh that the device is a chip of.
func (d *l1Device) inherit(from *l1Device) {
	d.touched = true
	row := from.row
	row.ID, row.Dispatched = d.id, nil
	if row.Peak != nil {
		peak := *row.Peak
		row.Peak = &peak
		if from.spike != nil && from.spike.of == from.row.Peak {
			d.spike = &l1Spike{&peak, from.spike.new}
		}
	}
	row.Unplaced, row.Assumed, row.Addresses = from.row.Unplaced, from.row.Assumed, from.row.Addresses
	d.row = row
}

// reaches reports whether a buffer of one id lies on the device with another.
func (p *replayer) reaches(from, to Opt[uint64]) bool {
	if !from.OK || from == to {
		return true
	}
	if !to.OK {
		return false
	}
	_, ok := slices.BinarySearch(p.know.chips[from.V], to.V)
	return ok
}

// reached returns the devices on which a buffer of an id lies, by id.
func (p *replayer) reached(id Opt[uint64]) ([]*l1Device, error) {
	if _, err := p.l1Of(id); err != nil {
		return nil, err
	}
	var out []*l1Device
	if id.OK {
		out = append(out, p.memory.devices[id])
		for _, chip := range p.know.chips[id.V] {
			if d := p.memory.devices[some(chip)]; d != nil {
				out = append(out, d)
			}
		}
		return out, nil
	}
	return p.memory.sorted(), nil
}

func (m *memory) add(d *l1Device) { m.devices[d.id], m.order = d, nil }

// sorted returns the devices by id. The caller must not change them.
func (m *memory) sorted() []*l1Device {
	if m.order == nil {
		m.order = slices.SortedFunc(maps.Values(m.devices), func(a, b *l1Device) int { return compareID(a.id, b.id) })
	}
	return slices.Clip(m.order)
}

// compareID orders ids, the absent one first.
func compareID(a, b Opt[uint64]) int {
	if a.OK != b.OK {
		if b.OK {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.V, b.V)
}

func (m *memory) sortedLive() []*liveBuffer {
	out := make([]*liveBuffer, 0, len(m.live))
	for _, id := range slices.Sorted(maps.Keys(m.live)) {
		out = append(out, m.live[id])
	}
	return out
}

// start makes the devices that an earlier reading has met, so that none comes late.
func (p *replayer) start() error {
	for _, id := range slices.SortedFunc(maps.Keys(p.know.ids), compareID) {
		if _, err := p.l1Of(id); err != nil {
			return err
		}
	}
	return nil
}

// joins takes in that a mesh has a chip which may have missed its buffers.
func (p *replayer) joins(mesh, chip uint64) error {
	m := p.memory
	d := m.devices[some(chip)]
	if d == nil {
		return nil // it starts with what the mesh has
	}
	if m.waiting != nil && m.waiting.info.Device == some(mesh) {
		if err := p.settle(); err != nil {
			return err
		}
	}
	if from := m.devices[some(mesh)]; from == nil || !from.touched {
		return nil
	}
	p.know.late = true
	for _, b := range p.memory.sortedLive() {
		if b.info.Device == some(mesh) && b != p.memory.waiting && !slices.Contains(b.on, d) {
			if err := p.lay(b, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// grid returns the cores on which interleaved buffers of a device lie, and who says
// so. The grid that is assumed grows with the cores that the capture shows.
func (p *replayer) grid(id Opt[uint64]) (l1.CoreSet, Source) {
	g, ok := p.grids[id]
	if !ok {
		g.cores, g.from = p.findGrid(id)
		p.grids[id] = g
	}
	return g.cores, g.from
}

// A coreGrid is the grid of a device.
type coreGrid struct {
	cores l1.CoreSet
	from  Source
}

func (p *replayer) findGrid(id Opt[uint64]) (l1.CoreSet, Source) {
	devices := p.know.devices
	if devices == nil && p.reader.Info().Early {
		devices = p.reader.Info().Devices
	}
	cols, rows, from := 0, 0, FromAssumed
	for _, d := range devices {
		if !legalGrid(d) || from == FromFile && some(d.ID) != id {
			continue
		}
		cols, rows, from = int(d.GridX.V), int(d.GridY.V), FromFile
	}
	if from == FromAssumed {
		for _, board := range l1.Boards() {
			if board.Arch == p.decide().Arch && board.Cols*board.Rows > cols*rows {
				cols, rows = board.Cols, board.Rows
			}
		}
		cols, rows = max(cols, int(p.know.seen.X)+1), max(rows, int(p.know.seen.Y)+1)
	}
	return l1.Spec{Cols: cols, Rows: rows}.Grid().Cores(), from
}

func (p *replayer) sameGrid(a, b Opt[uint64]) bool {
	one, _ := p.grid(a)
	other, _ := p.grid(b)
	return one.Equal(other)
}

func legalGrid(d DeviceInfo) bool {
	return d.GridX.V >= 1 && d.GridX.V <= 256 && d.GridY.V >= 1 && d.GridY.V <= 256
}

// see takes in the cores of a node. If the assumed grid turns out to be too small
// after buffers were laid on it, this reading has laid them on too few cores.
func (p *replayer) see(set l1.CoreRangeSet) {
	for r := range set.All() {
		seen := l1.Core{X: max(p.know.seen.X, r.End.X), Y: max(p.know.seen.Y, r.End.Y)}
		if seen == p.know.seen {
			continue
		}
		old := p.grids
		p.know.seen, p.grids = seen, map[Opt[uint64]]coreGrid{}
		for id, g := range old {
			if cores, _ := p.grid(id); !cores.Equal(g.cores) {
				p.know.late = true
			}
		}
	}
}

// load adds the bound of what a core holds, or takes it off again, and returns the
// largest bound of these cores.
func (d *l1Device) load(cores l1.CoreSet, add, sub uint64) (most uint64) {
	for c := range cores.All() {
		b := d.at(c)
		b.buffers += add - sub
		d.bound += add - sub
		most = max(most, b.sum())
	}
	return most
}

func (d *l1Device) at(c l1.Core) *coreBytes {
	if c.Y >= usualRows {
		b := d.far[c]
		if b == nil {
			if d.far == nil {
				d.far = map[l1.Core]*coreBytes{}
			}
			b = &coreBytes{}
			d.far[c] = b
		}
		return b
	}
	i := int(c.X)*usualRows + int(c.Y)
	if i >= len(d.bytes) {
		d.bytes = append(d.bytes, make([]coreBytes, (int(c.X)+1)*usualRows-len(d.bytes))...)
	}
	return &d.bytes[i]
}
