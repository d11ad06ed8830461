package clash

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A chip holds the assumptions of an explanation about the device.
type chip struct {
	spec   l1.Spec // zero: not known
	likely bool    // inferred from the message, not given by the caller
	given  bool    // given by the caller, and no contradiction to the message
	based  bool    // spec.CBBase is known
	why    string  // the evidence, or why there is none
}

// bases returns the base addresses of circular buffers seen in any release, rising
// within an architecture.
func bases(archs ...l1.Arch) (out []uint64) {
	known := map[l1.Arch][]uint64{l1.Wormhole: {103_424, 103_712}, l1.Blackhole: {111_104, 111_360, 111_616}}
	for _, arch := range archs {
		out = append(out, known[arch]...)
	}
	return out
}

// outer returns the smallest and the largest number.
func outer(n []uint64) (low, high uint64) { return slices.Min(n), slices.Max(n) }

// chipOf returns the given spec if it agrees with the message, and otherwise what
// can be inferred, or a given base or other messages of the log show. A given spec without an L1 size only says the
// base. The base that is returned is not above the limit.
func chipOf(m Message, given l1.Spec, log chip) chip {
	end, limit := m.Numbers["end"], m.Numbers["limit"]
	wrong := ""
	switch {
	case given.CBBase > limit:
		wrong = "the base that was given, " + exact(given.CBBase)
	case given.L1Size == 0:
	case m.Kind == Grow && limit != given.L1Size, m.Kind != Grow && max(end, limit) > given.L1Size:
		wrong = "the L1 size that was given, " + amount(given.L1Size)
	default:
		return chip{spec: given, given: true, based: given.CBBase > 0 || given.Arch != l1.Quasar}
	}
	c := infer(m)
	for _, arch := range []l1.Arch{l1.Wormhole, l1.Blackhole} {
		if spec := l1.ArchSpec(arch); slices.Contains(bases(arch), given.CBBase) && given.L1Size == 0 {
			log = chip{spec: spec, likely: true, based: true, why: fmt.Sprintf("the base %s is one of a %s", exact(given.CBBase), title(arch))}
		}
	}
	cols, rows := extent(m.Cores)
	most, high := widest(log.spec.Arch)
	if c.spec.L1Size == 0 && max(end, limit) <= log.spec.L1Size && cols <= most && rows <= high {
		c = log
	}
	switch {
	case wrong != "":
		c.why += "; " + wrong + ", does not agree with the message"
	case given.CBBase != 0:
		c.spec.CBBase, c.based = given.CBBase, true
	}
	if c.spec.CBBase > limit { // that of another release, then
		c.spec.CBBase, c.based = 0, false
		for _, base := range bases(c.spec.Arch) {
			if base <= limit {
				c.spec.CBBase, c.based = base, true
			}
		}
	}
	return c
}

// infer finds the architecture by the numbers of a message, if they show it.
func infer(m Message) chip {
	likely := func(arch l1.Arch, why string) chip {
		spec := l1.ArchSpec(arch)
		return chip{spec: spec, likely: true, based: spec.CBBase > 0, why: why}
	}
	end, limit := m.Numbers["end"], m.Numbers["limit"]
	wormhole, blackhole, grayskull := l1.ArchSpec(l1.Wormhole), l1.ArchSpec(l1.Blackhole), l1.ArchSpec(l1.Grayskull)
	if m.Kind == Grow {
		for _, arch := range []l1.Arch{l1.Wormhole, l1.Blackhole, l1.Quasar} {
			if limit != l1.ArchSpec(arch).L1Size {
				continue
			}
			c := likely(arch, "max L1 size is that of "+title(arch))
			// Sizes that fill L1 exactly, summed without the base, end too high by the base of another release.
			if slices.Contains(bases(arch), end-limit) {
				c.spec.CBBase = end - limit
			}
			return c
		}
		c := chip{
			spec: l1.Spec{L1Size: limit},
			why: fmt.Sprintf("unknown: Wormhole has %s bytes of L1, Blackhole %s",
				exact(wormhole.L1Size), exact(blackhole.L1Size)),
		}
		if limit == grayskull.L1Size {
			c.why += "; perhaps Grayskull"
		}
		return c
	}
	// A region that ends beyond L1 is reported as Grow, so here both addresses are
	// inside L1.
	top := max(limit, end)
	cols, rows := extent(m.Cores)
	most, high := widest(l1.Wormhole)
	mostOld, highOld := widest(l1.Grayskull)
	lowest, _ := outer(bases(l1.Blackhole)) // L1 buffers lie above it
	switch {
	case top > blackhole.L1Size && top <= l1.ArchSpec(l1.Quasar).L1Size:
		return likely(l1.Quasar, fmt.Sprintf("the addresses lie beyond the L1 of a Blackhole, %s bytes", exact(blackhole.L1Size)))
	case top > blackhole.L1Size:
		return chip{why: "unknown: the addresses lie beyond every L1 size we know"}
	case top > wormhole.L1Size:
		return likely(l1.Blackhole, fmt.Sprintf("the addresses lie beyond the L1 of a Wormhole, %s bytes", exact(wormhole.L1Size)))
	case cols > most || rows > high:
		if cols > mostOld || rows > highOld || top > grayskull.L1Size {
			return likely(l1.Blackhole, fmt.Sprintf("a Wormhole has no core %d-%d", cols-1, rows-1))
		}
		return chip{why: fmt.Sprintf("Blackhole or Grayskull: a Wormhole has no core %d-%d", cols-1, rows-1)}
	case limit < lowest:
		return likely(l1.Wormhole, fmt.Sprintf("the limit lies below %s, the lowest base of a Blackhole", exact(lowest)))
	}
	return chip{why: "Wormhole or Blackhole: the message fits both"}
}

// extent returns the numbers of columns and rows that cores reach.
func extent(cores l1.CoreRangeSet) (cols, rows int) {
	for r := range cores.All() {
		cols, rows = max(cols, int(r.End.X)+1), max(rows, int(r.End.Y)+1)
	}
	return cols, rows
}

// widest returns the largest grid among the boards of an architecture, each side
// on its own.
func widest(arch l1.Arch) (cols, rows int) {
	for _, b := range l1.Boards() {
		if b.Arch == arch {
			cols, rows = max(cols, b.Cols), max(rows, b.Rows)
		}
	}
	return cols, rows
}

// boardsOf names the boards whose grid is cols x rows.
func boardsOf(cols, rows uint64) []string {
	var names []string
	for _, b := range l1.Boards() {
		if uint64(b.Cols) == cols && uint64(b.Rows) == rows {
			names = append(names, b.Name)
		}
	}
	return names
}

// title returns the name of an architecture as people write it.
func title(arch l1.Arch) string {
	if arch == "" {
		return ""
	}
	return strings.ToUpper(string(arch[:1])) + string(arch[1:])
}
