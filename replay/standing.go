package replay

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// What is in the way of one more L1 buffer is gathered here, while events go by.

// rooms answer Options.Room in the making.
type rooms struct {
	limits []*RoomLimit // by their numbers in fit.Taken
	known  map[checkKey]int
	answer Rooms
	each   uint64 // bytes on each core of the Tensor of the question
}

// standing is what was in the way on a row at any time.
type standing struct {
	taken   []*fit.Taken // of each Spec and mode that the device had; together they are what is in the way
	specs   []l1.Spec    // of these, with the alignment in that mode
	places  map[sum128]bool
	runs    map[*content]bool // that were checked on the row
	cores   l1.CoreSet        // that held anything
	service bool              // a service buffer was there, of any size
}

func (s *standing) clone() *standing {
	if s == nil {
		return nil
	}
	to := *s
	to.taken, to.specs = nil, slices.Clone(s.specs)
	for _, t := range s.taken {
		to.taken = append(to.taken, t.Clone())
	}
	to.places, to.runs = maps.Clone(s.places), maps.Clone(s.runs)
	return &to
}

// inherit takes over what was in the way on another row.
func (s *standing) inherit(from *standing) {
	if s == nil {
		return // nobody asks
	}
	other := from.clone()
	s.taken, s.specs = append(other.taken, s.taken...), append(other.specs, s.specs...)
	s.cores, s.service = s.cores.Union(other.cores), s.service || other.service
}

// on returns what is in the way on devices of the Spec and in the mode that one has now.
func (s *standing) on(dev device.Device) *fit.Taken {
	at := fit.Place{Spec: gridless(dev.Spec()), Hybrid: dev.Hybrid()}
	at.Spec.L1Align = at.Alignment()
	i := slices.Index(s.specs, at.Spec)
	if i < 0 {
		i = len(s.specs)
		s.taken, s.specs = append(s.taken, fit.NewTaken(at)), append(s.specs, at.Spec)
	}
	return s.taken[i]
}

// limit notes what takes bytes, and returns what it is called.
func (r *replay) limit(l RoomLimit) int {
	r.rooms.limits = append(r.rooms.limits, &l)
	return len(r.rooms.limits) - 1
}

// standsFree takes in that a row has devices of a Spec and in a mode.
func (r *replay) standsFree(d *row) {
	if r.opt.Room != nil {
		if d.standing == nil {
			d.standing = &standing{}
		}
		d.standing.on(d.dev)
	}
}

// stands takes in that a buffer lives on a row.
func (r *replay) stands(d *row, given fit.Buffer, b *buffer) {
	if r.opt.Room == nil {
		return
	}
	s := d.standing
	s.service = s.service || given.Kind == fit.KindService // one without a byte claims its cores too
	if !given.Stands() || s.places[b.hash] {
		return
	}
	if s.places == nil {
		s.places = map[sum128]bool{}
	}
	s.places[b.hash] = true
	for _, part := range b.parts {
		s.cores = s.cores.Union(part.Cores)
	}
	s.cores = s.cores.Union(given.Hidden)
	info := b.info
	s.on(d.dev).Buffer(given, r.limit(RoomLimit{Buffer: &info}))
}

// checkedRuns takes in programs that were enqueued at one moment, and what they may be instead.
func (r *replay) checkedRuns(all []launch) {
	if r.opt.Room == nil {
		return
	}
	out := &r.rooms.answer
	for _, l := range all {
		added := r.checkedRun(l)
		out.unsettled = out.unsettled || l.unsettled
		if l.candidates == nil {
			continue
		}
		for _, c := range slices.Concat(l.candidates.workloads...) {
			other := l
			other.content = c
			added = r.checkedRun(other) || added
		}
		out.candidates = out.candidates || added // else all of them ran before
	}
	if r.opt.Room.Size > 0 || r.opt.Room.Tensor.Bytes > 0 {
		for _, group := range groupsOf(all, launch.roomKey) {
			r.tight(group)
		}
	}
}

// checkedRun takes in one program, and reports whether it is new to its devices.
func (r *replay) checkedRun(l launch) (added bool) {
	s := l.on.standing
	taken := s.on(l.on.dev)
	if added = !s.runs[l.content]; !added && !s.service {
		return false
	}
	if s.runs == nil {
		s.runs = map[*content]bool{}
	}
	s.runs[l.content] = true
	var claimed l1.CoreSet
	if s.service {
		claimed = l.place(1).Claimed()
	}
	by := r.limit(RoomLimit{Program: &l.run, Enqueue: event.Some(r.checks.moment), T: l.run.T})
	for _, p := range l.content.judged {
		taken.Program(p, claimed, by)
		for _, cb := range p.CBs() {
			if !cb.Global && !cb.Range.IsEmpty() {
				s.cores = s.cores.Union(cb.Cores.Cores())
			}
		}
	}
	return added
}

// roomKey is the key of the room beside a launch: addresses are aligned by the mode.
func (l launch) roomKey() checkKey {
	key := l.key()
	key.hybrid = l.on.dev.Hybrid()
	return key
}

// tight looks whether a buffer of the size has a place beside a program and what lives then.
func (r *replay) tight(group []launch) {
	first := group[0]
	size := r.sizeOn(first.on.spec, first.on.grid)
	if size == 0 {
		return
	}
	at, known := r.rooms.known[first.roomKey()]
	if !known {
		at = r.findTight(group, size)
		if r.rooms.known == nil || len(r.rooms.known) >= maxRemembered {
			r.rooms.known = map[checkKey]int{}
		}
		r.rooms.known[first.roomKey()] = at
		return
	}
	if at >= 0 {
		r.rooms.answer.Tight[at].Times += devices(group)
	}
}

// findTight judges a program anew and returns where the answer is.
func (r *replay) findTight(group []launch, size uint64) int {
	first := group[0]
	cores := r.opt.Room.on(first.on)
	free := first.spec.Usable().Intersect(first.on.dev.Clear())
	clear := *first.spec
	clear.CBBase, clear.L1Size, clear.L1Small = free.Start, free.End, 0 // in which no buffer lies
	programs := first.content.judged
	bare := fit.Place{Spec: clear, Hybrid: first.on.dev.Hybrid(), Programs: programs}
	if free.IsEmpty() || fit.RoomOn(cores, size, bare).Place.IsEmpty() {
		place := first.place(int(devices(group)))
		place.Programs = programs
		if room := fit.RoomOn(cores, size, place); room.Place.IsEmpty() {
			return r.listTight(group, room.Range)
		}
	}
	return fitted
}

func (r *replay) listTight(group []launch, room l1.Range) int {
	first, out := group[0], &r.rooms.answer
	if len(out.Tight) == MaxListed {
		out.TightMore++
		return unlisted
	}
	out.Tight = append(out.Tight, TightRun{
		Run: first.run, Enqueue: r.checks.moment, T: first.run.T, Device: first.on.id, Devices: int(devices(group)), Times: devices(group), Gap: newGap(room),
	})
	return len(out.Tight) - 1
}
