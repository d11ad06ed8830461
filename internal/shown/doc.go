// Package shown makes text from a file fit to be shown in one line: names, paths and
// values, escaped and cut.
//
// [Escape] spells everything but printable ASCII, so that no text steers a terminal, ends a line or
// turns the writing direction. [Visible] keeps what prints from left to right. Messages of errors
// and JSON are escaped; text for people is visible.
//
// [Start] and [End] make a text visible and cut it to columns of a terminal, which [Width]
// counts.
//
// [Op] cuts the path of nested operations, and keeps the outermost and the innermost one.
//
// [Head] cuts text that is safe already. [TailText] keeps the end, which is the informative part of a path,
// and whole characters, for text that is made safe later. [Name] and [Path] escape and
// cut, at a cost that follows the output and not the input. [Value] copies the start of bytes that
// may be huge. [Clip], [ClipStart] and [ClipJoined] append the length of a name that they cut.
// Names are kept to [MaxName] bytes, names of nested operations to [MaxPath], and JSON has
// [MaxOutput] bytes of them.
//
// [Plural] is a number with its noun.
//
// There is no state: every function may be called by several goroutines.
package shown
