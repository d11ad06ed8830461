// Package lookup finds equal values, so that devices which came to the same state,
// each for itself, share it.
//
// A [Shelf] finds a value by its [Hash], and confirms it by a comparison. [NewShelf]
// makes one with room; [Mix] spreads the bits of a hash. [Hashes] gives hashes to
// numbers, seeded in each fleet, and [Numbers] gives out the numbers.
package lookup
