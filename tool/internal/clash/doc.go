// Package clash reads tt-metal's messages about circular buffers that do not fit into L1, out of
// a pasted error or a whole log, and explains them.
//
// # Model
//
// [Scan] finds every [Message] of the seventeen [Kind]s in a text and parses its numbers. [Read]
// does the same and returns each different message once, with a count, as [Messages]. [Explain]
// turns a Message into a [MessageRow] with [Note]s: the cause, the excess in bytes and in
// percent of a [Whole], the chip (inferred, and then marked "likely"), the sizes that would fit,
// advice, and the open questions. A note names the parameter of open_device that helps. The
// allocator's messages have a [ShortageRow]. The [Document] of [NewDocument] has a Row for each
// message.
//
// [Compare] searches a capture for the program of a message. The caller gives its [Comparison]
// each [ProgramRun], with the core ranges that tt-metal validates ([Entry]), its [CB]s and the lowest
// [LowestBuffer]. It keeps the best [Match] of each message, which agrees at a [Level]. For messages of
// the allocator the caller gives each [Bank], at the end or at another moment, with its contents
// ([PlacedBuffer]): a [Space] lists the buffers between free blocks. A [Margin] bounds how far sizes
// of open_device can change in a capture. [Row.Add] adds them to an explanation.
//
// The wordings of tt-metal (forms.go) and the words of explanations (words.go) are data: parts of
// text with fields. People shorten messages by dots,
// put <id> in place of a number, or leave out cores. Message.Missing names the fields that such
// a text leaves out; a number that dots cut short is one of them. What people tell in words of their own has
// a rule for each kind (retoldForms): how it begins, and the words around each number, in any order.
//
// A message is found wherever it stands in the text, in both spellings of cores. It may
// be wrapped over several lines: runs of white space count as one blank, and a line may
// break between words or inside one. What stood before the message on its first line may
// be repeated on the next ones, as log collectors do ("(EngineCore_DP0 pid=230) "). Times
// in such a prefix may differ. Colour codes,
// control characters, box drawings and invalid UTF-8 are no obstacle.
//
// # Invariants
//
// Numbers of bytes are at most l1.MaxAddr and core coordinates at most 255; a text
// with anything larger is not taken for a message. Over never wraps: it is 0 if
// the numbers of a message do not show what its words say.
//
// # Cost
//
// Time is linear in the text: about 100 MB/s for a log. Memory is bounded, whatever
// the size of the text and of its lines: a window of about 1 MiB at most, in which a
// message with its repeated prefixes may take up to 8 KiB, and the first MaxDistinct
// messages in Read.
//
// # Concurrency
//
// There is no shared state; results are values that belong to the caller.
//
// # Limits
//
// Lines of several processes that are interleaved inside one wrapped message are
// not sorted out. The last number of a clash has no text behind it, so if a line
// breaks inside that number, the number is cut; the message is then usually
// reported as one whose numbers do not fit its words.
//
// # Words
//
//   - form: one wording of a message, in parts that follow each other;
//   - token: fixed text, one of several texts, or a field;
//   - note: one line of an explanation;
//   - ask: the size of open_device for which a message asks;
//   - margin: how far sizes can change before a run does not fit;
//   - level: how well a run agrees with a message.
package clash
