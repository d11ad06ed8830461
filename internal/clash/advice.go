package clash

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// Causes and remedies, chosen by the numbers.

const (
	// tiny is an excess that bookkeeping explains rather than buffer sizes.
	tiny = 1 << 10
	// full is the room below which L1 holds L1 buffers and nothing else.
	full = 8 << 10
)

// A span holds the bounds of a size: one value if the base and the L1 size are known.
type span struct{ low, high uint64 }

// regionSpan returns the bytes of the region, from the base to its end.
func (e *Explanation) regionSpan() span {
	if e.Region != 0 {
		return span{e.Region, e.Region}
	}
	if low, high := outer(bases(l1.Wormhole, l1.Blackhole)); high < e.Message.Limit {
		return span{e.Message.End - high, e.Message.End - low}
	}
	return span{0, e.Message.End}
}

// aboveSpan returns the bytes from the lowest L1 buffer to the top of L1.
func (e *Explanation) aboveSpan() span {
	if e.Above != 0 {
		return span{e.Above, e.Above}
	}
	low, high := l1.ArchSpec(l1.Wormhole).L1Size, l1.ArchSpec(l1.Blackhole).L1Size
	return span{low - min(low, e.Message.Limit), high - min(high, e.Message.Limit)}
}

// small reports whether the excess is a near miss: at most a twentieth of the region.
func (e *Explanation) small() bool { return e.Over <= e.regionSpan().low/20 }

// crowded reports whether L1 buffers certainly take more than the circular buffers, and
// sparse whether they certainly take less.
func (e *Explanation) crowded() bool { return e.aboveSpan().low > e.regionSpan().high }
func (e *Explanation) sparse() bool  { return e.aboveSpan().high < e.regionSpan().low }

// reasons returns the likely causes, the likeliest first, at most two.
func (e *Explanation) reasons() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	m := e.Message
	switch m.Kind {
	case Grow:
		if e.Over == e.Base {
			add("the excess is the base address: sizes were summed from address 0 and fill L1 exactly, the base was forgotten")
		} else if e.small() {
			add("a near miss: padding between %ss, one %s more than was budgeted (tt-metal #50748), or a budget that counts L1 from address 0", m.short(), m.short())
		} else if e.Region != 0 && e.Region <= e.L1Size {
			add("perhaps a budget that counts L1 from address 0: there the %s of the region would fit, from base %s they do not", shown.Plural(e.Region, "byte"), exact(e.Base))
		}
	case Clash:
		switch {
		case e.Over <= tiny:
			add("a few hundred bytes: L1_SMALL set too large, or small blocks leaked at the top of L1 push L1 buffers down (tt-metal #54876)")
		case e.Region != 0 && e.Room < full:
			add("L1 buffers leave only %s for %ss, so that hardly any program can run", amount(e.Room), m.short())
		case e.small():
			add("a near miss: the op budgeted before an L1 buffer was allocated (tt-metal #46840), or its budget saw only bank 0 (tt-metal #53538)")
		}
		add("if this program ran before, it was cached with its first plan, and L1 buffers that were allocated later are in its way (tt-metal #53537)")
	}
	return out
}

// advice returns what to try, the most promising first, at most room of it.
func (e *Explanation) advice(room int) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	m := e.Message
	if m.Kind == ServiceClash {
		add("keep the program's core range off the service cores, or take %s off its %ss there", amount(e.Over), m.short())
		return out
	}
	// What takes most of L1 comes first; a tiny excess is not a matter of sizes.
	moveFirst := e.Over <= tiny || !e.sparse()
	if m.Kind == Clash && moveFirst {
		e.adviseTensors(add)
	}
	if m.Kind == Grow || !e.crowded() {
		e.adviseBuffers(add)
	}
	if m.Kind == Clash && !moveFirst {
		e.adviseTensors(add)
	}
	if m.What == Dataflow {
		out = slices.Insert(out, 1, "put DFBs that are never in use at once into one alias group: they share one address")
	}
	return out[:min(room, len(out))]
}

// adviseTensors says how to move L1 buffers, which tensors have, out of the way.
func (e *Explanation) adviseTensors(add func(string, ...any)) {
	if e.Over <= tiny {
		add("lower L1_SMALL by at least %s, or free small L1 buffers that are left over from earlier steps", amount(e.Over))
		return
	}
	add("free %s a core below %s: deallocate the lowest tensors before this op, move one to DRAM, or shard over more cores", amount(e.Over), exact(e.Message.End))
}

// adviseBuffers says how to make the buffers smaller.
func (e *Explanation) adviseBuffers(add func(string, ...any)) {
	short, region := e.Message.short(), e.regionSpan()
	spread := ""
	if e.Message.NumCores() == 1 {
		spread = "; or spread the work over more than one core"
	}
	switch {
	case e.small():
		add("take %s off the %ss of these cores: %s of 2,048 bytes%s", amount(e.Over), short, tiles(e.Over), spread)
	case e.Over <= region.low/2:
		add("smaller blocks, or single instead of double buffering: the %ss must lose %s (%s of 2,048 bytes)%s", short, e.share(), tiles(e.Over), spread)
	case e.Room != 0:
		add("single instead of double buffering saves at most half and is not enough: the %ss must become %d times smaller%s", short, times(e.Region, e.Room), spread)
	case e.Over > region.high/2:
		add("single instead of double buffering saves at most half and is not enough: the %ss must lose %s%s", short, e.share(), spread)
	default:
		add("smaller blocks, or single instead of double buffering if that is enough: it saves at most half, and %s must go%s", amount(e.Over), spread)
	}
}

// times returns how many times smaller a must become to fit into b, rounded up.
func times(a, b uint64) uint64 {
	n := a / b
	if a%b != 0 {
		n++
	}
	return n
}

// share says how much of the region is too much, in percent.
func (e *Explanation) share() string {
	region := e.regionSpan()
	low, high := percentText(e.Over, region.high), percentText(e.Over, region.low)
	switch {
	case low == high:
		return low
	case region.low == 0:
		return "more than " + low
	}
	return strings.TrimSuffix(low, "%") + " to " + high
}

// boardsOf names the boards whose grid is cols x rows.
func boardsOf(cols, rows int) []string {
	var names []string
	for _, b := range l1.Boards() {
		if b.Cols == cols && b.Rows == rows {
			names = append(names, b.Name)
		}
	}
	return names
}
