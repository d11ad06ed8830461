// Package report turns a replay.Result into text for people and JSON for programs. It
// neither reads files nor computes figures.
//
// [Text], with [TextOptions], and [JSON] are the report on a capture or log. [Peak] and
// [PeakJSON] say when a core held most, [Who] and [WhoJSON] answer a [Question]. [NewCheck]
// makes a [Check] of a replay.Judgement, which has a text and JSON of its own. [DiffText],
// [DiffJSON] and [DiffMarkdown] say what differs between two runs. [Codes] lists all codes of
// oddities.
//
// Text answers in its first line, gives exact bytes before rounded ones, names the
// base of every percentage, and shows nothing that came from a file without
// escaping control characters. JSON follows a schema with a version, which is part
// of this package: cbl1.report-2.schema.json, and the like for check, peak, who and diff.
// [Schema], [CheckSchema], [PeakSchema], [WhoSchema] and [DiffSchema] name them.
// Fields are only added within a version.
package report
