package capture

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// knowledge has the facts that hold for a whole capture and show at one of its nodes. The survey gathers them. A
// reading for events starts with them.
type knowledge struct {
	members *members
	ids     map[device.ID]bool // ids under which a buffer lies or a program ran
	placed  map[device.ID]bool // ids under which programs ran
	runs    map[device.ID]bool // units on which they ran
	rows    []graph.Device     // of devices
	badRows graph.UnreadRows   // rows of lists of buffers that cannot be read
	sizes   knownSizes         // of L1_SMALL
	banks   saidBanks          // sizes of banks by messages of the allocator
	shards  map[uint64]*shards // of sharded buffers, by the counters of their allocations
	blind   hiddenTensors      // with no buffer of the capture that is known to be theirs
	// recorded begins where the lowest local circular buffer with an address starts, and ends at the highest end of any
	// recorded range in L1.
	recorded l1.Range
	plan     bool            // everything that would run is shown: it was recorded instead of dispatched
	seen     l1.Core         // largest coordinates of any core
	aborted  map[uint64]bool // starts of functions that an exception ended
	before   knownBefore     // of buffers that no node allocates or frees

	// Groups of frees of a mesh, by their first node. Of a number that is both: those with nothing placed or executed
	// behind them, where the function placed something before, and where it did not. Of the rest: the chips that
	// show a program, where others do not.
	behind, unshown graph.Counters
	partly          map[uint64][]device.ID

	// Facts that a reading for events finds for the next one.
	settled map[uint64]bool // first nodes of runs that are one program, though that shows only later
	bottom  bottom
}

// knownSizes are the facts about the size of L1_SMALL.
type knownSizes struct {
	contradicted map[uint64]bool // ids of rows whose bank reaches above an L1_SMALL buffer
	said         smallSize       // which follows from messages of the allocator
	saidWrong    bool            // these contradict each other, the Spec or an L1_SMALL buffer
}

// knownBefore are the facts about buffers that no node allocates, or frees.
type knownBefore struct {
	residents []resident      // from before the capture, by when they came
	placeless graph.Counters  // tensors in L1 without a place that no buffer node names
	unplaced  int64           // rows of lists that may be of buffers in L1 without a place
	harmless  map[uint64]bool // buffer nodes from before the capture that hide nothing

	least map[uint64]uint64 // sizes on a core that circular buffers show of allocations without one, by counter

	// Of a database: when L1 buffers that no node frees are gone, by the counters of their allocations, and
	// ids with a list of the buffers that lived when operations ended.
	ends   map[uint64]uint64
	listed map[device.ID]*listedSpans
}

func newKnowledge(m *members) *knowledge {
	return &knowledge{
		members: m, ids: map[device.ID]bool{}, placed: map[device.ID]bool{}, runs: map[device.ID]bool{}, shards: map[uint64]*shards{}, aborted: map[uint64]bool{},
		sizes: knownSizes{contradicted: map[uint64]bool{}}, blind: hiddenTensors{},
		behind: graph.Counters{}, unshown: graph.Counters{}, partly: map[uint64][]device.ID{}, settled: map[uint64]bool{}, bottom: bottom{map[owner]uint64{}, map[device.ID]uint64{}, map[owner]bool{}},
	}
}

// ofOneMesh reports whether the capture shows one device alone, or one mesh and its chips.
func (k *knowledge) ofOneMesh() bool {
	if len(k.members.chips) > 1 {
		return false
	}
	devices := maps.Clone(k.ids)
	maps.Copy(devices, k.members.isChip)
	for mesh, chips := range k.members.chips {
		delete(devices, mesh)
		for _, chip := range chips {
			delete(devices, chip)
		}
	}
	return len(devices)+len(k.members.chips) <= 1
}

// blindTensors are tensors whose memory_config cannot be read: by address, 0 if that cannot be read either,
// the ids that they name.
type hiddenTensors map[uint64]map[device.ID]bool

// add records a tensor. No live buffer is known to be its own.
func (t hiddenTensors) add(n *graph.Node) {
	kind, ok := graph.BufferKind(n)
	if ok && !kind.InL1() || !n.Tensor.HidesPlace && n.Address.V == 0 {
		return
	}
	at := n.Address.V
	if n.Tensor.HidesPlace || len(t) >= maxTensors {
		at = 0
	}
	if t[at] == nil {
		t[at] = map[device.ID]bool{}
	}
	t[at][graph.DeviceOf(n.DeviceID)] = true
}

// mayDescribe reports whether a buffer, which no other tensor describes, may belong to a blind tensor.
func (k *knowledge) mayDescribe(named device.ID, address uint64) bool {
	blind := func(at uint64) bool { return anySharing(k.members, k.blind[at], named) }
	return slices.ContainsFunc([]uint64{0, address}, blind)
}

// lifts reports whether persistent pages are known to lie on a unit.
func (k *knowledge) lifts(id device.ID) bool {
	if len(k.bottom.lifted) == 0 {
		return false
	}
	for of := range k.members.owners(id) {
		if k.bottom.lifted[of] {
			return true
		}
	}
	return false
}

// findLifted finds the devices with persistent pages after the last node.
func (k *knowledge) findLifted() {
	b := &k.bottom
	for id, start := range b.starts {
		for of := range k.members.owners(id) {
			if end, ok := b.ends[of]; ok && end <= start {
				b.lifted[of] = true
			}
		}
	}
}

// A resident is a buffer in L1 from before the capture with a known place.
type resident struct {
	named   device.ID
	unit    bool // named is a chip, even if it is the number of a mesh too
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	shards         // without known cores: on all
	told    bool   // a tensor says how it lies
	proven  uint64 // counter behind the circular buffer that proves it, whose cores it has at least; 0 = none
	since   uint64 // counter of the node before which it is there
	until   uint64 // counter of its free, or forever
}

// reaches reports whether a resident lies on a unit.
func (r *resident) reaches(m *members, unit device.ID) bool {
	if r.unit {
		return r.named == unit
	}
	return m.reaches(r.named, unit)
}

// op returns what stands for the functions that allocated a resident.
func (r *resident) op() string {
	if r.proven > 0 {
		return fmt.Sprintf("%s, below the circular buffer of node %d", event.UnplacedEarlier, r.proven-1)
	}
	return event.UnplacedEarlier
}
