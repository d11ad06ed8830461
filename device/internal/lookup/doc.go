// Package lookup finds things that are equal to what is sought, so that devices which came to
// the same state, each for itself, share it.
//
// A [Shelf] finds a thing by its [Hash], and then by a comparison, which alone is believed.
// [NewShelf] makes one with room; [Mix] spreads the bits of a hash. [Hashes] gives hashes to
// numbers, seeded in each fleet, and [Numbers] gives out the numbers.
package lookup
