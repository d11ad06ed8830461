// Package planted reads known bugs and plants them into the source of this repository, one at
// a time. The quick tests have to find each of them. cbl1planted runs the tests.
//
// A bug is data. The folder bugs has one text file per folder of the repository:
// bugs/device/internal/heap.txt has the bugs of device/internal/heap. Blank lines separate the
// bugs, and a comment starts with #.
//
//	heap-free-keeps-its-bytes
//	a freed buffer still counts
//	tests: ./device/internal/heap ./device
//	race: TestManyCallers
//	in: Heap.Free
//	- h.used -= size
//	+ h.used -= 0
//
// The first line is the name of the bug, the second names the damage. The others:
//
//   - tests: the packages whose quick tests must find the bug, the cheapest first. Without it
//     the tests of the bug's own folder have to.
//   - race: a pattern of tests that run under the race detector, instead of all quick tests.
//   - in: the declaration that the next edits change: a function, Type.Method, or the name of
//     a type, constant or variable. It may move to another file of its folder.
//   - file: a file that the next edits change, instead of a declaration. A name with a slash
//     is relative to the root of the repository.
//   - an edit: lines with - are searched, and lines with + replace them. Without + they are
//     removed, and the next edit needs its own in:. Each edit sees the edits before it.
//
// The searched text must occur exactly once in its declaration. It is compared token by token:
// indentation, line breaks and comments do not count. Otherwise the bug is stale, and is
// rewritten for the new code. The shorter the searched text, the longer the bug lives.
//
// The result is formatted. Imports that the edits leave without a use are removed.
package planted
