package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// L1Results holds the oracle's results about everything that lives in L1.
//
// All facts of the file (chips of meshes, cores of tensors, devices) are gathered first; then the
// nodes are played in order. After each change of a device the set of bytes of every core is filled
// anew.
type L1Results struct {
	Devices        map[string]*L1Device
	Runs, Inferred int // enqueued programs, once for each device
	Failed         int // programs that do not fit
	HitsInferred   int
	HitsUnknown    int

	Verdicts  []Verdict      // one for each enqueued program and device, in order
	Hidden    map[string]int // unknown facts, by code
	FreeAgain int            // frees of buffers that the capture allocated and freed before
	Reached   int            // enqueued programs that end in L1_SMALL, once for each device
	Denied    []string       // devices whose rows contradict themselves, or L1_SMALL buffers
	Ambiguous int            // cache hits with several candidates, once for each device

	chips map[string]*chip // of Devices
}

// L1Device has the figures of one device id.
type L1Device struct {
	Peak      uint64 // bytes on the fullest core
	PeakAt    int64
	PeakCores []string // "x-y", in order
	Kinds     map[string]uint64
	TotalPeak uint64
	Total     uint64 // at the end
	Addresses string
	Small     uint64 // size of L1_SMALL

	// Largest value and last one.
	L1, L1Small, DRAM, Buffers [2]uint64
	Unplaced, Assumed          int

	DispatchedPeak, Dispatched uint64
	Executions, Unknown        int
}

// alloc is one allocation of a buffer.
type alloc struct {
	counter, node int64
	owner         string
	kind          string // L1, L1_SMALL, DRAM, other
	size          uint64
	perCore       uint64
	sized         bool // perCore is known
	sharded       bool
	where         []core // of a sharded buffer; nil: unknown
	mode          string // how it got its address: lockstep is "", "per core" or "range"; or unknownMode
	told          bool   // of an earlier one: a tensor says how it lies
	proven        bool   // by a global CB
	order         [4]int64
	recorded      bool
	start, end    uint64
	placed        bool

	earlier      bool  // from before the capture
	since, until int64 // when it lives; since: of an earlier one
}

// tests says whether tt-metal compares with the address of a buffer.
func (a *alloc) tests() bool {
	return a.placed && a.kind == "L1" && (a.end > a.start || !a.sized && a.recorded)
}

type cell struct {
	core core
	kind bufferKind
}

// chip is one device id while the nodes are played.
type chip struct {
	name  string
	left  map[cell][]l1.Range // what the last programs left
	row   *L1Device
	run   []*buffer
	sent  int // buffers of run that are enqueued
	key   string
	op    string // the functions around the run
	nth   int    // which run of its call it is
	depth int
	begun int64 // the last free that announced programs; -1: none
	ran   bool
	last  []*buffer   // the last program
	since [][]*buffer // the programs since the last free that announced some
	execs int         // executions since then
	exec  map[core][]l1.Range

	blind   bool  // its programs are hidden
	touched bool  // a buffer lay there
	grid    *grid // nil: not checked

	runs   []program // all that may have run there
	held   []*alloc  // all placed L1 buffers that were ever there
	align  uint64    // of one more
	hybrid bool      // a tensor on it was allocated per core

	addresses   [2]bool // some are recorded, some are synthesised
	spec        memorySpec
	basesDiffer bool   // it may have another base
	cores       []core // of interleaved buffers
}

type memorySpec struct {
	Layout
	size, small uint64
}

// player plays the nodes.
type player struct {
	opts    Options
	head    header
	spec    memorySpec
	ids     *ids
	chips   []*chip
	byName  map[string]*chip
	shards  map[int64][]core // cores by allocation
	modes   map[int64]string // its mode
	perCore []string         // devices of tensors that were allocated per core
	blind   []node           // tensors of unknown modes that no allocation of the capture is known to have
	live    []*alloc
	out     *L1Results
	stack   []frame
	open    *openFree                // the last free, while nothing followed it
	history map[string][]*remembered // by ordinal
	lastNth map[string]int           // by key: which run the last one was
	decided map[int64]bool           // frees of numbers that are both, which are runs because of earlier calls

	announced   map[int64]string // the id of a free that announces
	shownBehind map[spot]bool    // devices with nodes behind such a free
	ranOn       map[string]bool

	split     split
	past      *past
	aborted   map[int64]bool  // starts of functions that an exception ended
	inside    map[int64]int64 // placed nodes: the start of the function around them
	plan      bool            // the capture shows everything
	addresses bool            // it has addresses
	wrong     map[string]bool // devices that an L1_SMALL buffer contradicts, by their ids

	covered    map[string]bool // operations, and operations on devices, that may have run a hidden program
	calls      bool            // the running functions are unknown
	badMembers bool            // the chips of meshes are unknown
	unfreed    map[int64]bool  // frees of CBs that are hidden

	bottom   bottom
	placesOn map[string]bool // devices on which a node places something
	lifted   map[string]bool // ids with a buffer below persistent pages, or one of these
}

type frame struct {
	name, arguments string
	start           int64
	says            *bool
	placed          bool
	nth             int  // runs so far
	hidden          bool // its start cannot be read
}

type openFree struct {
	counter int64
	id      string
	frame   int64 // start of its function
	depth   int
	inOp    bool
	settled bool
	frees   int // back to back
	shown   int // nodes behind it
}

// L1 plays a capture and returns the contents of L1.
func L1(data []byte, opts Options) (*L1Results, error) {
	decided := map[int64]bool{}
	m, lifted, err := playFile(data, opts, decided, nil)
	for errors.Is(err, errDecided) {
		m, lifted, err = playFile(data, opts, decided, nil)
	}
	if err != nil || len(lifted) == 0 {
		return m, err
	}
	m, _, err = playFile(data, opts, decided, lifted)
	return m, err
}

// errDecided says that earlier calls showed a free to be a run. The file is played again.
var errDecided = errors.New("oracle: a free is a run")

// playFile plays a capture, and says which ids show persistent pages.
func playFile(data []byte, opts Options, decided map[int64]bool, lifted map[string]bool) (*L1Results, map[string]bool, error) {
	nodes, head, err := readFile(data)
	if err != nil {
		return nil, nil, err
	}
	p := &player{placesOn: map[string]bool{}, lifted: lifted, bottom: bottom{ends: map[string]uint64{}, starts: map[string]uint64{}}, opts: opts, byName: map[string]*chip{}, shards: map[int64][]core{}, modes: map[int64]string{}, history: map[string][]*remembered{}, covered: map[string]bool{},
		lastNth: map[string]int{}, decided: decided, announced: map[int64]string{}, shownBehind: map[spot]bool{}, ranOn: map[string]bool{}}
	p.out = &L1Results{Devices: map[string]*L1Device{}, Hidden: map[string]int{}, chips: map[string]*chip{}}
	p.ids = findIDs(nodes, head)
	nodes = p.ids.resolve(nodes, decided)
	p.ids.resolveRows(head.lists)
	p.badMembers, p.unfreed = slices.ContainsFunc(nodes, node.badMembers), hiddenFrees(nodes)
	if err := p.prepare(nodes, head); err != nil {
		return nil, nil, err
	}
	for _, n := range nodes {
		p.live = p.ofNow(n.counter)
		play := p.play
		if n.hidden {
			play = p.hideNode
		}
		if err := play(n); err != nil {
			return nil, nil, fmt.Errorf("oracle: node %d: %w", n.counter, err)
		}
	}
	m, err := p.finish(nodes)
	return m, p.lifters(), err
}

func isBuffer(kind string) bool { return kind == "buffer_allocate" || kind == "buffer_deallocate" }

func isPlaced(kind string) bool {
	return kind == "circular_buffer_allocate" || kind == "dataflow_buffer_allocate" || kind == "scratchpad_allocate"
}

// prepare gathers the facts of the whole file.
func (p *player) prepare(nodes []node, head header) error {
	layout, err := chooseLayout(head, nodes, p.opts)
	if err != nil {
		return err
	}
	p.head = head
	p.spec = memorySpec{Layout: layout, size: p.opts.L1Size, small: p.opts.L1Small}
	if p.spec.size == 0 {
		if p.spec.size = head.l1Size; p.spec.size == 0 || p.opts.Arch != "" {
			p.spec.size = map[string]uint64{"blackhole": 1572864, "wormhole": 1499136, "grayskull": 1048576, "quasar": 4194304}[layout.Arch]
		}
	}
	if layout.Arch == "quasar" && layout.Base == 0 {
		p.spec.size = 0 // nothing is known above a base that is not
	}
	far := map[string]core{"blackhole": {12, 9}, "wormhole": {7, 9}, "grayskull": {11, 8}, "quasar": {7, 11}}[layout.Arch]
	names := map[string]bool{}
	see := func(cores []core) {
		for _, c := range cores {
			far = core{max(far.x, c.x), max(far.y, c.y)}
		}
	}
	for _, n := range nodes {
		if placed := isPlaced(n.kind) && (!n.hidden || n.on != none); placed || n.kind == "buffer_allocate" && !n.hidden && n.bufferKind() != "" {
			for _, name := range p.ids.unitsOf(n.on) {
				names[name] = true
				if placed && !n.hidden {
					p.placesOn[name] = true
				}
			}
		}
		if isPlaced(n.kind) && !n.hidden {
			see(n.buffer().cores)
		}
		if n.kind == "tensor" {
			see(n.shards())
			if !n.hidden && n.mode() == "per core" {
				p.perCore = append(p.perCore, n.on)
			}
		}
	}
	p.findShards(nodes)
	p.findModes(nodes)
	p.addresses = haveAddresses(nodes)
	p.split = workloads(nodes, p.ids)
	p.past = remember(nodes, head, p.ids, func(device string, addr uint64) bool {
		base, _ := p.baseOf(device)
		return base <= addr && addr < p.spec.size
	})
	for i := range p.past.earlier {
		hybrid := slices.ContainsFunc(p.perCore, func(owner string) bool { return p.reaches(owner, p.past.earlier[i].owner) })
		if p.past.earlier[i].proven && hybrid {
			p.past.earlier[i].mode = "per core"
		}
	}
	p.past.earlier = slices.DeleteFunc(p.past.earlier, func(a alloc) bool { return !a.told && p.mayDescribe(a.owner, a.start) })
	for _, a := range p.past.earlier {
		if !p.ids.isChip(a.owner) && len(p.ids.chipsOf[a.owner]) == 0 { // it may be another name of a device that runs programs
			names[a.owner] = true
		}
	}
	p.addChips(names, far)
	p.findShown(nodes)
	p.findSmall(nodes)
	return nil
}

// findShown finds which devices show something behind each free that announces, up to the next one that reaches them, or the
// end of its function.
func (p *player) findShown(nodes []node) {
	last, within, depth := map[string]int64{}, map[string]int{}, 0
	for _, n := range nodes {
		switch n.kind {
		case "function_start":
			depth++
		case "function_end":
			depth = max(0, depth-1)
		}
		for _, c := range p.chips {
			at, ok := last[c.name]
			switch {
			case n.kind == "circular_buffer_deallocate_all" && !n.hidden && !p.ids.onlyChip(n.on) && !p.split.repeated[n.counter] && p.reaches(n.on, c.name):
				last[c.name], within[c.name], p.announced[n.counter] = n.counter, depth, n.on
			case ok && depth < within[c.name]:
				delete(last, c.name)
			case ok && isPlaced(n.kind) && (n.on == c.name || n.hidden && n.on == none):
				p.shownBehind[spot{at, c.name}] = true
			}
		}
	}
}

// addChips makes a chip of each device id, in the order of the ids. far is the farthest core of a device without a grid.
func (p *player) addChips(names map[string]bool, far core) {
	for name := range names {
		c := &chip{name: name, begun: -1, grid: p.head.gridOf(name), left: map[cell][]l1.Range{}, row: &L1Device{Small: p.spec.small}, exec: map[core][]l1.Range{}, spec: p.spec}
		c.spec.Base, c.basesDiffer = p.baseOf(name)
		to := far
		for _, g := range p.head.grids {
			if g.device == name || to == far && g == p.head.grids[0] {
				to = core{int(g.cols) - 1, int(g.rows) - 1}
			}
		}
		c.cores = rect{core{}, to}.cores()
		p.byName[name] = c
		p.chips = append(p.chips, c)
	}
	slices.SortFunc(p.chips, func(a, b *chip) int { return strings.Compare(a.name, b.name) })
}

// shards reads the cores of a sharded tensor.
func (n node) shards() (cores []core) {
	var text string
	if json.Unmarshal(n.params["memory_config"], &text) != nil {
		return nil
	}
	m := regexp.MustCompile(`ShardSpec\{grid=\[([^\]]*)\]`).FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	var corners []core
	for _, c := range regexp.MustCompile(`"x":(\d+),"y":(\d+)`).FindAllStringSubmatch(m[1], -1) {
		x, _ := strconv.Atoi(c[1])
		y, _ := strconv.Atoi(c[2])
		corners = append(corners, core{x, y})
	}
	var rects []rect
	for i := 0; i+1 < len(corners); i += 2 {
		rects = append(rects, rect{corners[i], corners[i+1]})
	}
	return distinct(rects)
}

// findShards gives every allocation the cores and the mode of the first tensor that its buffer node names while it is live.
// Where that tensor or the buffer node cannot be read, the mode is unknown.
func (p *player) findShards(nodes []node) {
	owner := map[int64]int64{} // tensor -> buffer node
	live := map[int64][]int64{}
	lost := map[int64]bool{} // nodes that stand for buffers perhaps, and cannot be read
	for _, n := range nodes {
		if n.hidden && (n.kind == "buffer" || n.kind == "") {
			lost[n.counter] = true
		}
		switch {
		case n.kind == "buffer" && !n.hidden:
			for _, c := range n.connections {
				if c > n.counter {
					owner[c] = n.counter
				}
			}
		case n.kind == "buffer_allocate" && len(n.connections) > 0:
			live[n.connections[0]] = append(live[n.connections[0]], n.counter)
			if lost[n.connections[0]] {
				p.modes[n.counter] = unknownMode
			}
		case n.kind == "buffer_deallocate" && !n.hidden && len(n.connections) > 0:
			if list := live[n.connections[0]]; len(list) > 0 {
				live[n.connections[0]] = list[:len(list)-1]
			}
		case n.kind == "tensor" || n.kind == "":
			list := live[owner[n.counter]]
			if _, ok := owner[n.counter]; ok && len(list) > 0 {
				p.describe(list[len(list)-1], n)
			} else if n.hidesMode() && (n.bufferKind() == "" || inL1(n.bufferKind())) {
				p.blind = append(p.blind, n)
			}
		}
	}
}

// describe records the tensor of an allocation.
func (p *player) describe(allocation int64, n node) {
	cores, mode := n.shards(), n.mode()
	if (len(cores) > 0 || mode != "") && p.shards[allocation] == nil && p.modes[allocation] == "" {
		p.shards[allocation], p.modes[allocation] = cores, mode
	}
}

// reaches says whether what belongs to one id lies on the device with another.
func (p *player) reaches(from, to string) bool { return p.ids.reaches(from, to) }

// lies says whether a buffer lies on a device. One from before the capture that names none lies where programs are
// placed, if any are.
func (p *player) lies(a *alloc, c *chip) bool {
	return p.reaches(a.owner, c.name) && (!a.earlier || a.owner != none || p.placesOn[c.name] || len(p.placesOn) == 0)
}

func (p *player) play(n node) error {
	name := n.on // nodes of an unknown kind name none
	switch {
	case isPlaced(n.kind):
		if p.open != nil && !n.copied {
			p.open.shown++
		}
		if len(p.stack) > 0 {
			p.stack[len(p.stack)-1].placed = true
		}
		b, c := n.buffer(), p.byName[name]
		if c.basesDiffer && b.local && b.addr == 0 { // where its program lies is not known
			p.hide("specs-differ", !c.blind)
			p.hidePrograms(name)
			return nil
		}
		if c.blind {
			p.covered[p.key()+"\x00"+c.name] = true
		} else {
			p.place(c, b)
		}
	case n.kind == "circular_buffer_deallocate_all":
		switch {
		case p.unfreed[n.counter]:
			p.hideFree(name)
		case !p.split.repeated[n.counter]:
			return p.freeAll(n, name)
		}
	case isBuffer(n.kind):
		for _, c := range p.chips {
			if p.reaches(name, c.name) {
				p.enqueue(c)
			}
		}
		if n.kind == "buffer_allocate" {
			p.allocate(n, name)
		} else {
			p.deallocate(n, name)
		}
	case n.kind == "program_execution":
		p.execute(n)
	case n.kind == "function_start":
		p.begin(n)
	case n.kind == "function_end" && len(p.stack) > 0:
		p.end()
	}
	return nil
}

// begin enters a function.
func (p *player) begin(n node) {
	f := frame{arguments: n.arguments, start: n.counter, hidden: n.hidden}
	_ = json.Unmarshal(n.params["name"], &f.name)
	if says, _ := n.flag("program_cache_hit"); present(n.params["program_cache_hit"]) && !n.hidden {
		f.says = &says
	}
	p.stack = append(p.stack, f)
}

// end leaves the innermost function, and enqueues the programs that began in it.
func (p *player) end() {
	p.hit()
	if p.open != nil && p.open.depth == len(p.stack) {
		p.closeFree()
	}
	for _, c := range p.chips {
		if c.depth >= len(p.stack) {
			p.enqueue(c)
		}
	}
	top := p.stack[len(p.stack)-1]
	if p.stack = p.stack[:len(p.stack)-1]; len(p.stack) > 0 {
		p.stack[len(p.stack)-1].placed = p.stack[len(p.stack)-1].placed || top.placed
	}
}

func (p *player) place(c *chip, b *buffer) {
	if p.split.begins[spot{b.counter, c.name}] {
		p.enqueue(c)
		c.run, c.sent = nil, 0
	}
	if len(c.run) == 0 {
		c.key, c.op, c.depth, c.nth = p.key(), p.path(), len(p.stack), 0
		if len(p.stack) > 0 {
			c.nth = p.stack[len(p.stack)-1].nth
		}
	}
	c.run = append(c.run, b)
}

// freeAll ends what ran on the devices that a free reaches, and announces what runs next, unless it is the end of a program.
func (p *player) freeAll(n node, name string) error {
	announces := !p.ids.onlyChip(name)
	if !n.silent && p.ranMore(n.asks) {
		p.decided[n.counter] = true
		return errDecided
	}
	if announces {
		if p.ownFree() != nil {
			p.hit()
		}
		p.closeFree()
	}
	p.enqueueOn(name)
	for _, c := range p.chips {
		if !p.reaches(name, c.name) {
			continue
		}
		c.run, c.sent = nil, 0
		if announces {
			c.begun, c.since, c.execs = n.counter, nil, 0
		}
	}
	if announces {
		p.open = &openFree{counter: n.counter, id: name, depth: len(p.stack), inOp: len(p.stack) > 0 || p.ids.onlyMesh(name) || n.silent, frees: max(1, p.split.programs[n.counter])}
		if len(p.stack) > 0 {
			top := &p.stack[len(p.stack)-1]
			top.nth++
			p.open.frame, p.open.settled = top.start, top.hidden || p.calls
		}
	}
	p.lift(name)
	return nil
}

// ranMore says whether an earlier call of the innermost function had one more run than this one so far, on a chip of a mesh.
func (p *player) ranMore(mesh string) bool {
	if mesh == "" || len(p.stack) == 0 {
		return false
	}
	return slices.ContainsFunc(p.history[ordinal(p.key(), p.stack[len(p.stack)-1].nth+1)], func(r *remembered) bool { return p.reaches(mesh, r.device) })
}

func (p *player) path() string {
	var names []string
	for _, f := range p.stack {
		names = append(names, f.name)
	}
	return strings.Join(names, " > ")
}

// key names the running operation in the program cache. A device operation is the same whatever calls it.
func (p *player) key() string {
	arguments := ""
	if len(p.stack) > 0 {
		top := p.stack[len(p.stack)-1]
		if arguments = top.arguments; arguments == "null" || arguments == "[]" {
			arguments = ""
		}
		if strings.HasSuffix(top.name, "DeviceOperation") && arguments != "" && !top.hidden {
			return top.name + "\x00" + arguments
		}
	}
	for _, f := range p.stack {
		if f.hidden {
			return fmt.Sprint(p.path(), "\x00", f.start, "\x01", arguments) // like no other
		}
	}
	return p.path() + "\x00" + arguments
}

func (p *player) ownFree() *openFree {
	f := p.open
	if f == nil || len(p.stack) == 0 || f.settled || f.shown > 0 || f.depth != len(p.stack) || f.frame != p.stack[len(p.stack)-1].start {
		return nil
	}
	return f
}

// placedCopy gives the buffers of a run their addresses.
func placedCopy(run []*buffer, l Layout) (out []*buffer) {
	for _, b := range run {
		b := *b
		out = append(out, &b)
	}
	place(out, l)
	return out
}

// mode reads how a tensor was allocated.
func (n node) mode() string {
	var config string
	_ = json.Unmarshal(n.params["memory_config"], &config)
	switch {
	case n.hidesMode():
		return unknownMode
	case strings.Contains(config, "per_core_allocation=1"):
		return "per core"
	case strings.Contains(config, "range_lockstep_allocation=1"):
		return "range"
	}
	return ""
}

// cores are those on which a buffer is known to lie. Of one that was allocated per core the address is that on its first one.
func (a *alloc) cores(c *chip) []core {
	switch {
	case a.mode == "per core" && a.kind == "L1" && !a.proven:
		return a.where[:min(1, len(a.where))]
	case a.where != nil:
		return a.where
	}
	return c.cores
}

// veiled are the cores on which it lies at an address that is not known.
func (a *alloc) veiled(c *chip) []core {
	switch {
	case a.mode != "per core" || a.kind != "L1" || !a.placed || a.proven:
		return nil
	case len(a.where) == 0:
		return c.cores
	}
	return a.where[1:]
}

func (p *player) allocate(n node, name string) {
	a := &alloc{counter: n.counter, node: -1, owner: name, kind: n.bufferKind(), size: n.number("size"), start: n.number("address")}
	if len(n.connections) > 0 {
		a.node = n.connections[0]
	}
	if a.kind == "" {
		p.hide("buffer-unplaced", true)
		return
	}
	a.perCore, a.sized = p.head.perCore(n)
	a.recorded = a.start != 0
	if a.sharded = n.sharded(); a.sharded {
		a.where, a.mode = p.shards[a.counter], p.modes[a.counter]
		moot := a.mode == "" && a.where == nil && (a.recorded || a.sized) // else it lies nowhere in any case
		if inL1(a.kind) && (a.mode == unknownMode || moot && p.mayDescribe(name, a.start)) {
			return // hidden
		}
	}
	life := p.past.lifeOf(a.counter)
	if a.until = life.to; !a.sized { // a CB may show it
		a.perCore, a.sized = life.perCore, life.sized
	}
	if inL1(a.kind) && !(n.lacksAddress() && p.addresses) {
		p.locate(a)
	}
	p.live = append(p.live, a)
	p.arrive(a)
}

func (n node) sharded() bool {
	var layout string
	_ = json.Unmarshal(n.params["layout"], &layout)
	return n.number("num_cores") > 0 || strings.HasSuffix(layout, "SHARDED")
}

// perCore finds how much of a core a buffer takes. The pages of an interleaved one go round the banks, and each begins at a multiple of 16.
func (h *header) perCore(n node) (bytes uint64, sized bool) {
	if present(n.params["max_size_per_bank"]) {
		return n.number("max_size_per_bank"), true
	}
	grid, page, size := h.gridOf(n.on), n.number("page_size"), n.number("size")
	if n.kind != "buffer_allocate" || n.sharded() || grid == nil || page == 0 || page > math.MaxUint32 || !present(n.params["size"]) {
		return 0, false
	}
	banks, pages := grid.cols*grid.rows, (size-size%page)/page
	if size%page > 0 {
		pages++
	}
	each := pages / banks
	if pages%banks > 0 {
		each++
	}
	if page = roundUp(page, 16); each > math.MaxUint32/page {
		return 0, false
	}
	return each * page, true
}

// arrive records a buffer on its devices.
func (p *player) arrive(a *alloc) {
	p.sawBuffer(a)
	now := a.counter
	if a.earlier {
		now = a.since
	}
	for range p.overlapping(a, now) {
		p.hide("buffers-overlap", true)
	}
	for _, c := range p.chips {
		if !p.lies(a, c) {
			continue
		}
		c.sums(p)
		c.touched = true
		if a.placed && inL1(a.kind) {
			c.held = append(c.held, a)
		}
		switch {
		case a.kind != "L1" && a.kind != "L1_SMALL":
			continue
		case !a.placed && (!a.sized || a.perCore > 0):
			c.row.Unplaced++
			p.hide("buffer-unplaced", a.kind != "L1_SMALL" || a.recorded) // where L1_SMALL is only options say
		case a.sharded && a.where == nil:
			c.row.Assumed++
		}
		if a.placed && len(a.cores(c)) > 0 {
			c.addresses[0], c.addresses[1] = c.addresses[0] || a.recorded, c.addresses[1] || !a.recorded
			p.look(c, now)
		}
	}
}

func (n node) bufferKind() string {
	if v, err := number(n.params["buffer_type"]); err == nil && present(n.params["buffer_type"]) && kindOf(v) != "" {
		return kindOf(v)
	}
	var text string
	_ = json.Unmarshal(n.params["type"], &text)
	return map[string]string{"DRAM": "DRAM", "L1": "L1", "L1_SMALL": "L1_SMALL", "SYSTEM_MEMORY": "other", "TRACE": "other"}[text]
}

// locate tries every address from the top down.
func (p *player) locate(a *alloc) {
	if !a.sized {
		if a.end = a.start; a.recorded {
			a.placed = true
		}
		return
	}
	if a.recorded {
		a.end, a.placed = a.start+a.perCore, true
		return
	}
	borders, low := []uint64{}, p.spec.Base // where L1_SMALL begins, on the devices that have the buffer
	for _, c := range p.chips {
		if p.lies(a, c) {
			borders, low = append(borders, c.spec.size-c.spec.small), max(low, c.spec.Base)
		}
	}
	high := slices.Min(borders)
	if a.kind == "L1_SMALL" {
		low, high = slices.Max(borders), p.spec.size
	}
	block := roundUp(a.perCore, p.align()) // the allocator gives whole steps
	for start := int64(high) - int64(block); start >= int64(low); start-- {
		if uint64(start)%p.align() != 0 {
			continue
		}
		free := true
		for _, b := range p.live {
			shared := slices.ContainsFunc(p.chips, func(c *chip) bool { return p.lies(a, c) && p.lies(b, c) })
			if shared && b.placed && b.start < uint64(start)+block && uint64(start) < b.end {
				free = false
			}
		}
		if free {
			a.start, a.end, a.placed = uint64(start), uint64(start)+a.perCore, true
			return
		}
	}
}

// align returns the alignment of L1 buffers: that of DRAM, in every mode, if it is larger than that of pages.
func (p *player) align() uint64 { return max(16, p.spec.Align) }

func (p *player) deallocate(n node, name string) {
	if len(n.connections) == 0 {
		return
	}
	at := -1
	for i, a := range p.live {
		if !a.earlier && a.node == n.connections[0] && (at < 0 || a.owner == name || p.live[at].owner != name) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	p.live = slices.Delete(p.live, at, at+1)
	for _, c := range p.chips {
		c.sums(p)
	}
}

// sums counts the live buffers of a device.
func (c *chip) sums(p *player) {
	figures := map[string]*[2]uint64{"L1": &c.row.L1, "L1_SMALL": &c.row.L1Small, "DRAM": &c.row.DRAM, "": &c.row.Buffers}
	for _, f := range figures {
		f[1] = 0
	}
	for _, a := range p.live {
		if a.earlier || !p.reaches(a.owner, c.name) {
			continue
		}
		c.row.Buffers[1]++
		if f := figures[a.kind]; f != nil {
			f[1] += a.size
		}
	}
	for _, f := range figures {
		f[0] = max(f[0], f[1])
	}
}

// fill makes the bytes of every core anew, of all kinds or of one.
func (p *player) fill(c *chip, only string) (map[core]uint64, error) {
	held := map[core][]l1.Range{}
	for at, spans := range c.left {
		if only == "" || only == []string{"circular buffer", "dataflow buffer", "scratchpad"}[at.kind] {
			held[at.core] = append(held[at.core], spans...)
		}
	}
	for _, a := range p.live {
		if !a.placed || !p.lies(a, c) || only != "" && only != map[string]string{"L1": "L1 buffer", "L1_SMALL": "L1_SMALL buffer"}[a.kind] {
			continue
		}
		for _, x := range a.cores(c) {
			held[x] = append(held[x], l1.Range{Start: a.start, End: a.end})
		}
	}
	out := map[core]uint64{}
	counts := map[string]uint64{} // of the same ranges in the same order, or the tests would take minutes
	for x, spans := range held {
		key := fmt.Sprint(spans)
		if _, ok := counts[key]; !ok {
			n, err := count(spans)
			if err != nil {
				return nil, err
			}
			counts[key] = n
		}
		out[x] = counts[key]
	}
	return out, nil
}

// look counts a device after something came to it.
func (p *player) look(c *chip, at int64) {
	bytes, _ := p.fill(c, "")
	total, most := uint64(0), uint64(0)
	for _, n := range bytes {
		total += n
		most = max(most, n)
	}
	c.row.TotalPeak = max(c.row.TotalPeak, total)
	if most <= c.row.Peak {
		return
	}
	c.row.Peak, c.row.PeakAt, c.row.PeakCores = most, at, nil
	var cores []core
	for x, n := range bytes {
		if n == most {
			cores = append(cores, x)
		}
	}
	slices.SortFunc(cores, compareCores)
	for _, x := range cores {
		c.row.PeakCores = append(c.row.PeakCores, fmt.Sprintf("%d-%d", x.x, x.y))
	}
	c.row.Kinds = map[string]uint64{}
	for _, kind := range []string{"circular buffer", "dataflow buffer", "scratchpad", "L1 buffer", "L1_SMALL buffer"} {
		if each, _ := p.fill(c, kind); each[cores[0]] > 0 {
			c.row.Kinds[kind] = each[cores[0]]
		}
	}
}

// execute takes the last program of a chip as dispatched.
func (p *player) execute(n node) {
	name := n.physical()
	if name == none {
		return
	}
	if f := p.ownFree(); f != nil && p.reaches(f.id, name) {
		p.hit()
	}
	c := p.byName[name]
	if c == nil {
		p.hide("not-shown", !p.shownOnMesh(name))
		return
	}
	p.enqueue(c)
	c.row.Executions++
	run := p.executed(c)
	if run == nil {
		c.row.Unknown++
		p.hide("not-shown", !p.shownOnMesh(name) && !c.blind)
		return
	}
	for _, b := range run {
		for _, x := range b.cores {
			if b.kind == circular {
				c.exec[x] = nil
			}
		}
	}
	for _, b := range run {
		for _, x := range b.cores {
			if b.kind == circular && b.local {
				c.exec[x] = append(c.exec[x], b.bytes())
			}
		}
	}
	c.row.Dispatched = 0
	for _, spans := range c.exec {
		n, _ := count(spans)
		c.row.Dispatched += n
	}
	c.row.DispatchedPeak = max(c.row.DispatchedPeak, c.row.Dispatched)
}

func (p *player) finish(nodes []node) (*L1Results, error) {
	if len(p.stack) > 0 {
		p.hit()
		for _, f := range p.stack[:len(p.stack)-1] {
			if f.says != nil && *f.says && !f.placed {
				p.out.HitsUnknown++
				p.hide("cache-hit", true)
			}
		}
	}
	p.closeFree()
	p.live = p.ofNow(forEver)
	rows := map[string]bool{}
	for _, c := range p.chips {
		p.enqueue(c)
		if c.ran {
			rows[c.name] = true
		}
	}
	for _, c := range p.chips {
		bytes, err := p.fill(c, "")
		if err != nil {
			return nil, err
		}
		for _, n := range bytes {
			c.row.Total += n
		}
		c.row.Addresses = map[[2]bool]string{{}: "none", {true}: "recorded", {false, true}: "synthesised", {true, true}: "mixed"}[c.addresses]
		onChip := func(d *chip) bool {
			return d != c && d.name != none && d.touched && slices.Contains(p.ids.chipsOf[c.name], idOf(d.name))
		}
		if rows[c.name] || len(rows) == 0 && c.touched && !slices.ContainsFunc(p.chips, onChip) {
			p.out.Devices[c.name] = c.row
			p.out.chips[c.name], c.align = c, p.align()
			c.hybrid = slices.ContainsFunc(p.perCore, func(owner string) bool { return p.reaches(owner, c.name) })
		}
	}
	p.hideRest(nodes)
	return p.out, nil
}
