// Package render turns the results and documents of replay and diff into text and Markdown for people, and JSON,
// CSV and JUnit for programs. It neither reads files nor computes figures.
//
// One function for each verb, like [Report], [Check] and [Diff], returns an [Output], which is written in several
// formats. Text answers in its first line. It gives exact bytes before rounded ones, names the base of every percentage,
// and escapes control characters. Markdown is the same page without pictures. JSON is a document of replay, and
// follows a versioned schema: fields are only added within a version. The columns of a CSV are members of the
// JSON; documents of Report, Check, Peak and Diff have it.
//
// An [Overview] has all answers for a page.
package render
