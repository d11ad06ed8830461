// Package attack makes inputs that ask for far more than they say: a log of 230 bytes that
// names 256 devices of 65,025 cores each, frees of buffers that nobody has on 65,536
// devices. Whoever reads what strangers send meets them.
//
// [Sources] lists them: [Logs] are event logs, [Captures] graph captures, [Windows] runs in many files, [Databases] report databases, and [Lines] what an
// allocation server has printed. An [Input] can
// be written in any size, so that its cost can be compared with that of one of ten times the
// size. Its [Budget] is what reading it may cost at most, with each of the verbs of its [Source].
//
// Cost is counted and not timed: steps are statements of this module and of google/btree that
// run, which the go command counts where it builds for coverage (go build -cover), and heap is
// the most that the garbage collector ever found in use (GODEBUG=gctrace=1). Both are nearly
// the same on every machine: [HeapTold] reads it. Seconds are printed by make bench, beside the
// [Aim] for each.
package attack
