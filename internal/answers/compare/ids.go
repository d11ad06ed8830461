package compare

import (
	"cmp"
	"strconv"
)

// compareIDs orders ids that may be absent: what has none comes first.
func compareIDs(a, b *uint64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// named returns an id as text, "" if it is absent.
func named(id *uint64) string {
	if id == nil {
		return ""
	}
	return strconv.FormatUint(*id, 10)
}
