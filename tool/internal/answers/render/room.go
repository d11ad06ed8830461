package render

import (
	"fmt"
	"io"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Room returns the answer to the question how large one more L1 buffer could have been: the room
// in the first line, then who limits it and when, and the room on each group of cores.
func Room(r *answer.Result, doc answer.RoomDocument) Output {
	m := room{check{answer.Judgement{Answer: doc.Answer, Untold: doc.Untold, Accepted: doc.Accepted}, r}, doc}
	d := Output{json: func(w io.Writer) error { return writeJSON(w, doc) }, file: r.File}
	d.page.line("%s  %s%s  %s%s", m.word(), shown.End(r.File, 60), m.only()+m.accepted(), m.answer(), doubtful(r))
	d.page.note(slices.Concat(m.reasons("because", m.Untold), m.tensor(), m.mode(), m.moment(), m.limits(), m.unfit())...)
	m.writeGroups(&d.page)
	m.writeTight(&d.page)
	d.page.apart(append(m.remarks(), textNotes("?", append(doubts(r), small(r)...))...))
	d.page.detail(func() []note { return append(m.together(), chipNotes(r)...) })
	return d
}

// A room is the answer of room, and how it was judged.
type room struct {
	check
	doc answer.RoomDocument
}

// word begins the first line.
func (m room) word() string {
	switch m.Answer {
	case answer.CannotTell:
		return "cannot tell"
	case answer.DoesNotFit:
		return "does not fit"
	}
	if m.doc.Size.OK {
		return "fits"
	}
	return "room"
}

// asked returns the room of the question, at its moment if it has one; nil if no program ran.
func (m room) asked() *answer.Room {
	q := m.doc.Question
	switch {
	case q.Op == "" && !q.At.OK:
		return m.doc.All
	case m.doc.Moment != nil:
		return &m.doc.Moment.Room
	}
	return nil
}

// moment says when the room of the question was there, and how much there is throughout.
func (m room) moment() []note {
	at := m.doc.Moment
	if at == nil {
		return nil
	}
	when := "at " + m.result.Where(at.Counter, at.T)
	if at.Run == nil {
		when += ", before any program ran"
	} else {
		when += ", beside " + runText(m.result, *at.Run, 60)
	}
	if at.Runs > 1 {
		when += fmt.Sprintf(": the least room of %s", shown.Plural(at.Runs, "program run"))
	}
	notes := []note{{"moment", when}}
	if at.PerCore.OK {
		notes = append(notes, note{"per core", fmt.Sprintf("allocated per core in HYBRID mode, %s would fit", shown.Plural(at.PerCore.V, "byte"))})
	}
	if all := m.doc.All; all != nil {
		notes = append(notes, note{"whole run", shown.Plural(all.Bytes, "byte")})
	}
	return notes
}

// answer says how much room there is, in at most a line.
func (m room) answer() string {
	size, all, q := m.doc.Size.V, m.asked(), m.doc.Question
	if all == nil {
		return "no program is known to have run"
	}
	on := "no cores"
	switch n := all.Count; {
	case n == 1:
		on = coresText(all.Cores)
	case n > 1:
		on = "each of " + shown.Plural(n, "core")
	}
	if n := len(m.doc.Devices); n > 1 && q.Op == "" { // else it is about the devices of its programs
		on += " of " + shown.Plural(n, "device")
	}
	if all.End.V > l1.MaxAddr/2 {
		return "the size of L1 is not known, and no buffer ends the room on " + on
	}
	largest := "no byte"
	if all.Bytes > 0 {
		largest = fmt.Sprintf("%s bytes at %s", grouped(all.Bytes), rangeText(all.Range()))
	}
	cannot := m.Answer == answer.CannotTell
	switch place := (l1.Range{Start: all.Place.V, End: all.Place.V + size}); {
	case size > 0 && !all.Place.OK:
		return fmt.Sprintf("%s on %s: at most %s", shown.Plural(size, "byte"), on, largest)
	case size > 0 && cannot:
		return fmt.Sprintf("as far as is shown, %s bytes fit on %s at %s", grouped(size), on, rangeText(place))
	case size > 0:
		return fmt.Sprintf("%s on %s at %s", shown.Plural(size, "byte"), on, rangeText(place))
	case cannot:
		return fmt.Sprintf("at most %s on %s", largest, on)
	}
	return fmt.Sprintf("%s on %s", largest, on)
}

// tensor says how many bytes the tensor of the question takes of each core.
func (m room) tensor() []note {
	q := m.doc.Question
	if q.Tensor.Bytes == 0 {
		return nil
	}
	text := fmt.Sprintf("%s interleaved, %s of %s", shown.Plural(q.Tensor.Bytes, "byte"), shown.Plural(q.Tensor.Pages(), "page"), shown.Plural(q.Tensor.PageSize(), "byte"))
	if q.Tensor.Page == 0 {
		text += " (assumed: a tile of bfloat16)"
	}
	if q.Size > 0 {
		text += fmt.Sprintf(": %s on the fullest core", shown.Plural(q.Size, "byte"))
	}
	return []note{{"tensor", text}}
}

// mode says how a buffer on some cores gets its address.
func (m room) mode() []note {
	switch {
	case !m.doc.Sharded.OK:
		return nil
	case m.doc.Mode == fit.PerCore:
		return []note{{"mode", "per core: the run is in HYBRID mode; the least room of these cores counts"}}
	}
	return []note{{"mode", "lockstep: the buffer takes its address on all cores; per core needs HYBRID mode"}}
}

// limits says who keeps the room from being larger, and since when.
func (m room) limits() []note {
	all := m.asked()
	if all == nil {
		return nil
	}
	notes := []note{{"below", m.limit(all.Below, "the base of circular buffers")}, {"above", m.limit(all.Above, m.top())}}
	if all.Bytes == 0 {
		notes[0].label, notes[1].label = "lowest", "highest"
	}
	return notes
}

// together is the room on all cores of a device, and the number of checked runs.
func (m room) together() []note {
	notes := []note{{"checked", shown.Plural(m.result.Checks.Runs, "program run")}}
	if all := m.asked(); all != nil && all.Count > 1 && m.result.Spec.L1Size > 0 && all.Bytes > 0 {
		n := uint64(all.Count)
		notes = append(notes, note{"together", fmt.Sprintf("%s bytes on the %s of a device", grouped(all.Bytes*n), shown.Plural(n, "core"))})
	}
	return notes
}

// top names the end of usable L1.
func (m room) top() string {
	if slices.ContainsFunc(m.doc.Devices, func(d answer.DeviceRoom) bool { return m.result.SpecOf(d.Device).L1Small > 0 }) {
		return "L1_SMALL, where usable L1 ends"
	}
	return "the end of L1"
}

// limit names the owner of a limit; otherwise is the text without one.
func (m room) limit(l *answer.RoomLimit, otherwise string) string {
	r := m.result
	switch {
	case l == nil:
		return otherwise
	case l.Program != nil:
		text := "program " + runText(r, *l.Program, 60)
		if l.Enqueue.V != l.Program.At {
			text += ", enqueued at " + r.Where(l.Enqueue.V, l.T)
		}
		return text
	}
	text := l.Buffer.Kind.String()
	if l.Buffer.PerCore.OK {
		text += fmt.Sprintf(" of %s bytes", grouped(l.Buffer.PerCore.V))
	}
	return text + ", " + r.Named(*l.Buffer, 60)
}

// unfit names the reasons why a size has no place.
func (m room) unfit() (notes []note) {
	doc, k := m.doc, &m.result.Checks
	if at := m.asked(); at == doc.All && doc.Size.OK && (at == nil || !at.Place.OK) && len(doc.Tight) == 0 && k.Runs > 0 {
		notes = append(notes, note{"when", "beside each program run alone it has a place; none is free throughout"})
	}
	if k.Failed > 0 {
		notes = append(notes, note{"besides", fmt.Sprintf("%s %s not fit as it is: cbl1 check says why", shown.Plural(k.Failed, "program run"), doNot(k.Failed))})
	}
	return notes
}

// maxRooms is how many groups of cores and program runs text names of each device.
const maxRooms = 12

// writeGroups writes the room on each group of cores alone, equal devices folded.
func (m room) writeGroups(page *page) {
	name := func(d *answer.DeviceRoom) named { return named{d.Device, d.Kind, d.Chips} }
	folds := foldDevices(m.doc.Devices, name, func(d *answer.DeviceRoom) string { return fmt.Sprint(d.Room, d.Mode, d.Groups) })
	for _, f := range folds {
		if len(folds) == 1 && len(f.first.Groups) <= 1 {
			return // the first line says it
		}
		how := "in lockstep"
		if f.first.Mode == fit.PerCore {
			how = "allocated per core"
		}
		page.table(fmt.Sprintf("room on %s, for a buffer on some cores alone, %s", f.where(), how), m.table(f.first.Groups))
	}
}

// table returns a table of rooms.
func (m room) table(groups []answer.Room) table {
	head := []string{"bytes", "start", "end", "fits at", "<cores", "<below", "<above"}
	if !m.doc.Size.OK {
		head = slices.Delete(head, 3, 4)
	}
	t := headed(head...)
	t.most = 24
	for _, g := range first(&t, groups, maxRooms, 0) {
		cells := []any{g.Bytes, g.Start, g.End}
		if m.doc.Size.OK {
			cells = append(cells, g.Place)
		}
		cells = append(cells, fmt.Sprintf("%s %s", grouped(g.Count), coreRanges(g.Cores)), m.short(g.Below, "the base", 24))
		t.named(func(n int) string { return m.short(g.Above, "the top", n) }, cells...)
	}
	return t
}

// short names what first took bytes in a cell of a table.
func (m room) short(l *answer.RoomLimit, otherwise string, n int) string {
	switch r := m.result; {
	case l == nil:
		return otherwise
	case l.Program != nil:
		return runText(r, *l.Program, n)
	default:
		return l.Buffer.Kind.String() + " " + r.Named(*l.Buffer, n)
	}
}

// writeTight writes the program runs beside which a size has no place.
func (m room) writeTight(page *page) {
	doc, r := m.doc, m.result
	if len(doc.Tight) == 0 {
		return
	}
	t := headed(r.NodeWord(), "room then", "times", "device", "<program")
	for _, x := range first(&t, doc.Tight, maxRooms, doc.TightMore) {
		t.named(func(n int) string { return runText(r, x.Run, n) }, fmt.Sprint(x.Enqueue), x.Bytes, x.Times, deviceName(r, x.Device))
	}
	page.table(fmt.Sprintf("program runs beside which there is no place for %s bytes, at that moment alone", grouped(doc.Size.V)), t)
}
