package replay

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// Everything that is in the way of one more L1 buffer is gathered here, while events go by.

// rooms answer Options.Room in the making.
type rooms struct {
	question *answer.RoomQuestion
	limits   []*answer.RoomLimit // by their numbers in fit.Occupancy
	known    map[checkKey]int
	answer   answer.Rooms
	each     uint64 // bytes on each core of the Tensor of the question
}

func newRooms(question *answer.RoomQuestion) *rooms {
	limits := []*answer.RoomLimit{fit.NoOwner: nil}
	return &rooms{question: question, limits: limits, known: map[checkKey]int{}}
}

// obstacles have everything that was in the way on a row at any time.
type obstacles struct {
	taken   []*fit.Occupancy // of each Spec that the device had; together they are what is in the way
	specs   []l1.Spec        // of these
	places  map[sum128]bool
	runs    map[*source.Content]bool // that were checked on the row
	cores   l1.CoreSet               // that held anything
	service bool                     // a service buffer was there, of any size
	last    enqueued                 // what ran last
	mode    fit.Mode                 // of a buffer on some cores alone
}

// An enqueued is a launch, if there was one, and the node at which it was enqueued.
type enqueued struct {
	launch
	at uint64
}

func (s *obstacles) clone() *obstacles {
	to := *s
	to.taken, to.specs = nil, slices.Clone(s.specs)
	for _, t := range s.taken {
		to.taken = append(to.taken, t.Clone())
	}
	to.places, to.runs = maps.Clone(s.places), maps.Clone(s.runs)
	return &to
}

// on returns the Occupancy for devices with the Spec that one has now.
func (s *obstacles) on(dev device.Device) *fit.Occupancy {
	spec := source.Gridless(dev.Spec())
	i := slices.Index(s.specs, spec)
	if i < 0 {
		i = len(s.specs)
		s.taken, s.specs = append(s.taken, fit.NewOccupancy(spec)), append(s.specs, spec)
	}
	return s.taken[i]
}

// join adds the calls that are needed.
func (r *rooms) join(s *subscribers) {
	s.met, s.back = append(s.met, r.met), append(s.back, r.back)
	s.launched, s.laid, s.finish = append(s.launched, r.launched), append(s.laid, r.laid), append(s.finish, r.finish)
	s.registered = append(s.registered, r.registered)
	if at := r.question.At; at.OK {
		s.after(at, func(rows *rows, _ *marker) { r.atNode(at.V, rows) })
	}
}

// limit stores the program or buffer that takes bytes, and returns its number.
func (r *rooms) limit(l answer.RoomLimit) int {
	r.limits = append(r.limits, &l)
	return len(r.limits) - 1
}

// met records that a row has devices with a Spec, and its mode.
func (r *rooms) met(d *row) {
	if d.obstacles == nil {
		d.obstacles = &obstacles{}
	}
	s := d.obstacles
	s.on(d.dev)
	if s.mode = fit.Lockstep; d.dev.Hybrid() {
		s.mode = fit.PerCore
	}
}

// mode returns the mode of a buffer of the question on a row: per core, if it lies on some cores and the allocator is in
// HYBRID mode; else in lockstep.
func (r *rooms) mode(d *row) fit.Mode {
	if q := r.question; q.Cores.IsEmpty() || q.Tensor.Bytes > 0 {
		return fit.Lockstep
	}
	return d.obstacles.mode
}

// back records that the devices of a row come back with a Spec, empty. Their grid may be another one.
func (r *rooms) back(d *row, spec l1.Spec) {
	d.obstacles.last = enqueued{}
	r.sizeOn(d.facts.spec, d.facts.grid)
	r.sizeOn(spec, d.facts.grid)
}

// laid adds a buffer that lives on a row.
func (r *rooms) laid(d *row, given fit.Buffer, b *buffer) {
	s := d.obstacles
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
	s.on(d.dev).Buffer(given, r.limit(answer.RoomLimit{Buffer: &info}))
}

// registered adds the CBs of a recording, which has no runs: they may run at any time while they stay.
func (r *rooms) registered(rows []*row, def *source.Definition, e *event.Event) {
	for _, d := range rows {
		p, err := def.Placed(d.dev.Spec())
		if err != nil {
			continue // it is registered, so that it was placed
		}
		s := d.obstacles
		s.on(d.dev).Program(p, l1.CoreSet{}, r.limit(answer.RoomLimit{
			Program: &answer.ProgramRun{Row: -1, Op: answer.Name(def.Name), At: e.Node, T: json.Number(e.T)}, Enqueue: event.Some(e.Node), T: json.Number(e.T),
		}))
		s.cores = s.cores.Union(p.Cores())
	}
}

// launched adds programs that were enqueued at one moment, and their candidates.
func (r *rooms) launched(moment uint64, all []launch) {
	out := &r.answer
	for _, l := range all {
		added := r.add(moment, l)
		out.Unsettled = out.Unsettled || l.unsettled
		if l.candidates == nil {
			continue
		}
		for _, c := range slices.Concat(l.candidates.workloads...) {
			other := l
			other.content = c
			added = r.add(moment, other) || added
		}
		out.Candidates = out.Candidates || added // else all of them ran before
	}
	r.ran(moment, all)
	if r.question.Size > 0 || r.question.Tensor.Bytes > 0 {
		for _, group := range groupsOf(all, launch.roomKey) {
			r.tight(moment, group)
		}
	}
}

// ran looks at the moment at which programs were enqueued, if the question is about their operation, and keeps them.
func (r *rooms) ran(moment uint64, all []launch) {
	var asked []enqueued
	for _, l := range all {
		l.on.obstacles.last = enqueued{l, moment}
		if op := r.question.Op; op != "" && answer.OpMatches(string(op), string(l.run.Op)) {
			asked = append(asked, l.on.obstacles.last)
		}
	}
	r.look(moment, asked)
}

// atNode looks at the moment after a node: beside the programs that ran last. A device on which none ran has buffers alone.
func (r *rooms) atNode(node uint64, rows *rows) {
	var all []enqueued
	for _, d := range rows.All() {
		l := d.obstacles.last
		if l.on = d; l.spec == nil {
			spec := d.dev.Spec()
			l.spec = &spec
		}
		if !d.gone {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b enqueued) int { return cmp.Compare(b.at, a.at) }) // named by the last program
	r.look(node, all)
}

// look finds the room on all devices of some programs that run now.
func (r *rooms) look(moment uint64, all []enqueued) {
	if len(all) == 0 {
		return
	}
	var taken []*fit.Occupancy
	var cores l1.CoreSet
	var each []fit.Room[int]
	mode, size, limits := fit.PerCore, uint64(0), len(r.limits)
	seen, runs := map[checkKey]bool{}, int64(0)
	for _, l := range all {
		if l.content != nil {
			runs += int64(l.on.members.Len())
		}
		if seen[l.roomKey()] {
			continue
		}
		seen[l.roomKey()] = true
		now := r.occupancy(l)
		size = r.sizeOn(l.on.facts.spec, l.on.facts.grid)
		taken, cores, mode = append(taken, now), cores.Union(r.coresOf(l.on)), min(mode, r.mode(l.on))
		each = append(each, fit.RoomThroughout(r.mode(l.on), r.coresOf(l.on), size, now))
	}
	room := fit.Least(each)
	if room.Cores = cores; mode == fit.Lockstep {
		room = fit.RoomThroughout(mode, cores, size, taken...)
	}
	least := r.answer.Moment
	if least != nil {
		runs += least.Runs
	}
	if least == nil || room.Range.Len() < least.Room.Bytes {
		least = &answer.MomentRoom{Counter: moment, Room: r.namedRoom(room)}
		if all[0].content != nil {
			least.Run = &all[0].run
		}
		if !r.question.At.OK {
			least.T = least.Run.T
		}
		if !r.question.Cores.IsEmpty() && mode == fit.Lockstep {
			var alone []fit.Room[int]
			for _, one := range taken {
				alone = append(alone, fit.RoomThroughout(fit.PerCore, cores, size, one))
			}
			least.PerCore = event.Some(fit.Least(alone).Range.Len())
		}
		r.answer.Moment = least
	}
	least.Runs = runs
	r.limits = r.limits[:limits]
}

// occupancy returns what takes L1 on a row now: its buffers, and what runs.
func (r *rooms) occupancy(l enqueued) *fit.Occupancy {
	now, at := fit.NewOccupancy(*l.spec), l.place(1)
	by := r.limit(answer.RoomLimit{Program: &l.run, Enqueue: event.Some(l.at), T: l.run.T})
	for _, c := range l.mayRun() {
		for _, p := range c.Judged {
			now.Program(p, at.Claimed(), by)
		}
	}
	for _, b := range at.Buffers {
		if kept := l.on.memory.live.Of(b.ID); kept != nil { // else it backs another one
			info := kept.info
			now.Buffer(b, r.limit(answer.RoomLimit{Buffer: &info}))
		}
	}
	return now
}

// mayRun returns the contents of a launch and of its candidates.
func (l launch) mayRun() []*source.Content {
	if l.content == nil { // no program ran
		return nil
	}
	all := []*source.Content{l.content}
	if l.candidates != nil {
		all = append(all, slices.Concat(l.candidates.workloads...)...)
	}
	return all
}

// add adds one program, and reports whether it is new to its devices.
func (r *rooms) add(moment uint64, l launch) (added bool) {
	s := l.on.obstacles
	taken := s.on(l.on.dev)
	if added = !s.runs[l.content]; !added && !s.service {
		return false
	}
	if s.runs == nil {
		s.runs = map[*source.Content]bool{}
	}
	s.runs[l.content] = true
	var claimed l1.CoreSet
	if s.service {
		claimed = l.place(1).Claimed()
	}
	by := r.limit(answer.RoomLimit{Program: &l.run, Enqueue: event.Some(moment), T: l.run.T})
	for _, p := range l.content.Judged {
		taken.Program(p, claimed, by)
		for _, cb := range p.CBs() {
			if !cb.Global && !cb.Range.IsEmpty() {
				s.cores = s.cores.Union(cb.On)
			}
		}
	}
	return added
}

// roomKey is the key of the room beside a launch, which depends on the mode.
func (l launch) roomKey() checkKey {
	key := l.key()
	key.hybrid = l.on.dev.Hybrid()
	return key
}

// tight looks whether a buffer of the size has a place beside a program and what lives then.
func (r *rooms) tight(moment uint64, group []launch) {
	first := group[0]
	size := r.sizeOn(first.on.facts.spec, first.on.facts.grid)
	if size == 0 {
		return
	}
	at, known := r.known[first.roomKey()]
	if !known {
		at = r.findTight(moment, group, size)
		if len(r.known) >= maxRemembered {
			clear(r.known)
		}
		r.known[first.roomKey()] = at
		return
	}
	if at >= 0 {
		r.answer.Tight[at].Times += devices(group)
	}
}

// notTight is where the answer is of a program that is not in the list of those without a place.
const notTight = -1

// findTight judges a program anew and returns where the answer is.
func (r *rooms) findTight(moment uint64, group []launch, size uint64) int {
	first := group[0]
	cores := r.coresOf(first.on)
	free := first.spec.Usable().Intersect(first.on.dev.Clear())
	clear := *first.spec
	clear.CBBase, clear.L1Size, clear.L1Small = free.Start, free.End, 0 // in which no buffer lies
	programs := first.content.Judged
	bare, mode := fit.Place{Spec: clear, Programs: programs}, r.mode(first.on)
	if free.IsEmpty() || fit.RoomOn(mode, cores, size, bare).Place.IsEmpty() {
		place := first.place(int(devices(group)))
		place.Programs = programs
		room, out := fit.RoomOn(mode, cores, size, place), &r.answer
		switch {
		case !room.Place.IsEmpty():
		case len(out.Tight) == answer.MaxListed:
			out.TightMore++
		default:
			out.Tight = append(out.Tight, answer.TightRun{
				Run: first.run, Enqueue: moment, T: first.run.T, Device: first.on.id,
				Devices: int(devices(group)), Times: devices(group), Gap: answer.NewGap(room.Range),
			})
			return len(out.Tight) - 1
		}
	}
	return notTight
}

// coresOf returns the cores of a row that the question is about.
func (r *rooms) coresOf(d *row) l1.CoreSet {
	switch q := r.question; {
	case !q.Cores.IsEmpty() && q.Tensor.Bytes == 0:
		return q.Cores
	case d.facts.spec.Cols > 0:
		return d.facts.spec.Grid().Cores()
	}
	return d.obstacles.cores
}

// sizeOn returns the bytes of the question on each core of devices of a Spec, with the source of
// their grid. It notes where a grid is not known, or leads to other bytes than one before: the
// bytes of a tensor are 0 from then on.
func (r *rooms) sizeOn(spec l1.Spec, grid event.Source) uint64 {
	q, out := r.question, &r.answer
	if q.Tensor.Bytes == 0 {
		return q.Size
	}
	each := uint64(0)
	if grid != event.FromAssumed {
		each = q.Tensor.PerCore(spec.NumCores(), spec.L1Align)
	}
	if r.each == 0 {
		r.each = each
	}
	if each == 0 || each != r.each {
		out.Banks = true
	}
	if out.Banks {
		return 0
	}
	return each
}

// finish answers Options.Room. spec is the Result's.
func (r *rooms) finish(to *answer.Result, rows *rows, spec answer.Spec) {
	out := &r.answer
	out.Question = *r.question
	if out.Question.Tensor.Bytes > 0 {
		out.Question.Size = 0
	}
	shown := rows.shown()
	for d := range rows.each() {
		if shown(d) {
			out.Question.Size = r.sizeOn(d.facts.spec, d.facts.grid)
		}
	}
	if out.Banks {
		out.Tight, out.TightMore = nil, 0
		if out.Moment != nil {
			out.Moment.Room.Place = event.Opt[uint64]{}
		}
	}
	var all []*fit.Occupancy
	var cores l1.CoreSet
	var each []fit.Room[int]
	out.Mode = fit.PerCore // unless one is in lockstep
	done := map[*row]answer.DeviceRoom{}
	for d, id := range rows.each() {
		if !shown(d) {
			continue
		}
		one, known := done[d]
		if !known {
			s, on := d.obstacles, r.coresOf(d)
			taken := s.taken
			if len(taken) == 0 {
				taken = []*fit.Occupancy{fit.NewOccupancy(d.facts.spec)}
			}
			room := fit.RoomThroughout(r.mode(d), on, out.Question.Size, taken...)
			one = r.deviceRoom(d, on, room, taken)
			all, cores, each, done[d] = append(all, taken...), cores.Union(on), append(each, room), one
			out.Mode = min(out.Mode, r.mode(d))
		}
		one.Device = id
		out.Devices = append(out.Devices, one)
	}
	if len(all) == 0 {
		out.Mode = fit.Lockstep
	} else {
		room := fit.Least(each)
		if room.Cores = cores; out.Mode == fit.Lockstep {
			room = fit.RoomThroughout(fit.Lockstep, cores, out.Question.Size, all...)
		}
		named := r.namedRoom(room)
		out.All, out.Small = &named, named.Place.OK && r.smaller(cores, all, spec)
	}
	q := out.Question
	out.Size = answer.Known(q.Size, q.Size)
	out.Sharded = event.Opt[l1.CoreSet]{V: q.Cores, OK: !q.Cores.IsEmpty()}
	out.Devices, out.Tight = answer.List(out.Devices), answer.List(out.Tight)
	to.Rooms = out
}

func (r *rooms) deviceRoom(d *row, on l1.CoreSet, room fit.Room[int], taken []*fit.Occupancy) answer.DeviceRoom {
	kind, chips := d.facts.kind()
	one := answer.DeviceRoom{Device: d.id, Kind: kind, Chips: answer.List(chips), Mode: d.obstacles.mode, Room: r.namedRoom(room), Groups: []answer.Room{}}
	if d.facts.spec.Cols > 0 {
		one.Outside = on.Minus(d.facts.spec.Grid().Cores())
	}
	for _, group := range fit.RoomsThroughout(one.Mode, on, r.answer.Question.Size, taken...) {
		one.Groups = append(one.Groups, r.namedRoom(group))
	}
	return one
}

// namedRoom gives a room the names of who limits it.
func (r *rooms) namedRoom(found fit.Room[int]) answer.Room {
	by := r.limits
	place := answer.Known(found.Place.Len(), found.Place.Start)
	return answer.Room{Cores: found.Cores, Count: found.Cores.Len(), Gap: answer.NewGap(found.Range), Place: place, Below: by[found.Below], Above: by[found.Above]}
}

// smaller reports whether the size has a place on the chip that is assumed, and none on the
// smaller one that it may be.
func (r *rooms) smaller(cores l1.CoreSet, all []*fit.Occupancy, spec answer.Spec) bool {
	size := r.answer.Question.Size
	if !spec.Assumed() || size == 0 {
		return false
	}
	other := l1.Spec{L1Size: l1.ArchSpec(l1.Wormhole).L1Size, L1Small: spec.L1Small}
	return fit.RoomThroughout(r.answer.Mode, cores, size, append(all, fit.NewOccupancy(other))...).Place.IsEmpty()
}
