package device

import (
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxResidues is how many residues, and how many ways from one to another, are
// remembered so that devices which reach the same one find it, for nothing. Beyond it
// all are forgotten and found anew.
const maxResidues = 1024

// A writing is what was on a device and what a dispatch wrote over it.
type writing struct {
	under, over *residue
}

// write puts a residue over what the devices in slots hold.
func (f *Fleet) write(id program.ID, slots bitset, over *residue) error {
	o, err := f.writable(id, slots, over)
	if err == nil {
		f.overwrite(slots, over, &o)
	}
	return err
}

// overwrite is write after writable.
func (f *Fleet) overwrite(slots bitset, over *residue, o *overlays) {
	switch {
	case !o.moves:
		return
	case o.inPlace:
		f.rewrite(slots, over, o.alone)
	default:
		for slot := range slots.all() {
			c := f.slots[slot]
			f.leave1(c, o.of(f, c.left, over))
		}
	}
	f.publishMeshes()
}

// rewrite is overwrite where all devices in slots, and no others, hold a loose residue.
func (f *Fleet) rewrite(slots bitset, over, r *residue) {
	before := r.charge
	r.repaint(over)
	f.recall.note(f.recall.came(r.hash))
	to := r
	if r.n == over.n { // nothing of what was there is left
		to = over
		to.users += r.users
	}
	for slot := range slots.all() {
		c := f.slots[slot]
		c.left = to
		f.noteLeft(c, to.bytes-before, to.charge-before)
	}
}

// alone returns what all devices in slots hold, if no others do and they never had anything but
// circular buffers, and the largest load of their meshes. It returns nil where nobody asks.
func (f *Fleet) alone(slots bitset) (r *residue, most uint64) {
	n := 0
	for slot := range slots.all() {
		c := f.slots[slot]
		if n++; n == 1 && f.recall.off {
			r = c.left
		}
		if r == nil || c.left != r || c.memory != nil {
			return nil, 0
		}
		if c.mesh != nil {
			most = max(most, c.mesh.load)
		}
	}
	if r == nil || r.users != n {
		return nil, 0
	}
	return r, most
}

// writable refuses to put a residue over what the devices in slots hold if a sum would
// overflow: only what is left in the end counts. It returns what is to be done.
func (f *Fleet) writable(id program.ID, slots bitset, over *residue) (o overlays, err error) {
	var most uint64 // largest load of a mesh
	o.alone, most = f.alone(slots)
	if r := o.alone; r != nil && r.loose && over.other == 0 {
		bytes := r.charge + over.charge // at most, on each device
		if most <= l1.MaxAddr/2 && bytes <= l1.MaxAddr/2/uint64(r.users) {
			o.moves, o.inPlace = true, true
			return o, f.faults.step()
		}
	}
	var m *mesh
	var writes uint64 // sum of what is written, saturated
	for slot := range slots.all() {
		c := f.slots[slot]
		left := c.left
		to := o.of(f, left, over)
		if err := f.faults.step(); err != nil {
			return o, err
		}
		if to == left {
			continue
		}
		o.moves = true
		if to.charged() > l1.MaxAddr-c.heap().charged() {
			return o, &OverflowError{Program: id, Device: c.id}
		}
		if writes += to.charged(); writes > l1.MaxAddr {
			writes = l1.MaxAddr
		}
		if c.mesh != m && c.mesh != nil {
			m = c.mesh
			most = max(most, m.load)
		}
	}
	// That is nearly always so small that nothing can overflow.
	if writes > l1.MaxAddr/2 || most > l1.MaxAddr/2 {
		if err := f.writableOnMeshes(id, slots, over, &o); err != nil {
			return o, err
		}
	}
	return o, f.faults.step()
}

func (f *Fleet) writableOnMeshes(id program.ID, slots bitset, over *residue, o *overlays) error {
	var m *mesh
	var sum wide // m.load as it will be
	for slot := range slots.all() {
		c := f.slots[slot]
		if c.mesh != m { // the slots of a mesh follow each other
			if sum.beyond() {
				return &OverflowError{Program: id, Device: m.first}
			}
			if m, sum = c.mesh, (wide{}); m != nil {
				sum.lo = m.load
			}
		}
		if m != nil {
			sum.add(o.of(f, c.left, over).charged(), 1)
			sum.sub(c.left.charged(), 1)
		}
	}
	if sum.beyond() {
		return &OverflowError{Program: id, Device: m.first}
	}
	return nil
}

// overlays are what a dispatch does to some devices. The last overlay is remembered: devices in a
// row mostly hold the same.
type overlays struct {
	alone    *residue // see Fleet.alone
	moves    bool     // not all devices hold already what they are to hold
	inPlace  bool     // alone is changed
	known    bool
	from, to *residue
}

func (o *overlays) of(f *Fleet, under, over *residue) *residue {
	if !o.known || under != o.from {
		o.known, o.from, o.to = true, under, f.over(under, over, under == o.alone)
	}
	return o.to
}

// leave1 changes what one device holds.
func (f *Fleet) leave1(c *chip, to *residue) {
	from := c.left
	if from == to {
		return
	}
	c.left = to
	if from != nil {
		from.users--
	}
	if to != nil {
		to.users++
	}
	if c.memory == nil && to.others() > 0 {
		c.remember(from)
	}
	f.noteLeft(c, to.total()-from.total(), to.charged()-from.charged()) // wraps and comes back
}

// noteLeft notes that what dispatches left on c grew by so many bytes, and so much of a load.
func (f *Fleet) noteLeft(c *chip, grew, loaded uint64) {
	left := c.left
	c.resident.Store(left.total())
	c.residentPeak = max(c.residentPeak, left.total())
	c.corePeak = max(c.corePeak, left.fullest())
	if m := c.mesh; m != nil {
		m.sum.Resident += grew
		m.load += loaded
		if c.memory == nil {
			m.sum.Tracked += grew
			m.peak.TrackedCore = max(m.peak.TrackedCore, left.fullest())
		}
		f.touch(m)
	}
	if c.memory != nil {
		f.noteTracked(c)
	}
}

// over returns what is left when over is written on top of under. alone says that all who have
// under go on to that.
func (f *Fleet) over(under, over *residue, alone bool) *residue {
	if under == nil || under == over {
		return over
	}
	w := writing{under, over}
	to := f.writings[w]
	if to != nil {
		f.recall.note(true)
		return to
	}
	if to = f.overlay(under, over, alone); to.loose {
		return to
	}
	if f.writings == nil {
		f.writings = map[writing]*residue{}
	}
	if len(f.writings) >= maxResidues {
		clear(f.writings)
	}
	under.keep()
	f.writings[w] = to
	return to
}

// overlay works it out.
func (f *Fleet) overlay(under, over *residue, alone bool) *residue {
	if under.within(over) {
		return over
	}
	r := &residue{planes: under.fresh()}
	r.planes.paint(new(loss), over.written())
	if r.sum(); r.n == over.n && r.charge == over.charge { // nothing of under is left
		return over
	}
	to, met := r, f.recall.came(r.hash)
	if alone && f.recall.off && r.other == 0 {
		r.serial, r.loose, r.all = f.newSerial(), true, r.bytes
	} else {
		to = f.remember(r)
	}
	f.recall.note(met || to != r)
	return to
}

// remember returns the residue that is equal to r, r itself if none is known.
func (f *Fleet) remember(r *residue) *residue {
	if r.charge == math.MaxUint64 {
		return r // it is refused
	}
	same := func(o *residue) bool {
		if o.n != r.n || o.bytes != r.bytes {
			return false
		}
		a, b := o.planes, r.planes
		if o.pieces != nil {
			a = o.fresh()
		}
		if r.pieces != nil {
			b = r.fresh()
		}
		return a.equal(&b)
	}
	r.hash = r.digest()
	if known := f.residues.find(r.hash, same); known != nil {
		return known
	}
	if f.residues.len() >= maxResidues {
		f.residues.clear()
	}
	r.serial = f.newSerial()
	f.residues.put(r.hash, r)
	r.all = r.bytes
	if r.other > 0 {
		r.all = 0
		for _, c := range r.held() {
			r.all += c.bytes * uint64(c.cores.Len())
			r.core = max(r.core, c.bytes)
		}
	}
	return r
}
