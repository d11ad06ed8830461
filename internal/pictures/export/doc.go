// Package export writes results of replay in the formats of other viewers.
//
// [Pprof] writes one [Moment] of one group of cores as a profile: go tool pprof draws it as a flame
// graph, and the difference of two. [AtPeak] and [After] choose the moment. A [Trace] is a Perfetto
// trace: operations as slices, and the bytes of each device as counters.
//
// Each file names its own basis.
package export
