package capture

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// An absentee is a buffer in L1 from before the capture without a known place.
type absentee struct {
	told  *event.Event
	named device.ID
}

func (a absentee) compare(b absentee) int { return cmp.Compare(a.told.Node, b.told.Node) }

// absentees are the ones without an event so far.
type absentees struct {
	byNode map[uint64]absentee
	byName map[device.ID][]absentee // those that were dropped too
}

func newAbsentees() *absentees {
	return &absentees{map[uint64]absentee{}, map[device.ID][]absentee{}}
}

func (l *absentees) add(a absentee) {
	l.byNode[a.told.Node] = a
	l.byName[a.named] = append(l.byName[a.named], a)
}

// drop takes out the absentee of a buffer node. It reports whether there was one.
func (l *absentees) drop(node uint64) bool {
	_, ok := l.byNode[node]
	delete(l.byNode, node)
	return ok
}

// shown takes out the absentees beside which something has run by now: the first program of some
// units.
func (l *absentees) shown(members *members, first []*unit) (all []absentee) {
	for _, u := range first {
		for id := range members.above(u.id) {
			all = append(all, l.byName[id]...)
			delete(l.byName, id)
		}
	}
	slices.SortFunc(all, absentee.compare)
	return slices.DeleteFunc(all, func(a absentee) bool { return !l.drop(a.told.Node) })
}
