// Package report turns what was computed elsewhere into text for people and JSON
// for programs. It neither reads files nor computes figures.
//
// Text answers in its first line, gives exact bytes before rounded ones, names the
// base of every percentage, and shows nothing that came from a file without
// escaping control characters. JSON follows a schema with a version, which is part
// of this package: cbl1.report-2.schema.json, and the like for check, peak and who.
// Fields are only added within a version.
package report
