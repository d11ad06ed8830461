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
// # Invariants
//
// An operation on many devices happens on all of them or on none; an error has
// changed nothing. registered <= logical and registered <= reserved. Register then
// Unregister restores every total exactly; the order of registrations does not
// matter. [Fleet.CheckInvariants] recounts everything.
//
// # Zero values
//
// The zero Fleet is empty and works. The zero Device, Mesh, Set and Snapshot have
// nothing and can be asked; a nil program is refused with [ErrNoProgram]. Only a nil
// pointer to a Fleet or a snapshot is a mistake that panics, as it does elsewhere.
//
// # Cost
//
// [Device.Registered], [Device.Resident] and those of a [Mesh] are one atomic load. Cores of a device
// that hold the same share one region tree (a class, see class.go), so that a
// program on a whole grid is one update whatever the number of cores.
//
// # Concurrency
//
// All methods of all types are safe for concurrent use. Operations and Totals of
// one device or mesh are linearizable; a mesh total and a snapshot see an operation
// on many devices as a whole.
package device
