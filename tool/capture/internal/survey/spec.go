package survey

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// Overrides are facts that a capture lacks, or that override its own; see Options.
type Overrides struct {
	Arch               l1.Arch
	Base, Align, MaxL1 uint64
	L1Small            event.Opt[uint64]
}

// Chips are what is known of the devices of a capture: their Specs and grids.
type Chips struct {
	Known *Knowledge
	Specs *Specs
	Grids *Grids
}

// NewChips returns the devices of a capture.
func NewChips(known *Knowledge, opt Overrides) *Chips {
	s := &Specs{Opt: opt, Known: known}
	return &Chips{known, s, &Grids{specs: s, known: known, byID: map[device.ID]*Grid{}}}
}

// PerCore returns how many bytes of a core the allocation of a buffer in L1 takes, as far as it says so.
func (c *Chips) PerCore(b *Buffer) event.Opt[uint64] {
	grid, page := c.Grids.Of(b.Said.Named), b.Said.page
	if b.Said.PerCore.OK || b.Sharded || grid.From == event.FromAssumed || !b.Said.sized || page == 0 || page > jsonobject.MaxL1 {
		return b.Said.PerCore
	}
	each := divideUp(divideUp(b.Said.Size, page), uint64(grid.Cores.Len()))
	align := max(c.Specs.Spec().L1Align, 1)
	page = divideUp(page, align) * align // each page begins at a multiple
	return event.Opt[uint64]{V: each * page, OK: each == 0 || page <= jsonobject.MaxL1/each}
}

func divideUp(n, by uint64) uint64 {
	if n%by == 0 {
		return n / by
	}
	return n/by + 1
}

// Specs choose what the devices of a capture are, once, when that is first needed.
type Specs struct {
	Opt   Overrides
	Known *Knowledge

	chosen l1.Spec // without a grid
	from   event.Origins

	smalls *smallSizes // nil: to be read
}

// HidesBase reports whether the report hides where circular buffers start.
func (s *Specs) HidesBase() bool {
	says := func(d graph.Device) bool { return d.CBBase.V > 0 }
	return s.Opt.Base == 0 && unreadable(s.Known.Rows) && !slices.ContainsFunc(s.Known.Rows, says)
}

// unreadable reports whether one of some devices cannot be read.
func unreadable(devices []graph.Device) bool {
	return slices.ContainsFunc(devices, func(d graph.Device) bool { return d.Unreadable })
}

// Spec returns the choice.
func (s *Specs) Spec() l1.Spec {
	if s.from.Arch == "" {
		s.chosen, s.from = chooseSpecOf(s.Opt, s.Known.Rows, s.Known.recorded)
	}
	return s.chosen
}

// Base returns where circular buffers of a unit start: by its own row, the rows of its meshes or those of its chips, else
// by the first row. differ reports whether these rows disagree.
func (s *Specs) Base(id device.ID) (base uint64, differ bool) {
	base, m := s.Spec().CBBase, s.Known.Members
	if s.Opt.Base != 0 {
		return base, false
	}
	for _, ids := range [][]device.ID{{id}, m.MeshesOf(id), m.Chips[id]} {
		var found []uint64
		for _, of := range ids {
			i := slices.IndexFunc(s.Known.Rows, func(d graph.Device) bool { return device.ID(d.ID) == of && d.CBBase.V > 0 })
			if i >= 0 {
				found = append(found, s.Known.Rows[i].CBBase.V)
			}
		}
		if len(found) > 0 {
			return found[0], slices.Min(found) < slices.Max(found)
		}
	}
	return base, false
}

// Differ returns how many devices differ from the first one in the size of L1.
func (s *Specs) Differ() (n int) {
	rows := slices.DeleteFunc(slices.Clone(s.Known.Rows), func(d graph.Device) bool { return d.Unreadable })
	for _, d := range rows {
		if d.WorkerL1Size != rows[0].WorkerL1Size {
			n++
		}
	}
	return n
}

// isWormhole reports whether addresses speak for a Wormhole: where the lowest circular buffer starts, and that nothing ends
// above its L1. The base varies with the release. These were seen on Wormhole. Those of a Blackhole are above them.
func isWormhole(recorded l1.Range) bool {
	const low, high = 103_424, 107_616
	return low <= recorded.Start && recorded.Start <= high && recorded.End <= l1.ArchSpec(l1.Wormhole).L1Size
}

// chooseSpecOf finds architecture, base and alignment: options, then the file, then the recorded addresses, then the
// architecture's default.
func chooseSpecOf(opt Overrides, devices []graph.Device, recorded l1.Range) (s l1.Spec, from event.Origins) {
	var size, base event.Opt[uint64]
	for _, d := range devices {
		if !size.OK && d.WorkerL1Size.V > 0 {
			size = d.WorkerL1Size
		}
		if !base.OK && d.CBBase.V > 0 {
			base = d.CBBase
		}
	}
	from = event.Origins{Arch: event.FromOption, Base: event.FromArch}
	arch := opt.Arch
	if arch == "" {
		arch, from.Arch = l1.Blackhole, event.FromAssumed
		for _, a := range []l1.Arch{l1.Wormhole, l1.Blackhole, l1.Grayskull, l1.Quasar} {
			if size.OK && l1.ArchSpec(a).L1Size == size.V {
				arch, from.Arch = a, event.FromFile
			}
		}
		if !size.OK && isWormhole(recorded) {
			arch = l1.Wormhole
		}
	}
	s = l1.ArchSpec(arch)
	if size.OK && opt.Arch == "" {
		s.L1Size = size.V
	}
	if base.OK {
		s.CBBase, from.Base = base.V, event.FromFile
	}
	if opt.Base != 0 {
		s.CBBase, from.Base = opt.Base, event.FromOption
	}
	if opt.Align != 0 {
		s.CBAlign, from.Base = opt.Align, event.FromOption
	}
	if from.Base == event.FromArch && from.Arch == event.FromAssumed {
		from.Base = event.FromAssumed
	}
	if !size.OK && opt.Arch == "" && unreadable(devices) {
		s.L1Size = 0 // which is hidden
	}
	if opt.MaxL1 != 0 {
		s.L1Size = opt.MaxL1
	}
	if s.L1Size < s.CBBase || s.L1Size > l1.MaxAddr {
		s.L1Size = 0 // numbers that contradict each other: better none than a wrong percentage
	}
	return s.Based(), from
}

// Of returns the Spec of an id, without its grid, and who says so.
func (s *Specs) Of(id device.ID) (l1.Spec, event.Origins) {
	spec := s.Spec()
	from := s.from
	spec.CBBase, _ = s.Base(id)
	if s.smalls == nil {
		s.smalls = newSmallSizes(s.Known.Rows, s.Known.Sizes.Contradicted)
	}
	size := s.smalls.of(id, s.Known.Members.MeshesOf(id))
	if !size.ok {
		size = s.Known.Sizes.said
	}
	switch {
	case s.Opt.L1Small.OK:
		spec.L1Small, from.Small = s.Opt.L1Small.V, event.FromOption
	case size.ok:
		spec.L1Small, from.Small = size.bytes, event.FromFile
	default:
		spec.L1Small, from.Small = 0, event.FromAssumed
	}
	if spec.L1Small > spec.L1Size {
		spec.L1Small, from.Small = 0, event.FromAssumed
	}
	return spec, from
}

// contradict marks the rows whose bank reaches above an L1_SMALL buffer. small has the lowest of these by the id that
// they name.
func (s *Specs) contradict(small map[device.ID]uint64) {
	sizes, all := newSmallSizes(s.Known.Rows, nil), uint64(0)
	low, m := map[device.ID]uint64{}, s.Known.Members
	for id := range s.Known.IDs {
		at := uint64(0)
		for of := range m.Above(id) {
			at = lower(at, small[of])
		}
		ids := sizes.speakers(id, m.MeshesOf(id))
		for _, id := range ids {
			low[id] = lower(low[id], at)
		}
		if ids == nil {
			all = lower(all, at)
		}
	}
	for _, d := range s.Known.Rows {
		at := lower(all, low[device.ID(d.ID)])
		if _, ok := d.SmallBytes(); ok && at > 0 && at < d.CBBase.V+d.BankSize.V {
			s.Known.Sizes.Contradicted[d.ID] = true
		}
	}
}

// conclude finds the size of L1_SMALL by the messages of the allocator.
func (s *Specs) conclude(small map[device.ID]uint64) {
	k := &s.Known.Sizes
	hasBank := func(d graph.Device) bool { return d.BankSize.V > 0 }
	if slices.ContainsFunc(s.Known.Rows, hasBank) || !s.Known.ofOneMesh() {
		return
	}
	spec, lowest := s.Spec(), uint64(0)
	for _, at := range small {
		lowest = lower(lowest, at)
	}
	if k.said, k.SaidWrong = s.Known.banks.smallOf(spec, !s.tellsL1()); !k.said.ok {
		return
	}
	if lowest > 0 && lowest < spec.L1Size-k.said.bytes {
		k.said, k.SaidWrong = SmallSize{}, true
	}
}

// tellsL1 reports whether an option or the file gives the size of L1.
func (s *Specs) tellsL1() bool {
	tells := func(d graph.Device) bool { return d.WorkerL1Size.V > 0 }
	return s.Opt.MaxL1 != 0 || s.Opt.Arch != "" || slices.ContainsFunc(s.Known.Rows, tells)
}

// A Grid is the cores of a device on which interleaved buffers lie, and who says so.
type Grid struct {
	Cols, Rows int
	Cores      l1.CoreSet
	From       event.Source // FromFile or FromAssumed
}

// Grids find the grid of each id: as the file says or else the largest of the architecture, with all
// cores that the capture shows.
type Grids struct {
	specs *Specs
	known *Knowledge
	byID  map[device.ID]*Grid
	last  Grid // that was found: most are alike, and share their cores

	boards []l1.Spec
}

// Of returns the grid of an id as it stands.
func (g *Grids) Of(id device.ID) *Grid {
	if g.byID[id] == nil {
		g.byID[id] = g.find(id)
	}
	return g.byID[id]
}

func (g *Grids) find(id device.ID) *Grid {
	found := &Grid{From: event.FromAssumed}
	infos := g.known.Rows
	unread := unreadable(infos) // the first one may be that of the id
	for _, d := range infos {
		if unread && device.ID(d.ID) != id || !legalGrid(d) || found.From == event.FromFile && device.ID(d.ID) != id {
			continue
		}
		found.Cols, found.Rows, found.From = int(d.GridX.V), int(d.GridY.V), event.FromFile
	}
	if found.From == event.FromAssumed {
		if g.boards == nil {
			g.boards = l1.Boards()
		}
		for _, board := range g.boards {
			if board.Arch == g.specs.Spec().Arch && board.Cols*board.Rows > found.Cols*found.Rows {
				found.Cols, found.Rows = board.Cols, board.Rows
			}
		}
		found.Cols, found.Rows = max(found.Cols, int(g.known.seen.X)+1), max(found.Rows, int(g.known.seen.Y)+1)
	}
	if last := g.last; last.Cols != found.Cols || last.Rows != found.Rows {
		g.last = *found
		g.last.Cores = l1.Spec{Cols: found.Cols, Rows: found.Rows}.Grid().Cores()
	}
	found.Cores = g.last.Cores
	return found
}

func legalGrid(d graph.Device) bool {
	return d.GridX.V >= 1 && d.GridX.V <= 256 && d.GridY.V >= 1 && d.GridY.V <= 256
}
