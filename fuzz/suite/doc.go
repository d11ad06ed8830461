// Package suite has properties of code that counts or places circular buffers (CBs), as functions:
// pass your code to them, and run them with rapid.
//
// # Model
//
//	RegistrarModel   a random life of three calls beside the oracle          [Registrar]
//	TrackerModel     a random life of a fleet of devices beside the oracle   [Tracker]
//	CounterModel     a random life of one core beside the oracle             [Counter]
//	WideCounterModel the same with hundreds of ranges at a time              [Counter]
//	AllocatorRules   rules for the addresses of a program                    [Allocator]
//
// Each returns a property for rapid.Check, and for rapid.MakeFuzz:
//
//	func TestMine(t *testing.T) { rapid.Check(t, suite.TrackerModel(newMine)) }
//	func FuzzMine(f *testing.F) { f.Fuzz(rapid.MakeFuzz(suite.TrackerModel(newMine))) }
//
// Start with the three methods of a Registrar: its counterexamples have at most four calls, and
// docs/testing.md shows one. Wrap your code in a few lines that satisfy the interface. Except for
// a Registrar, errors are compared by class: wrap yours so that errors.Is matches one of package
// model's.
//
// # Checks
//
// Wrong calls are made, not skipped: an unknown device, a second footprint under one id, a core
// outside the grid, a trace that was released, a buffer that is allocated twice, a program that
// does not fit. They must be refused with the right class of error, and change nothing: after every
// call, refused or not, every query is compared with the model. If the tracker also has
//
//	CheckInvariants() error
//
// it is called after every step; and if it has
//
//	Played(m gen.Move, err error) error
//
// it is called after every call that changes something or is refused, and may find something wrong.
//
// # Cost
//
// A step of TrackerModel costs up to a millisecond, most of it in the oracle, which
// paints every byte. Run campaigns with -rapid.checks and -rapid.steps.
//
// # Concurrency
//
// None: each property uses its subject from one goroutine.
package suite
