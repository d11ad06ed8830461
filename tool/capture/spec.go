package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/tensor"
)

// Options add facts that a capture lacks, or override its own. The zero value leaves everything to the
// capture.
type Options struct {
	Arch  l1.Arch // "" = by the file's L1 size, or Blackhole
	Base  uint64  // where circular buffers start; 0 = by file or architecture
	Align uint64  // alignment of their addresses; 0 = by architecture
	// L1Small is the size of the L1_SMALL area at the top of L1. Absent: the file gives it by
	// the size of a bank, or there is none. L1 buffers without an address are placed below it.
	L1Small event.Opt[uint64]
	MaxL1   uint64 // size of L1; 0 = by file or architecture
	// NoInfer leaves operations that found their program in the cache without one.
	NoInfer bool
	// At, if present, is the counter of a node. After it the source yields the open programs
	// as they stand, so that a query of this moment sees them.
	At event.Opt[uint64]
	// TempDir is the folder for a temporary file with what a pipe, or another source that cannot seek, has
	// beyond 1 MiB. Such a source is refused with event.ErrTooLarge if TempDir is "".
	TempDir string
	// Operations yields the start and the end of each function. Without it, events name the
	// functions that run (Event.Op), and a function in which nothing happens has no event.
	Operations bool
	// Again keeps a source that cannot seek for another call of Events. Reader.Close ends that.
	Again bool
	// Tensors, if not nil, gets the tensors of L1 buffers before the first event. A log or a dump has none.
	Tensors *tensor.Table
}

// specs choose what the devices of a capture are, once, when that is first needed.
type specs struct {
	opt   Options
	known *knowledge

	chosen l1.Spec // without a grid
	from   event.Origins

	smalls *smallSizes // nil: to be read
}

// hidesBase reports whether the report hides where circular buffers start.
func (s *specs) hidesBase() bool {
	says := func(d graph.Device) bool { return d.CBBase.V > 0 }
	return s.opt.Base == 0 && unreadable(s.known.rows) && !slices.ContainsFunc(s.known.rows, says)
}

// unreadable reports whether one of some devices cannot be read.
func unreadable(devices []graph.Device) bool {
	return slices.ContainsFunc(devices, func(d graph.Device) bool { return d.Unreadable })
}

// spec returns the choice.
func (s *specs) spec() l1.Spec {
	if s.from.Arch == "" {
		s.chosen, s.from = chooseSpecOf(s.opt, s.known.rows, s.known.recorded)
	}
	return s.chosen
}

// base returns where circular buffers of a unit start: by its own row, the rows of its meshes or those of its chips, else
// by the first row. differ reports whether these rows disagree.
func (s *specs) base(id device.ID) (base uint64, differ bool) {
	base, m := s.spec().CBBase, s.known.members
	if s.opt.Base != 0 {
		return base, false
	}
	for _, ids := range [][]device.ID{{id}, m.meshesOf(id), m.chips[id]} {
		var found []uint64
		for _, of := range ids {
			i := slices.IndexFunc(s.known.rows, func(d graph.Device) bool { return device.ID(d.ID) == of && d.CBBase.V > 0 })
			if i >= 0 {
				found = append(found, s.known.rows[i].CBBase.V)
			}
		}
		if len(found) > 0 {
			return found[0], slices.Min(found) < slices.Max(found)
		}
	}
	return base, false
}

// differ returns how many devices differ from the first one in the size of L1.
func (s *specs) differ() (n int) {
	rows := slices.DeleteFunc(slices.Clone(s.known.rows), func(d graph.Device) bool { return d.Unreadable })
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
func chooseSpecOf(opt Options, devices []graph.Device, recorded l1.Range) (s l1.Spec, from event.Origins) {
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

// of returns the Spec of an id, without its grid, and who says so.
func (s *specs) of(id device.ID) (l1.Spec, event.Origins) {
	spec := s.spec()
	from := s.from
	spec.CBBase, _ = s.base(id)
	if s.smalls == nil {
		s.smalls = newSmallSizes(s.known.rows, s.known.sizes.contradicted)
	}
	size := s.smalls.of(id, s.known.members.meshesOf(id))
	if !size.ok {
		size = s.known.sizes.said
	}
	switch {
	case s.opt.L1Small.OK:
		spec.L1Small, from.Small = s.opt.L1Small.V, event.FromOption
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
func (s *specs) contradict(small map[device.ID]uint64) {
	sizes, all := newSmallSizes(s.known.rows, nil), uint64(0)
	low, m := map[device.ID]uint64{}, s.known.members
	for id := range s.known.ids {
		at := uint64(0)
		for of := range m.above(id) {
			at = lower(at, small[of])
		}
		ids := sizes.speakers(id, m.meshesOf(id))
		for _, id := range ids {
			low[id] = lower(low[id], at)
		}
		if ids == nil {
			all = lower(all, at)
		}
	}
	for _, d := range s.known.rows {
		at := lower(all, low[device.ID(d.ID)])
		if _, ok := d.SmallBytes(); ok && at > 0 && at < d.CBBase.V+d.BankSize.V {
			s.known.sizes.contradicted[d.ID] = true
		}
	}
}

// noteSmall notes rows and messages that contradict themselves, or an L1_SMALL buffer.
func (s *specs) noteSmall(odd notes) {
	if s.opt.L1Small.OK {
		return // the file's sizes are not used
	}
	if s.known.sizes.saidWrong {
		odd.add(noteSmallWrong, wholeFile, "messages of the allocator")
	}
	for _, d := range s.known.rows {
		if d.IsNegative() || s.known.sizes.contradicted[d.ID] {
			odd.add(noteSmallWrong, wholeFile, "")
		}
	}
}

// conclude finds the size of L1_SMALL by the messages of the allocator.
func (s *specs) conclude(small map[device.ID]uint64) {
	k := &s.known.sizes
	hasBank := func(d graph.Device) bool { return d.BankSize.V > 0 }
	if slices.ContainsFunc(s.known.rows, hasBank) || !s.known.ofOneMesh() {
		return
	}
	spec, lowest := s.spec(), uint64(0)
	for _, at := range small {
		lowest = lower(lowest, at)
	}
	if k.said, k.saidWrong = s.known.banks.smallOf(spec, !s.tellsL1()); !k.said.ok {
		return
	}
	if lowest > 0 && lowest < spec.L1Size-k.said.bytes {
		k.said, k.saidWrong = smallSize{}, true
	}
}

// tellsL1 reports whether an option or the file gives the size of L1.
func (s *specs) tellsL1() bool {
	tells := func(d graph.Device) bool { return d.WorkerL1Size.V > 0 }
	return s.opt.MaxL1 != 0 || s.opt.Arch != "" || slices.ContainsFunc(s.known.rows, tells)
}
