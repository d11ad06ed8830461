// Package device counts what programs take on the devices they are registered on.
//
// # Model
//
// A [Fleet] owns devices. A [Device] is a chip with its own L1 on every core; a
// [Mesh] is a rectangle of devices with one [l1.Spec]. Programs are registered on a
// [Set] of devices. Each device counts a program once, however often it is
// registered, and each byte of a core once, however many programs hold it:
//
//	two programs at one base      core 0-0     logical  10 KiB
//	  P1 [base, base+4 KiB)       #### ----
//	  P2 [base, base+6 KiB)       ######       registered 6 KiB
//
// registered (occupied) is the union over the registered programs, reserved the
// union of what tt-metal's bookkeeping charges, logical the plain sum that
// misleads. The lifecycle is that of tt-metal's Device::register_program.
//
// resident is what the last dispatch left on each core, by the rules of tt-metal pull
// request 53721: the last writer wins, other cores keep what they had, and what was
// left stays when its program is unregistered ([Fleet.Dispatch], [Fleet.Evict]). The
// replay of a command trace leaves what its largest program has on each core
// ([Fleet.Replay]).
//
// # Everything else in L1
//
// Buffers, kernels and the like share the L1 of a core with circular buffers
// ([Fleet.Allocate], [Fleet.Free]); a program's dataflow buffers and scratchpads come
// with its dispatch. tracked is the union of it all, so that a tensor under a CB, or two
// things on one byte, count once; [Device.Usage] says which kinds hold how much, and
// which bytes more than one of them:
//
//	core 0-0   [reserved|kernels|CBs ======>          <==== L1 buffers][L1_SMALL]
//	                            base    grow up  grow down             L1 size
//
// # Fit
//
// [Fleet.Check] says whether a program fits beside what lives there now: package fit
// judges, in tt-metal's words and by bytes, and device gathers what is there.
// [Fleet.Enqueue] registers, checks and dispatches. [Fleet.CheckID] and [Fleet.EnqueueID] take the id of a
// program that is registered. [Fleet.Headroom] says what is left for it, or over all
// programs. [Fleet.MayGrow] says by how much a circular buffer may grow. [Fleet.Room] returns the [fit.Room]
// for one more L1 buffer, and [Fleet.CheckBuffer] judges one before it is allocated. [Fleet.Place]
// allocates one where tt-metal's allocator puts it.
// [Fleet.SetHybrid] sets the mode of the allocator, which is part of what is judged by, as is
// the [fit.Mode] of each L1 buffer.
//
// # Values and errors
//
// [NewFleet] returns an empty fleet. An [ID] names a device, a [fit.BufferID] a [fit.Buffer], and a
// [TraceID] a command trace. A [fit.Kind] says what holds bytes; [Fleet.Totals] are those of all devices of a set. Totals come with [Peaks], [fit.BufferTotals] and
// [CoreTotals]. A usage has a [UsageGroup] for cores that are alike, and [Shared] bytes. A
// [Moment] is a usage that is kept, and a [MomentName] tells two apart. A
// snapshot has a [DeviceSnapshot] for each device, with a [PeakGroup] for cores that
// held as much at most, and a [CoreGroup] for cores that are
// alike, on one [Basis]. An observer is called with an [Event] of an [EventKind].
//
// All errors are an [Error]: it names the method, the ids that apply ([About]) and the cause. Match the
// cause with errors.Is, or with errors.As for the fit.Verdict of a refusal.
//
// # Invariants
//
// An operation on many devices happens on all of them or on none; an error has
// changed nothing. registered <= logical and registered <= reserved. Register then
// Unregister restores every total exactly; the order of registrations does not
// matter. [Fleet.CheckInvariants] counts all that can be seen anew.
//
// # Zero values
//
// The zero Fleet is empty and works. The zero Device, Mesh, Set and Snapshot have
// nothing and can be asked; a nil program is refused with [ErrNoProgram]. Only a nil
// pointer to a Fleet or a snapshot is a mistake that panics, as it does elsewhere.
//
// # Cost
//
// [Device.Registered], [Device.Resident] and those of a [Mesh] are one atomic load;
// nothing is computed when it is asked for. What a change costs depends on how much
// is different, not on how many cores and devices there are:
//
//   - Cores that hold the same are one class and share one region tree (internal/classes). A
//     program on a whole grid is one update of O(log n).
//   - A program whose ranges the others cover is hidden: no update. The live
//     programs stand in an order by how far they reach, where those that close
//     a gap are found; a class on which searching does not pay counts all for a while.
//   - Devices with the same programs are in one state (state.go). A call for 32 of them
//     is one update and 32 atomic stores. So are 32 calls for one device each: the
//     first one does the work. A state leans on the state that it became, and the others
//     follow that way (internal/version).
//   - States share the trees and classes in which they do not differ.
//   - Devices with the same buffers share one heap (internal/heap).
//
// Devices that go a way of their own cost as much as if they were alone. When programs
// leave, what was told apart is joined again, and the memory goes back.
//
// # Bounds
//
// Of a call on d devices that are in s different states, of a program with t cores, which
// lie in k classes with at most b boundaries each, beside n programs and m buffers. "Paid" is
// amortised over all calls before, on any history; all else is the worst case of one call. Below
// each is why, and what it allocates.
//
//	a total                        O(1)
//	                               it is kept, and loaded; nothing
//	Totals                         O(1), of a mesh O(its devices)
//	                               only its fullest core is looked for; nothing
//	Register, Unregister, Replace  O(d + s (log n + t + k log b)) paid
//	                               a state is worked out once, a class is met by its cores, and
//	                               a range is two changes of its tree; a few nodes of trees
//	  after another device         O(d)
//	                               its state leans on the next one; nothing
//	  in another direction         O(log n + k) for each state, paid; w (n/2, or 64) changes
//	                               where the content went on
//	                               a state that leans has no content, but one of w on its way;
//	                               O(k) words, and O(n/64) for each class that is changed
//	  searching what is hidden     O(1) look-ups for each class and change
//	                               a search looks at 128 programs at most; a class where that is
//	                               too few counts all of its programs, and searches no more
//	  the most for one call        O(s k n log n)
//	                               each class may give up in the same call, or the order by
//	                               reach be made for a copy; O(s k n)
//	  high-water marks of cores    O(columns + rows) for each class that has grown and is about
//	                               to hold less; else O(1)
//	                               they are raised where a program is taken off, nowhere else
//	  the fullest core             O(classes of the state) where it loses bytes; else O(1)
//	                               it is looked for among all then; nothing
//	  cutting a class              O(log b) and O(n/64) words, two nodes of a tree
//	                               both parts share the tree, and copy what they change
//	  joining classes              O(n/64) for each departure, paid
//	                               a sweep over k classes follows k departures
//	  meeting by another way       O(n/64 + w)
//	                               what has the same hash is compared by bits
//	AddMesh, Remove                O(d + programs on any device)
//	                               each is asked once who has it
//	Allocate, Free                 O(d + s (log m + t + k log b)) paid, and O(q) beside q other
//	                               buffers of one id
//	                               equal devices share one heap, found as states are, or
//	                               compared in O(m) where they meet by another way
//	Place                          the same, and O(m log m) for each different set of buffers
//	                               they are gathered and sorted by address
//	Dispatch, Enqueue, Replay      O(d) for what was left before in the same place; else O(t),
//	                               once for all devices that were left with the same
//	                               what it leaves is remembered while that is met again, else
//	                               changed in place; and beside which buffers a program fits
//	Record, EndTrace               O(groups of cores of the programs so far)
//	                               on each core the largest program stays
//	Core, Regions                  O(log n) for each range that dispatches left on the core; O(regions)
//	                               a core names its class; a slice each
//	  behind another device        as in another direction, once
//	                               the state keeps what was worked out
//	Programs, Owners               O(n log n)
//	                               they are sorted by id; a slice
//	Usage, Moment                  O((n + m) log (n + m)) where they lie on few sets of cores,
//	                               O((n + m) k) where k are told apart
//	                               each set of cores is cut by each other one
//	Snapshot                       O(devices log devices + states (n log n + k (log k + columns +
//	                               rows) + regions))
//	                               what is shared is looked at once
//	Check, Headroom, MayGrow       O(d), and for each different set of buffers what Usage takes;
//	                               Check of what clears all buffers O(d) and nothing else
//	Room, CheckBuffer              the same, with the programs
//	Headroom of all programs       the same, with the classes
//	CheckInvariants                O(devices log devices + states x ranges of programs on their cores
//	                               + buffers of all heaps on their cores), with a sort of each core
//	                               everything is counted core by core
//
// For a part of a call the lock is held, and others wait:
//
//	Snapshot, Headroom of all      O(devices + states w), a few words for each
//	programs, Room, CheckBuffer    the rest is read afterwards; who changes it copies it before
//	Check, Headroom, MayGrow       O(d)
//	CheckInvariants                O(devices + programs + buffers of all heaps + cores that were
//	                               written one after the other + states w), each looked at once
//	                               everything is counted afterwards
//
// The command internal/cbl1bounds plays histories that are bad for each line of the first table, in two
// sizes, and its test counts statements and bytes. Beside it, tests count programs looked at
// (internal/classes/hidden_test.go), nodes copied (package cbregion), states, contents and steps that are
// kept (again_test.go), and that nothing is looked for by hash where a way is known (meets_test.go).
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. Operations and Totals of
// one device or mesh are linearizable; a mesh total and a snapshot see an operation
// on many devices as a whole.
package device
