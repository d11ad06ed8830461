package oracle

import "slices"

// entry is one allocator entry: a distinct merged core range and the regions its bookkeeping holds.
type entry struct {
	rect    rect
	regions []span
}

type span struct{ start, end uint64 }

// end is 0 without regions. It is the largest end. In tt-metal that is always the end of the last
// region; here recorded addresses may come in any order.
func (e *entry) end() uint64 {
	var end uint64
	for _, r := range e.regions {
		end = max(end, r.end)
	}
	return end
}

// tt-metal also joins a region to a touching one before it, and starts every list with an empty region at the base. Neither
// changes the bytes that the regions cover, so the list is kept plain here.
func (e *entry) mark(addr, size uint64) {
	e.regions = append(e.regions, span{addr, addr + size})
}

// newEntries makes one entry for every distinct merged range, in the order in which buffers bring
// them. Buffers without bytes (global CBs, borrowed memory) get entries too: a local buffer that
// intersects them marks them.
func newEntries(groups ...[]*buffer) []*entry {
	var entries []*entry
	for _, g := range groups {
		for _, b := range g {
			for _, r := range b.ranges {
				if entryOf(entries, r) == nil {
					entries = append(entries, &entry{rect: r})
				}
			}
		}
	}
	return entries
}

func entryOf(entries []*entry, r rect) *entry {
	for _, e := range entries {
		if e.rect == r {
			return e
		}
	}
	return nil
}

// markAll records a buffer in every entry that it touches. An entry of another range that already ends higher is skipped.
// The buffer's own range is never skipped: where tt-metal would refuse (only recorded addresses get there) the union counts.
func markAll(entries []*entry, b *buffer) {
	for _, r := range b.ranges {
		for _, e := range entries {
			if !e.rect.intersects(r) || (e.rect != r && b.addr < e.end()) {
				continue
			}
			e.mark(b.addr, b.size)
		}
	}
}

// place gives every local buffer of one program that has address 0 its address and returns the allocator entries.
// It reports whether there was anything to place.
func place(buffers []*buffer, entries []*entry, l Layout) (placed bool) {
	for _, b := range buffers {
		if b.local && b.addr != 0 {
			markAll(entries, b)
		}
	}
	for _, b := range buffers {
		if !b.local || b.addr != 0 {
			continue
		}
		placed = true
		addr := l.Base
		for _, r := range b.ranges {
			addr = max(addr, entryOf(entries, r).end()) // the exact range only: tt-metal's rule, hazard of example F included
		}
		b.addr = roundUp(addr, l.Align)
		markAll(entries, b)
	}
	return placed
}

// placeScratchpads differs in one point that matters for bytes: every intersecting entry has a say.
func placeScratchpads(buffers []*buffer, entries []*entry, l Layout) (placed bool) {
	for _, b := range buffers {
		if b.addr != 0 {
			markAll(entries, b)
		}
	}
	for _, b := range buffers {
		if b.addr != 0 {
			continue
		}
		placed = true
		addr := l.Base
		for _, e := range touchedBy(entries, b) {
			addr = max(addr, e.end())
		}
		b.addr = roundUp(addr, l.Align)
		markAll(entries, b)
	}
	return placed
}

func touchedBy(entries []*entry, b *buffer) []*entry {
	var touched []*entry
	for _, e := range entries {
		if slices.ContainsFunc(b.ranges, e.rect.intersects) {
			touched = append(touched, e)
		}
	}
	return touched
}

func roundUp(n, align uint64) uint64 {
	return (n + align - 1) / align * align
}
