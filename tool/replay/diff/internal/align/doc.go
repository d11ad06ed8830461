// Package align aligns two sequences. It knows only the keys of their items.
//
// A part of a key that differs has a cost: place 1, size 2, shape 4. An item without a partner costs 3. Items
// with other names are no pair. [Aligner.Align] finds an alignment of least cost, or cuts sequences that are too long
// for it (Rough). Of alignments that cost the same, it takes one by the order of keys, so that the result does
// not depend on which sequence is the old one.
package align
