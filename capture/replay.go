package capture

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Options say what a capture cannot, or override what it says. The zero value
// leaves everything to the capture.
type Options struct {
	Arch  l1.Arch // "" = by the file's L1 size, or Blackhole
	Base  uint64  // where circular buffers start; 0 = by file or architecture
	Align uint64  // alignment of their addresses; 0 = by architecture
	// L1Small is the size of the L1_SMALL area at the top of L1, which no capture
	// tells; L1 buffers without an address are placed below it.
	L1Small uint64
	MaxL1   uint64 // size of L1; 0 = by file or architecture
	// NoInfer leaves operations that found their program in the cache without one.
	NoInfer bool
	// At, if present, is the counter of a node: after it the source tells what is still
	// open, as it stands, so that somebody may look at that moment.
	At Opt[uint64]
	// Ahead reads a regular file twice, so that what comes late is told right at once.
	Ahead bool
	// Ask, if not nil, asks what holds a byte; Result.Held answers.
	Ask *Question
	// Progress, if not nil, is called now and then with the number of nodes read.
	Progress func(nodes int64)
	// Enqueued, if not nil, is called at the beginning of each reading of the capture,
	// of which there are at most two. What it returns is called with every program run
	// that is enqueued, in their order; it must not keep the Enqueued.
	Enqueued func() func(Enqueued)
}

// Replay reads a capture or an event log to its end and returns what it says. Errors are
// *InputError. The capture is read once; what would have needed a second reading is
// an anomaly (CodeMeshLate, CodeLayoutLate). Memory grows with the number of
// programs, not with the file.
func Replay(r *Reader, opt Options) (*Result, error) {
	return replayOnce(r, opt, newKnowledge())
}

// Replay opens and replays the capture; if something at its end changes the meaning
// of its beginning it is read a second time, unless it is a pipe. A file that is
// another one by then is refused with ErrChanged. Errors are *InputError.
func (in Input) Replay(opt Options) (*Result, error) {
	know := newKnowledge()
	r, err := in.Open()
	if err != nil {
		return nil, err
	}
	result, err := replayOnce(r, opt, know)
	if err != nil {
		return nil, err
	}
	if first := r.regular; know.late && first != nil {
		know.late = false
		if r, err = in.Open(); err != nil {
			return nil, err
		}
		if err := r.sameAs(first); err != nil {
			return nil, err
		}
		if result, err = replayOnce(r, opt, know); err != nil {
			return nil, err
		}
	}
	if !result.Rank.OK {
		result.Rank = in.Rank
	}
	return result, nil
}

// knowledge is what a capture tells about all of itself at one of its nodes. A
// second reading starts with what the first one learnt.
type knowledge struct {
	chips  map[uint64][]uint64 // mesh -> its chips, ascending
	isChip map[uint64]bool     // ids that were seen as a chip's
	late   bool                // something came too late for this reading

	devices []DeviceInfo
	ids     map[Opt[uint64]]bool  // that have an l1Device
	grids   map[uint64]l1.CoreSet // cores of sharded buffers that were learnt late, by the counter of the allocation
	seen    l1.Core               // largest coordinates of any core
}

func newKnowledge() *knowledge {
	return &knowledge{
		chips: map[uint64][]uint64{}, isChip: map[uint64]bool{}, ids: map[Opt[uint64]]bool{}, grids: map[uint64]l1.CoreSet{},
	}
}

// learn notes that a chip belongs to a mesh and reports whether that is new. A pair
// of equal ids says no more than that there is such a chip.
func (k *knowledge) learn(mesh, chip uint64) bool {
	k.isChip[chip] = true
	if mesh == chip {
		return false
	}
	at, found := slices.BinarySearch(k.chips[mesh], chip)
	if !found {
		k.chips[mesh] = slices.Insert(k.chips[mesh], at, chip)
	}
	return !found
}

// replayer is one reading of one capture.
type replayer struct {
	opt    Options
	know   *knowledge
	file   string
	reader *Reader

	result  *Result
	spec    Spec
	decided bool // spec is in use and cannot change any more

	devices map[Opt[uint64]]*replayDevice
	order   []*replayDevice    // by id, while none is added
	final   *device.Snapshot   // of what is registered, when all is
	layouts map[string]*layout // programs by content
	fleets  [numKinds]fleets

	stack              []call // functions that run
	path               string // of stack; "" = to be joined
	names              map[string]string
	openFree           *free                    // the last free, while nothing was placed since
	aimless            map[uint64]*AnomalyCount // by id: frees that reached nothing while something was alive
	open               []*replayDevice          // with a run that is not enqueued
	memory             *memory
	queue              *enqueuer
	enqueued           func(Enqueued)           // may be nil
	grids              map[Opt[uint64]]coreGrid // that were asked for
	guessed, guessedOp map[uint64]bool          // ids of frees in operations of which nobody knew what they are; the first were decided by
	farthest           uint64                   // largest counter that a connection names
	asked              bool                     // Options.Ask is answered
	upstream           upstreamSums
	anomalies          map[Code]*AnomalyCount
}

// fleets count one kind of buffer, once with everything kept and once with frees.
type fleets struct {
	registered, resident *device.Fleet
}

type call struct {
	name      string
	start     uint64 // counter
	arguments uint64
	cacheHit  Opt[bool]
	placed    bool // something was placed in it, or inferred
}

// A free is a circular_buffer_deallocate_all that nothing followed yet.
type free struct {
	counter  uint64
	device   Opt[uint64]
	depth    int // of functions
	cacheHit Opt[bool]
	inOp     bool
	settled  bool // what it stands for is known
}

func replayOnce(r *Reader, opt Options, know *knowledge) (*Result, error) {
	p := &replayer{
		opt: opt, know: know, file: r.file, reader: r,
		result:  &Result{File: r.file, Addresses: AddressesNone},
		devices: map[Opt[uint64]]*replayDevice{},
		layouts: map[string]*layout{},
		names:   map[string]string{},
		aimless: map[uint64]*AnomalyCount{},
		memory:  newMemory(),
		queue:   newEnqueuer(),
		grids:   map[Opt[uint64]]coreGrid{},
		guessed: map[uint64]bool{}, guessedOp: map[uint64]bool{},
		anomalies: map[Code]*AnomalyCount{},
	}
	if opt.Enqueued != nil {
		p.enqueued = opt.Enqueued()
	}
	var log *Result
	r.oldLog = func(in io.Reader) (err error) {
		log, err = replayLog(in, r.file, opt)
		return err
	}
	for n, err := range r.Nodes() {
		if err != nil {
			return nil, err
		}
		if opt.Progress != nil && n.Counter%4096 == 0 {
			opt.Progress(int64(n.Counter))
		}
		if p.result.Nodes == 0 {
			if err := p.start(); err != nil {
				return nil, err
			}
		}
		if err := p.ask(n.Counter); err != nil {
			return nil, err
		}
		if err := p.node(n); err != nil {
			return nil, err
		}
		p.result.Nodes++
	}
	if log != nil {
		return log, nil
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.result, nil
}

// note counts an anomaly.
func (p *replayer) note(code Code, at int64, detail string) {
	a := p.anomalies[code]
	if a == nil {
		a = &AnomalyCount{Code: code, First: at, Detail: detail}
		p.anomalies[code] = a
	}
	a.Count++
}

func (p *replayer) node(n *Node) error {
	at := int64(n.Counter)
	if n.Anomaly.Has(AnomalyDuplicateKey) {
		p.note(CodeDuplicateKey, at, "")
	}
	if n.Anomaly.Has(AnomalyDeviceTensors) {
		p.note(CodeBadDeviceTensors, at, "")
	}
	for _, c := range n.Connections {
		p.farthest = max(p.farthest, c)
	}
	p.settleNode(n)
	switch n.Type {
	case TypeCircularBufferAllocate, TypeDataflowBufferAllocate, TypeScratchpadAllocate:
		p.openFree = nil
		if len(p.stack) > 0 {
			p.stack[len(p.stack)-1].placed = true
		}
		p.see(n.Cores)
		p.upstream.place(n)
		return p.place(n)
	case TypeCircularBufferDeallocateAll:
		p.upstream.free()
		return p.freeAll(n)
	case TypeBuffer:
		p.bufferNode(n)
	case TypeBufferAllocate, TypeBufferDeallocate:
		p.upstream.buffer(n)
		return p.buffer(n)
	case TypeTensor:
		for _, t := range n.DeviceTensors {
			if t.MeshDeviceID.OK {
				if err := p.learn(t.MeshDeviceID.V, t.DeviceID); err != nil {
					return err
				}
			}
		}
		return p.tensor(n)
	case TypeProgramExecution:
		if n.DeviceID.OK && n.PhysicalDeviceID.OK {
			if err := p.learn(n.DeviceID.V, n.PhysicalDeviceID.V); err != nil {
				return err
			}
		}
		return p.execute(n)
	case TypeFunctionStart:
		p.stack = append(p.stack, call{name: p.intern(n.Name), start: n.Counter, arguments: n.Arguments, cacheHit: n.CacheHit})
		p.path = ""
	case TypeFunctionEnd:
		if len(p.stack) == 0 {
			p.note(CodeEndWithoutStart, at, n.Name)
			break
		}
		return p.functionEnd(n.Counter)
	case TypeError:
		p.note(CodeOperationFailed, at, strings.Trim(n.ErrorOperation+": "+n.ErrorMessage, ": "))
	default:
		if !n.Type.Known() {
			p.note(CodeUnknownType, at, string(n.Type))
		}
	}
	return nil
}

// place takes in a node that places a CB, dataflow buffer or scratchpad.
func (p *replayer) place(n *Node) error {
	d := p.device(n.DeviceID)
	if _, err := p.l1Of(n.DeviceID); err != nil {
		return err
	}
	if len(d.run) == 0 {
		d.start, d.depth, d.key = n.Counter, len(p.stack), opKey{path: p.opPath()}
		if len(p.stack) > 0 {
			d.key.arguments = p.stack[len(p.stack)-1].arguments
		}
	}
	if len(d.run) == d.launched {
		p.open = append(p.open, d)
	}
	d.newest = n.Counter
	return d.place(p, n)
}

// functionEnd ends the innermost function, and with it the runs that began in it.
func (p *replayer) functionEnd(at uint64) error {
	if err := p.hit(at); err != nil {
		return err
	}
	depth := len(p.stack)
	var done []*replayDevice
	for _, d := range p.open {
		if d.depth >= depth {
			done = append(done, d)
		}
	}
	if err := p.complete(done, at); err != nil {
		return err
	}
	placed := p.stack[depth-1].placed
	p.stack, p.path = p.stack[:depth-1], ""
	if depth > 1 {
		p.stack[depth-2].placed = p.stack[depth-2].placed || placed
	}
	return nil
}

// learn takes in that a mesh has a chip. If a free of the mesh should have reached
// CBs of the chip before, this reading has missed it.
func (p *replayer) learn(mesh, chip uint64) error {
	if !p.know.learn(mesh, chip) {
		return nil
	}
	if d := p.devices[some(chip)]; d != nil && d.missed[mesh] {
		p.know.late = true
	}
	if p.guessed[mesh] || p.guessed[chip] || p.guessedOp[chip] && len(p.know.chips[chip]) == 0 {
		p.know.late = true
	}
	return p.joins(mesh, chip)
}

// freeAll ends the CBs of the device that the node names, and of the chips of the
// mesh with that id; without an id, of all.
func (p *replayer) freeAll(n *Node) error {
	if p.ownFree() != nil {
		if err := p.hit(n.Counter); err != nil {
			return err
		}
	}
	p.closeFree()
	var done []*replayDevice
	for _, d := range p.open {
		if p.reaches(n.DeviceID, d.id) {
			done = append(done, d)
		}
	}
	if err := p.complete(done, n.Counter); err != nil {
		return err
	}
	if len(p.stack) > 0 && n.DeviceID.OK && !p.isChip(n.DeviceID) && len(p.know.chips[n.DeviceID.V]) == 0 {
		p.guessedOp[n.DeviceID.V] = true
	}
	p.openFree = &free{counter: n.Counter, device: n.DeviceID, depth: len(p.stack), inOp: len(p.stack) > 0 && !p.isChip(n.DeviceID)}
	if len(p.stack) > 0 {
		p.openFree.cacheHit = p.stack[len(p.stack)-1].cacheHit
	}
	var chips []uint64
	if n.DeviceID.OK {
		chips = p.know.chips[n.DeviceID.V]
	}
	var reached, missed bool
	for _, d := range p.sorted() {
		_, isChip := slices.BinarySearch(chips, d.id.V)
		if !n.DeviceID.OK || d.id == n.DeviceID || d.id.OK && isChip {
			reached = true
			if err := d.end(p); err != nil {
				return err
			}
			d.free(p)
		} else if d.id.OK && len(d.run) > 0 {
			if d.missed == nil {
				d.missed = map[uint64]bool{}
			}
			d.missed[n.DeviceID.V], missed = true, true
		}
	}
	if missed && !reached {
		id := n.DeviceID.V
		if p.aimless[id] == nil {
			p.aimless[id] = &AnomalyCount{First: int64(n.Counter), Detail: fmt.Sprintf("id %d", id)}
		}
		p.aimless[id].Count++
	}
	return nil
}

// noteUnknownMeshes looks at the frees that reached nothing. If by now their id is
// neither a chip's nor that of a mesh with chips, they ended what nobody can tell.
func (p *replayer) noteUnknownMeshes() {
	var all *AnomalyCount
	for id, a := range p.aimless {
		if p.know.isChip[id] || len(p.know.chips[id]) > 0 || p.devices[some(id)] != nil {
			continue
		}
		if all == nil {
			all = &AnomalyCount{Code: CodeMeshUnknown, First: a.First, Detail: a.Detail}
		}
		if a.First < all.First {
			all.First, all.Detail = a.First, a.Detail
		}
		all.Count += a.Count
	}
	if all != nil {
		p.anomalies[CodeMeshUnknown] = all
	}
}

// isChip reports whether an id is known as a chip's and not as a mesh's: a free
// with such an id comes from a program's end, not from an operation.
func (p *replayer) isChip(id Opt[uint64]) bool {
	return id.OK && p.know.isChip[id.V] && len(p.know.chips[id.V]) == 0
}

// closeFree looks at a free that nothing followed. If its operation found the
// program in the cache, or does not say, the file may not show what L1 holds.
func (p *replayer) closeFree() {
	f := p.openFree
	p.openFree = nil
	if f != nil && f.inOp && !f.cacheHit.OK && !f.settled {
		p.result.Hits.Unknown++
		p.note(CodeFreeWithoutCBs, int64(f.counter), "")
	}
}

// buffer takes in an event of a buffer. Runs on its devices are complete by then.
func (p *replayer) buffer(n *Node) error {
	if err := p.settle(); err != nil {
		return err
	}
	var done []*replayDevice
	for _, d := range p.open {
		if p.reaches(n.DeviceID, d.id) {
			done = append(done, d)
		}
	}
	if err := p.complete(done, n.Counter); err != nil {
		return err
	}
	if n.Type == TypeBufferAllocate {
		p.upstream.pair(n, true)
		return p.allocate(n)
	}
	found, err := p.freeBuffer(n)
	p.upstream.pair(n, found)
	if !found && err == nil {
		p.note(CodeFreeUnknown, int64(n.Counter), "")
		if kind, ok := bufferKind(n); ok && kind.InL1() && p.queue.result.Runs > 0 {
			p.memory.earlier.Freed++
		}
	}
	return err
}

func (p *replayer) device(id Opt[uint64]) *replayDevice {
	d := p.devices[id]
	if d == nil {
		p.order = nil
		d = &replayDevice{id: id, slot: device.ID(id.V)}
		if !id.OK {
			d.slot = noDevice
		}
		p.devices[id] = d
	}
	return d
}

// noDevice stands for nodes without a device id; ids of captures end at 2^31-1.
const noDevice = device.ID(1 << 32)

// sorted returns the devices by id, the one without an id first.
func (p *replayer) sorted() []*replayDevice {
	if p.order == nil {
		p.order = slices.SortedFunc(maps.Values(p.devices), func(a, b *replayDevice) int { return compareID(a.id, b.id) })
	}
	return p.order
}

func (p *replayer) opPath() string {
	if p.path == "" && len(p.stack) > 0 {
		names := make([]string, len(p.stack))
		for i, c := range p.stack {
			names[i] = c.name
		}
		p.path = p.intern(strings.Join(names, " > "))
	}
	return p.path
}

// intern returns s, the same memory for equal texts: a run repeats its operations.
func (p *replayer) intern(s string) string {
	if known, ok := p.names[s]; ok {
		return known
	}
	p.names[s] = s
	return s
}

// decide fixes the Spec before it is first used.
func (p *replayer) decide() l1.Spec {
	if !p.decided {
		devices := p.know.devices
		if devices == nil && p.reader.Info().Early {
			devices = p.reader.Info().Devices
		}
		p.spec, p.decided = chooseSpec(p.opt, devices), true
	}
	return p.spec.Spec
}

// chooseSpec finds architecture, base and alignment: options, then the file, then
// the architecture's default.
func chooseSpec(opt Options, devices []DeviceInfo) Spec {
	var size, base Opt[uint64]
	for _, d := range devices {
		if !size.OK && d.WorkerL1Size.V > 0 {
			size = d.WorkerL1Size
		}
		if !base.OK && d.CBBase.V > 0 {
			base = d.CBBase
		}
	}
	s := Spec{ArchFrom: FromOption, BaseFrom: FromArch}
	arch := opt.Arch
	if arch == "" {
		arch, s.ArchFrom = l1.Blackhole, FromAssumed
		for _, a := range []l1.Arch{l1.Wormhole, l1.Blackhole, l1.Grayskull} {
			if size.OK && l1.ArchSpec(a).L1Size == size.V {
				arch, s.ArchFrom = a, FromFile
			}
		}
	}
	s.Spec = l1.ArchSpec(arch)
	if size.OK && opt.Arch == "" {
		s.L1Size = size.V
	}
	if base.OK {
		s.CBBase, s.BaseFrom = base.V, FromFile
	}
	if opt.Base != 0 {
		s.CBBase, s.BaseFrom = opt.Base, FromOption
	}
	if opt.Align != 0 {
		s.CBAlign, s.BaseFrom = opt.Align, FromOption
	}
	if s.BaseFrom == FromArch && s.ArchFrom == FromAssumed {
		s.BaseFrom = FromAssumed
	}
	if opt.MaxL1 != 0 {
		s.L1Size = opt.MaxL1
	}
	if s.L1Size < s.CBBase || s.L1Size > l1.MaxAddr {
		s.L1Size = 0 // numbers that contradict each other: better none than a wrong percentage
	}
	if s.L1Small = opt.L1Small; s.L1Small > s.L1Size {
		s.L1Small = 0
	}
	return s
}

// finish ends the runs that are still open and computes what is left.
func (p *replayer) finish() error {
	end := uint64(p.result.Nodes)
	if err := p.settle(); err != nil {
		return err
	}
	if n := len(p.stack); n > 0 {
		if err := p.hit(end); err != nil {
			return err
		}
		for i := range p.stack[:n-1] {
			if c := &p.stack[i]; c.cacheHit.V && !c.placed {
				p.unknownHit(c)
			}
		}
	}
	p.closeFree()
	if err := p.complete(slices.Clone(p.open), end); err != nil {
		return err
	}
	p.settleNode(&Node{})
	if err := p.ask(math.MaxUint64); err != nil {
		return err
	}
	if err := p.grow(); err != nil {
		return err
	}
	info := p.reader.Info()
	for _, d := range p.sorted() {
		if err := d.end(p); err != nil {
			return err
		}
	}
	if p.know.late {
		p.note(CodeMeshLate, -1, "")
	}
	p.noteUnknownMeshes()
	p.decide()
	if !info.Early && len(info.Devices) > 0 {
		p.know.devices = info.Devices
		late := chooseSpec(p.opt, info.Devices)
		if late.Spec != p.spec.Spec {
			p.know.late = true
			p.note(CodeLayoutLate, -1, "")
		} else {
			p.spec = late
			if len(p.grids) > 0 && slices.ContainsFunc(info.Devices, legalGrid) && len(p.memory.devices) > 0 {
				p.know.late = true
			}
		}
	}
	if p.farthest > 0 && p.farthest >= uint64(p.result.Nodes) {
		p.note(CodeDanglingConnection, -1, "")
	}
	p.result.Spec = p.spec
	p.result.Rank = info.Rank
	p.result.Upstream = p.upstream.figures()
	p.finishDevices()
	p.finishL1()
	p.finishAnomalies(info)
	return nil
}

func (p *replayer) finishDevices() {
	for _, mesh := range slices.Sorted(maps.Keys(p.know.chips)) {
		p.result.Meshes = append(p.result.Meshes, Mesh{mesh, slices.Clone(p.know.chips[mesh])})
		if p.know.isChip[mesh] {
			p.note(CodeIDCollision, -1, "")
		}
	}
	for _, d := range p.sorted() {
		row := d.finish(p)
		row.Kind, row.Chips = p.kindOfID(d.id)
		p.result.Devices = append(p.result.Devices, row)
	}
}

func (p *replayer) kindOfID(id Opt[uint64]) (DeviceKind, []uint64) {
	switch chips := p.know.chips[id.V]; {
	case !id.OK:
		return KindNone, nil
	case len(chips) > 0 && !p.know.isChip[id.V]:
		return KindMesh, slices.Clone(chips)
	}
	return KindChip, nil
}

func (p *replayer) finishAnomalies(info Info) {
	if p.result.Nodes == 0 {
		p.note(CodeNoNodes, -1, "")
	}
	var cbs int64
	for _, d := range p.result.Devices {
		cbs += d.CBNodes
	}
	if cbs == 0 && p.result.Nodes > 0 {
		p.note(CodeNoCBs, -1, "")
	}
	for range p.stack {
		p.note(CodeUnfinished, -1, p.stack[len(p.stack)-1].name)
	}
	if p.result.Upstream.Wrapped {
		p.note(CodeUpstreamWrapped, -1, "")
	}
	if info.Anomaly.Has(AnomalyDuplicateKey) {
		p.note(CodeDuplicateKey, -1, "")
	}
	for _, d := range info.Devices {
		if d.CBBase != info.Devices[0].CBBase || d.WorkerL1Size != info.Devices[0].WorkerL1Size {
			p.note(CodeSpecsDiffer, -1, "")
		}
	}
	for _, code := range slices.Sorted(maps.Keys(p.anomalies)) {
		p.result.Anomalies = append(p.result.Anomalies, *p.anomalies[code])
	}
}

// kinds of a node that places something.
func kindOf(t Type) program.Kind {
	switch t {
	case TypeDataflowBufferAllocate:
		return program.DataflowBuffer
	case TypeScratchpadAllocate:
		return program.Scratchpad
	}
	return program.CircularBuffer
}
