package oracle

import (
	"errors"
	"fmt"
	"math"

	"github.com/cbl1/cbl1/l1"
)

// Options overrides what the file or the architecture says. The zero value overrides nothing.
type Options struct {
	Base    uint64 // where CBs without address start; 0: by rule
	Align   uint64 // to what their addresses are rounded; 0: by rule
	Arch    string // wormhole, blackhole, grayskull or quasar; empty: by rule
	L1Size  uint64 // 0: by rule
	L1Small uint64 // size of the L1_SMALL area at the top
	NoInfer bool   // operations from the program cache run nothing
}

// Layout says with which figures CBs without address were placed.
type Layout struct {
	Arch        string
	Base, Align uint64
}

// archByBase names the architecture where the lowest CB of a capture may be the first, and all fits. Grayskull has Wormhole's bases.
func archByBase(nodes []node) string {
	lowest, end := uint64(math.MaxUint64), uint64(0)
	for _, n := range nodes {
		switch {
		case n.placesAt():
			if b := n.buffer(); b.local && b.size > 0 {
				lowest, end = min(lowest, b.addr), max(end, b.addr+b.size)
			}
		case n.kind == "buffer_allocate" && !n.hidden && inL1(n.bufferKind()):
			end = max(end, n.number("address")+n.number("max_size_per_bank"))
		}
	}
	if 103424 <= lowest && lowest <= 107616 && end <= 1499136 {
		return "wormhole"
	}
	return "blackhole"
}

// chooseLayout finds base and alignment. Options win over the file, the file wins over the architecture's defaults. Where neither
// says the architecture, the CBs do.
func chooseLayout(h header, nodes []node, opts Options) (Layout, error) {
	l := Layout{Arch: opts.Arch}
	if l.Arch == "" {
		l.Arch = "blackhole"
		switch h.l1Size {
		case 1499136:
			l.Arch = "wormhole"
		case 1048576:
			l.Arch = "grayskull"
		case 0:
			l.Arch = archByBase(nodes)
		case 4194304:
			l.Arch = "quasar"
		}
	}
	switch l.Arch {
	case "blackhole":
		l.Base, l.Align = 111616, 64
	case "wormhole", "grayskull":
		l.Base, l.Align = 103712, 32
	case "quasar":
		l.Align = 64 // its base is not known
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
	ranges  []rect // as the file writes them: they key the allocator of tt-metal
}

func (b *buffer) logical() uint64 { return b.size * uint64(len(b.cores)) }

// end is 0 for a buffer that occupies nothing.
func (b *buffer) end() uint64 {
	if b.logical() == 0 {
		return 0
	}
	return b.addr + b.size
}

// bytes are its range on each of its cores.
func (b *buffer) bytes() l1.Range { return l1.Range{Start: b.addr, End: b.addr + b.size} }

// buffer is what a node places. The node can be read.
func (n node) buffer() *buffer {
	b, err := readBuffer(n)
	if err != nil {
		panic(err)
	}
	return b
}

func readBuffer(n node) (*buffer, error) {
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
	b.cores, b.ranges = distinct(rects), rects
	return b, nil
}
