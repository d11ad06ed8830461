// Package residue holds the results of the dispatches of a device: on each core the
// last writer of each kind of circular buffer.
//
// A [Residue] is the state of one device. It is made of pieces ([Piece]) until a
// dispatch overwrites something, and of planes of cores afterwards. [PiecesOf]
// returns the pieces of one program, and [Larger] merges the pieces of a trace. A
// [Book] shares residues between devices, and remembers their overlays; it forgets
// everything beyond [MaxResidues]. [TrackedBytes] counts the bytes on a device and on its
// fullest core.
//
// # Words
//
//   - residue: the bytes that the last dispatch left on each core;
//   - book: the residues of all devices;
//   - writing: a residue, and one that is written over it.
package residue
