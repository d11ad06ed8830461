// Package attack makes inputs that ask for far more than they say: a log of 230 bytes that
// names 256 devices of 65,025 cores each, frees of buffers that nobody has on 65,536
// devices. Whoever reads what strangers send meets them.
//
// [Logs] lists those that are event logs. [Log.Text] writes a [Log] in any size, the same
// bytes each time, so that what an input costs can be compared with what one of ten times its
// size does. Its [Budget] is what reading it may cost at most, with each of the [Verbs].
//
// Cost is counted and not timed: steps are statements of this module and of google/btree that
// run, which the go command counts where it builds for coverage (go build -cover), and heap is
// the most that the garbage collector ever found in use (GODEBUG=gctrace=1). Both are nearly
// the same on every machine. Seconds are printed by make bench.
package attack
