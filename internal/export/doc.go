// Package export writes what replay says in the formats of other people's viewers.
//
// [Pprof] writes one [Moment] of one group of cores as a profile: go tool pprof draws it as a
// flame graph, and the difference of two. [AtPeak] and [After] choose the moment.
// A [Trace] is a Perfetto trace: operations as slices, and what each device held as counters.
//
// Each file says itself on which basis it stands.
package export
