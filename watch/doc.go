// Package watch has what stands at a moment: on the devices of a fleet, in what a server has
// heard, or in shared memory; and how it is shown.
//
// # Model
//
// A [Snapshot], made on what a [Source] says, has a row for each [Device], with its [Peak], and
// for each [Process], and [Odd] things with their counts:
//
//	device.Fleet ─ Fleet, Of ┐
//	serve.Server ────────────┼─> Snapshot ─┬─> its JSON
//	shm.Image ──── Region ───┘             └─> AppendMetrics: text for Prometheus
//
// # Invariants
//
// A figure that a source does not tell is nil in a row, null in JSON and absent from metrics;
// it is never 0. All figures are bytes. Device.Accounting says that a sum is more than the
// device has L1: it counts bytes more than once.
//
// # Cost
//
// A snapshot costs O(devices), metrics a line for each figure. Nothing is kept of cores.
//
// # Concurrency
//
// Snapshots are values. Fleet may be called while others change the fleet; each row is of one
// moment.
package watch
