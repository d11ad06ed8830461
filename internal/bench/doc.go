// Package bench has the workloads that the engine is measured on, as data: programs,
// and steps that register and unregister them on devices, or dispatch them and allocate
// buffers there. Each is made from a seed and is the same on every run.
//
// A [Workload] is played on a [baseline.Contender], one of the baselines or the engine itself
// ([Engine], and [Memory] for dispatches and buffers). A [Design] makes contenders, and [Designs]
// has all that can play a workload. Playing queries the total of every device that a step has
// changed, and keeps the totals: contenders must agree on each of them.
//
// A change is one (program, device) pair. The program cbl1bench measures and compares;
// nothing here looks at a clock.
package bench
