package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// knowledge has the facts that hold for a whole capture and show at one of its nodes. A second reading
// starts with the knowledge of the first.
type knowledge struct {
	members *members
	once    bool              // the capture can be read once: facts at its end come too late for its beginning
	badRows unreadRows        // rows of lists of buffers that cannot be read
	sizes   knownSizes        // of L1 and L1_SMALL
	shards  map[uint64]shards // of sharded buffers, by the counter of the allocation
	blind   blindTensors      // with no buffer of the capture that is known to be theirs
	seen    l1.Core           // largest coordinates of any core
	aborted map[uint64]bool   // starts of functions that an exception ended
	settled map[uint64]bool   // first nodes of runs that are one program, though that shows only later
	before  knownBefore       // of buffers that no node allocates or frees
	bottom  bottom
	late    notes // facts that came too late for this reading
}

// knownSizes are the facts about the size of L1 and of L1_SMALL.
type knownSizes struct {
	devices      []deviceInfo    // of a report that lists them after its graph
	contradicted map[uint64]bool // ids of rows whose bank reaches above an L1_SMALL buffer
	banks        saidBanks       // by messages of the allocator
	said         smallSize       // of L1_SMALL, which follows from them
	saidWrong    bool            // they contradict each other, the Spec or an L1_SMALL buffer
}

// knownBefore are the facts about buffers that no node allocates, or frees.
type knownBefore struct {
	residents []resident      // from before the capture, by when they came
	harmless  map[uint64]bool // buffer nodes from before the capture that hide nothing

	// Of a database: when L1 buffers that no node frees are gone, by the counters of their allocations, and
	// ids without a list of the buffers that lived when operations ended.
	ends map[uint64]uint64
	mute map[device.ID]bool
}

// tooLate records a fact that came after events that depend on it: another reading yields other events.
// The last reading has a note with the code.
func (k *knowledge) tooLate(code string) {
	if k.late[code] == nil {
		k.late.add(code, wholeFile, "")
	}
}

// stale reports whether another reading would write other events.
func (k *knowledge) stale() bool { return len(k.late) > 0 }

func newKnowledge() *knowledge {
	return &knowledge{
		members: newMembers(), shards: map[uint64]shards{},
		settled: map[uint64]bool{}, aborted: map[uint64]bool{}, sizes: knownSizes{contradicted: map[uint64]bool{}},
		blind: blindTensors{}, bottom: newBottom(), late: notes{},
	}
}

// aborts reports whether an exception is known to have ended the function that starts at a node, or whether there
// is room to store that.
func (k *knowledge) aborts(start uint64) bool {
	return k.aborted[start] || len(k.aborted) < maxTensors
}

// settles records that each of some runs is one program. Their events said that it may be several.
func (k *knowledge) settles(firsts []uint64) {
	k.late.add(noteWorkloadLate, int64(firsts[0]), "")
	for _, first := range firsts {
		if len(k.settled) < maxTensors {
			k.settled[first] = true
		}
	}
}

// blindTensors are tensors whose memory_config cannot be read: by address, 0 if that cannot be read either,
// the ids that they name.
type blindTensors map[uint64]map[device.ID]bool

// mayDescribe reports whether a buffer, which no other tensor describes, may belong to a blind tensor.
func (k *knowledge) mayDescribe(named device.ID, address uint64) bool {
	for _, at := range []uint64{0, address} {
		for range sharing(k.members, k.blind[at], named) {
			return true
		}
	}
	return false
}

// lifts reports whether persistent pages are known to lie on a unit.
func (k *knowledge) lifts(id device.ID) bool {
	if len(k.bottom.lifted) == 0 {
		return false
	}
	for of := range k.members.above(id) {
		if k.bottom.lifted[of] {
			return true
		}
	}
	return false
}

// findLifted finds the devices with persistent pages after the last node, and reports whether any
// is new.
func (k *knowledge) findLifted() (late bool) {
	b := &k.bottom
	for id, start := range b.starts {
		for of := range k.members.above(id) {
			if end, ok := b.ends[of]; ok && end <= start && !b.lifted[of] {
				b.lifted[of], late = true, true
			}
		}
	}
	return late
}

// A resident is a buffer in L1 from before the capture with a known place.
type resident struct {
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	shards         // without known cores: on all
	told    bool   // a tensor says how it lies
	since   uint64 // counter of the node before which it is there
	until   uint64 // counter of its free, or forever
}
