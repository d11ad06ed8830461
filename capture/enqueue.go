package capture

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxRemembered bounds how many operations, and results of checks, are remembered.
// Beyond it all are forgotten and found anew.
const maxRemembered = 1 << 16

// An opKey names what an operation does: the functions that run, and the arguments of
// the innermost one.
type opKey struct {
	path      string
	arguments uint64
}

// An opRun is what an operation ran on a device when it was there last.
type opRun struct {
	id     Opt[uint64]
	layout *layout
	row    int
}

// A launch is a run on one device at the moment when it is enqueued.
type launch struct {
	on     *l1Device
	layout *layout
	run    ProgramRun
	last   uint64 // counter of the run's last node, or where it was inferred
}

// enqueuer checks and dispatches the runs of a capture.
type enqueuer struct {
	runs   map[opKey][]opRun
	checks map[checkKey]int // index in checked.List of a failure, or one of the below
	failed map[[16]byte]int // by how it failed: the index
	result Checks
	slack  uint64 // of result.Tightest
	tight  tight

	executed   *device.Fleet
	executions map[uint64]*execution // by chip
}

// A checkKey is all that the answer of a check depends on.
type checkKey struct {
	layout *layout
	beside sum128
}

// What a check found where it has no index.
const (
	fitted   = -1
	unlisted = -2
)

// An execution is what was dispatched on a chip.
type execution struct {
	dev device.Device
	row Dispatched
}

func newEnqueuer() *enqueuer {
	return &enqueuer{
		runs: map[opKey][]opRun{}, checks: map[checkKey]int{}, failed: map[[16]byte]int{}, slack: math.MaxUint64,
		executions: map[uint64]*execution{},
	}
}

// complete enqueues the runs of the devices given whose nodes went on since they were
// last enqueued.
func (p *replayer) complete(devices []*replayDevice, at uint64) error {
	var launches []launch
	for _, d := range devices {
		if len(d.run) == d.launched {
			continue
		}
		if err := p.settle(); err != nil {
			return err
		}
		l, err := p.layoutOf(d.run)
		if err != nil {
			return d.inputError(p, err)
		}
		d.launched, d.latest = len(d.run), l
		on, err := p.l1Of(d.id)
		if err != nil {
			return err
		}
		row := -1
		if l.counted[program.CircularBuffer] != nil {
			row = len(d.row.ProgramsDetail)
		}
		launches = append(launches, launch{on, l, ProgramRun{Row: row, At: d.start, Op: d.key.path}, d.newest})
		p.remember(d.key, opRun{d.id, l, row})
	}
	p.open = slices.DeleteFunc(p.open, func(d *replayDevice) bool { return len(d.run) == d.launched })
	return p.launch(launches, at)
}

// remember notes what an operation runs.
func (p *replayer) remember(key opKey, run opRun) {
	q := p.queue
	if len(q.runs) >= maxRemembered && q.runs[key] == nil {
		clear(q.runs)
	}
	list := q.runs[key]
	if i := slices.IndexFunc(list, func(o opRun) bool { return o.id == run.id }); i >= 0 {
		list[i] = run
		return
	}
	q.runs[key] = append(list, run)
}

// infer enqueues what an operation ran when it was there last, on the devices that its
// free reaches. It reports whether anything is known.
func (p *replayer) infer(key opKey, f *free, start, at uint64) (bool, error) {
	if p.opt.NoInfer {
		return false, nil
	}
	var launches []launch
	list := p.queue.runs[key]
	switch {
	case f == nil || !f.device.OK:
	case !p.know.isChip[f.device.V] && len(p.know.chips[f.device.V]) == 0:
		p.guessed[f.device.V] = true
	default:
		list = slices.DeleteFunc(slices.Clone(list), func(r opRun) bool { return !p.reaches(f.device, r.id) })
	}
	for _, r := range list {
		if err := p.settle(); err != nil {
			return false, err
		}
		on, err := p.l1Of(r.id)
		if err != nil {
			return false, err
		}
		launches = append(launches, launch{on, r.layout, ProgramRun{Row: r.row, At: start, Op: key.path, Inferred: true}, start})
	}
	return len(list) > 0, p.launch(launches, at)
}

// launch checks runs that are enqueued at one moment against what lives there, and
// takes them as dispatched.
func (p *replayer) launch(all []launch, at uint64) error {
	slices.SortStableFunc(all, func(a, b launch) int { return compareID(a.on.id, b.on.id) })
	for len(all) > 0 {
		first := all[0]
		var rest []launch
		group := all[:0:0]
		for _, l := range all {
			if l.layout == first.layout && l.on.content == first.on.content {
				group = append(group, l)
			} else {
				rest = append(rest, l)
			}
		}
		p.tell(group, at)
		if err := p.check(group, at); err != nil {
			return err
		}
		if err := p.dispatch(group); err != nil {
			return err
		}
		all = rest
	}
	return nil
}

// check judges one layout on devices on which the same lives.
func (p *replayer) check(group []launch, at uint64) error {
	q, l := p.queue, group[0].layout
	n := int64(len(group))
	q.result.Runs += n
	if group[0].run.Inferred {
		q.result.Inferred += n
	}
	key := checkKey{l, group[0].on.content}
	found, ok := q.checks[key]
	if !ok {
		var err error
		if found, err = p.judge(group, at); err != nil {
			return err
		}
		if len(q.checks) >= maxRemembered {
			clear(q.checks)
		}
		q.checks[key] = found
	} else if found >= 0 {
		q.result.List[found].Times += n
	}
	if found != fitted {
		q.result.Failed += n
	}
	return nil
}

// judge checks a layout anew and returns where the answer is.
func (p *replayer) judge(group []launch, at uint64) (found int, err error) {
	q, first := p.queue, group[0]
	set, err := p.memory.fleet.Of(ids(group)...)
	if err != nil {
		return 0, p.internal(at, err)
	}
	for _, one := range first.layout.programs() {
		verdict, err := p.memory.fleet.Check(one, set)
		if err != nil {
			return 0, p.internal(at, err)
		}
		if !verdict.Fits() {
			return p.fail(group, at, verdict), nil
		}
		rooms, err := p.memory.fleet.Headroom(one, set)
		if err != nil {
			return 0, p.internal(at, err)
		}
		tighter := false
		for _, room := range rooms {
			if room.Free < q.slack {
				q.slack = room.Free
				q.result.Tightest = &Tightest{Run: first.run, Enqueue: at, Device: first.on.id, Headroom: room}
				tighter = true
			}
		}
		if tighter {
			p.keepTight(one, first.on)
		}
	}
	return fitted, nil
}

// fail lists a failure.
func (p *replayer) fail(group []launch, at uint64, v fit.Verdict) int {
	q, first := p.queue, group[0]
	key := failureKey(first.run.Op, v)
	if i, ok := q.failed[key]; ok {
		if i >= 0 {
			q.result.List[i].Times += int64(len(group))
		}
		return i
	}
	index := unlisted
	if len(q.result.List) < MaxListed {
		index = len(q.result.List)
		c := FailedCheck{
			Run: first.run, Enqueue: at, Device: first.on.id, Devices: len(group), Times: int64(len(group)), Verdict: v,
			Buffers: map[device.BufferID]BufferInfo{}, Synthesised: first.layout.placed,
		}
		p.explain(&c, first.on)
		q.result.List = append(q.result.List, c)
	} else {
		q.result.More++
	}
	if len(q.failed) < maxRemembered {
		q.failed[key] = index
	}
	return index
}

// failureKey hashes what tells one failure from another: where, by how much, and the
// sizes of what is in the way.
func failureKey(op string, v fit.Verdict) (key [16]byte) {
	h := fnv.New128a()
	text := append([]byte(op), 0)
	for _, r := range v.Refusals {
		text = append(text, r.Error()...)
	}
	for _, c := range v.Clashes {
		text = append(text, c.Cores.String()...)
		for _, n := range []uint64{c.End, c.Limit, c.Bytes} {
			text = binary.LittleEndian.AppendUint64(text, n)
		}
		for _, r := range c.Above {
			text = binary.LittleEndian.AppendUint64(append(text, byte(r.Kind)), r.Range.Start)
			text = binary.LittleEndian.AppendUint64(text, r.Range.End)
		}
	}
	h.Write(text) // never fails
	h.Sum(key[:0])
	return key
}

// explain gathers the buffers that a verdict names.
func (p *replayer) explain(c *FailedCheck, d *l1Device) {
	name := func(b *liveBuffer) {
		c.Buffers[b.id] = b.info
		c.Synthesised = c.Synthesised || b.key.address == 0
	}
	for _, clash := range c.Verdict.Clashes {
		for _, r := range clash.Above {
			if b := p.memory.live[r.Buffer.ID]; b != nil {
				name(b)
			}
		}
	}
	for _, r := range c.Verdict.Refusals {
		for _, b := range p.memory.live {
			if !b.r.IsEmpty() && b.r.Start == r.Limit && slices.Contains(b.on, d) {
				name(b)
			}
		}
	}
}

func ids(group []launch) []device.ID {
	out := make([]device.ID, len(group))
	for i, l := range group {
		out[i] = l.on.slot
	}
	return out
}

func (p *replayer) internal(at uint64, err error) error {
	return &InputError{File: p.file, Node: int64(at), Reason: err.Error(), Err: err}
}

// dispatch takes a layout as what its devices run from now on.
func (p *replayer) dispatch(group []launch) error {
	f, l, at := p.memory.fleet, group[0].layout, group[0].last
	set, err := f.Of(ids(group)...)
	if err != nil {
		return p.internal(at, err)
	}
	for _, g := range group {
		p.writeRise(g.on)
	}
	for _, one := range l.programs() {
		if _, err := f.Register(one, set); err != nil {
			return p.internal(at, err)
		}
		if err := f.Dispatch(one.ID(), set); err != nil {
			return p.internal(at, err)
		}
	}
	for _, g := range group {
		d := g.on
		d.ran, d.last = true, l
		bound := uint64(0)
		for _, one := range l.programs() {
			d.runs[one] = g.run
			bound = max(bound, d.place(one))
		}
		p.raise(d, bound, g.last, g.run.Op, nil)
	}
	return nil
}

// place notes what a program holds of each core, and returns the largest bound.
func (d *l1Device) place(one *program.Program) (most uint64) {
	for kind := program.CircularBuffer; int(kind) < numKinds; kind++ {
		for g := range one.Occupied(kind).Groups() {
			for c := range g.Cores().All() {
				b := d.at(c)
				d.bound += g.Bytes() - b.placed[kind] // wraps and comes back
				b.placed[kind] = g.Bytes()
				most = max(most, b.sum())
			}
		}
	}
	return most
}

// programs returns what a device runs: circular buffers, and the rest.
func (l *layout) programs() []*program.Program {
	var out []*program.Program
	if one := l.counted[program.CircularBuffer]; one != nil {
		out = append(out, one)
	}
	if l.rest != nil {
		out = append(out, l.rest)
	}
	return out
}

// execute takes in a program_execution: the dispatch of the last run of its chip.
func (p *replayer) execute(n *Node) error {
	q := p.queue
	if !n.PhysicalDeviceID.OK {
		return nil
	}
	chip := n.PhysicalDeviceID.V
	if f := p.ownFree(); f != nil && p.reaches(f.device, some(chip)) {
		if err := p.hit(n.Counter); err != nil {
			return err
		}
	}
	if d := p.devices[some(chip)]; d != nil {
		if err := p.complete([]*replayDevice{d}, n.Counter); err != nil {
			return err
		}
	}
	e := q.executions[chip]
	if e == nil {
		e = &execution{}
		q.executions[chip] = e
	}
	e.row.Executions++
	d := p.memory.devices[some(chip)]
	if d == nil || d.last == nil {
		e.row.Unknown++
		return nil
	}
	one := d.last.counted[program.CircularBuffer]
	if one == nil {
		return nil
	}
	if q.executed == nil {
		q.executed = device.NewFleet()
	}
	if e.dev == (device.Device{}) {
		dev, err := q.executed.AddDevice(device.ID(chip), one.Spec())
		if err != nil {
			return p.internal(n.Counter, err)
		}
		e.dev = dev
	}
	if _, err := q.executed.Register(one, e.dev.Set()); err != nil {
		return p.internal(n.Counter, err)
	}
	if err := q.executed.Dispatch(one.ID(), e.dev.Set()); err != nil {
		return p.internal(n.Counter, err)
	}
	e.row.CorePeak = max(e.row.CorePeak, d.last.detail.Core)
	return nil
}

// hit looks at the innermost function, which ends or goes on to its next program: if
// it freed and placed nothing since, or says so, its program came from the cache.
func (p *replayer) hit(at uint64) error {
	c, f := &p.stack[len(p.stack)-1], p.ownFree()
	says := c.cacheHit.OK && c.cacheHit.V
	switch {
	case f != nil && (says || !c.cacheHit.OK && f.inOp):
	case f == nil && says && !c.placed:
	default:
		return nil
	}
	start := c.start
	if f != nil {
		if f.settled = true; !says {
			start = f.counter
		}
	}
	known, err := p.infer(opKey{p.opPath(), c.arguments}, f, start, at)
	if err != nil {
		return err
	}
	if c.placed = true; known {
		p.result.Hits.Inferred++
		p.note(CodeInferred, int64(start), c.name)
		return nil
	}
	if says {
		p.unknownHit(c)
	} else {
		f.settled = false // closeFree counts it
	}
	return nil
}

// ownFree returns the free that nothing followed yet, if it is of the innermost
// function and not settled.
func (p *replayer) ownFree() *free {
	f := p.openFree
	if n := len(p.stack); f == nil || n == 0 || f.depth != n || f.settled || f.counter < p.stack[n-1].start {
		return nil
	}
	return f
}

// unknownHit counts a function that says it found its program in the cache, and of
// which nothing is known.
func (p *replayer) unknownHit(c *call) {
	p.result.Hits.Unknown++
	p.note(CodeCacheHit, int64(c.start), c.name)
}

// finishL1 fills in what lives in L1.
func (p *replayer) finishL1() {
	m, r := p.memory, p.result
	for _, d := range m.sorted() {
		p.writeRise(d)
		d.row.Total.Final = d.dev.Totals().Tracked
		d.row.L1.Final, d.row.L1Small.Final, d.row.DRAM.Final = d.kinds.l1, d.kinds.small, d.kinds.dram
		d.row.Buffers.Final = d.kinds.count
		cores, from := p.grid(d.id)
		d.row.NumCores, d.row.CoresFrom = cores.Len(), from
		if e := p.queue.executions[d.id.V]; e != nil && d.id.OK {
			e.row.Peak, e.row.Final = e.dev.Totals().Peak.Resident, e.dev.Resident()
			d.row.Dispatched = &e.row
		}
		row := p.devices[d.id]
		if row == nil && len(p.devices) > 0 || row == nil && !d.touched {
			continue
		}
		d.row.Kind, d.row.Chips = p.kindOfID(d.id)
		r.L1 = append(r.L1, d.row)
	}
	r.Checks, r.Earlier = p.queue.result, m.earlier
	r.Checks.Apart = p.apart()
	r.Live = m.leaks()
}

// leaks lists what was not freed.
func (m *memory) leaks() (out Live) {
	all := slices.Collect(maps.Values(m.live))
	slices.SortFunc(all, func(a, b *liveBuffer) int {
		rank := func(b *liveBuffer) int {
			if b.info.Kind.InL1() {
				return 0
			}
			return 1
		}
		switch {
		case rank(a) != rank(b):
			return rank(a) - rank(b)
		case a.info.Size != b.info.Size:
			if a.info.Size > b.info.Size {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.id, b.id) // of logs, up to 2^64-1
	})
	for _, b := range all {
		out.Buffers++
		sum := map[device.Kind]*uint64{device.KindL1: &out.L1, device.KindL1Small: &out.L1Small, device.KindDRAM: &out.DRAM}[b.info.Kind]
		if sum != nil {
			*sum = min(*sum+b.info.Size, l1.MaxAddr)
		}
		if len(out.List) < MaxListed {
			out.List = append(out.List, b.info)
		} else {
			out.More++
		}
	}
	return out
}
