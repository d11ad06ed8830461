package diff

import (
	"cmp"

	"github.com/cbl1/cbl1/event"
)

// compareIDs orders ids that may be absent: an absent one comes first.
func compareIDs(a, b event.Opt[uint64]) int {
	switch {
	case a.OK == b.OK:
		return cmp.Compare(a.V, b.V)
	case a.OK:
		return 1
	}
	return -1
}
