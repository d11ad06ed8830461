package capture

import (
	"fmt"
	"maps"
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
	// Progress, if not nil, is called now and then with the number of nodes read.
	Progress func(nodes int64)
}

// Replay reads a capture to its end and returns what it says. Errors are
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
}

func newKnowledge() *knowledge {
	return &knowledge{chips: map[uint64][]uint64{}, isChip: map[uint64]bool{}}
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
	layouts map[string]*layout // programs by content
	fleets  [numKinds]fleets

	stack     []call // functions that run
	path      string // of stack; "" = to be joined
	names     map[string]string
	openFree  *free                    // the last free, while nothing was placed since
	aimless   map[uint64]*AnomalyCount // by id: frees that reached nothing while something was alive
	buffers   map[uint64]bool          // counters of the buffer nodes that are allocated
	farthest  uint64                   // largest counter that a connection names
	upstream  upstreamSums
	anomalies map[Code]*AnomalyCount
}

// fleets count one kind of buffer, once with everything kept and once with frees.
type fleets struct {
	registered, resident *device.Fleet
}

type call struct {
	name     string
	cacheHit Opt[bool]
}

// A free is a circular_buffer_deallocate_all that nothing followed yet.
type free struct {
	counter  uint64
	cacheHit Opt[bool]
	inOp     bool
}

func replayOnce(r *Reader, opt Options, know *knowledge) (*Result, error) {
	p := &replayer{
		opt: opt, know: know, file: r.file, reader: r,
		result:    &Result{File: r.file, Addresses: AddressesNone},
		devices:   map[Opt[uint64]]*replayDevice{},
		layouts:   map[string]*layout{},
		names:     map[string]string{},
		aimless:   map[uint64]*AnomalyCount{},
		buffers:   map[uint64]bool{},
		anomalies: map[Code]*AnomalyCount{},
	}
	for n, err := range r.Nodes() {
		if err != nil {
			return nil, err
		}
		if opt.Progress != nil && n.Counter%4096 == 0 {
			opt.Progress(int64(n.Counter))
		}
		if err := p.node(n); err != nil {
			return nil, err
		}
		p.result.Nodes++
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
	switch n.Type {
	case TypeCircularBufferAllocate, TypeDataflowBufferAllocate, TypeScratchpadAllocate:
		p.openFree = nil
		p.upstream.place(n)
		return p.device(n.DeviceID).place(p, n)
	case TypeCircularBufferDeallocateAll:
		p.upstream.free()
		return p.freeAll(n)
	case TypeBufferAllocate, TypeBufferDeallocate:
		p.upstream.buffer(n)
		p.buffer(n)
	case TypeTensor:
		for _, t := range n.DeviceTensors {
			if t.MeshDeviceID.OK {
				p.learn(t.MeshDeviceID.V, t.DeviceID)
			}
		}
	case TypeProgramExecution:
		if n.DeviceID.OK && n.PhysicalDeviceID.OK {
			p.learn(n.DeviceID.V, n.PhysicalDeviceID.V)
		}
	case TypeFunctionStart:
		p.stack, p.path = append(p.stack, call{p.intern(n.Name), n.CacheHit}), ""
		if n.CacheHit.OK && n.CacheHit.V {
			p.note(CodeCacheHit, at, n.Name)
		}
	case TypeFunctionEnd:
		if len(p.stack) == 0 {
			p.note(CodeEndWithoutStart, at, n.Name)
			break
		}
		p.stack, p.path = p.stack[:len(p.stack)-1], ""
	case TypeError:
		p.note(CodeOperationFailed, at, strings.Trim(n.ErrorOperation+": "+n.ErrorMessage, ": "))
	default:
		if !n.Type.Known() {
			p.note(CodeUnknownType, at, string(n.Type))
		}
	}
	return nil
}

// learn takes in that a mesh has a chip. If a free of the mesh should have reached
// CBs of the chip before, this reading has missed it.
func (p *replayer) learn(mesh, chip uint64) {
	if p.know.learn(mesh, chip) {
		if d := p.devices[some(chip)]; d != nil && d.missed[mesh] {
			p.know.late = true
		}
	}
}

// freeAll ends the CBs of the device that the node names, and of the chips of the
// mesh with that id; without an id, of all.
func (p *replayer) freeAll(n *Node) error {
	p.closeFree()
	p.openFree = &free{counter: n.Counter, inOp: len(p.stack) > 0 && !p.isChip(n.DeviceID)}
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
	if f != nil && f.inOp && !f.cacheHit.OK {
		p.note(CodeFreeWithoutCBs, int64(f.counter), "")
	}
}

// buffer watches for frees of buffers from before the capture.
func (p *replayer) buffer(n *Node) {
	for _, c := range n.Connections {
		if n.Type == TypeBufferAllocate {
			p.buffers[c] = true
			return
		}
		if p.buffers[c] {
			delete(p.buffers, c)
			return
		}
	}
	if n.Type == TypeBufferDeallocate {
		p.note(CodeFreeUnknown, int64(n.Counter), "")
	}
}

func (p *replayer) device(id Opt[uint64]) *replayDevice {
	d := p.devices[id]
	if d == nil {
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
	return slices.SortedFunc(maps.Values(p.devices), func(a, b *replayDevice) int {
		switch {
		case a.id.OK != b.id.OK && b.id.OK:
			return -1
		case a.id.OK != b.id.OK:
			return 1
		case a.id.V < b.id.V:
			return -1
		}
		return 1
	})
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
	if s.L1Size < s.CBBase || s.L1Size > l1.MaxAddr {
		s.L1Size = 0 // numbers that contradict each other: better none than a wrong percentage
	}
	return s
}

// finish ends the runs that are still open and computes what is left.
func (p *replayer) finish() error {
	p.closeFree()
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
		}
	}
	if p.farthest > 0 && p.farthest >= uint64(p.result.Nodes) {
		p.note(CodeDanglingConnection, -1, "")
	}
	p.result.Spec = p.spec
	p.result.Rank = info.Rank
	p.result.Upstream = p.upstream.figures()
	p.finishDevices()
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
		switch chips := p.know.chips[d.id.V]; {
		case !d.id.OK:
			row.Kind = KindNone
		case len(chips) > 0 && !p.know.isChip[d.id.V]:
			row.Kind, row.Chips = KindMesh, slices.Clone(chips)
		default:
			row.Kind = KindChip
		}
		p.result.Devices = append(p.result.Devices, row)
	}
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
