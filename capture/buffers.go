package capture

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
)

// maxAhead bounds how many tensors to come are remembered with their buffers. Beyond
// it cores of sharded buffers are not known.
const maxAhead = 1 << 16

// bufferKind returns the kind of a buffer: its buffer_type, or else its type, as which
// L1_SMALL buffers say L1.
func bufferKind(n *Node) (kind device.Kind, ok bool) {
	if n.BufferType.OK {
		kinds := []device.Kind{device.KindDRAM, device.KindL1, device.KindSystem, device.KindL1Small, device.KindTrace}
		if n.BufferType.V < uint64(len(kinds)) {
			return kinds[n.BufferType.V], true
		}
	}
	switch n.TypeName {
	case "DRAM":
		return device.KindDRAM, true
	case "L1":
		return device.KindL1, true
	case "L1_SMALL":
		return device.KindL1Small, true
	case "SYSTEM_MEMORY":
		return device.KindSystem, true
	case "TRACE":
		return device.KindTrace, true
	}
	return 0, false
}

// bufferNode takes in that operations know a buffer. If no allocation follows, it is
// from before the capture.
func (p *replayer) bufferNode(n *Node) {
	m := p.memory
	m.newest = n
	added := 0
	for _, c := range n.Connections {
		if c > n.Counter && len(m.nodes) < maxAhead && added < 8 {
			m.nodes[c] = n.Counter
			added++
		}
	}
}

// settleNode decides about the last buffer node when the next node is there.
func (p *replayer) settleNode(n *Node) {
	m := p.memory
	old := m.newest
	if old == nil {
		return
	}
	m.newest = nil
	if n.Type == TypeBufferAllocate && slices.Contains(n.Connections, old.Counter) {
		return
	}
	if kind, ok := bufferKind(old); ok && (kind == device.KindL1 || kind == device.KindL1Small) {
		m.earlier.L1++
		m.earlier.Bytes = min(m.earlier.Bytes+old.Size.V, l1.MaxAddr)
	} else {
		m.earlier.Other++
	}
}

// tensor takes in a tensor, which tells the cores of a sharded buffer.
func (p *replayer) tensor(n *Node) error {
	m := p.memory
	node, named := m.nodes[n.Counter]
	delete(m.nodes, n.Counter)
	if n.ShardGrid.Len() == 0 {
		return nil
	}
	p.see(n.ShardGrid)
	if b := m.waiting; b != nil && named && b.node == some(node) {
		b.cores, b.known, m.waiting = n.ShardGrid.Cores(), true, nil
		return p.settleBuffer(b)
	}
	if !named || len(m.byNode[node]) == 0 {
		return nil
	}
	b := m.byNode[node][len(m.byNode[node])-1]
	if !b.sharded || b.known {
		return nil
	}
	// It came after something that its cores matter for.
	cores := n.ShardGrid.Cores()
	if len(p.know.grids) < maxAhead {
		p.know.grids[b.info.At] = cores
		p.know.late = true
	}
	on := slices.Clone(b.on)
	for _, d := range on {
		if err := p.lift(b, d); err != nil {
			return err
		}
	}
	b.cores, b.known, b.hash = cores, true, sum128{}
	for _, d := range on {
		if err := p.lay(b, d); err != nil {
			return err
		}
	}
	return nil
}

// settle lays the buffer that waits for its cores: something has come that it
// matters for.
func (p *replayer) settle() error {
	b := p.memory.waiting
	if b == nil {
		return nil
	}
	p.memory.waiting = nil
	return p.settleBuffer(b)
}

// allocate takes in an allocation.
func (p *replayer) allocate(n *Node) error {
	m := p.memory
	kind, ok := bufferKind(n)
	if !ok {
		p.note(CodeBufferUnplaced, int64(n.Counter), "unknown type "+n.TypeName)
		return nil
	}
	m.serial++
	b := &liveBuffer{
		id:  m.serial,
		key: looseKey{n.DeviceID, n.Address.V, kind},
		info: BufferInfo{
			At: n.Counter, Op: p.opPath(), Device: n.DeviceID, Kind: kind, Size: n.Size.V, Layout: n.Layout,
			PerCore: n.MaxSizePerBank,
		},
	}
	if len(n.Connections) > 0 {
		b.node = some(n.Connections[0])
	}
	if of := p.meshBuffer(b); of != nil {
		return p.back(of, b)
	}
	m.live[b.id] = b
	if b.node.OK {
		m.byNode[b.node.V] = append(m.byNode[b.node.V], b)
	} else {
		m.loose[b.key] = append(m.loose[b.key], b)
	}
	if kind.InL1() {
		p.measure(b, n)
	}
	if b.sharded && b.info.PerCore.OK {
		if cores, ok := p.know.grids[n.Counter]; ok {
			b.cores, b.known = cores, true
		} else {
			m.waiting = b
			return nil
		}
	}
	return p.settleBuffer(b)
}

// measure finds how much of a core a buffer in L1 takes, and where, as far as its
// allocation says so.
func (p *replayer) measure(b *liveBuffer, n *Node) {
	b.sharded = n.NumCores.V > 0 || strings.HasSuffix(n.Layout, "SHARDED")
	cores, from := p.grid(n.DeviceID)
	if !b.info.PerCore.OK && !b.sharded && from != FromAssumed && n.PageSize.V > 0 && n.Size.OK {
		pages := n.Size.V / n.PageSize.V
		if n.Size.V%n.PageSize.V != 0 {
			pages++
		}
		each := pages / uint64(cores.Len())
		if pages%uint64(cores.Len()) != 0 {
			each++
		}
		if each == 0 || n.PageSize.V <= maxL1/each {
			b.info.PerCore = some(each * n.PageSize.V)
		}
	}
	if n.Address.V > 0 {
		b.info.Address = n.Address
	}
}

// meshBuffer returns the live buffer of a mesh of which b is the same on one of its
// chips: same address and size, by the same buffer node or by none.
func (p *replayer) meshBuffer(b *liveBuffer) *liveBuffer {
	if !b.info.Device.OK || b.key.address == 0 {
		return nil
	}
	same := func(o *liveBuffer) bool {
		return o.info.Device.OK && o.info.Device != b.info.Device && o.key.address == b.key.address && o.info.Size == b.info.Size &&
			o.info.Kind == b.info.Kind && p.reaches(o.info.Device, b.info.Device) && o.backing[b.info.Device.V] == 0
	}
	if b.node.OK {
		for _, o := range p.memory.byNode[b.node.V] {
			if same(o) {
				return o
			}
		}
		return nil
	}
	for mesh, chips := range p.know.chips {
		if !slices.Contains(chips, b.info.Device.V) {
			continue
		}
		for _, o := range p.memory.loose[looseKey{some(mesh), b.key.address, b.info.Kind}] {
			if same(o) {
				return o
			}
		}
	}
	return nil
}

// back counts an allocation on a chip of which the mesh's is live: one of the two
// backs the other.
func (p *replayer) back(of, b *liveBuffer) error {
	if of.backing == nil {
		of.backing = map[uint64]device.BufferID{}
	}
	of.backing[b.info.Device.V] = b.id
	d, err := p.l1Of(b.info.Device)
	if err != nil {
		return err
	}
	d.row.Backings++
	return nil
}

// settleBuffer lays a new buffer on its devices.
func (p *replayer) settleBuffer(b *liveBuffer) error {
	on, err := p.reached(b.info.Device)
	if err != nil {
		return err
	}
	for _, d := range on {
		d.touched = true
		d.own = d.own || b.info.Kind.InL1() && d.id == b.info.Device
		if slices.Contains(b.on, d) {
			continue // it was made just now, with all that lives
		}
		if err := p.lay(b, d); err != nil {
			return err
		}
	}
	unplaced := b.info.Kind.InL1() && b.r.IsEmpty() && b.info.PerCore != some(uint64(0))
	assumed := b.sharded && !b.known && !unplaced
	if unplaced && (b.info.Kind != device.KindL1Small || b.key.address != 0) { // no option says where L1_SMALL is
		p.note(CodeBufferUnplaced, int64(b.info.At), "")
	}
	for _, d := range on {
		if unplaced {
			d.row.Unplaced++
		}
		if assumed {
			d.row.Assumed++
		}
	}
	return nil
}

// lay puts a buffer on one device and takes in what peaks it makes.
func (p *replayer) lay(b *liveBuffer, d *l1Device) error {
	kind := b.info.Kind
	figures := []struct {
		now   *uint64
		both  *HighLow
		bytes uint64
	}{{&d.kinds.count, &d.row.Buffers, 1}, {nil, nil, 0}}
	switch kind {
	case device.KindL1:
		figures[1].now, figures[1].both = &d.kinds.l1, &d.row.L1
	case device.KindL1Small:
		figures[1].now, figures[1].both = &d.kinds.small, &d.row.L1Small
	case device.KindDRAM:
		figures[1].now, figures[1].both = &d.kinds.dram, &d.row.DRAM
	}
	figures[1].bytes = b.info.Size
	for _, f := range figures {
		if f.now == nil {
			continue
		}
		if *f.now > l1.MaxAddr-f.bytes {
			return &InputError{File: p.file, Node: int64(b.info.At), Reason: "sizes sum to more than 2^63-1 bytes"}
		}
		*f.now += f.bytes
		f.both.Peak = max(f.both.Peak, *f.now)
	}
	b.on = append(b.on, d)
	if !kind.InL1() {
		return nil
	}
	p.locate(b, d)
	if b.r.IsEmpty() {
		return nil
	}
	cores := p.coresOf(b, d)
	if d.rise != nil && d.load(cores, 0, 0) <= d.rise.bytes-min(d.rise.bytes, b.r.Len()) {
		p.writeRise(d) // this buffer goes where there is less
	}
	if err := p.allocateOn(d, b, cores); err != nil {
		return err
	}
	if b.hash == (sum128{}) {
		b.hash = b.sum(cores)
	}
	d.content = d.content.plus(b.hash)
	p.rises(d, d.load(cores, b.r.Len(), 0), b)
	return nil
}

// allocateOn counts a buffer on a device. If it overlaps something, it may not add to
// the rise of the device, which then is written down as it was before.
func (p *replayer) allocateOn(d *l1Device, b *liveBuffer, cores l1.CoreSet) error {
	f, set := p.memory.fleet, d.dev.Set()
	whole := device.Buffer{
		ID: b.id, Kind: b.info.Kind, Size: b.info.Size, Parts: []device.Part{{Cores: cores, Range: b.r}}, Name: b.info.Op,
	}
	err := f.Allocate(whole, set)
	if added := b.r.Len() * uint64(cores.Len()); err == nil && d.rise != nil && d.dev.Totals().Tracked != d.bound+added {
		if _, err = f.Free(b.id, set); err == nil {
			p.writeRise(d)
			err = f.Allocate(whole, set)
		}
	}
	if err != nil {
		return &InputError{File: p.file, Node: int64(b.info.At), Reason: err.Error(), Err: err}
	}
	return nil
}

// coresOf returns the cores of a device on which a buffer lies: all of them where it
// is interleaved, or nobody says where.
func (p *replayer) coresOf(b *liveBuffer, d *l1Device) l1.CoreSet {
	if b.known {
		return b.cores
	}
	cores, _ := p.grid(d.id)
	return cores
}

// sum hashes what a buffer is on the cores.
func (b *liveBuffer) sum(cores l1.CoreSet) sum128 {
	var text []byte
	text = append(text, byte(b.info.Kind))
	text = binary.LittleEndian.AppendUint64(text, b.r.Start)
	text = binary.LittleEndian.AppendUint64(text, b.r.End)
	text = append(text, cores.String()...)
	h := fnv.New128a()
	h.Write(text) // never fails
	text = h.Sum(text[:0])
	return sum128{binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])}
}

// locate finds the range of a buffer in L1 when it is laid for the first time. One
// without an address goes to the highest gap that is free on all cores of its devices.
func (p *replayer) locate(b *liveBuffer, d *l1Device) {
	size := b.info.PerCore
	if b.located || !size.OK {
		return
	}
	b.located = true
	if b.info.Address.OK {
		if size.V > maxL1 || b.info.Address.V > maxL1-size.V {
			b.info.Address = Opt[uint64]{} // no place in any L1
			return
		}
		b.r = l1.Range{Start: b.info.Address.V, End: b.info.Address.V + size.V}
		p.memory.insert(b)
		p.mark(b, true)
		return
	}
	spec := p.decide()
	low, high := spec.CBBase, spec.L1Size-spec.L1Small
	if b.info.Kind == device.KindL1Small {
		low, high = high, spec.L1Size
	}
	start, ok := p.gap(b, d, low, high, size.V)
	if !ok {
		return
	}
	b.info.Address, b.r = some(start), l1.Range{Start: start, End: start + size.V}
	p.memory.insert(b)
	p.mark(b, false)
}

// gap returns the address of the highest free gap between two addresses.
func (p *replayer) gap(b *liveBuffer, d *l1Device, low, high, size uint64) (start uint64, ok bool) {
	on, err := p.reached(b.info.Device)
	if err != nil {
		return 0, false
	}
	if !slices.Contains(on, d) {
		on = append(on, d)
	}
	among := make(map[*l1Device]bool, len(on))
	for _, d := range on {
		among[d] = true
	}
	align := max(p.decide().L1Align, 1)
	fits := func(from uint64) bool {
		if high < low || high-low < size {
			return false
		}
		start = (high - size) / align * align
		return start >= max(low, from)
	}
	for _, o := range p.memory.high {
		if o.r.Start >= high || !slices.ContainsFunc(o.on, func(d *l1Device) bool { return among[d] }) {
			continue
		}
		if o.r.End <= high && fits(o.r.End) {
			return start, true
		}
		high = o.r.Start
	}
	return start, fits(low)
}

// insert takes in that a buffer lies somewhere.
func (m *memory) insert(b *liveBuffer) {
	if b.r.IsEmpty() {
		return
	}
	i, _ := slices.BinarySearchFunc(m.high, b, byHeight)
	m.high = slices.Insert(m.high, i, b)
}

// remove takes a buffer out that is not live any more.
func (m *memory) remove(b *liveBuffer) {
	if i, ok := slices.BinarySearchFunc(m.high, b, byHeight); ok {
		m.high = slices.Delete(m.high, i, i+1)
	}
}

// byHeight orders buffers by where they end, the highest first.
func byHeight(a, b *liveBuffer) int {
	return cmp.Or(cmp.Compare(b.r.End, a.r.End), cmp.Compare(a.id, b.id))
}

// mark says on a buffer's devices where its address comes from.
func (p *replayer) mark(b *liveBuffer, recorded bool) {
	on, _ := p.reached(b.info.Device) // they are there
	for _, d := range append(on, b.on...) {
		d.row.Addresses = d.row.Addresses.with(recorded, !recorded)
	}
}

// lift takes a buffer off one device.
func (p *replayer) lift(b *liveBuffer, d *l1Device) error {
	p.writeRise(d)
	b.on = slices.DeleteFunc(b.on, func(o *l1Device) bool { return o == d })
	d.kinds.count--
	switch b.info.Kind {
	case device.KindL1:
		d.kinds.l1 -= b.info.Size
	case device.KindL1Small:
		d.kinds.small -= b.info.Size
	case device.KindDRAM:
		d.kinds.dram -= b.info.Size
	}
	if b.r.IsEmpty() {
		return nil
	}
	freed, err := p.memory.fleet.Free(b.id, d.dev.Set())
	if err != nil {
		return &InputError{File: p.file, Node: int64(b.info.At), Reason: err.Error(), Err: err}
	}
	d.content = d.content.minus(b.hash)
	for part := range freed.All() {
		d.load(part.Cores, 0, part.Range.Len())
	}
	return nil
}

// free takes in a free. It reports whether it found the allocation.
func (p *replayer) freeBuffer(n *Node) (found bool, err error) {
	b, backing := p.pair(n)
	if backing || b == nil {
		return backing, nil
	}
	m := p.memory
	for _, d := range b.on {
		p.writeRise(d) // while the buffer is known
	}
	delete(m.live, b.id)
	m.remove(b)
	remove := func(list []*liveBuffer) []*liveBuffer {
		return slices.DeleteFunc(list, func(o *liveBuffer) bool { return o == b })
	}
	if b.node.OK {
		if m.byNode[b.node.V] = remove(m.byNode[b.node.V]); len(m.byNode[b.node.V]) == 0 {
			delete(m.byNode, b.node.V)
		}
	} else if m.loose[b.key] = remove(m.loose[b.key]); len(m.loose[b.key]) == 0 {
		delete(m.loose, b.key)
	}
	for _, d := range slices.Clone(b.on) {
		if err := p.lift(b, d); err != nil {
			return true, err
		}
		d.freed(b, n.Counter)
	}
	return true, nil
}

// pair finds the allocation that a free ends: that of its buffer node and id, or the
// last one of the node. backing says that it ended what backs one.
func (p *replayer) pair(n *Node) (found *liveBuffer, backing bool) {
	m := p.memory
	list := []*liveBuffer(nil)
	for _, c := range n.Connections {
		if list = m.byNode[c]; len(list) > 0 {
			break
		}
	}
	if len(n.Connections) == 0 {
		kind, _ := bufferKind(n)
		list = m.loose[looseKey{n.DeviceID, n.Address.V, kind}]
		if len(list) == 0 && n.DeviceID.OK && n.Address.V != 0 {
			for mesh, chips := range p.know.chips {
				if slices.Contains(chips, n.DeviceID.V) {
					list = append(list, m.loose[looseKey{some(mesh), n.Address.V, kind}]...)
				}
			}
			list = slices.DeleteFunc(list, func(b *liveBuffer) bool { return b.backing[n.DeviceID.V] == 0 })
		}
	}
	for _, b := range slices.Backward(list) {
		if b.info.Device == n.DeviceID {
			return b, false
		}
	}
	if n.DeviceID.OK {
		for _, b := range list {
			if b.backing[n.DeviceID.V] != 0 {
				delete(b.backing, n.DeviceID.V)
				return b, true
			}
		}
	}
	if len(list) > 0 {
		return list[len(list)-1], false
	}
	return nil, false
}

// freed looks whether a free shows that the last peak was a spike.
func (d *l1Device) freed(b *liveBuffer, at uint64) {
	s := d.spike
	if s == nil || s.of.Spike != nil || b == s.new || b.info.Kind != s.new.info.Kind || b.info.Size != s.new.info.Size || b.r.IsEmpty() {
		return
	}
	if !slices.ContainsFunc(s.of.Residents, func(r L1Resident) bool { return r.Buffer != nil && r.Buffer.At == b.info.At && r.Range == b.r }) {
		return
	}
	s.of.Spike = &Spike{
		New: s.new.info, Old: b.info, FreedAt: at,
		Without: d.dev.CoreUsage(s.of.Core, device.BasisResident).Tracked,
	}
}
