package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// Room returns the answer to the question how large one more L1 buffer could have been: the room
// in the first line, then who limits it and when, and the room on each group of cores. The Result has
// to have a Room.
func Room(r *replay.Result, j replay.Judgement) Document {
	m := room{check{j, r}}
	d := Document{json: func(w io.Writer) error { return writeJSON(w, newRoomDocument(m)) }, file: r.File}
	d.page.line("%s%s", m.head(m.word()), m.answer())
	d.page.note(slices.Concat(m.reasons("because", m.Untold), m.tensor(), m.limits(), m.basis(), m.unfit())...)
	m.writeGroups(&d.page)
	m.writeTight(&d.page)
	return d
}

// A room is a Result with a Room and how it was judged.
type room struct{ check }

// word begins the first line.
func (m room) word() string {
	switch m.Answer {
	case replay.CannotTell:
		return "cannot tell"
	case replay.DoesNotFit:
		return "does not fit"
	}
	if m.rooms().Question.Size > 0 {
		return "fits"
	}
	return "room"
}

func (m room) rooms() *replay.Rooms { return m.result.Room }

// answer says how much room there is, in at most a line.
func (m room) answer() string {
	rooms := m.rooms()
	size := rooms.Question.Size
	if len(rooms.Devices) == 0 {
		return "no program is known to have run"
	}
	on := "no cores"
	switch n := rooms.All.Cores.Len(); {
	case n == 1:
		on = coresText(rooms.All.Cores)
	case n > 1:
		on = "each of " + shown.Plural(n, "core")
	}
	if n := len(rooms.Devices); n > 1 {
		on += " of " + shown.Plural(n, "device")
	}
	throughout := "throughout " + shown.Plural(m.result.Checks.Runs, "program run")
	if m.result.Spec.ArchFrom == event.FromAssumed {
		throughout += fmt.Sprintf(" (%s assumed)", m.result.Spec.Arch)
	}
	largest := "no byte"
	if free := rooms.All.Range; !free.IsEmpty() {
		largest = fmt.Sprintf("%s bytes at %s", grouped(free.Len()), rangeText(free))
	}
	cannot := m.Answer == replay.CannotTell
	switch place := rooms.All.Place; {
	case size > 0 && place.IsEmpty():
		return fmt.Sprintf("%s on %s: at most %s, %s", shown.Plural(size, "byte"), on, largest, throughout)
	case size > 0 && cannot:
		return fmt.Sprintf("as far as is shown, %s bytes fit on %s at %s, %s", grouped(size), on, rangeText(place), throughout)
	case size > 0:
		return fmt.Sprintf("%s on %s at %s, %s", shown.Plural(size, "byte"), on, rangeText(place), throughout)
	case cannot:
		return fmt.Sprintf("at most %s on %s, %s", largest, on, throughout)
	}
	return fmt.Sprintf("%s on %s, %s", largest, on, throughout)
}

// tensor says how many bytes the tensor of the question takes of each core.
func (m room) tensor() []note {
	q := m.rooms().Question
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

// limits says who keeps the room from being larger, and since when.
func (m room) limits() []note {
	r, all := m.result, m.rooms().All
	if len(m.rooms().Devices) == 0 {
		return nil
	}
	notes := []note{{"below", m.limit(all.Below, "the base of circular buffers")}, {"above", m.limit(all.Above, topText(r))}}
	if n := uint64(all.Cores.Len()); n > 1 && r.Spec.L1Size > 0 && !all.Range.IsEmpty() {
		notes = append(notes, note{"together", fmt.Sprintf("%s bytes on the %s of a device", grouped(all.Range.Len()*n), shown.Plural(n, "core"))})
	}
	if all.Range.IsEmpty() {
		notes[0].label, notes[1].label = "lowest", "highest"
	}
	return notes
}

// topText says where usable L1 ends.
func topText(r *replay.Result) string {
	if slices.ContainsFunc(r.Room.Devices, func(d replay.DeviceRoom) bool { return r.SpecOf(d.Device).L1Small > 0 }) {
		return "L1_SMALL, where usable L1 ends"
	}
	return "the end of L1"
}

// limit names what first took bytes; nobody is what stands there otherwise.
func (m room) limit(l *replay.RoomLimit, nobody string) string {
	r := m.result
	switch {
	case l == nil:
		return nobody
	case l.Program != nil:
		text := "program " + runText(r, *l.Program, 60)
		if l.Enqueue != l.Program.At {
			text += ", enqueued at " + r.Where(l.Enqueue, l.T)
		}
		return text
	}
	text := l.Buffer.Kind.String()
	if l.Buffer.PerCore.OK {
		text += fmt.Sprintf(" of %s bytes", grouped(l.Buffer.PerCore.V))
	}
	return text + ", " + whose(r, l.Buffer.Op, l.Buffer.At, l.Buffer.T, 60)
}

// unfit says what does not fit as it is, and when a size has no place.
func (m room) unfit() (notes []note) {
	rooms, k := m.rooms(), &m.result.Checks
	if size := rooms.Question.Size; size > 0 && rooms.All.Place.IsEmpty() && len(rooms.Tight) == 0 && k.Runs > 0 {
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
	rooms := m.rooms()
	devices := make([]replay.Device, len(rooms.Devices))
	of := map[*replay.Device]*replay.DeviceRoom{}
	for i := range rooms.Devices {
		d := &rooms.Devices[i]
		devices[i] = replay.Device{ID: d.Device, Kind: d.Kind, Chips: d.Chips}
		of[&devices[i]] = d
	}
	folds := foldDevices(devices, func(d *replay.Device) string { return fmt.Sprint(of[d].Room, of[d].Groups) })
	for _, f := range folds {
		d := of[f.first]
		if len(folds) == 1 && len(d.Groups) <= 1 {
			return // the first line says it
		}
		t, more := m.table(d.Groups)
		page.table(fmt.Sprintf("room on %s, for a buffer on some cores alone", f.where()), t, more)
	}
}

// table returns a table of rooms, and what it leaves out.
func (m room) table(groups []replay.Room) (t table, more string) {
	size := m.rooms().Question.Size
	t = table{left: map[int]bool{4: true, 5: true, 6: true}, most: 24}
	head := []string{"bytes", "start", "end", "fits at", "cores", "below", "above"}
	if size == 0 {
		t.left, head = map[int]bool{3: true, 4: true, 5: true}, slices.Delete(head, 3, 4)
	}
	t.add(head...)
	for _, g := range groups[:min(len(groups), maxRooms)] {
		start, end, at := "-", "-", "-"
		if !g.Range.IsEmpty() {
			start, end = grouped(g.Range.Start), grouped(g.Range.End)
		}
		if !g.Place.IsEmpty() {
			at = grouped(g.Place.Start)
		}
		cells := []string{grouped(g.Range.Len()), start, end}
		if size > 0 {
			cells = append(cells, at)
		}
		cells = append(cells, fmt.Sprintf("%s %s", grouped(g.Cores.Len()), coreRanges(g.Cores)), m.short(g.Below, "the base", 24))
		t.named(func(n int) string { return m.short(g.Above, "the top", n) }, cells...)
	}
	if n := len(groups) - maxRooms; n > 0 {
		more = fmt.Sprintf("%s more: --format json shows all", grouped(n))
	}
	return t, more
}

// short names what first took bytes in a cell of a table.
func (m room) short(l *replay.RoomLimit, nobody string, n int) string {
	switch r := m.result; {
	case l == nil:
		return nobody
	case l.Program != nil:
		return runText(r, *l.Program, n)
	default:
		return l.Buffer.Kind.String() + " " + whose(r, l.Buffer.Op, l.Buffer.At, l.Buffer.T, n)
	}
}

// writeTight writes the program runs beside which a size has no place.
func (m room) writeTight(page *page) {
	rooms, r := m.rooms(), m.result
	if len(rooms.Tight) == 0 {
		return
	}
	t := table{left: map[int]bool{4: true}, most: 60}
	t.add(r.NodeWord(), "room then", "times", "device", "program")
	list := rooms.Tight[:min(len(rooms.Tight), maxRooms)]
	for _, x := range list {
		t.named(func(n int) string { return runText(r, x.Run, n) }, fmt.Sprint(x.Enqueue), grouped(x.Range.Len()), grouped(x.Times), deviceName(r, x.Device))
	}
	more := ""
	if n := int64(len(rooms.Tight)-len(list)) + rooms.TightMore; n > 0 {
		more = fmt.Sprintf("%s more: --format json shows them", grouped(n))
	}
	page.table(fmt.Sprintf("program runs beside which there is no place for %s bytes, at that moment alone", grouped(rooms.Question.Size)), t, more)
}
