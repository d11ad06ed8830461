package render

import (
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// between joins the functions of ProgramDetail.Op.
const between = " > "

// opName shortens a path of functions to n columns. The user called the outermost function, and the innermost one
// ran: functions between them go first.
func opName[T ~string](path T, n int) string {
	op := string(path)
	if op == "" {
		return "(outside any function)"
	}
	if first, rest, ok := strings.Cut(op, between); ok && shown.Width(op) > n {
		if i := strings.LastIndex(rest, between); i >= 0 {
			op = first + between + shown.Ellipsis + between + rest[i+len(between):]
		}
	}
	return shown.Start(op, n)
}

// shortName is opName without a namespace that all have: the rest of the path gets the room.
func shortName[T ~string](path T, n int) string {
	return opName(strings.ReplaceAll(string(path), "tt::tt_metal::", ""), n)
}

// caller is the outermost function of an op.
func caller[T ~string](op T) T {
	first, _, _ := strings.Cut(string(op), between)
	return T(first)
}
