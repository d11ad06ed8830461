// Package bitset has sets of small numbers: devices of a fleet, programs of a
// content, groups that a class of cores lies in. A [Set] is a value; [Span] makes one
// of consecutive numbers.
package bitset
