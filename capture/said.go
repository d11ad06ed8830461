package capture

import (
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/clash"
	"github.com/cbl1/cbl1/l1"
)

// The nodes of errors hold what tt-metal's allocator said: how large a bank of L1 is, or one of L1_SMALL. Such
// a message names no device. So it counts only if the capture shows one device, or the chips of one mesh,
// which are opened with one size of L1_SMALL, and if no row of devices has the size of a bank. A message
// about dependencies is skipped: its bank may belong to a sub-device.

// saidBanks are the sizes of banks by messages.
type saidBanks struct{ l1, small saidBank }

// A saidBank is the size of the banks of one kind.
type saidBank struct {
	event.Opt[uint64]
	differ bool // messages tell several sizes
}

// read adds the sizes that the message of an error names.
func (s *saidBanks) read(text string) {
	if !strings.Contains(text, "bank") {
		return
	}
	for m, err := range clash.Scan(strings.NewReader(text)) {
		if err != nil || m.Kind != clash.OutOfMemory || !m.Shortage.HasBank || m.Shortage.Dependencies {
			continue
		}
		switch m.Shortage.Buffer {
		case "L1":
			if m.Shortage.Bank > 0 {
				s.l1.add(m.Shortage.Bank)
			}
		case "L1_SMALL":
			s.small.add(m.Shortage.Bank)
		}
	}
}

func (s *saidBank) add(bytes uint64) {
	s.differ = s.differ || s.OK && s.V != bytes
	s.Opt = event.Some(bytes)
}

// smallOf returns the size of L1_SMALL on devices with a Spec, and whether messages say it. It is wrong if they
// contradict each other or the Spec. A bank of L1 says nothing where the size of L1 is only assumed.
func (s *saidBanks) smallOf(spec l1.Spec, assumed bool) (size smallSize, wrong bool) {
	if s.small.OK {
		size, wrong = smallSize{s.small.V, true}, s.small.differ
	}
	if s.l1.OK && !assumed {
		left, ok := l1.SmallBytes(spec.L1Size, spec.CBBase, s.l1.V)
		wrong = wrong || s.l1.differ || !ok || size.ok && size.bytes != left
		size = smallSize{left, true}
	}
	if !size.ok {
		return size, false
	}
	if wrong = wrong || size.bytes > spec.L1Size; wrong {
		size = smallSize{}
	}
	return size, wrong
}

// conclude finds the size of L1_SMALL by the messages of the allocator.
func (s *specs) conclude(u *units) {
	k := s.known
	k.said = smallSize{}
	hasBank := func(d deviceInfo) bool { return d.BankSize.V > 0 }
	if k.saidWrong || slices.ContainsFunc(s.infos(), hasBank) || !u.ofOneMesh() {
		return // another reading does not look for buffers from before
	}
	spec, lowest := s.spec(), uint64(0)
	for _, one := range u.order {
		lowest = lower(lowest, one.small)
	}
	if k.said, k.saidWrong = k.banks.smallOf(spec, !s.tellsL1()); !k.said.ok {
		return
	}
	if lowest > 0 && lowest < spec.L1Size-k.said.bytes {
		k.said, k.saidWrong = smallSize{}, true
	}
}

// ofOneMesh reports whether the capture shows one device alone, or one mesh and its chips.
func (u *units) ofOneMesh() bool {
	ids := map[device.ID]bool{}
	for id := range u.byID {
		ids[id] = true
	}
	for mesh, chips := range u.members.chips {
		ids[mesh] = true
		for _, chip := range chips {
			ids[chip] = true
		}
	}
	for id := range ids {
		if len(u.members.chips[id])+1 == len(ids) {
			return true
		}
	}
	return len(ids) == 0
}

// tellsL1 reports whether an option or the file tells the size of L1.
func (s *specs) tellsL1() bool {
	tells := func(d deviceInfo) bool { return d.WorkerL1Size.V > 0 }
	return s.opt.MaxL1 != 0 || s.opt.Arch != "" || slices.ContainsFunc(s.infos(), tells)
}
