package clash

import "io"

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
