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
// union of the bytes that tt-metal's bookkeeping charges, logical the plain sum, which
// misleads. The lifecycle follows tt-metal's Device::register_program.
//
// resident is the bytes that the last dispatch left on each core, by the rules of tt-metal
// pull request 53721: the last writer wins, and other cores keep their bytes. They stay
// when their program is unregistered ([Fleet.Dispatch], [Fleet.Evict]). The replay of a
// command trace leaves the bytes of its largest program on each core ([Fleet.Replay]).
//
// # Everything else in L1
//
// Buffers, kernels and the like share the L1 of a core with circular buffers
// ([Fleet.Allocate], [Fleet.Free]). A dispatch brings the program's dataflow buffers and
// scratchpads. tracked is the union of all of these, so that a tensor under a CB, or two
// things on one byte, count once. [Device.Usage] returns the bytes of each kind, and the
// bytes that more than one kind holds:
//
//	core 0-0   [reserved|kernels|CBs ======>          <==== L1 buffers][L1_SMALL]
//	                            base    grow up  grow down             L1 size
//
// # Fit
//
// [Fleet.Check] reports whether a program fits beside the content of L1 now: device gathers
// the content, and package fit judges, in tt-metal's words and by bytes. [Fleet.Enqueue]
// registers, checks and dispatches. [Fleet.CheckID] and [Fleet.EnqueueID] take the id of a
// registered program. [Fleet.Headroom] returns the free bytes for one program, or over all
// programs. [Fleet.MayGrow] returns by how much a circular buffer may grow. [Fleet.Room]
// returns the [fit.Room] for one more L1 buffer, and [Fleet.CheckBuffer] judges one before
// it is allocated. [Fleet.Place] allocates one where tt-metal's allocator puts it, and
// [Fleet.FindPlace] returns the [Placement] alone.
// [Fleet.SetHybrid] sets the mode of the allocator. The verdict depends on it, and on the
// [fit.Mode] of each L1 buffer.
//
// # Values and errors
//
// [NewFleet] returns an empty fleet. An [ID] names a device, a [fit.BufferID] a [fit.Buffer],
// and a [TraceID] a command trace. A [fit.Kind] is the kind of a holder of bytes.
// [Fleet.Totals] yields the totals of each device of a set. Totals come with [Peaks],
// [fit.BufferTotals] and [CoreTotals]. A usage has a [UsageGroup] for cores that are alike,
// and the bytes that kinds share ([Sharing]). A [Moment] is a kept usage, and a [MomentName] identifies it. A
// snapshot has a [DeviceSnapshot] for each device, a [PeakGroup] for cores with the same
// high-water mark, and a [CoreGroup] for cores that are alike, on one [Basis]. An observer
// is called with a [Notice] of a [NoticeKind].
//
// Every error is an [Error]: it names the method, the ids that apply ([About]) and the
// cause. Match the cause with errors.Is, or with errors.As for the fit.Verdict of a refusal.
//
// # Invariants
//
// An operation on many devices happens on all of them or on none; an error has
// changed nothing. registered <= logical and registered <= reserved. Register then
// Unregister restores every total exactly; the order of registrations does not
// matter. [Fleet.CheckInvariants] recounts every visible figure.
//
// # Zero values
//
// The zero Fleet is empty and works. The zero Device, Mesh, Set and Snapshot are empty, and
// their methods work. A nil program is refused with [ErrNoProgram]. A nil pointer to a Fleet
// or a snapshot panics.
//
// # Cost
//
// Registered and Resident are one atomic load of a [Mesh], and three of a [Device], which are
// repeated if a call divided its cohort meanwhile; a query computes nothing. The cost of a change depends on how much is different, not on
// the number of cores and devices:
//
//   - Cores that hold the same are one class and share one region tree (internal/classes). A
//     program on a whole grid is one update of O(log n).
//   - A program whose ranges the others cover is hidden: no update. The live programs
//     are ordered by how far they reach, and a search in this order closes a gap. A class
//     on which searching does not pay counts all its programs for a while.
//   - Consecutive devices on which every call did the same are one cohort, with one record
//     (cohort.go). A call on a part of a cohort divides it; cohorts never join.
//   - Devices with the same programs are in one state (state.go). A call for 32 of them
//     is one update and 32 atomic stores. So are 32 calls for one device each: the
//     first one does the work. A state leans on the state that it became, and the other
//     devices follow that way (internal/version).
//   - States share the trees and classes in which they do not differ.
//   - Devices with the same buffers share one heap (internal/heap).
//
// Devices that go a way of their own cost as much as if they were alone. When programs
// leave, equal classes are joined again, and the memory is freed.
//
// # Bounds
//
// A call concerns d devices in s different states, and a program with t cores. They lie in k
// classes with at most b boundaries each, beside n programs and m buffers. "Paid" is amortised
// over all calls before, on any history; everything else is the worst case of one call. Below
// each row is the reason, and then the memory that the call allocates.
//
//	a total                        O(1)
//	                               it is kept, and loaded; nothing
//	Totals                         O(1), of a mesh O(its devices)
//	                               only its fullest core is searched; nothing
//	Register, Unregister, Replace  O(d + s (log n + t + k log b)) paid
//	                               a state is worked out once, a class is met by its cores, and
//	                               a range is two changes of its tree; a few nodes of trees
//	  after another device         O(d)
//	                               its state leans on the next one; nothing
//	  in another direction         O(log n + k) for each state, paid; w (n/2, or 64) changes
//	                               where the content went on
//	                               a state that leans has no content, but one of w on its way;
//	                               O(k) words, and O(n/64) for each class that is changed
//	  searching hidden programs    O(1) look-ups for each class and change
//	                               a search visits as many programs as the class has, but 128
//	                               at least and 1024 at most; beyond that it counts all of its
//	                               programs, and searches no more. It does so at once if it hides
//	                               128 programs with 16 groups of cores or more
//	  the most for one call        O(s k n log n)
//	                               each class may give up in the same call, or the order by
//	                               reach be made for a copy; O(s k n)
//	  high-water marks of cores    O(columns + rows) for each class that has grown and is about
//	                               to hold less; else O(1)
//	                               they are raised where a program is taken off, nowhere else
//	  the fullest core             O(classes of the state) where it loses bytes; else O(1)
//	                               all classes are visited then; nothing
//	  cutting a class              O(log b) and O(n/64) words, two nodes of a tree
//	                               both parts share the tree, and copy changed nodes
//	  joining classes              O(n/64) for each departure, paid
//	                               a sweep over k classes follows k departures
//	  meeting by another way       O(n/64 + w)
//	                               states with the same hash are compared by bits
//	AddMesh, Remove                O(d + programs on any device)
//	                               the devices of each program are compared once
//	Allocate, Free                 O(d + s (log m + t + k log b)) paid, and O(q) beside q other
//	                               buffers of one id
//	                               equal devices share one heap, found as states are, or
//	                               compared in O(m) where they meet by another way
//	Place, FindPlace               the same, and O(m log m) for each different set of buffers
//	                               they are gathered and sorted by address
//	Dispatch, Enqueue, Replay      O(d) if the same was written over the same before; else
//	                               O(t), once for all devices with the same residue
//	                               residues are remembered while they recur, else built anew;
//	                               so are the buffers beside which a program fits
//	Record, EndTrace               O(groups of cores of the programs so far)
//	                               on each core the largest program stays
//	Core, Regions                  O(log n) for each range that dispatches left on the core; O(regions)
//	                               a core names its class; a slice each
//	  behind another device        as in another direction, once
//	                               the state keeps the content
//	Programs, Owners               O(n log n)
//	                               they are sorted by id; a slice
//	Usage, Moment                  O((n + m) log (n + m)) where they lie on few sets of cores,
//	                               O((n + m) k) on k different sets
//	                               each set of cores is cut by each other one
//	Snapshot                       O(devices log devices + states (n log n + k (log k + columns +
//	                               rows) + regions))
//	                               shared parts are visited once
//	Check, Headroom, MayGrow       O(d), and a Usage for each different set of buffers;
//	                               Check of a program that clears all buffers only O(d)
//	Room, CheckBuffer              the same, with the programs
//	Headroom of all programs       the same, with the classes
//	CheckInvariants                O(devices log devices + states x ranges of programs on their cores
//	                               + buffers of all heaps on their cores), with a sort of each core
//	                               everything is counted core by core
//
// These parts of a call hold the lock, and others wait:
//
//	Snapshot, Headroom of all      O(devices + states w), a few words for each
//	programs, Room, CheckBuffer    the rest is read afterwards; a change copies it first
//	Check, Headroom, MayGrow       O(d)
//	CheckInvariants                O(devices + programs + buffers of all heaps + cores that were
//	                               written one after the other + states w), each visited once
//	                               everything is counted afterwards
//
// The command internal/guard/cbl1bounds plays the five worst histories, in two sizes, with a call for each
// line of the first table. Its test counts statements and bytes. Other tests count the programs that a search
// visits (internal/classes/hidden_test.go), copied nodes (package cbregion), kept states and
// contents (again_test.go), and kept steps (internal/version). One proves that a known way needs no hash (meets_test.go).
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. Operations and Totals of
// one device or mesh are linearizable; a mesh total and a snapshot see an operation
// on many devices as a whole.
//
// # Words
//
//   - cohort: consecutive devices on which every call did the same;
//   - share: the part of a set that lies in one cohort;
//   - chip: the identity of a device;
//   - record: the content of the devices of a cohort, and their marks;
//   - site: devices that give the same verdict;
//   - tile: cores on which the same ranges lie.
package device
