package clash

import (
	"cmp"
	"io"

	"github.com/cbl1/cbl1/l1"
)

// MaxDistinct is how many different messages Read keeps.
const MaxDistinct = 1000

// Messages holds the messages that Read found in a text.
type Messages struct {
	// Messages has each different message once, in order of first appearance.
	Messages []Message
	// More counts the occurrences of messages that were not kept because
	// MaxDistinct others came before them.
	More int64
	// Matches says of each message which programs of a capture it may be about: what
	// Comparison.Matches returns. nil if there was no capture to compare with.
	Matches []Match
	// Run is the device of messages without a match, unless another message has one.
	Run Device
}

// A Device is what a capture says of the device of a run. The zero Device says nothing.
type Device struct {
	Spec      l1.Spec
	Small     bool   // SmallFree is known
	SmallFree uint64 // bytes of L1_SMALL below the lowest buffer that ever lay there
	Banks     uint64 // of L1; 0 = not known
	Hybrid    bool   // its allocator is in HYBRID mode

	log      chip // that other messages of the log show
	fullWide bool // the lowest L1 buffer lies on all banks
}

// on returns the device of the run that a message is about; ok is false if there is no such run.
func (m Match) on() (on Device, ok bool) {
	switch {
	case m.Space != nil && m.Space.Agrees:
		return m.Space.bank.Run.On, true
	case m.Level == "" || m.Level == MatchNone:
		return on, false
	}
	on = m.ProgramRun.On
	on.fullWide = on.Banks > 0 && len(m.Tensors) > 0 && uint64(m.Tensors[0].Cores) >= on.Banks
	return on, true
}

// devices returns the device of each message: that of its own run, else that of another message's run, else Run. A chip
// of the caller counts, and so does a base.
func (f Messages) devices(given l1.Spec) []Device {
	out, other, found := make([]Device, len(f.Messages)), f.Run, false
	for _, m := range f.Matches {
		if on, ok := m.on(); ok && !found {
			other, found = on, true
			other.fullWide = false
		}
	}
	log := f.shown()
	for i := range out {
		on := other
		if i < len(f.Matches) {
			if own, ok := f.Matches[i].on(); ok {
				on = own
			}
		}
		base := cmp.Or(given.CBBase, on.Spec.CBBase)
		if given.Arch != "" || on.Spec.Arch == "" {
			on.Spec = given
		}
		on.Spec.CBBase = base
		if !on.Small {
			on.SmallFree, on.Small = f.small(on.Spec)
		}
		on.log = log
		out[i] = on
	}
	return out
}

// shown returns the chip that messages show by their numbers, if they agree.
func (f Messages) shown() (out chip) {
	for _, m := range f.Messages {
		if _, exceeds := m.Over(); !exceeds || !m.hasRegion() {
			continue
		}
		c := infer(m)
		switch {
		case c.likely && !out.likely:
			out = c
		case c.likely && c.spec.Arch != out.spec.Arch:
			return chip{}
		}
	}
	return out
}

// small returns how much of L1_SMALL may be free, by the size of a bank in a message of the allocator; ok is false if
// none has it.
func (f Messages) small(given l1.Spec) (bytes uint64, ok bool) {
	for _, m := range f.Messages {
		switch {
		case m.Kind != OutOfMemory || !m.has("bank"):
		case m.What == "L1_SMALL" && m.has("block"):
			return m.Numbers["block"], true
		case m.What == "L1_SMALL":
			return m.Numbers["bank"], true
		case m.What == "L1" && given.L1Size > 0:
			if bytes, ok = l1.SmallBytes(given.L1Size, given.CBBase, m.Numbers["bank"]); ok {
				return bytes, true
			}
		}
	}
	return 0, false
}

// Read returns the messages in r, each once. Two messages are the same if all
// their fields but Line, Count and the spelling of cores are. If reading fails,
// Found has what came before.
func Read(r io.Reader) (Messages, error) {
	var found Messages
	place := make(map[string]int)
	for m, err := range Scan(r) {
		if err != nil {
			return found, err
		}
		k := m.key()
		if i, ok := place[k]; ok {
			found.Messages[i].Count++
			continue
		}
		if len(found.Messages) == MaxDistinct {
			found.More++
			continue
		}
		place[k] = len(found.Messages)
		found.Messages = append(found.Messages, m)
	}
	return found, nil
}
