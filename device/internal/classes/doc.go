// Package classes counts what programs and buffers take on the cores of a device.
//
// A [Holder] takes ranges on cores: a program ([NewHolder]) or a buffer ([HolderOf]). A
// [Roster] numbers holders. A [Partition] divides cores into classes ([Class]) that hold the
// same, each with one region tree; a [Seat] is a class in a partition. What programs occupy
// ([OccupiedBy]) and what they reserve are two partitions of a [Content], which is all that a
// device holds of programs, with its [Figures]; [NewContent] makes an empty one. [Beyond] tells
// cores that lie outside of every board.
//
// Nothing here knows of fleets, devices or states: those who share a content copy it, in
// O(classes), and give the copy a name.
package classes
