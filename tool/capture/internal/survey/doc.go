// Package survey reads the nodes of a capture for the facts that hold for the whole of it. It makes no events.
//
// [Survey.Next] takes each node, [Survey.List] each row of a list, and [Survey.End] draws the conclusions: they
// are [Knowledge]. [Members] has the ids of meshes, a [Resident] is a buffer from before the capture, and a [FreeKind] the
// meaning of a free. [Chips] have the Spec of each device, by options, file or architecture. Package capture begins its
// second reading with these facts, and shares [Buffers] with it, which pair allocations with their frees.
//
//	ids .......... mesh.go, groups.go
//	silences ..... past.go, evidence.go, census.go, proven.go, life.go, residents.go, ends.go
//	sizes ........ spec.go, small.go
//
// # Ids
//
// Meshes and chips are numbered apart, so that one number may be a mesh and a chip. mesh.go has the rules: which type of
// node names a mesh, which a chip, and how nodes around one with such a number decide. groups.go has the rules
// of frees of circular buffers. Two things stay unknown, and then no verdict is "fits":
//
//   - id-collision: a circular buffer with an address names a number that is both, and nothing decides. It is read as
//     the chip's.
//   - buffers-apart: an L1 buffer lies under an id under which nothing runs, and no pair of a mesh and a chip explains it.
//
// # Silences
//
// A capture that does not show a fact does not deny it. Each of these nodes and rows proves its fact alone:
//
//	a buffer in L1         its allocation; its buffer node; its free; a tensor; a row of a list; a global circular
//	                       buffer in it
//	  its address          the same, without the buffer node
//	  its size on a core   its allocation, free and row; at least the bytes of the circular buffers in it
//	  its end              its free; in a list or database, a later list without it; an allocation in its place
//	a program              the nodes of its circular buffers; the free that announces it; its execution; a function that
//	                       says that it hit the program cache
//	a mesh of a chip       a part of a tensor; an execution; one listed device, if no node names another chip
//
// A buffer whose address no witness has is in no place (buffer-unplaced, earlier-used). A free, an execution
// or a flag may be the only witness of a program: it ran before, or is hidden (not-shown, cache-hit).
//
// # Words
//
//   - member: a chip of a mesh, or the mesh;
//   - resident: a buffer in L1 from before the capture;
//   - census: the rows of the lists of buffers;
//   - evidence: nodes that stand for a buffer which no node allocates;
//   - life: from an allocation to its free;
//   - group: frees of circular buffers of one mesh, back to back.
package survey
