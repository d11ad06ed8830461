package compare

import (
	"cmp"
	"strconv"

	"github.com/cbl1/cbl1/event"
)

// compareIDs orders ids that may be absent: an absent one comes first.
func compareIDs(a, b event.Opt[uint64]) int {
	switch {
	case a.OK && b.OK:
		return cmp.Compare(a.V, b.V)
	case a.OK:
		return 1
	case b.OK:
		return -1
	}
	return 0
}

// named returns an id as text, "" if it is absent.
func named(id event.Opt[uint64]) string {
	if !id.OK {
		return ""
	}
	return strconv.FormatUint(id.V, 10)
}
