// Package render turns the documents of packages answer and diff into text and Markdown for people, and JSON,
// CSV and JUnit for programs. It neither reads files nor computes figures.
//
// One function for each verb, like [Report], [Check] and [Diff], returns an [Output], which is written in several
// formats. Text answers in its first line. It gives exact bytes before rounded ones, names the base of every percentage,
// and escapes control characters. Markdown is the same page without pictures. JSON is such a document, and
// follows a versioned schema: fields are only added within a version. The columns of a CSV are members of the
// JSON; documents of Report, Check, Peak and Diff have it.
//
// An [Overview] has all answers for a page.
//
// # Words
//
//   - block: lines, notes or a table of a page; note: one labelled line;
//   - fold: rows with the same key, as one;
//   - leaf: a column of one value;
//   - laid: in its place on cores, like what lay there at a moment;
//   - sight: a number for the text of a peak or moment, by which equal ones are found.
package render
