// Package residue says what the dispatches of a device left in L1: on each core the last writer
// of each kind of circular buffer.
//
// A [Residue] is what one device holds, made of pieces ([Piece]) while nothing was written over
// anything, and of planes of cores afterwards; [PiecesOf] is what one program writes, and
// [Larger] what a trace leaves of several. A [Book] has the residues that devices share, and
// what they become when something is written over them; it forgets all beyond [MaxResidues].
// [Tracked] are the bytes that lie on a device and on its fullest core.
package residue
