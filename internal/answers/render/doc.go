// Package render turns a replay.Result into text and Markdown for people, and JSON and CSV for
// programs. It neither reads files nor computes figures.
//
// [Report], with [Options], is the report on a capture or log. [Peak] says when a core held
// most, [Who] what holds a byte, [Check] says how a Result was judged, [Room] how large one more
// L1 buffer could have been, [Diff] what differs between two runs, and [Map] draws what lay in
// L1. [Explain] lists tt-metal's messages. Each returns a [Document], which is written in several ways. A
// [JUnit], which [NewJUnit] makes, writes checks as test results. [Doubts] collects the assumptions of several checks.
//
// Text answers in its first line, gives exact bytes before rounded ones, names the
// base of every percentage, and shows nothing that came from a file without
// escaping control characters. Markdown is the same page without pictures. JSON follows a schema with a version, which is part
// of this package: cbl1.report-2.schema.json, and the like for check, peak, room, who, map and
// diff. [replay.PeakSchema], [replay.ReportSchema], [replay.CheckSchema], [replay.RoomSchema], [replay.WhoSchema], [replay.MapSchema] and [compare.DiffSchema] name them.
// Fields are only added within a version. CSV has the members of the JSON as columns;
// documents of [Report], [Check], [Peak] and [Diff] have it.
//
// [OverviewJSON] has all of it for a page.
package render
