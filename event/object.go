package event

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// An object is the JSON object at hand, of a line that is read or written. Its methods and the
// functions that have it as their first parameter read or write one field. Reading keeps the value
// of a field that the line lacks. Writing changes no field.
type object struct {
	l  *line             // that is written; nil: a line is read
	d  *decoder          // of a line that is read
	in jsonobject.Object // which has the members of a line that is read
}

// A presence is whether a field must be there.
type presence uint8

const (
	given  presence = iota // it is left out if it is zero
	stated                 // it is always written, and may be missing
	needed                 // it is always written, and must not be missing
)

// unknownWord is the reason why a word cannot be written.
const unknownWord = "is none that a log knows"

func (o *object) reads() bool { return o.l == nil }

// has reports whether a member is there to be read.
func (o *object) has(name string) bool { return o.l == nil && o.in.Has(name) }

// need notes if a member is missing in a line that is read.
func (o *object) need(name string) {
	if o.l == nil && !o.in.Has(name) {
		o.in.Missing(name)
	}
}

// open enters the object that is a member, up to close. One that is missing has no members.
func (o *object) open(name string) (outer jsonobject.Object) {
	if o.l != nil {
		o.l.open(name, '{')
		return outer
	}
	outer = o.in
	o.in, _ = o.in.Object(name)
	return outer
}

func (o *object) close(outer jsonobject.Object) {
	if o.in = outer; o.l != nil {
		o.l.end('}')
	}
}

// list reads or writes a list of objects.
func list[T any](o *object, name string, v *[]T, p presence, each func(*object, *T)) {
	if o.l == nil {
		if p == needed {
			o.need(name)
		}
		outer := o.in
		for in := range outer.Objects(name) {
			var zero T
			*v = append(*v, zero)
			o.in = in
			each(o, &(*v)[len(*v)-1])
		}
		o.in = outer
		return
	}
	if p == given && len(*v) == 0 {
		return
	}
	o.l.open(name, '[')
	for i := range *v {
		o.l.open("", '{')
		each(o, &(*v)[i])
		o.l.end('}')
	}
	o.l.end(']')
}

// number reads or writes a whole number of at most most.
func number[T ~uint64 | ~int | ~int64](o *object, name string, v *T, most uint64, p presence) {
	if o.l == nil {
		if n, ok := o.in.Number(name, most); ok {
			*v = T(n)
		} else if p == needed {
			o.in.Missing(name)
		}
		return
	}
	switch n := *v; {
	case n == 0 && p == given:
		return
	case n < 0:
		o.l.fail(name, strconv.FormatInt(int64(n), 10)+" is negative")
	case uint64(n) > most:
		o.l.fail(name, strconv.FormatUint(uint64(n), 10)+" "+jsonobject.Above(most))
	}
	o.l.number(name, uint64(*v))
}

func optNumber[T ~uint64](o *object, name string, v *Opt[T], most uint64) {
	if o.l == nil {
		n, ok := o.in.Number(name, most)
		*v = Opt[T]{T(n), ok}
	} else if v.OK {
		number(o, name, &v.V, most, stated)
	}
}

// optIDs reads or writes a list of ids.
func optIDs[T ~uint64](o *object, name string, v *Opt[[]T]) {
	if o.l == nil {
		v.V, v.OK = jsonobject.IDs[T](o.in, name)
	} else if v.OK {
		writeIDs(o.l, name, v.V)
	}
}

func writeIDs[T ~uint64](l *line, name string, list []T) {
	l.open(name, '[')
	for _, id := range list {
		l.number("", uint64(id))
	}
	l.end(']')
}

// idLists reads or writes a list of lists of ids. No inner list may be empty, and one with a single
// id stands without brackets.
func idLists[T ~uint64](o *object, name string, v *[][]T) {
	if o.l == nil {
		*v, _ = jsonobject.IDLists[T](o.in, name)
		return
	}
	if *v == nil {
		return
	}
	o.l.open(name, '[')
	for _, ids := range *v {
		switch len(ids) {
		case 0:
			o.l.fail(name, "has a workload without programs")
		case 1:
			o.l.number("", uint64(ids[0]))
		default:
			writeIDs(o.l, "", ids)
		}
	}
	o.l.end(']')
}

// flag reads yes or no, or writes true, or nothing.
func (o *object) flag(name string, v *bool) {
	if o.l == nil || *v { // split for speed: this part is inlined
		o.boolean(name, v)
	}
}

func (o *object) boolean(name string, v *bool) {
	if o.l == nil {
		if is, ok := o.in.Flag(name); ok {
			*v = is
		}
	} else {
		o.l.key(name)
		o.l.b = append(o.l.b, "true"...)
	}
}

// text reads or writes a text. Half a surrogate pair and bytes that are not UTF-8 become U+FFFD.
func text[T ~string](o *object, name string, v *T, p presence) {
	if o.l == nil {
		if s, ok := o.in.Text(name); ok {
			*v = T(s)
		} else if p == needed {
			o.in.Missing(name)
		}
	} else if p != given || *v != "" {
		o.l.text(name, string(*v))
	}
}

func optText(o *object, name string, v *Opt[string]) {
	if o.l == nil {
		v.V, v.OK = o.in.Text(name)
	} else if v.OK {
		o.l.text(name, v.V)
	}
}

// inherited reads or writes a text that the header may have stated for all lines.
func (o *object) inherited(name string, v *string, header string) {
	if o.l == nil {
		*v = header
		text(o, name, v, stated)
	} else if *v != header {
		o.l.text(name, *v)
	}
}

// oneOf reads or writes one of some words, or nothing.
func oneOf[T ~string](o *object, name string, v *T, known ...T) {
	text(o, name, v, given)
	switch {
	case *v == "" || slices.Contains(known, *v):
	case o.l == nil:
		var list []string
		for _, k := range known {
			list = append(list, string(k))
		}
		o.in.Fail(name, "is none of "+strings.Join(list, ", "), nil)
	default:
		o.l.fail(name, unknownWord)
	}
}

// named reads or writes the name of one of the values from first to last.
func named[T ~uint8](o *object, name string, v *T, first, last T, of func(T) string, p presence) {
	if o.l != nil {
		if *v == 0 && p == given {
			return
		}
		if *v < first || *v > last {
			o.l.fail(name, unknownWord)
		}
		o.l.text(name, of(*v))
		return
	}
	word, _ := o.in.Text(name)
	if word == "" && p == given {
		return
	}
	for k := first; k <= last; k++ {
		if of(k) == word {
			*v = k
			return
		}
	}
	var list []string
	for k := first; k <= last; k++ {
		list = append(list, of(k))
	}
	o.in.Fail(name, "is none of "+strings.Join(list, ", "), nil)
}

// raw reads or writes JSON that is repeated, without its white space.
func (o *object) raw(name string, v *[]byte) {
	if o.l == nil {
		*v = bytes.Clone(o.in.Get(name))
	} else if *v != nil {
		o.l.raw(name, *v)
	}
}

// time reads or writes a number as it is spelled.
func (o *object) time(name string, v *string) {
	if o.l != nil {
		if *v != "" {
			o.l.time(name, *v)
		}
		return
	}
	if t := o.in.Get(name); t != nil {
		if !isTime(t) {
			o.in.Fail(name, notTime, nil)
		}
		*v = shown.Value(t)
	}
}

// notTime is the reason why a time cannot be read or written.
const notTime = "is not a number of at most 64 characters"

// isTime reports whether a JSON value is a number that is not too long.
func isTime(t []byte) bool {
	return (t[0] == '-' || t[0] >= '0' && t[0] <= '9') && len(t) <= jsonobject.MaxDigits
}

// anomalies reads or writes a set of anomalies. Reading skips unknown ones.
func (o *object) anomalies(name string, v *Anomaly) {
	if o.l == nil {
		words, _ := o.in.Texts(name)
		for _, word := range words {
			*v |= anomalyOf(word)
		}
		return
	}
	if names := v.names(); names != nil {
		o.l.open(name, '[')
		for _, word := range names {
			o.l.text("", word)
		}
		o.l.end(']')
	}
}

// core reads or writes a core.
func (o *object) core(name string, v *Opt[l1.Core]) {
	if o.l != nil {
		if v.OK {
			o.l.text(name, v.V.String())
		}
		return
	}
	if v.OK = o.in.Has(name); !v.OK {
		return
	}
	word, _ := o.in.Text(name)
	var err error
	if v.V, err = l1.ParseCore(word); err != nil {
		failParse(o.in, name, err)
	}
}

// cores reads or writes cores: a set, or in a line that is read also a rectangle or one core, in
// either spelling.
func (o *object) cores(name string, v *l1.CoreRangeSet) {
	if o.l != nil {
		o.l.text(name, v.String())
		return
	}
	*v = o.d.coreRangeSet(o.in, name)
}

func (o *object) coreSet(name string, v *l1.CoreSet) {
	if o.l != nil {
		o.l.text(name, v.String())
		return
	}
	*v = o.d.coreRangeSet(o.in, name).Cores()
}

func (o *object) optCores(name string, v *Opt[l1.CoreSet]) {
	if v.OK = v.OK || o.has(name); v.OK {
		o.coreSet(name, &v.V)
	}
}

// arch writes the name of an architecture, which preset reads.
func (o *object) arch(name string, arch l1.Arch) {
	if o.l == nil || arch == "" {
		return
	}
	if known, err := l1.ParseArch(string(arch)); err != nil || known != arch {
		o.l.fail("spec.arch", unknownWord)
	}
	o.l.text(name, string(arch))
}

// preset sets the numbers of an architecture or a board that a line names.
func (o *object) preset(s *l1.Spec) {
	if arch, _ := o.in.Text("arch"); arch != "" {
		known, err := l1.ParseArch(arch)
		if err != nil {
			failParse(o.in, "arch", err)
		}
		*s = l1.ArchSpec(known)
	}
	name, _ := o.in.Text("board")
	if name == "" {
		return
	}
	board, ok := l1.Board(name)
	if !ok {
		o.in.Fail("board", "is not a board that is known here; give its numbers", nil)
		return
	}
	if s.Arch != "" {
		board.Arch = s.Arch
	}
	*s = board
}
