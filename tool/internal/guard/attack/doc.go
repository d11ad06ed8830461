// Package attack makes inputs that demand far more work than their size: a log of 230 bytes that
// names 256 devices of 65,025 cores each, frees of unknown buffers on 65,536 devices. A reader of
// strangers' files meets such inputs.
//
// [Families] lists them: [Logs] are event logs, [Captures] graph captures, and [Databases] report
// databases. A [Template] can be written in any size, so that costs at two sizes, one ten times the
// other, can be compared. Its [CostLimit] bounds the cost of reading it, with each of the verbs of its
// [Family].
//
// Cost is counted and not timed. Steps are executed statements of this module and of google/btree,
// which a build for coverage counts (go build -cover). Heap is the most that the garbage collector
// ever found in use (GODEBUG=gctrace=1), and is measured at night alone. Both are nearly the same on every idle machine.
package attack
