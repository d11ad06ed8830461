package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Options overrides what the file or the architecture says. The zero value overrides nothing.
type Options struct {
	Base  uint64 // where CBs without address start; 0: by rule
	Align uint64 // to what their addresses are rounded; 0: by rule
	Arch  string // wormhole, blackhole or grayskull; empty: by rule

	// For Memory alone.
	L1Size  uint64 // 0: by rule
	L1Small uint64 // size of the L1_SMALL area at the top
	NoInfer bool   // operations from the program cache run nothing

	Rules Rules
}

// File computes the report of one capture file.
func File(data []byte, opts Options) (*Report, error) {
	nodes, head, err := readFile(data)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Format:             1,
		Nodes:              len(nodes),
		Wrapper:            head.wrapper,
		CountersSequential: true,
		DeviceRule:         "mesh",
		Devices:            map[string]*Device{},
	}
	for i, n := range nodes {
		if n.hidden {
			return nil, fmt.Errorf("oracle: node %d: a field cannot be read", i)
		}
		if n.counter != int64(i) {
			r.CountersSequential = false
		}
	}
	if r.MeshMembers, err = meshMembers(nodes); err != nil {
		return nil, err
	}
	if r.Upstream, err = upstream(nodes); err != nil {
		return nil, err
	}
	layout, err := chooseLayout(head, opts)
	if err != nil {
		return nil, err
	}
	events, err := readEvents(nodes, r.MeshMembers, opts.Rules)
	if err != nil {
		return nil, err
	}

	names := []string{} // of the devices on which something appears
	for _, e := range events {
		if e.buffer != nil && !slices.Contains(names, e.device) {
			names = append(names, e.device)
		}
	}
	var tally addressTally
	for _, name := range names {
		d, err := measure(name, events, layout, &tally, head.gridOf(name, opts.Rules))
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", name, err)
		}
		r.Devices[name] = d
	}
	r.Addresses = tally.word()
	if tally.ruleUsed {
		r.Layout = &layout
	}
	return r, nil
}

// meshMembers collects the chips of every mesh from the whole file, whatever comes first.
func meshMembers(nodes []node) (map[string][]int64, error) {
	members := map[string][]int64{}
	for i, n := range nodes {
		pairs, err := n.members()
		if err != nil {
			return nil, fmt.Errorf("oracle: node %d: %w", i, err)
		}
		for _, p := range pairs {
			mesh := strconv.FormatInt(p[0], 10)
			if !slices.Contains(members[mesh], p[1]) {
				members[mesh] = append(members[mesh], p[1])
				slices.Sort(members[mesh])
			}
		}
	}
	return members, nil
}

// chooseLayout finds base and alignment. Options win over the file, the file wins over the architecture's defaults.
func chooseLayout(h header, opts Options) (Layout, error) {
	l := Layout{Arch: opts.Arch}
	if l.Arch == "" {
		l.Arch = "blackhole"
		switch h.l1Size {
		case 1499136:
			l.Arch = "wormhole"
		case 1048576:
			l.Arch = "grayskull"
		}
	}
	switch l.Arch {
	case "blackhole":
		l.Base, l.Align = 111616, 64
	case "wormhole", "grayskull":
		l.Base, l.Align = 103712, 32
	default:
		return l, fmt.Errorf("oracle: architecture %q", l.Arch)
	}
	if h.cbBase != 0 {
		l.Base = h.cbBase
	}
	if opts.Base != 0 {
		l.Base = opts.Base
	}
	if opts.Align != 0 {
		l.Align = opts.Align
	}
	return l, nil
}

type bufferKind int

const (
	circular bufferKind = iota
	dataflowBuffer
	scratchpad
)

// buffer is one CB, dataflow buffer or scratchpad.
type buffer struct {
	kind    bufferKind
	counter int64
	local   bool // false: it lives in the bytes of a tensor and takes none of its own
	addr    uint64
	size    uint64
	cores   []core // each once
	merged  []rect // as tt-metal's placement sees them
}

func (b *buffer) logical() uint64 { return b.size * uint64(len(b.cores)) }

// end is 0 for a buffer that occupies nothing.
func (b *buffer) end() uint64 {
	if b.logical() == 0 {
		return 0
	}
	return b.addr + b.size
}

// outside returns the first range that is not all on a grid.
func (b *buffer) outside(g *grid) (rect, bool) {
	for _, r := range b.merged {
		if g != nil && (r.to.x >= int(g.cols) || r.to.y >= int(g.rows)) {
			return r, true
		}
	}
	return rect{}, false
}

func readBuffer(n node, rules Rules) (*buffer, error) {
	b := &buffer{counter: n.counter, local: true}
	flag := ""
	switch n.kind {
	case "circular_buffer_allocate":
		b.kind, flag = circular, "globally_allocated"
	case "dataflow_buffer_allocate":
		b.kind, flag = dataflowBuffer, "borrows_memory"
	case "scratchpad_allocate":
		b.kind = scratchpad
	}
	backed, err := n.flag(flag)
	if err != nil {
		return nil, err
	}
	b.local = !backed
	if b.addr, err = n.small("address"); err != nil {
		return nil, err
	}
	if b.size, err = n.small("size"); err != nil {
		return nil, err
	}
	if !present(n.params["core_range_set"]) {
		return nil, errors.New("core_range_set is missing")
	}
	rects, err := readCores(n.params["core_range_set"])
	if err != nil {
		return nil, fmt.Errorf("core_range_set: %w", err)
	}
	b.cores, b.merged = distinct(rects), rects
	if !rules.AsWritten {
		b.merged = merge(rects)
	}
	return b, nil
}

// event is one thing that happens to devices: a buffer appears on one, or all buffers of some end.
type event struct {
	buffer *buffer // nil: a free
	device string  // of the buffer
	begins bool    // the buffer is the first of a program, though no free stands before it

	freesAll bool
	frees    []string // the devices that a free reaches, unless it reaches all
}

func (e event) freesDevice(name string) bool {
	return e.buffer == nil && (e.freesAll || slices.Contains(e.frees, name))
}

// endsRun says whether an event ends what ran on a device: a free, or the next program of the same workload.
func (e event) endsRun(name string) bool {
	return e.freesDevice(name) || e.begins && e.device == name
}

func readEvents(nodes []node, members map[string][]int64, rules Rules) ([]event, error) {
	var events []event
	w, err := workloads(nodes, members, rules)
	if err != nil {
		return nil, err
	}
	for i, n := range nodes {
		var e event
		var err error
		switch n.kind {
		case "circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate":
			if e.buffer, err = readBuffer(n, rules); err == nil {
				e.device, err = n.device()
			}
			e.begins = w.begins[n.counter]
		case "circular_buffer_deallocate_all":
			var id string
			if id, err = n.device(); id == none {
				e.freesAll = true
				break
			}
			e.frees = append(e.frees, id)
			for _, chip := range members[id] {
				e.frees = append(e.frees, strconv.FormatInt(chip, 10))
			}
		default:
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("oracle: node %d: %w", i, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// addressTally remembers where the addresses of the file's local CBs came from.
type addressTally struct {
	recorded, synthesised bool
	ruleUsed              bool // also for dataflow buffers and scratchpads
}

func (t *addressTally) word() string {
	switch {
	case t.recorded && t.synthesised:
		return "mixed"
	case t.recorded:
		return "recorded"
	case t.synthesised:
		return "synthesised"
	default:
		return "none"
	}
}
