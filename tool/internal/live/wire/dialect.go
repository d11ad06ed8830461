package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Dialect is the record format of a client's build: the size of its records in bytes, and how
// many types it knows. With the zero Dialect a Reader recognises the format.
type Dialect struct {
	Size  int // 72, 112, 128 or 144
	Types int // types 1 to Types
}

// Dialects returns all dialects that are known, smaller records first.
func Dialects() []Dialect {
	return []Dialect{{72, 4}, {72, 5}, {112, 7}, {128, 11}, {144, 11}, {144, 12}}
}

// Newest returns the dialect of the newest client and server.
func Newest() Dialect { return Dialect{144, 12} }

// ParseDialect reads "auto", which is the zero Dialect, a size like "112", which is the
// dialect of that size with the most types, or both as "72/4". The error is a *DialectError.
func ParseDialect(text string) (Dialect, error) {
	if text == "auto" {
		return Dialect{}, nil
	}
	size, types, both := strings.Cut(text, "/")
	for _, d := range slices.Backward(Dialects()) {
		if size == strconv.Itoa(d.Size) && (!both || types == strconv.Itoa(d.Types)) {
			return d, nil
		}
	}
	return Dialect{}, &DialectError{Text: text}
}

// String returns the form that ParseDialect reads.
func (d Dialect) String() string {
	if d == (Dialect{}) {
		return "auto"
	}
	return fmt.Sprintf("%d/%d", d.Size, d.Types)
}

// Knows reports whether records of a type are in the dialect.
func (d Dialect) Knows(t Type) bool { return t >= 1 && int(t) <= d.Types }

// check refuses unknown dialects.
func (d Dialect) check() error {
	if slices.Contains(Dialects(), d) {
		return nil
	}
	return &DialectError{Text: d.String()}
}

// worlds are the dialects that a stream may turn out to have: of each size the one that
// knows most.
func worlds() [4]Dialect {
	return [...]Dialect{{72, 5}, {112, 7}, {128, 11}, {144, 12}}
}
