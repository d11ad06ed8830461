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
	// semaphores is the span at the top of L1 in which buffers are likely small ones of cached programs.
	semaphores = 64 << 10
	// maxLines is how many lines an explanation may take, the summary included.
	maxLines = 13
	// tile is the size of a tile of 32x32 numbers of 16 bits, the usual page.
	tile = 2048
)

// roundUp returns n rounded up to what the base and L1_SMALL are aligned to, on any chip.
func roundUp(n uint64) uint64 { return (n + baseAlign - 1) / baseAlign * baseAlign }

// facts returns what the words of an explanation may name, reckoned from the message and the chip.
func (r *MessageRow) facts(c chip) filler {
	m, n := r.Message, r.Message.Numbers
	wormhole, blackhole := l1.ArchSpec(l1.Wormhole), l1.ArchSpec(l1.Blackhole)
	region, above := r.regionSpan(), r.aboveSpan()
	lowBase, highBase := outer(bases(l1.Wormhole, l1.Blackhole))
	cols, rows := extent(m.Cores)
	most, high := widest(l1.Wormhole)
	outside := m.outside()
	boards := boardsOf(n["cols"], n["rows"])
	page, least := max(n["page"], 1), m.least()
	lower := n["size"] - n["size"]%page
	crowded, sparse := above.low > region.high, above.high < region.low
	var base, room uint64
	if r.Region != 0 {
		base, room = *r.Base, *r.Room
	}
	return filler{
		message: m,
		numbers: map[string]uint64{
			"over": r.Over, "base": base, "region": r.Region, "room": room, "above": r.Above, "l1": r.L1Size,
			"rounded": roundUp(r.Over), "tiles": ceil(r.Over, tile), "times": ceil(r.Region, max(room, 1)),
			"least-region": region.low, "lowBase": lowBase, "highBase": highBase,
			"aboveWormhole": wormhole.L1Size - n["limit"], "aboveBlackhole": blackhole.L1Size - n["limit"],
			"outside": uint64(outside.Len()), "numCores": uint64(m.NumCores()), "lastIndex": uint64(wormhole.CBIndices - 1),
			"lastSlot": max(n["limit"], 1) - 1,
			"pages":    n["size"] / page, "rest": n["size"] % page, "lower-size": lower, "higher-size": lower + page,
			"ringNeed": m.ringNeed(cmp.Or(r.align, baseAlign)), "ringWormhole": m.ringNeed(wormhole.CBAlign), "ringSize": ring,
			"least": least, "least-all": least * n["banks"], "largest": max(n["block"], n["window"]),
		},
		texts: map[string]string{
			"short": m.short(), "long": map[bool]string{false: "circular buffers", true: "dataflow buffers"}[m.What == Dataflow],
			"cores": m.where(), "outsideCores": coreText(outside.Ranges(), false), "range": m.rangeText(), "what": m.What,
			"evidence": c.why, "arch": title(r.Arch), "boards": strings.Join(boards, " or "),
			"share": r.share(), "ofSize": percentText(r.Over, n["size"]), "memory": cmp.Or(m.What, "memory"),
			"option": m.option(), "reportCommand": "`cbl1 report --programs CAPTURE`", "roomCommand": "`cbl1 room CAPTURE`",
		},
		holds: map[string]bool{
			string(m.Kind): true, "has-region": m.hasRegion(), "retold": len(m.Missing) > 0, "cores": m.where() != "",
			"one-core": m.NumCores() == 1, "dataflow": m.What == Dataflow, "type": m.What != "", "tensix": m.What == "TENSIX",
			"given": c.given, "likely": c.likely, "any-chip": r.align == 0,
			"small-spare": !r.on.Small || r.on.SmallFree >= roundUp(r.Over), "no-spare": r.on.Small && r.on.SmallFree == 0,
			"all-banks": r.on.fullWide || r.on.Banks > 0 && n["banks"] >= r.on.Banks, "hybrid": r.on.Hybrid, "semaphores": 0 < above.high && above.high <= semaphores, "perhaps-semaphores": 0 < above.low && above.low <= semaphores, "based": c.based,
			"beyond": max(n["limit"], n["end"]) > blackhole.L1Size, "wide": cols > most || rows > high,
			"tiny": r.Over <= tiny, "huge": r.Over > blackhole.L1Size, "full": r.Region != 0 && room < full,
			"near": r.Over <= region.low/20, "half": r.Over <= region.low/2, "most": r.Over > region.high/2,
			"forgot": r.Over == base, "fromZero": r.Region != 0 && r.Region <= r.L1Size,
			// What takes most of L1 comes first; a tiny excess is not a matter of sizes.
			"moveFirst": r.Over <= tiny || !sparse, "crowded": crowded, "lower": r.lowers(),
			"boards": len(boards) > 0, "high-index": n["index"] >= uint64(wormhole.CBIndices),
			"whole": m.Whole, "warning": m.Warning, "addressable": lower <= l1.MaxAddr-page,
			"no-bank": m.noBank(), "is:" + r.LimitIs: true, m.What: true, "option": m.option() != "",
			"in-l1":       m.What == "L1" || m.What == "L1_SMALL",
			"spare":       (r.LimitIs == "bank-size" || r.LimitIs == "free") && r.Over < blackhole.L1Size,
			"odd":         m.has("free", "allocated") && n["bank"] != 0 && n["allocated"]+n["free"] != n["bank"],
			"trace-banks": m.What == "TRACE" && n["banks"] > 1 && least <= l1.MaxAddr/max(n["banks"], 1),
		},
	}
}
