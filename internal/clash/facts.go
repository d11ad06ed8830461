package clash

import (
	"cmp"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

const (
	// tiny is an excess that bookkeeping explains rather than buffer sizes.
	tiny = 1 << 10
	// full is the room below which L1 holds L1 buffers and nothing else.
	full = 8 << 10
	// ring is the kernel config ring of a device that is opened without worker_l1_size. The
	// parameter moves its end, which is the base of circular buffers.
	ring = 69 << 10
	// baseAlign is the alignment of DRAM on Blackhole, and twice that on Wormhole.
	baseAlign = 64
	// maxLines is how many lines an explanation may take, the summary included.
	maxLines = 13
	// tile is the size of a tile of 32x32 numbers of 16 bits, the usual page.
	tile = 2048
)

// roundUp returns n rounded up to what the base and L1_SMALL are aligned to, on any chip.
func roundUp(n uint64) uint64 { return (n + baseAlign - 1) / baseAlign * baseAlign }

// facts returns what the words of an explanation may name, reckoned from the message and the chip.
func (e *Explanation) facts() teller {
	m, s := e.Message, e.Message.Shortage
	wormhole, blackhole := l1.ArchSpec(l1.Wormhole), l1.ArchSpec(l1.Blackhole)
	region, above := e.regionSpan(), e.aboveSpan()
	lowBase, highBase := outer(bases(l1.Wormhole, l1.Blackhole))
	cols, rows := extent(m.Cores)
	most, high := widest(l1.Wormhole)
	outside := m.outside()
	boards := boardsOf(m.Cols, m.Rows)
	_, _, limitIs := s.bounds()
	page, least := max(m.Page, 1), s.least()
	lower := m.Size - m.Size%page
	crowded, sparse := above.low > region.high, above.high < region.low
	sized := !m.lacks("size", "limit")
	hasRegion := m.Kind == Grow || m.Kind == Clash || m.Kind == ServiceClash
	return teller{
		message: m,
		numbers: map[string]uint64{
			"over": e.Over, "base": e.Base, "region": e.Region, "room": e.Room, "above": e.Above, "l1": e.L1Size,
			"rounded": roundUp(e.Over), "tiles": ceil(e.Over, tile), "times": ceil(e.Region, max(e.Room, 1)),
			"least-region": region.low, "lowBase": lowBase, "highBase": highBase,
			"aboveWormhole": wormhole.L1Size - m.Limit, "aboveBlackhole": blackhole.L1Size - m.Limit,
			"outside": uint64(outside.Len()), "numCores": uint64(m.NumCores()), "cols": uint64(m.Cols), "rows": uint64(m.Rows),
			"length": m.Region.Len(), "lastIndex": uint64(wormhole.CBIndices - 1),
			"pages": m.Size / page, "rest": m.Size % page, "lower-size": lower, "higher-size": lower + page,
			"ringNeed": roundUp(max(e.Over, 1)), "ringSize": ring,
			"least": least, "least-all": least * s.Banks, "largest": max(s.Block, s.Window),
		},
		texts: map[string]string{
			"short": m.short(), "long": map[bool]string{false: "circular buffers", true: "dataflow buffers"}[m.What == Dataflow],
			"cores": m.where(), "outsideCores": coreText(outside.Ranges(), false), "range": m.rangeOf(), "what": m.What,
			"evidence": e.chip.why, "arch": title(e.Arch), "boards": strings.Join(boards, " or "),
			"share": e.share(), "ofSize": percentText(e.Over, m.Size), "memory": cmp.Or(s.Buffer, "memory"), "buffer": s.Buffer,
			"option": s.option(), "reportCommand": "`cbl1 report --programs CAPTURE`", "roomCommand": "`cbl1 room CAPTURE`",
		},
		holds: map[string]bool{
			string(m.Kind): true, "has-region": hasRegion, "retold": len(m.Missing) > 0, "cores": m.where() != "",
			"one-core": m.NumCores() == 1, "dataflow": m.What == Dataflow, "type": m.What != "", "tensix": m.What == "TENSIX",
			"given": e.chip.given, "likely": e.Likely, "based": e.chip.based,
			"beyond": max(m.Limit, m.End) > blackhole.L1Size, "wide": cols > most || rows > high,
			"tiny": e.Over <= tiny, "huge": e.Over > blackhole.L1Size, "full": e.Region != 0 && e.Room < full,
			"near": e.Over <= region.low/20, "half": e.Over <= region.low/2, "most": e.Over > region.high/2,
			"forgot": e.Over == e.Base, "fromZero": e.Region != 0 && e.Region <= e.L1Size,
			// What takes most of L1 comes first; a tiny excess is not a matter of sizes.
			"moveFirst": e.Over <= tiny || !sparse, "crowded": crowded, "lower": e.lowers(),
			"boards": len(boards) > 0, "high-index": m.Index >= uint64(wormhole.CBIndices),
			"whole": m.Whole, "warning": m.Warning,
			"addressable": lower <= l1.MaxAddr-page, "sized": sized, "hasSize": !m.lacks("size"),
			"no-bank": s.HasBank && s.Bank == 0, "is:" + limitIs: true, "dependencies": s.Dependencies,
			s.Buffer: true, "option": s.option() != "", "in-l1": s.Buffer == "L1" || s.Buffer == "L1_SMALL",
			"spare":    (limitIs == "bank-size" || limitIs == "free") && e.Over < blackhole.L1Size,
			"has-need": s.HasNeed, "has-bank": s.HasBank, "has-allocated": s.HasAllocated, "has-free": s.HasFree,
			"has-block": s.HasBlock, "has-placeable": s.HasPlaceable,
			"odd":         s.HasFree && s.HasAllocated && s.Bank != 0 && s.Allocated+s.Free != s.Bank,
			"trace-banks": s.Buffer == "TRACE" && s.Banks > 1 && least <= l1.MaxAddr/s.Banks,
		},
	}
}
