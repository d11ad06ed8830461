package survey

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// Knowledge has the facts that hold for a whole capture and show at one of its nodes. The survey gathers them. A
// reading for events starts with them.
type Knowledge struct {
	Members         *Members
	IDs             map[device.ID]bool // ids under which a buffer lies or a program ran
	Placed          map[device.ID]bool // ids under which programs ran
	Runs            map[device.ID]bool // units on which they ran
	Rows            []graph.Device     // of devices
	BadRows         graph.UnreadRows   // rows of lists of buffers that cannot be read
	Sizes           KnownSizes         // of L1_SMALL
	banks           saidBanks          // sizes of banks by messages of the allocator
	Shards          map[uint64]*Shards // of sharded buffers, by the counters of their allocations
	unplacedTensors hiddenTensors      // with no buffer of the capture that is known to be theirs
	// recorded begins where the lowest local circular buffer with an address starts, and ends at the highest end of any
	// recorded range in L1.
	recorded l1.Range
	Plan     bool            // everything that would run is shown: it was recorded instead of dispatched
	seen     l1.Core         // largest coordinates of any core
	Aborted  map[uint64]bool // starts of functions that an exception ended
	Before   KnownBefore     // of buffers that no node allocates or frees

	// Groups of frees of a mesh, by their first node. Of a number that is both: those with nothing placed or executed
	// behind them, where the function placed something before, and where it did not. Of the rest: the chips that
	// show a program, where others do not.
	behind, Unshown graph.Counters
	Partly          map[uint64][]device.ID

	// Facts that a reading for events finds for the next one.
	Settled map[uint64]bool // first nodes of runs that are one program, though that shows only later
	Bottom  Bottom
}

// KnownSizes are the facts about the size of L1_SMALL.
type KnownSizes struct {
	Contradicted map[uint64]bool // ids of rows whose bank reaches above an L1_SMALL buffer
	said         SmallSize       // which follows from messages of the allocator
	SaidWrong    bool            // these contradict each other, the Spec or an L1_SMALL buffer
}

// KnownBefore are the facts about buffers that no node allocates, or frees.
type KnownBefore struct {
	Residents []Resident      // from before the capture, by when they came
	Placeless graph.Counters  // tensors in L1 without a place that no buffer node names
	Unplaced  int64           // rows of lists that may be of buffers in L1 without a place
	Harmless  map[uint64]bool // buffer nodes from before the capture that hide nothing

	Least map[uint64]uint64 // sizes on a core that circular buffers show of allocations without one, by counter

	// Of a database: when L1 buffers that no node frees are gone, by the counters of their allocations, and
	// ids with a list of the buffers that lived when operations ended.
	Ends   map[uint64]uint64
	Listed map[device.ID]*ListedSpans
}

// NewKnowledge returns the knowledge before the first node.
func NewKnowledge(m *Members) *Knowledge {
	return &Knowledge{
		Members: m, IDs: map[device.ID]bool{}, Placed: map[device.ID]bool{}, Runs: map[device.ID]bool{}, Shards: map[uint64]*Shards{}, Aborted: map[uint64]bool{},
		Sizes: KnownSizes{Contradicted: map[uint64]bool{}}, unplacedTensors: hiddenTensors{},
		behind: graph.Counters{}, Unshown: graph.Counters{}, Partly: map[uint64][]device.ID{}, Settled: map[uint64]bool{}, Bottom: Bottom{map[Owner]uint64{}, map[device.ID]uint64{}, map[Owner]bool{}},
	}
}

// ofOneMesh reports whether the capture shows one device alone, or one mesh and its chips.
func (k *Knowledge) ofOneMesh() bool {
	if len(k.Members.Chips) > 1 {
		return false
	}
	devices := maps.Clone(k.IDs)
	maps.Copy(devices, k.Members.IsChip)
	for mesh, chips := range k.Members.Chips {
		delete(devices, mesh)
		for _, chip := range chips {
			delete(devices, chip)
		}
	}
	return len(devices)+len(k.Members.Chips) <= 1
}

// hiddenTensors are tensors whose memory_config cannot be read: by address, 0 if that cannot be read either,
// the ids that they name.
type hiddenTensors map[uint64]map[device.ID]bool

// add records a tensor. No live buffer is known to be its own.
func (t hiddenTensors) add(n *graph.Node) {
	kind, ok := graph.BufferKind(n)
	if ok && !kind.InL1() || !n.Tensor.HidesPlace && n.Address.V == 0 {
		return
	}
	at := n.Address.V
	if n.Tensor.HidesPlace || len(t) >= MaxTensors {
		at = 0
	}
	if t[at] == nil {
		t[at] = map[device.ID]bool{}
	}
	t[at][graph.DeviceOf(n.DeviceID)] = true
}

// MayDescribe reports whether a buffer, which no other tensor describes, may belong to a blind tensor.
func (k *Knowledge) MayDescribe(named device.ID, address uint64) bool {
	blind := func(at uint64) bool { return AnySharing(k.Members, k.unplacedTensors[at], named) }
	return slices.ContainsFunc([]uint64{0, address}, blind)
}

// Lifts reports whether persistent pages are known to lie on a unit.
func (k *Knowledge) Lifts(id device.ID) bool {
	if len(k.Bottom.lifted) == 0 {
		return false
	}
	for of := range k.Members.owners(id) {
		if k.Bottom.lifted[of] {
			return true
		}
	}
	return false
}

// FindLifted finds the devices with persistent pages after the last node.
func (k *Knowledge) FindLifted() {
	b := &k.Bottom
	for id, start := range b.starts {
		for of := range k.Members.owners(id) {
			if end, ok := b.ends[of]; ok && end <= start {
				b.lifted[of] = true
			}
		}
	}
}

// A Resident is a buffer in L1 from before the capture with a known place.
type Resident struct {
	Named   device.ID
	Unit    bool // named is a chip, even if it is the number of a mesh too
	Kind    fit.Kind
	Address uint64
	PerCore event.Opt[uint64]
	Shards         // without known cores: on all
	shaped  bool   // a tensor says how it lies
	Proven  uint64 // counter behind the circular buffer that proves it, whose cores it has at least; 0 = none
	Since   uint64 // counter of the node before which it is there
	Until   uint64 // counter of its free, or forever
}

// reaches reports whether a resident lies on a unit.
func (r *Resident) reaches(m *Members, unit device.ID) bool {
	if r.Unit {
		return r.Named == unit
	}
	return m.Reaches(r.Named, unit)
}

// Op returns what stands for the functions that allocated a resident.
func (r *Resident) Op() string {
	if r.Proven > 0 {
		return fmt.Sprintf("%s, below the circular buffer of node %d", event.UnplacedEarlier, r.Proven-1)
	}
	return event.UnplacedEarlier
}

// Persistent pages lie at the bottom of L1 and lift the CBs of programs (PersistentL1Arena of
// tt-metal). A capture shows them where it records an L1 buffer that ends below all CBs of a
// program: without pages the lowest CB starts at the base, where L1 begins for buffers too.
// Addresses that are synthesised from the base are too low then, by an unknown amount.

// A Bottom keeps the recorded addresses at the bottom of L1. Values only grow or shrink, so that the
// order of nodes does not matter.
type Bottom struct {
	ends   map[Owner]uint64     // the lowest end of a buffer
	starts map[device.ID]uint64 // by unit: the highest start of a program
	lifted map[Owner]bool       // with a buffer that ends below a program
}

// An Owner is the id that a buffer names, or a chip that has a buffer, even if its number is a mesh too.
type Owner struct {
	ID   device.ID
	Unit bool
}

// owners yields the owners of buffers on a unit.
func (m *Members) owners(unit device.ID) iter.Seq[Owner] {
	return func(yield func(Owner) bool) {
		for id := range m.Above(unit) {
			if !yield(Owner{id, false}) {
				return
			}
		}
		yield(Owner{unit, true})
	}
}

// Buffer records the end of an L1 buffer with an address.
func (b *Bottom) Buffer(of Owner, kind fit.Kind, r l1.Range) {
	if kind != fit.KindL1 || r.IsEmpty() {
		return
	}
	if end, ok := b.ends[of]; !ok || r.End < end {
		b.ends[of] = r.End
	}
}

// Program records where the circular buffers of a program start on a unit.
func (b *Bottom) Program(unit device.ID, start uint64) { b.starts[unit] = max(b.starts[unit], start) }
