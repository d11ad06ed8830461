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
	// Run is what such a capture says of the device.
	Run Device
}

// A Device is what a capture says of the device of a run. The zero Device says nothing.
type Device struct {
	Spec   l1.Spec
	Small  bool // Spec.L1Small is known
	Hybrid bool // its allocator is in HYBRID mode
}

// given returns the chip of all messages: the one of the caller, else that of the run. A base of the caller counts.
func (f Messages) given(spec l1.Spec) l1.Spec {
	if base := spec.CBBase; spec.Arch == "" && f.Run.Spec.Arch != "" {
		spec = f.Run.Spec
		spec.CBBase = cmp.Or(base, spec.CBBase)
	}
	return spec
}

// small returns the size of L1_SMALL by the run, or by the size of a bank in a message of the allocator; ok is false
// if neither has it.
func (f Messages) small(given l1.Spec) (bytes uint64, ok bool) {
	if f.Run.Small {
		return f.Run.Spec.L1Small, true
	}
	for _, m := range f.Messages {
		switch {
		case m.Kind != OutOfMemory || !m.has("bank"):
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
