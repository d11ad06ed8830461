// Package classes counts the bytes of programs and buffers on the cores of a device.
//
// A [Holder] takes ranges on cores: a program ([NewHolder]) or a buffer ([HolderOf]).
// A [Roster] numbers holders. A [Partition] divides cores into classes ([Class]) that
// hold the same, each with one region tree; a [Member] is a class in a partition. A
// [Content] holds the programs of a device in two partitions, for occupied ranges
// ([OccupiedBy]) and reserved ones, with its [Figures]; [NewContent] makes an empty
// one.
//
// This package does not know fleets, devices or states: the users of a shared content
// copy it, in O(classes), and name the copy.
//
// # Words
//
//   - class: cores on which the same programs are counted;
//   - member: a class in a partition;
//   - partition: the classes of all cores that hold anything;
//   - board: one content, and the programs on it.
package classes
