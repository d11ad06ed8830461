package wire

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// MaxDevice is the largest device id that needs no declaration.
const MaxDevice = 255

// MaxBuffer is the largest buffer that an ALLOC may have, 100 GiB, in bytes.
const MaxBuffer = 100 << 30

// maxFreed is how many freed ids are remembered, so that a second free differs from a free of an
// unknown id. Beyond it all are forgotten.
const maxFreed = 1 << 16

// A Client names a process. The caller distinguishes processes; the claim of a record does not
// count.
type Client uint64

// A Lot is the live allocation of one record.
type Lot struct {
	Serial uint64 // unique in its Ledger, in the order of the records, from 1
	Type   Type   // TypeAlloc, TypeCBAlloc or TypeKernelLoad
	Device int32
	ID     uint64
	Size   uint64
	Kind   uint8 // of the buffer or kernel
	Owner  Client
	PID    int32
	Time   uint64 // of the record
	// Backing marks an allocation of one process at an address where it already had a buffer: it
	// backs a mesh buffer on the mesh's reference device, or has the id of a mesh. Other lots have
	// its bytes.
	Backing bool
	// Shared marks an allocation at an address where a buffer of another process lives: bytes are
	// counted once.
	Shared bool
}

// A key names the subject of a record; the type selects one of the protocol's three maps.
type key struct {
	brings Type
	device int32
	id     uint64
}

// lot returns a lot at the place of a key.
func (k key) lot() Lot { return Lot{Type: k.brings, Device: k.device, ID: k.id} }

// An ownerOn is a process on one device.
type ownerOn struct {
	owner  Client
	device int32
}

// A Ledger follows records by the rules of the allocation server. It must be made by NewLedger.
type Ledger struct {
	live      *index      // the first lot of a buffer is the one that counts
	refs      map[key]int // live lots
	owned     map[Client]int
	sums      map[ownerOn]Sums // of each owner on a device, as if it were alone
	freed     map[key]struct{}
	devices   map[int32]Sums
	declared  map[int32]struct{}
	chips     map[int32][]int32 // of a mesh
	meshes    map[int32][]int32 // of a chip, without one that has its id
	spread    uint64            // sizes of all lots, each counted on every member of its id
	anomalies map[Oddity]int64
	serial    uint64
}

// NewLedger returns an empty Ledger.
func NewLedger() *Ledger {
	return &Ledger{
		live: newIndex(), refs: map[key]int{}, owned: map[Client]int{}, sums: map[ownerOn]Sums{}, freed: map[key]struct{}{},
		devices: map[int32]Sums{}, declared: map[int32]struct{}{}, chips: map[int32][]int32{}, meshes: map[int32][]int32{}, anomalies: map[Oddity]int64{},
	}
}

// Declare makes a device id beyond 0 to MaxDevice legal. With chips it is the id of a mesh: CBs and
// kernels of this id lie on each chip, and its buffers back the buffers that the chips have under
// their own ids. A mesh may have the id of its first chip. Then the buffers of this id are the
// chip's.
func (l *Ledger) Declare(device int32, chips ...int32) {
	l.declared[device] = struct{}{}
	if chips != nil {
		l.chips[device] = chips
	}
	for _, chip := range chips {
		l.declared[chip] = struct{}{}
		if chip != device {
			l.meshes[chip] = append(l.meshes[chip], device)
		}
	}
}

// Members returns the devices on which the CBs and kernels of an id lie: the chips of a mesh, else
// the device itself.
func (l *Ledger) Members(device int32) []int32 {
	if chips := l.chips[device]; chips != nil {
		return chips
	}
	return []int32{device}
}

// backs reports whether buffers of an id back buffers of other ids.
func (l *Ledger) backs(device int32) bool {
	chips := l.chips[device]
	return chips != nil && chips[0] != device
}

// Knows reports whether records may name a device: it is one of 0 to MaxDevice, or declared.
func (l *Ledger) Knows(device int32) bool {
	_, declared := l.declared[device]
	return declared || device >= 0 && device <= MaxDevice
}

// Totals returns the figures of the records with a device id, as the protocol counts them; zero
// for a device without records.
func (l *Ledger) Totals(device int32) Sums { return l.devices[device] }

// On returns the figures of all that lies on a device: Totals, and the CBs and kernels of the meshes
// that it is a chip of. Of a mesh only the buffers lie under its own id. Cost: O(meshes).
func (l *Ledger) On(device int32) Sums {
	t := l.devices[device]
	if l.backs(device) {
		t, _ = t.Split()
	}
	for _, mesh := range l.meshes[device] {
		_, programs := l.devices[mesh].Split()
		t.Merge(programs)
	}
	return t
}

// Devices returns the devices that records of things that come and go have named, ascending.
func (l *Ledger) Devices() []int32 { return slices.Sorted(maps.Keys(l.devices)) }

// Len returns the number of live lots.
func (l *Ledger) Len() int { return l.live[bySerial].Len() }

// LenOf returns the number of live lots of one owner.
func (l *Ledger) LenOf(o Client) int { return l.owned[o] }

// TotalsOf returns the sums over the lots of one owner under an id, by the devices on which they lie:
// CBs and kernels of a mesh lie on each of its chips. Shared and backing lots count like others.
func (l *Ledger) TotalsOf(o Client, device int32) map[int32]Sums {
	out := map[int32]Sums{}
	add := func(id int32, t Sums) {
		if t != (Sums{}) {
			t.Merge(out[id])
			out[id] = t
		}
	}
	buffers, programs := l.sums[ownerOn{o, device}].Split()
	add(device, buffers)
	for _, id := range l.Members(device) {
		add(id, programs)
	}
	return out
}

// Anomalies returns how often each thing was odd.
func (l *Ledger) Anomalies() map[Oddity]int64 { return maps.Clone(l.anomalies) }

// Live returns the live lots of the given types, or all without types, in the order in which they
// came. Cost: O(n log n) in all live lots.
func (l *Ledger) Live(types ...Type) iter.Seq[Lot] {
	return func(yield func(Lot) bool) {
		for _, lot := range l.live.all() {
			if (len(types) == 0 || slices.Contains(types, lot.Type)) && !yield(*lot) {
				return
			}
		}
	}
}

// Apply applies a record of an owner, whose process is shown as pid. Queries change nothing. The
// error is a *DeviceError for an impossible device id: nothing has changed then, and the Effect
// holds the content of the server's line. Cost: O(log n).
func (l *Ledger) Apply(o Client, pid int32, r *Record) (Effect, error) {
	e := Effect{Type: r.Type, Device: r.Device, ID: r.ID, PID: pid, Bytes: r.Size, Kind: r.Kind, Owner: o}
	if !r.Type.Names() {
		e.What = Asked
		return e, nil
	}
	if !l.Knows(r.Device) {
		l.odd(&e, OddityDevice)
		return e, &DeviceError{Type: r.Type, Device: r.Device, PID: pid}
	}
	if odd := l.refuses(r); odd != "" {
		l.odd(&e, odd)
		return e, nil
	}
	l.devices[r.Device] = l.Totals(r.Device) // it is named
	k := key{brings(r.Type), r.Device, r.ID}
	if r.Type == k.brings {
		l.bring(&e, k, o, pid, r)
	} else {
		l.take(&e, k, o, r)
	}
	e.Total = l.Totals(r.Device).sum(k.brings)
	return e, nil
}

// refuses returns the reason why a record brings nothing.
func (l *Ledger) refuses(r *Record) Oddity {
	total := l.Totals(r.Device)
	switch {
	case r.Type == TypeAlloc && (r.Size == 0 || r.Size > MaxBuffer):
		return OdditySize
	case r.Type == TypeAlloc && r.Kind > 4:
		return OddityKind
	case r.Type == brings(r.Type) && r.Size > l1.MaxAddr-total.all():
		return OddityOverflow
	case r.Type == brings(r.Type) && len(l.chips) > 0 && r.Size > (l1.MaxAddr-l.spread)/l.copies(r.Type, r.Device):
		return OddityOverflow
	}
	return ""
}

// copies returns on how many devices a lot lies.
func (l *Ledger) copies(t Type, device int32) uint64 {
	if brings(t) == TypeAlloc {
		return 1
	}
	return uint64(len(l.Members(device)))
}

// brings returns the type of the records that bring the lots of this type.
func brings(t Type) Type {
	switch t {
	case TypeFree:
		return TypeAlloc
	case TypeCBFree:
		return TypeCBAlloc
	case TypeKernelUnload:
		return TypeKernelLoad
	}
	return t
}

// odd counts an anomaly and refuses its record.
func (l *Ledger) odd(e *Effect, a Oddity) {
	e.What, e.Odd = Refused, a
	l.anomalies[a]++
}

// bring adds a lot.
func (l *Ledger) bring(e *Effect, k key, o Client, pid int32, r *Record) {
	l.serial++
	n := l.refs[k]
	lot := &Lot{
		Serial: l.serial, Type: r.Type, Device: r.Device, ID: r.ID, Size: r.Size, Kind: r.Kind,
		Owner: o, PID: pid, Time: r.Time, Backing: r.Type == TypeAlloc && l.backs(r.Device),
	}
	e.What = Came
	if r.Type == TypeAlloc && n > 0 {
		e.What = CameAgain
		own := l.live.last(byOwner, *lot) != nil
		lot.Backing, lot.Shared = lot.Backing || own, !own
		if first := l.live.first(bySerial, k.lot()); lot.Size != first.Size || lot.Kind != first.Kind {
			e.Odd = OddityDiffers
			l.anomalies[OddityDiffers]++
		}
	}
	delete(l.freed, k)
	l.refs[k]++
	l.put(lot)
	l.count(lot, 1)
	e.Lot, e.Refs = *lot, n+1
}

// count adds a lot to the totals of its device, or subtracts it.
func (l *Ledger) count(lot *Lot, n int) {
	t := l.devices[lot.Device]
	t.move(lot, n)
	l.devices[lot.Device] = t
	l.spread += uint64(n) * lot.Size * l.copies(lot.Type, lot.Device)
}

// take removes the lot that a free is about.
func (l *Ledger) take(e *Effect, k key, o Client, r *Record) {
	// The newest server subtracts the size in the message, without a floor.
	if k.brings == TypeCBAlloc && r.Size > l.Totals(r.Device).CB {
		l.anomalies[OddityWrapped]++
		e.Wrapped = true
	}
	if l.refs[k] == 0 {
		e.What, e.Odd = Unknown, OddityUnknownFree
		if _, was := l.freed[k]; was {
			e.Odd = OddityDoubleFree
		}
		l.anomalies[e.Odd]++
		return
	}
	lot := l.chosen(k, o, r)
	if k.brings != TypeAlloc && r.Size != 0 && r.Size != lot.Size {
		if r.Size > lot.Size {
			l.odd(e, OddityTooLarge)
			return
		}
		e.Odd = OddityFreeSize
		l.anomalies[e.Odd]++
	}
	l.drop(e, k, lot)
}

// chosen returns the lot that a free removes among the lots of one address. It prefers a lot of the
// sender. Where frees carry a size, it prefers a lot of that size next. Then it takes the last.
func (l *Ledger) chosen(k key, o Client, r *Record) (lot *Lot) {
	like := k.lot()
	like.Owner, like.Size = o, r.Size
	sized := r.Type != TypeFree && r.Size != 0
	for _, by := range [...]order{byOwnerAndSize, byOwner, bySize, bySerial} {
		if lot == nil && (sized || by == byOwner || by == bySerial) {
			lot = l.live.last(by, like)
		}
	}
	return lot
}

// drop removes a lot. The one that counts for several stays, and is another one's from then
// on; that one's own goes in its place.
func (l *Ledger) drop(e *Effect, k key, lot *Lot) {
	e.What, e.Bytes, e.Kind, e.PID = Gone, lot.Size, lot.Kind, lot.PID
	if k.brings == TypeAlloc {
		first := l.live.first(bySerial, k.lot())
		e.Bytes, e.Kind, e.PID = first.Size, first.Kind, first.PID
		if lot == first && l.refs[k] > 1 {
			next := k.lot()
			next.Serial, next.Shared = first.Serial+1, true
			lot = cmp.Or(l.live.first(byShared, next), l.live.first(bySerial, next))
			l.swap(first, lot)
			e.Heir = *first
		}
	}
	e.Lot = *lot
	l.count(lot, -1)
	l.remove(lot)
	l.refs[k]--
	if e.Refs = l.refs[k]; e.Refs > 0 {
		if k.brings == TypeAlloc {
			e.What = Left
		}
		return
	}
	delete(l.refs, k)
	if len(l.freed) >= maxFreed {
		clear(l.freed)
	}
	l.freed[k] = struct{}{}
}

// put adds a lot, also to the sums of its owner.
func (l *Ledger) put(lot *Lot) {
	l.live.add(lot)
	l.owned[lot.Owner]++
	l.countOwn(lot, 1)
}

// remove is the inverse of put.
func (l *Ledger) remove(lot *Lot) {
	l.live.remove(lot)
	if l.owned[lot.Owner]--; l.owned[lot.Owner] == 0 {
		delete(l.owned, lot.Owner)
	}
	l.countOwn(lot, -1)
}

// countOwn adds a lot to the sums of its owner, or subtracts it. Lots of other owners do not matter.
func (l *Ledger) countOwn(lot *Lot, n int) {
	on := ownerOn{lot.Owner, lot.Device}
	t, alone := l.sums[on], *lot
	alone.Shared, alone.Backing = false, false
	if t.move(&alone, n); t == (Sums{}) {
		delete(l.sums, on)
		return
	}
	l.sums[on] = t
}

// swap exchanges the owners of two lots at one place.
func (l *Ledger) swap(a, b *Lot) {
	l.remove(a)
	l.remove(b)
	a.Owner, b.Owner = b.Owner, a.Owner
	a.PID, b.PID = b.PID, a.PID
	l.put(a)
	l.put(b)
}

// Release removes all that an owner has, as the death of its process does, and returns an
// Effect for each lot, the last that came first. Cost: O(n log n) in them.
func (l *Ledger) Release(o Client) []Effect {
	var out []Effect
	for _, lot := range slices.Backward(l.live.of(o)) {
		pid := lot.PID
		e := Effect{Type: lot.Type, Device: lot.Device, ID: lot.ID, Owner: o, Leaked: true}
		l.drop(&e, key{lot.Type, lot.Device, lot.ID}, lot)
		e.PID, e.Total = pid, l.Totals(lot.Device).sum(lot.Type)
		out = append(out, e)
	}
	return out
}
