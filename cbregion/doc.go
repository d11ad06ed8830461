// Package cbregion is the merging engine of one core: counted byte ranges in;
// covered bytes, merged regions and owners out, exact after every change.
//
// # Model
//
// Many programs place circular buffers on the same addresses of a core. Each adds half-open ranges
// [start, end) and removes them again, in any order; the covered bytes are the union of the ranges
// that are left. A set of intervals does not suffice, because subtracting one program's range would
// free bytes that another still holds. So ranges are counted:
//
//	owner 1  |=========|                count   0 | 1 | 2 | 1 | 0 | 1 | 0
//	owner 2      |=========|            bytes       a   b   c   d   e   f
//	owner 3                    |===|    delta      +1  +1  -1  -1  +1  -1
//	         a   b     c   d   e   f    regions     [a, d)          [e, f)
//
// A [Coverage] keeps the counts alone. A [Counter] also keeps the [Owner] of each range, so that it
// can refuse to remove a missing range, and list the owners of a byte. [CoverageOf] counts many
// ranges at once.
//
// Two ranges have one of 13 relations. The tests remove both ranges again in both orders for each
// of them:
//
//	before         AAA                 after          BBB
//	                     BBB                                AAA
//	meets          AAA                 met by         BBB
//	                  BBB                                AAA
//	overlaps       AAAAA               overlapped by  BBBBB
//	                  BBBBB                              AAAAA
//	starts         AAA                 started by     AAAAAAA
//	               BBBBBBB                            BBB
//	during           AAA               contains       AAAAAAA
//	               BBBBBBB                              BBB
//	finishes           AAA             finished by    AAAAAAA
//	               BBBBBBB                                BBB
//	equal          AAAAA
//	               BBBBB
//
// Only before and after leave two regions; ranges that meet are one.
//
// # Invariants
//
// Only addresses at which the count changes are kept, each with the net change: the
// delta is never 0. Thousands of programs that start at one base are one boundary
// there, with a delta in the thousands. The deltas add up to 0, no sum from the left
// is negative, and bytes with sum 0 are free.
//
// The boundaries are the leaves' contents of a B+tree whose inner nodes hold for each child a
// summary: first and last address, sum of the deltas, the least count inside and the number of
// bytes that have it. Summaries of neighbours combine, so the root knows the number of free bytes
// between the first and the last boundary. All other bytes between them are covered.
//
// # Cost
//
// A change touches two boundaries and the summaries above them, O(log n), no matter how many
// boundaries the range spans. The number of covered bytes is kept: O(1). Regions and BytesIn skip
// subtrees that are covered throughout. Few ranges are one sorted block, as fast as a slice. Memory
// follows the number of boundaries up and down: about 27 bytes for each, and about 50 more for each
// live range of a Counter. A copy is O(1): nodes are shared, and a change copies its node and the
// nodes above.
//
// # Errors
//
// A refused call changes nothing. Illegal ranges give a [*l1.RangeError]; removing a missing range
// gives a [*NotFoundError], which matches [ErrNotFound].
//
// # Concurrency
//
// Any number of goroutines may read or clone a value at once while none changes it.
// Iterators read while they are used.
package cbregion
