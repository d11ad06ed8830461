package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
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
	// Ahead reads a regular file before the first event, so that late knowledge is known from the start.
	Ahead bool
	// Operations yields the start and the end of each function. Without it, events name the
	// functions that run (Event.Op), and a function in which nothing happens has no event.
	Operations bool
}

// specs choose what the devices of a capture are, once, when that is first needed.
type specs struct {
	opt   Options
	known *knowledge
	info  *reportInfo // complete when all nodes were read

	chosen  l1.Spec // without a grid
	from    event.Origins
	decided bool // chosen is in use and cannot change any more

	smalls *smallSizes // nil: to be read
}

// hidesBase reports whether the report hides where circular buffers start.
func (s *specs) hidesBase() bool { return hidesBase(s.opt, s.infos()) }

func hidesBase(opt Options, devices []deviceInfo) bool {
	says := func(d deviceInfo) bool { return d.CBBase.V > 0 }
	return opt.Base == 0 && unreadable(devices) && !slices.ContainsFunc(devices, says)
}

// unreadable reports whether one of some devices cannot be read.
func unreadable(devices []deviceInfo) bool {
	return slices.ContainsFunc(devices, func(d deviceInfo) bool { return d.Unreadable })
}

// infos returns what the report says of devices, as far as that is known by now.
func (s *specs) infos() []deviceInfo {
	if s.known.sizes.devices == nil && s.info.Early {
		return s.info.Devices
	}
	return s.known.sizes.devices
}

// spec returns the choice.
func (s *specs) spec() l1.Spec {
	if !s.decided {
		s.chosen, s.from = chooseSpecOf(s.opt, s.infos())
		s.decided = true
	}
	return s.chosen
}

// end looks whether the report says something else after its graph than was assumed
// before it, and reports whether that is so.
func (s *specs) end() (contradicted bool) {
	s.spec()
	if s.info.Early || len(s.info.Devices) == 0 {
		return false
	}
	s.known.sizes.devices = s.info.Devices
	late, from := chooseSpecOf(s.opt, s.info.Devices)
	if late != s.chosen || hidesBase(s.opt, s.info.Devices) {
		return true
	}
	s.from = from
	return false
}

// differ returns how many devices differ from the first one in the size of L1 or the base.
func (s *specs) differ() (n int) {
	infos := slices.DeleteFunc(slices.Clone(s.info.Devices), func(d deviceInfo) bool { return d.Unreadable })
	for _, d := range infos {
		if d.CBBase != infos[0].CBBase || d.WorkerL1Size != infos[0].WorkerL1Size {
			n++
		}
	}
	return n
}

// chooseSpecOf finds architecture, base and alignment: options, then the file, then the
// architecture's default.
func chooseSpecOf(opt Options, devices []deviceInfo) (s l1.Spec, from event.Origins) {
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
	if s.smalls == nil {
		s.smalls = newSmallSizes(s.infos(), s.known.sizes.contradicted)
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

// contradict marks the rows whose bank reaches above an L1_SMALL buffer.
func (s *specs) contradict(units *units) {
	sizes, all := newSmallSizes(s.infos(), nil), uint64(0)
	low := map[device.ID]uint64{}
	for _, u := range units.order {
		at := u.small
		for _, mesh := range units.meshesOf(u.id) { // whose buffers may have gone before the chip was met
			at = lower(at, mesh.small)
		}
		ids := sizes.speakers(u.id, s.known.members.meshesOf(u.id))
		for _, id := range ids {
			low[id] = lower(low[id], at)
		}
		if ids == nil {
			all = lower(all, at)
		}
	}
	for _, d := range s.infos() {
		at := lower(all, low[device.ID(d.ID)])
		if _, ok := d.small(); ok && at > 0 && at < d.CBBase.V+d.BankSize.V {
			s.known.sizes.contradicted[d.ID] = true
		}
	}
	s.smalls = nil
}

// compareSmall notes rows that contradict themselves, or an L1_SMALL buffer. It reports whether
// a declaration has another size of L1_SMALL than is known now.
func (s *specs) compareSmall(units *units, odd notes) (late bool) {
	if s.opt.L1Small.OK {
		return false // the file's sizes are not used
	}
	s.contradict(units)
	s.conclude(units)
	if s.known.sizes.saidWrong {
		odd.add(noteSmallWrong, wholeFile, "messages of the allocator")
	}
	for _, d := range s.infos() {
		if d.negative() || s.known.sizes.contradicted[d.ID] {
			odd.add(noteSmallWrong, wholeFile, "")
		}
	}
	for _, u := range units.order {
		spec, _ := s.of(u.id)
		late = late || spec.L1Small != u.told.spec.L1Small
	}
	return late
}

// conclude finds the size of L1_SMALL by the messages of the allocator.
func (s *specs) conclude(u *units) {
	k := s.known
	k.sizes.said = smallSize{}
	hasBank := func(d deviceInfo) bool { return d.BankSize.V > 0 }
	if k.sizes.saidWrong || slices.ContainsFunc(s.infos(), hasBank) || !u.ofOneMesh() {
		return // another reading does not look for buffers from before
	}
	spec, lowest := s.spec(), uint64(0)
	for _, one := range u.order {
		lowest = lower(lowest, one.small)
	}
	if k.sizes.said, k.sizes.saidWrong = k.sizes.banks.smallOf(spec, !s.tellsL1()); !k.sizes.said.ok {
		return
	}
	if lowest > 0 && lowest < spec.L1Size-k.sizes.said.bytes {
		k.sizes.said, k.sizes.saidWrong = smallSize{}, true
	}
}

// tellsL1 reports whether an option or the file gives the size of L1.
func (s *specs) tellsL1() bool {
	tells := func(d deviceInfo) bool { return d.WorkerL1Size.V > 0 }
	return s.opt.MaxL1 != 0 || s.opt.Arch != "" || slices.ContainsFunc(s.infos(), tells)
}
