// Package watch has snapshots of a fleet, of a server, or of shared memory, and the screen that
// shows them.
//
// # Model
//
// A [Snapshot] of a [Feed] has a [answer.LiveDevice] for each device and a [Process] for each
// process, an [OddityCount] for each oddity, and each [Leak] of a dead process:
//
//	device.Fleet ─ Fleet, Of ┐
//	an event log ─ Notes ────┤
//	serve.Server ────────────┼─> Snapshot ─┬─> its JSON
//	shm.Image ──── Region ───┘             ├─> AppendMetrics: text for Prometheus
//	                                       ├─> UsageOf: a region of shared memory
//	                                       └─> Model: lines of a screen
//
// [Notes] hold the statements of a fleet's logs about themselves: hidden facts, refusals, the size
// of DRAM and, for a recording, owners and leaks.
//
// A [Detail], made by DetailOf, has each [Group] of cores of one device that hold the same, and
// each [Block] on the fullest. A [Model] takes snapshots, one after the other, keeps samples of the
// last of them, and shows one [View] of them as lines: a [Line] has a [Look]. A [DeviceKey] names the
// selected device. The caller draws the lines.
//
// # Invariants
//
// A figure that a source lacks is nil in a row, null in JSON and absent from metrics; it is never
// 0. All figures are bytes. A sum larger than the L1 of its device counts bytes more
// than once: the screen names it.
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
//
// # Words
//
//   - thing: a registered program, or a buffer; stake: a thing as one process has it;
//   - gauge: a figure as a metric;
//   - look: colour and weight of a line;
//   - area: the room for a picture.
package watch
