package clash

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// grid explains that cores are not on the compute grid.
func (e *Explanation) grid() {
	m := e.Message
	var inside l1.CoreSet
	if m.Cols > 0 && m.Rows > 0 {
		inside = l1.Rect(0, 0, coordinate(m.Cols), coordinate(m.Rows)).Cores()
	}
	outside := m.Cores.Cores().Minus(inside)
	e.Summary = fmt.Sprintf("cores outside the grid: %d of %s of a CB are not on the %dx%d compute grid",
		outside.Len(), shown.Plural(uint64(m.NumCores()), "core"), m.Cols, m.Rows)
	if outside.IsEmpty() {
		e.Summary = fmt.Sprintf("cores outside the grid, but its numbers show none: all are on the %dx%d compute grid", m.Cols, m.Rows)
		e.noteCores()
		e.noteDamaged()
		return
	}
	e.noteCores()
	e.note("numbers", "outside: %s", coreText(outside.Ranges(), false))
	e.note("why", "a CB may be on cores of the compute grid, or on cores that a service has claimed, and on no others")
	if names := boardsOf(m.Cols, m.Rows); len(names) > 0 {
		e.note("chip", "likely %s or one with the same harvesting and dispatch: its grid is %dx%d", strings.Join(names, " or "), m.Cols, m.Rows)
	}
	e.note("likely", "written for a board with a larger grid: rows (Wormhole) or columns (Blackhole) are harvested, or dispatch takes some")
	e.note("try", "take the grid from the device (compute_with_storage_grid_size) instead of a constant")
	e.note("open", noOption)
	e.note("unknown", "which CB it is: %s", m.inCapture(""))
}

// coordinate returns the last coordinate of a side of n cores.
func coordinate(n int) uint8 { return uint8(min(n, 256) - 1) }

// appending explains that a buffer was to start inside a region.
func (e *Explanation) appending() {
	m := e.Message
	over, ok := m.Over()
	if !ok {
		e.Summary = fmt.Sprintf("placement conflict, but its numbers show none: %s is not below the end of %s", exact(m.Address), rangeText(m.Region))
		e.noteDamaged()
		return
	}
	e.Over = over
	e.Summary = fmt.Sprintf("placement conflict: a CB was to start at %s, %s below the end of what is taken", exact(m.Address), amount(over))
	e.note("numbers", "the last region of the cores is %s, %s; the next CB must start at or above %s", rangeText(m.Region), amount(m.Region.Len()), exact(m.Region.End))
	e.note("why", "tt-metal places the CBs of a program upwards and never goes back into bytes that it has marked")
	e.note("likely", "not the fault of sizes: its own placement never asks for such an address; an address was forced, or it is a bug in tt-metal")
	e.note("try", "look for code that sets CB addresses; if there is none, report it with the program's CBs in order of creation")
	e.note("open", noOption)
	e.note("unknown", "which CB, which cores and which program: %s", m.inCapture(""))
}

// index explains that two buffers use one index on a core.
func (e *Explanation) index() {
	m := e.Message
	e.Summary = fmt.Sprintf("index reuse: two CBs of one program use buffer index %d on the same core", m.Index)
	e.note("why", "a core has one CB per buffer index. CBs of one program may share an index only on cores that do not overlap")
	if most := l1.ArchSpec(l1.Wormhole).CBIndices; m.Index >= uint64(most) {
		e.note("chip", "likely Blackhole: Wormhole has indices 0 to %d", most-1)
	}
	e.note("likely", "core ranges that overlap by a row or column, or a helper that adds the same CB twice")
	e.note("try", "another index for one of them, or core ranges that do not overlap. Several indices may share one CB instead")
	e.note("open", noOption)
	e.note("unknown", "the cores, and the CB that came first; a capture does not help: it has no indices")
}

// backing explains that a buffer is larger than the tensor below it.
func (e *Explanation) backing() {
	m := e.Message
	over, ok := m.Over()
	if !ok {
		e.Summary = fmt.Sprintf("larger than its tensor, but its numbers show no excess: %s in a bank of %s", shown.Plural(m.Size, "byte"), exact(m.Bank))
		e.noteDamaged()
		return
	}
	e.Over, e.PercentOf, e.Percent = over, OfSize, percent(over, m.Size)
	each := "a bank"
	if m.Whole {
		each = "in all banks together"
	}
	e.Summary = fmt.Sprintf("larger than its tensor: a CB of %s lies in a tensor with %s %s", amount(m.Size), amount(m.Bank), each)
	e.note("numbers", "%s too much = %s of the CB; that is %s of 2,048 bytes", amount(over), percentText(over, m.Size), tiles(over))
	e.note("why", "a tensor-backed CB takes no bytes of its own: it uses those that the tensor has on each core, and must not be larger")
	if m.Whole {
		e.note("fit", "the wording of 2024 compares with the whole tensor: the CB must be smaller still, and fit into the tensor's part on one core")
	}
	if m.Warning {
		e.note("likely", "an older release, which only warned: the CB then overran its tensor silently, and results may be wrong (tt-metal #15337)")
	}
	e.note("likely", "a size from the whole tensor or from another shard shape, or a tensor sharded over more cores than the op counted on")
	e.note("try", "the CB's size from the tensor's shard on one core, less the address offset; or shard over fewer cores")
	e.note("open", noOption)
	e.note("unknown", "which CB and which tensor, and cores: %s", m.inCapture(""))
}

// pageSize explains that a size is not a number of pages.
func (e *Explanation) pageSize() {
	m := e.Message
	if m.Page == 0 {
		e.Summary = fmt.Sprintf("page size 0: a CB of %s has pages of no bytes", amount(m.Size))
		e.note("likely", "the page size was computed from a data format or shape that was not set")
		e.note("try", "set the page size of every index of the CB before its total size")
		e.note("open", noOption)
		return
	}
	rest := m.Size % m.Page
	if rest == 0 {
		e.Summary = fmt.Sprintf("not whole pages, but its numbers show that it is: %s are %s of %s", shown.Plural(m.Size, "byte"), shown.Plural(m.Size/m.Page, "page"), shown.Plural(m.Page, "byte"))
		e.noteDamaged()
		return
	}
	low := m.Size - rest
	e.Summary = fmt.Sprintf("not whole pages: a CB of %s has %s of %s and %s more", amount(m.Size), shown.Plural(m.Size/m.Page, "page"), shown.Plural(m.Page, "byte"), amount(rest))
	switch {
	case low == 0:
		e.note("fit", "the smallest legal size is %s", shown.Plural(m.Page, "byte"))
	case low <= l1.MaxAddr-m.Page:
		e.note("fit", "the nearest legal sizes are %s and %s bytes", exact(low), exact(low+m.Page))
	}
	e.note("why", "the total size must be a multiple of the page size of every buffer index of the CB")
	switch {
	case low == 0:
		e.note("likely", "the page is larger than the CB: the page of another data format, or a size in elements instead of bytes")
	default:
		e.note("likely", "indices of one CB with different data formats, or a size reckoned with the tiles of another format")
	}
	e.note("try", "the total size as number of pages x page size; with several indices, a multiple of all their page sizes")
	e.note("open", noOption)
	e.note("unknown", "which CB and index; a capture has sizes, but no pages and no indices")
}
