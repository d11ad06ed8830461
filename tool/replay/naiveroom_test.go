package replay_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// naiveL1 is as much of L1 as random logs use where its size is known.
const naiveL1 = 256

// A naiveRoom has for each device, mode and core which bytes one more L1 buffer could not have, at any
// time, one flag a byte.
type naiveRoom struct {
	question answer.RoomQuestion
	barred   map[naiveSite]*[naiveL1]bool
	specs    map[uint64][]l1.Spec // that a device had
	aligns   map[uint64][]uint64  // alignments of L1 buffers that it had
	hybrid   map[uint64]bool      // its mode, the last one
	tight    int                  // launches beside which the size had no place

	last   map[uint64]*program.Program // that ran last on a device
	moment *naiveMoment                // of the question; nil if there was no device
}

// A naiveMoment is a naiveRoom of one moment alone, and its devices.
type naiveMoment struct {
	naiveRoom
	devices []uint64
}

// A naiveSite is a core of a device, for a buffer in a mode.
type naiveSite struct {
	id   uint64
	mode model.Mode
	core l1.Core
}

func newNaiveRoom(q answer.RoomQuestion) naiveRoom {
	return naiveRoom{
		question: q, barred: map[naiveSite]*[naiveL1]bool{}, specs: map[uint64][]l1.Spec{}, aligns: map[uint64][]uint64{}, hybrid: map[uint64]bool{},
		last: map[uint64]*program.Program{},
	}
}

func (r *naiveRoom) bar(at naiveSite, from, to uint64) {
	if r.barred[at] == nil {
		r.barred[at] = new([naiveL1]bool)
	}
	for a := from; a < min(to, naiveL1); a++ {
		r.barred[at][a] = true
	}
}

// live bars what buffers hold on all devices after a line.
func (r *naiveRoom) live(f *model.Fleet) {
	for _, id := range f.Devices() {
		spec, _ := f.Spec(id) // it is there
		if !slices.Contains(r.specs[id], spec) {
			r.specs[id] = append(r.specs[id], spec)
		}
		r.aligns[id], r.hybrid[id] = append(r.aligns[id], f.Align(id)), f.Hybrid(id)
		for _, core := range naiveCores(r.specs[id]...) {
			for _, mode := range []model.Mode{model.Lockstep, model.PerCore} {
				for _, b := range f.Buffers(id) {
					if b.Kind.InL1() {
						b.Takes(mode, core, func(at l1.Range) { r.bar(naiveSite{id, mode, core}, at.Start, at.End) })
					}
				}
			}
		}
	}
}

// now looks at the moment of the question: what lives, and what lies below the end of the program that ran last.
func (r *naiveRoom) now(f *model.Fleet) {
	at := naiveMoment{newNaiveRoom(r.question), nil}
	at.live(f)
	for _, id := range f.Devices() {
		at.devices = append(at.devices, id)
		if p := r.last[id]; p != nil {
			for _, core := range naiveCores(at.specs[id]...) {
				for _, mode := range []model.Mode{model.Lockstep, model.PerCore} {
					at.bar(naiveSite{id, mode, core}, 0, f.Floor(p, id, mode, core))
				}
			}
		}
	}
	if r.moment = nil; len(at.devices) > 0 {
		r.moment = &at
	}
}

// launch bars what lies below the end of a program, at this moment alone.
func (r *naiveRoom) launch(f *model.Fleet, p *program.Program, id uint64) {
	now := newNaiveRoom(r.question)
	now.live(f)
	r.last[id] = p
	for _, core := range naiveCores(r.specs[id]...) {
		for _, mode := range []model.Mode{model.Lockstep, model.PerCore} {
			floor := f.Floor(p, id, mode, core)
			r.bar(naiveSite{id, mode, core}, 0, floor)
			now.bar(naiveSite{id, mode, core}, 0, floor)
		}
	}
	spec, _ := f.Spec(id) // it is there
	if size, _ := r.size(spec); size > 0 && spec.L1Size > 0 {
		if _, place := now.room(now.mode(id), size, r.cores(spec), id); place.IsEmpty() {
			r.tight++
		}
	}
}

// mode returns the mode of the buffer of the query on devices: per core, on some cores of devices in HYBRID mode.
func (r *naiveRoom) mode(ids ...uint64) model.Mode {
	inLockstep := func(id uint64) bool { return !r.hybrid[id] }
	if r.question.Tensor.Bytes > 0 || r.question.Cores.IsEmpty() || slices.ContainsFunc(ids, inLockstep) {
		return model.Lockstep
	}
	return model.PerCore
}

// cores returns the cores of the query.
func (r *naiveRoom) cores(spec l1.Spec) l1.CoreSet {
	if r.question.Tensor.Bytes == 0 && !r.question.Cores.IsEmpty() {
		return r.question.Cores
	}
	return spec.Grid().Cores()
}

// size is the bytes of the question on each core of a device, if they are known: the pages of a
// tensor go to its cores one by one.
func (r *naiveRoom) size(spec l1.Spec) (most uint64, known bool) {
	t := r.question.Tensor
	if t.Bytes == 0 {
		return r.question.Size, true
	}
	if spec.Cols == 0 {
		return 0, false
	}
	page := t.Page
	for page%max(spec.L1Align, 1) != 0 {
		page++
	}
	held := make([]uint64, spec.Cols*spec.Rows)
	for i := uint64(0); i*t.Page < t.Bytes; i++ {
		held[i%uint64(len(held))] += page
	}
	return slices.Max(held), true
}

// sizes is the size of all devices, unless one is not known or devices differ.
func (r *naiveRoom) sizes(ids ...uint64) (size uint64, known bool) {
	if len(ids) == 0 && r.question.Tensor.Bytes > 0 {
		return 0, true
	}
	size = r.question.Size
	for i, id := range ids {
		for k, spec := range r.specs[id] { // an id may come back with another grid
			each, ok := r.size(spec)
			if !ok || i+k > 0 && each != size {
				return 0, false
			}
			size = each
		}
	}
	return size, true
}

// free says of each byte whether it was free on some cores of devices throughout.
func (r *naiveRoom) free(mode model.Mode, cores l1.CoreSet, ids ...uint64) (out [naiveL1]bool) {
	for a := range out {
		out[a] = true
	}
	for _, id := range ids {
		for _, spec := range r.specs[id] {
			for a := range out {
				out[a] = out[a] && spec.Usable().Has(uint64(a))
			}
		}
		for core := range cores.All() {
			if bytes := r.barred[naiveSite{id, mode, core}]; bytes != nil {
				for a := range out {
					out[a] = out[a] && !bytes[a]
				}
			}
		}
	}
	return out
}

func (r *naiveRoom) aligned(a uint64, ids []uint64) bool {
	for _, id := range ids {
		if slices.ContainsFunc(r.aligns[id], func(align uint64) bool { return a%align != 0 }) {
			return false
		}
	}
	return true
}

// room returns the longest run of a buffer, and the place of the size. Per core each core of each device has its own:
// the shortest run counts, the lowest of equals, and a place is there if each core has one.
func (r *naiveRoom) room(mode model.Mode, size uint64, cores l1.CoreSet, ids ...uint64) (least, place l1.Range) {
	if mode != model.PerCore {
		return r.run(mode, cores, ids...), r.place(mode, size, cores, ids...)
	}
	first, lacks := true, false
	for _, id := range ids {
		for core := range cores.All() {
			one, at := r.run(mode, l1.CoreSetOf(core), id), r.place(mode, size, l1.CoreSetOf(core), id)
			lacks = lacks || at.IsEmpty()
			if first || one.Len() < least.Len() || one.Len() == least.Len() && one.Start < least.Start {
				least, place, first = one, at, false
			}
		}
	}
	if lacks {
		place = l1.Range{}
	}
	return least, place
}

// run tries every address as a start, the highest first. A run ends at a whole step.
func (r *naiveRoom) run(mode model.Mode, cores l1.CoreSet, ids ...uint64) (best l1.Range) {
	free := r.free(mode, cores, ids...)
	for start := uint64(naiveL1); start > 0; start-- {
		at := l1.Range{Start: start - 1, End: start - 1}
		for at.End < naiveL1 && free[at.End] {
			at.End++
		}
		for at.End > at.Start && !r.aligned(at.End, ids) {
			at.End--
		}
		if r.aligned(at.Start, ids) && at.Len() > best.Len() {
			best = at
		}
	}
	return best
}

// place tries every address for a size in whole steps, the highest first.
func (r *naiveRoom) place(mode model.Mode, size uint64, cores l1.CoreSet, ids ...uint64) l1.Range {
	free, block := r.free(mode, cores, ids...), size
	for !r.aligned(block, ids) {
		block++
	}
	for start := uint64(naiveL1); start > 0; start-- {
		at := l1.Range{Start: start - 1, End: start - 1}
		for at.Len() < block && at.End < naiveL1 && free[at.End] {
			at.End++
		}
		if r.aligned(at.Start, ids) && at.Len() == block {
			return l1.Range{Start: at.Start, End: at.Start + size}
		}
	}
	return l1.Range{}
}

// known reports whether the sizes of all L1s are.
func (r *naiveRoom) known(ids ...uint64) bool {
	for _, id := range ids {
		for _, spec := range r.specs[id] {
			if spec.L1Size == 0 || spec.L1Size > naiveL1 {
				return false
			}
		}
	}
	return true
}

// rooms compares the room for one more buffer.
func (c comparison) rooms() {
	r, got := &c.want.more, c.got.Rooms
	var all []uint64
	var cores l1.CoreSet
	for _, d := range got.Devices {
		all = append(all, d.Device.V)
	}
	size, sized := r.sizes(all...)
	c.equal(size, got.Question.Size, "bytes of a core")
	c.equal(!sized, slices.Contains(codesOf(c.got.Room(nil).Untold), answer.CodeBanksUnknown), "banks that are not known")
	for _, d := range got.Devices {
		id := d.Device.V
		spec := r.specs[id][0] // an id that comes back keeps its first grid here
		on := r.cores(spec)
		cores = cores.Union(on)
		c.equal(spec.Cols > 0 && !spec.Grid().Cores().Contains(on), !d.Outside.IsEmpty(), "cores outside the grid")
		if !r.known(id) {
			continue
		}
		c.room(d.Room, r.mode(id), on, id)
		own := map[bool]model.Mode{false: model.Lockstep, true: model.PerCore}[r.hybrid[id]]
		var seen l1.CoreSet
		for _, g := range d.Groups {
			require.False(c.t, g.Cores.Overlaps(seen))
			seen = seen.Union(g.Cores)
			for core := range g.Cores.All() {
				c.room(g, own, l1.CoreSetOf(core), id)
			}
		}
		c.equal(true, seen.Equal(on), "cores of the groups")
	}
	if !r.known(all...) {
		return
	}
	if len(all) > 0 {
		c.room(*got.All, r.mode(all...), cores, all...)
		c.equal(r.mode(all...) == model.PerCore, got.Mode == fit.PerCore, "mode of the buffer")
		c.want.seen["room "+got.Mode.String()]++
	}
	c.moment(size)
	times := int64(0)
	for _, tight := range got.Tight {
		times += tight.Times
	}
	if !sized {
		c.want.seen["banks not known"]++
		r.tight = 0
	} else if r.question.Tensor.Bytes > 0 && size > 0 {
		c.want.seen["tensor"]++
	}
	c.equal(int64(r.tight), times, "runs without a place for the size")
}

// moment compares the room at the moment of the question.
func (c comparison) moment(size uint64) {
	if r := &c.want.more; c.want.node < r.question.At.V {
		r.now(c.want.fleet)
	}
	at, got := c.want.more.moment, c.got.Rooms.Moment
	c.equal(at != nil, got != nil, "room at a moment")
	if at == nil || got == nil || !at.known(at.devices...) {
		return
	}
	if len(c.want.more.last) == 0 {
		c.want.seen["room at a moment before all programs"]++
	}
	var cores l1.CoreSet
	for _, id := range at.devices {
		cores = cores.Union(at.cores(at.specs[id][0]))
	}
	mode := at.mode(at.devices...)
	run, place := at.room(mode, size, cores, at.devices...)
	c.equal([2]any{run, size > 0 && !place.IsEmpty()}, [2]any{got.Room.Range(), got.Room.Place.OK}, "room at a moment")
	if inLockstep := mode == model.Lockstep && c.got.Rooms.Sharded.OK; inLockstep && c.got.Rooms.Question.Tensor.Bytes == 0 {
		alone, _ := at.room(model.PerCore, 0, cores, at.devices...)
		c.equal(event.Some(alone.Len()), got.PerCore, "room per core")
		c.want.seen["room at a moment, also per core"]++
	}
	c.want.seen["room at a moment"]++
}

// room compares one room, and looks who is said to limit it.
func (c comparison) room(got answer.Room, mode model.Mode, cores l1.CoreSet, ids ...uint64) {
	size := c.got.Rooms.Question.Size
	run, place := c.want.more.room(mode, size, cores, ids...)
	c.equal(run, got.Range(), "room")
	if size > 0 {
		c.equal(event.Opt[uint64]{V: place.Start, OK: !place.IsEmpty()}, got.Place, "place of the size")
	}
	switch {
	case got.Bytes == 0:
		c.want.seen["no room"]++
	case got.Above != nil:
		require.NotNil(c.t, got.Above.Buffer)
		c.want.seen["room below a buffer"]++
	case got.Below != nil && got.Below.Program != nil:
		c.want.seen["room above a program"]++
	}
}
