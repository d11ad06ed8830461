// Package export writes runs for other viewers. A [Trace] is a Perfetto trace: operations as slices, and the
// bytes of each device as counters. It names its own basis.
package export
