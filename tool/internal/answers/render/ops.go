package render

import (
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// between joins the functions of ProgramDetail.Op.
const between = " > "

// opName is shown.Nested.
func opName[T ~string](path T, n int) string { return shown.Nested(string(path), n) }

// shortName is opName without a namespace that all have: the rest of the path gets the room.
func shortName[T ~string](path T, n int) string {
	return opName(strings.ReplaceAll(string(path), "tt::tt_metal::", ""), n)
}

// caller is the outermost function of an op.
func caller[T ~string](op T) T {
	first, _, _ := strings.Cut(string(op), between)
	return T(first)
}
