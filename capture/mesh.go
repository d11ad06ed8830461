package capture

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// learnt is what a capture tells about all of itself at one of its nodes: a second
// reading begins with what the first one learnt.
type learnt struct {
	chips  map[device.ID][]device.ID // mesh -> its chips, ascending
	meshes map[device.ID][]device.ID // chip -> the meshes that have it, ascending
	isChip map[device.ID]bool        // ids that were seen as a chip's
	met    map[device.ID]bool        // ids that have a unit
	hybrid map[device.ID]bool        // ids of tensors that were allocated core by core

	badRows       unreadRows // rows of lists of buffers that cannot be read
	unreadMembers bool       // a node that may say which chips a mesh has cannot be read

	devices      []deviceInfo      // of a report that lists them after its graph
	contradicted map[uint64]bool   // ids of rows whose bank reaches above an L1_SMALL buffer
	banks        saidBanks         // by messages of the allocator
	said         smallSize         // of L1_SMALL, which follows from them
	saidWrong    bool              // they contradict each other, the Spec or an L1_SMALL buffer
	shards       map[uint64]shards // of sharded buffers, by the counter of the allocation
	blind        blindTensors      // with no buffer of the capture that is known to be theirs
	seen         l1.Core           // largest coordinates of any core
	aborted      map[uint64]bool   // starts of functions that an exception ended
	settled      map[uint64]bool   // first nodes of runs that are one program, though that shows only later

	residents []resident      // from before the capture, by when they came
	harmless  map[uint64]bool // buffer nodes from before the capture that hide nothing

	// Of a database: when L1 buffers that no node frees are gone, by the counters of their
	// allocations, and ids of which it does not say what lived when operations ended.
	ends map[uint64]uint64
	mute map[device.ID]bool

	listed map[uint64]bool // windows that list buffers, by their first nodes
	bottom bottom

	late notes // what came too late for this reading
}

// tooLate records that something came too late for this reading: with it, other events would have
// been told. The last reading tells a note with the code.
func (k *learnt) tooLate(code string) {
	if k.late[code] == nil {
		k.late.add(code, wholeFile, "")
	}
}

// stale reports whether another reading would tell other events.
func (k *learnt) stale() bool { return len(k.late) > 0 }

func newLearnt() *learnt {
	return &learnt{
		chips: map[device.ID][]device.ID{}, meshes: map[device.ID][]device.ID{}, isChip: map[device.ID]bool{}, met: map[device.ID]bool{}, shards: map[uint64]shards{},
		settled: map[uint64]bool{}, aborted: map[uint64]bool{}, contradicted: map[uint64]bool{},
		hybrid: map[device.ID]bool{}, listed: map[uint64]bool{}, blind: blindTensors{}, bottom: newBottom(), late: notes{},
	}
}

// member takes in that a chip belongs to a mesh, and reports whether that is new. A
// pair of equal ids says no more than that there is such a chip.
func (k *learnt) member(mesh, chip device.ID) bool {
	k.isChip[chip] = true
	if mesh == chip {
		return false
	}
	at, found := slices.BinarySearch(k.chips[mesh], chip)
	if !found {
		k.chips[mesh] = slices.Insert(k.chips[mesh], at, chip)
		at, _ = slices.BinarySearch(k.meshes[chip], mesh)
		k.meshes[chip] = slices.Insert(k.meshes[chip], at, mesh)
	}
	return !found
}

// settles takes in that runs are one program each, which was told otherwise.
func (k *learnt) settles(firsts []uint64) {
	k.late.add(noteWorkloadLate, int64(firsts[0]), "")
	for _, first := range firsts {
		if len(k.settled) < maxTensors {
			k.settled[first] = true
		}
	}
}

// reaches reports whether what is done to one id is done to the other: to itself, to a
// chip of the mesh with the id, or to all if a node has no id.
func (k *learnt) reaches(from, to device.ID) bool {
	if from == event.NoDevice || from == to {
		return true
	}
	_, found := slices.BinarySearch(k.chips[from], to)
	return found
}

// share reports whether two ids may mean one device.
func (k *learnt) share(a, b device.ID) bool {
	return k.reaches(a, b) || k.reaches(b, a) || slices.ContainsFunc(k.chips[a], func(chip device.ID) bool { return k.reaches(b, chip) })
}

// meshesOf returns the meshes that have a chip, ascending. The caller must not change them.
func (k *learnt) meshesOf(chip device.ID) []device.ID { return k.meshes[chip] }

// above yields the ids that reach one: no id, the id itself and those of its meshes.
func (k *learnt) above(id device.ID) iter.Seq[device.ID] {
	return func(yield func(device.ID) bool) {
		if !yield(event.NoDevice) || id != event.NoDevice && !yield(id) {
			return
		}
		for _, mesh := range k.meshes[id] {
			if !yield(mesh) {
				return
			}
		}
	}
}

// isMesh reports whether chips of an id are known.
func (k *learnt) isMesh(id device.ID) bool { return len(k.chips[id]) > 0 }

// onlyChip reports whether an id is known as a chip's and not as a mesh's. A free with
// such an id comes from the end of a program, not from an operation.
func (k *learnt) onlyChip(id device.ID) bool { return k.isChip[id] && !k.isMesh(id) }

// role returns what an id stands for. One that is both a chip's and a mesh's counts as
// a chip.
func (k *learnt) role(id device.ID) event.Role {
	switch {
	case id == event.NoDevice:
		return event.RoleNone
	case k.isMesh(id) && !k.isChip[id]:
		return event.RoleMesh
	}
	return event.RoleChip
}

// idOf returns the id that a node names.
func idOf(id event.Opt[uint64]) device.ID {
	if !id.OK {
		return event.NoDevice
	}
	return device.ID(id.V)
}

// byID orders ids, the absent one first.
func byID(a, b device.ID) int {
	if (a == event.NoDevice) != (b == event.NoDevice) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// isHybrid reports whether a tensor that lies on an id was allocated core by core.
func (k *learnt) isHybrid(id device.ID) bool {
	for of := range k.above(id) {
		if k.hybrid[of] {
			return true
		}
	}
	return false
}

// blindTensors are tensors whose memory_config cannot be read: by address, 0 if that cannot be read either,
// the ids that they name.
type blindTensors map[uint64]map[device.ID]bool

// mayDescribe reports whether a buffer, which no other tensor describes, may belong to a blind tensor.
func (k *learnt) mayDescribe(named device.ID, address uint64) bool {
	for _, at := range []uint64{0, address} {
		for range sharing(k, k.blind[at], named) {
			return true
		}
	}
	return false
}
