// Package watch has what stands at a moment: on the devices of a fleet, in what a server has
// heard, or in shared memory; and what a screen shows of it.
//
// # Model
//
// A [Snapshot], made on what a [Source] says, has a row for each [Device], with its [Peak], and
// for each [Process], [Odd] things with their counts, and each [Leak] of a process that died:
//
//	device.Fleet ─ Fleet, Of ┐
//	an event log ─ Notes ────┤
//	serve.Server ────────────┼─> Snapshot ─┬─> its JSON
//	shm.Image ──── Region ───┘             ├─> AppendMetrics: text for Prometheus
//	                                       ├─> Device.Usage: a region of shared memory
//	                                       └─> Model: lines of a screen
//
// [Notes] have beside a fleet what its logs say of themselves: what is hidden, what was refused, how
// much DRAM there is and, of a recording, whose what is and what leaked.
//
// A [Detail], made by DetailOf, has each [Group] of cores of one device that hold the same, and each
// [Block] on the fullest. A [Model] takes snapshots, one after the other, keeps samples of the last of
// them, and shows one [View] of them as lines: a [Line] has a [Look]. A [Place] names the device that is looked
// at. Who draws it is its caller's choice.
//
// # Invariants
//
// A figure that a source does not tell is nil in a row, null in JSON and absent from metrics;
// it is never 0. All figures are bytes. Device.Accounting names a sum that is more than the
// device has L1: it counts bytes more than once.
//
// # Cost
//
// A snapshot costs O(devices), metrics a line for each figure. A Model keeps 600 samples of at most
// 256 devices.
//
// # Concurrency
//
// Snapshots are values. Fleet may be called while others change the fleet; each row is of one
// moment. A Model belongs to one goroutine.
package watch
