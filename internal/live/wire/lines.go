package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// The codes of facts that lines leave out. A Teller has more codes.
const (
	CodeNoAddresses  = "no-addresses"  // an anomaly: lines of CBs name none, and each counts as if it lay alone
	CodeRounded      = "rounded"       // an anomaly: a size of six digits, which stands for several
	CodeOtherLines   = "other-lines"   // an anomaly: lines that no server writes
	CodeLinesMissing = "lines-missing" // something hidden: a line says that others are not there, or that the server took no notice of a record
)

// maxLine is the longest line that is read, in bytes. Lines of a server are shorter.
const maxLine = 64 << 10

// IsLines reports whether an input that starts like this is the output of an allocation server: one
// of its whole first lines is a line of a server.
func IsLines(start []byte) bool {
	for line := range bytes.Lines(start) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		if s, ok := readLine(lineText(line)); whole && ok && !s.idle {
			return true
		}
	}
	return false
}

func lineText(raw []byte) string {
	return string(bytes.TrimPrefix(bytes.TrimRight(raw, "\r\n"), []byte("\xef\xbb\xbf")))
}

// Lines read the output of an allocation server: the protocol's or ours, as text or as seeds. They
// must be made by NewLines, and belong to one goroutine.
type Lines struct {
	in   *bufio.Reader
	file string
	pos  event.Pos
	next int64 // offset of the next line
	out  []event.Event

	ledger  *Ledger
	teller  Teller
	crowds  crowds
	died    map[Type]int // what the dead process at hand had
	bare    bool         // the event about CBs without addresses was yielded
	rounded count
	others  count
}

// A count is how often something was so, and the event behind which it was first.
type count struct{ times, first int64 }

func (c *count) add(at int64) {
	if c.times++; c.times == 1 {
		c.first = at
	}
	c.times = min(c.times, math.MaxInt32)
}

// NewLines returns the lines in r. The name file is only shown in errors.
func NewLines(r io.Reader, file string) *Lines {
	return &Lines{in: bufio.NewReaderSize(r, maxLine), file: file, ledger: NewLedger(), crowds: newCrowds()}
}

// Events returns the events of the lines, in their order; the first event is the header. The last
// pair has a nil event and an *event.InputError if they cannot be read to their end. Events can be
// called once. An event is valid until the next one.
//
// A line leaves facts out. A CB has no address, and counts as if it lay alone on every core, the
// most that it can take. A size may be rounded. Among several things that are alike, the choice of
// the freed one changes no figure. A total, a count of references or a free may show that lines are
// missing: then an event marks something hidden. Cost: O(1) a line, and O(log n) for each lot that
// it removes.
func (l *Lines) Events() iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		for _, e := range l.teller.Header() {
			l.tell(e)
		}
		if l.flush(yield) {
			l.read(yield)
		}
	}
}

func (l *Lines) read(yield func(*event.Event, error) bool) {
	for {
		l.pos.Line++
		l.pos.Offset = l.next
		raw, err := l.line()
		if err != nil && !errors.Is(err, io.EOF) {
			yield(nil, &event.InputError{File: l.file, Offset: l.pos.Offset, Line: l.pos.Line, Node: -1, Reason: "cannot read on: " + err.Error(), Err: err})
			return
		}
		said, ok := readLine(lineText(raw))
		switch {
		case ok:
			l.take(&said)
		case err != nil && len(raw) > 0:
			l.tell(event.Event{Kind: event.KindTorn})
		default:
			l.others.add(l.pos.Node)
		}
		if err != nil {
			l.finish()
		}
		if !l.flush(yield) || err != nil {
			return
		}
	}
}

// line returns the next line, and io.EOF with the last one. Of one that is too long it
// returns the last part, which is no line of a server.
func (l *Lines) line() ([]byte, error) {
	long := false
	for {
		raw, err := l.in.ReadSlice('\n')
		l.next += int64(len(raw))
		if errors.Is(err, bufio.ErrBufferFull) {
			long = true
			continue
		}
		if long {
			raw = []byte("…")
		}
		return raw, err
	}
}

// finish yields the counted anomalies.
func (l *Lines) finish() {
	for _, c := range []struct {
		code string
		count
	}{{CodeRounded, l.rounded}, {CodeOtherLines, l.others}} {
		if c.times > 0 {
			l.tell(event.Event{Kind: event.KindAnomaly, Code: c.code, Count: c.times, Node: uint64(c.first), Pos: l.pos})
		}
	}
}

// tell queues an event to be yielded.
func (l *Lines) tell(e event.Event) {
	if e.Pos == (event.Pos{}) {
		e.Pos, e.Node = l.pos, uint64(l.pos.Node)
	}
	l.pos.Node++
	l.out = append(l.out, e)
}

func (l *Lines) flush(yield func(*event.Event, error) bool) bool {
	for i := range l.out {
		if !yield(&l.out[i], nil) {
			return false
		}
	}
	clear(l.out)
	l.out = l.out[:0]
	return true
}

// missing queues an event for a line that shows the lack of an earlier one.
func (l *Lines) missing(s *statement, format string, args ...any) {
	e := event.Event{Kind: event.KindHidden, Code: CodeLinesMissing, Count: 1, Detail: fmt.Sprintf(format, args...)}
	if s.typ != 0 && !s.removed {
		e.Devices = on(&Lot{Device: s.device})
	}
	l.tell(e)
}

// take applies a line.
func (l *Lines) take(s *statement) {
	switch {
	case s.idle:
	case s.lost:
		l.tell(event.Event{Kind: event.KindHidden, Code: CodeLost, Count: 1, Detail: "a client was closed; what it was about cannot be told"})
	case s.left:
		l.missing(s, "lines were not printed")
	case s.what == Refused:
		l.missing(s, "the server took no notice of a record")
	case s.dead:
		l.release(s)
	case s.removed:
		l.removed(s)
	case s.typ == TypeAlloc:
		l.buffer(s)
	default:
		l.sum(s)
	}
}

// apply applies the record that a line stands for, and queues its events.
func (l *Lines) apply(s *statement, typ Type, id uint64) Effect {
	if s.device > MaxDevice {
		l.ledger.Declare(s.device, false)
	}
	r := Record{Type: typ, Device: s.device, Size: s.size.bytes, Kind: s.kind, ID: id}
	e, err := l.ledger.Apply(ownerOf(s.pid), s.pid, &r)
	if err != nil || e.What == Refused {
		l.missing(s, "%v of %d bytes cannot be", typ, s.size.bytes)
		return e
	}
	e.Leaked = s.dead
	l.told(&e)
	return e
}

// told queues the events of an effect. Facts that a line leaves out are not shown.
func (l *Lines) told(e *Effect) {
	for _, told := range l.teller.Tell(e) {
		if told.Process == "0" {
			told.Process = ""
		}
		switch {
		case told.Kind == event.KindProgram:
			told.Name = "CB of " + l1.Bytes(e.Lot.Size).Exact() + " bytes"
			told.CBs[0].Synthesised = true
		case told.Kind == event.KindAllocate && e.Lot.Type == TypeKernelLoad:
			told.Buffer.Name = KernelKind(e.Lot.Kind) + " kernel"
		}
		l.tell(told)
	}
}

func ownerOf(pid int32) Client { return Client(uint32(pid)) }

// release releases the lots of a dead process.
func (l *Lines) release(s *statement) {
	l.died = map[Type]int{}
	if s.pid == 0 {
		return // 0 stands for several processes
	}
	for _, e := range l.ledger.Release(ownerOf(s.pid)) {
		l.died[e.Type]++
		if e.Type != TypeAlloc { // the last that came goes first, here and there
			l.crowds.pop(spot{e.Type, e.Device}, like{e.Lot.Size, e.Owner, e.Lot.Kind})
		}
		l.told(&e)
	}
}

// removed applies the number of lots that went with a dead process. If the count equals the lots of
// the process and all lots without one, the latter are gone too.
func (l *Lines) removed(s *statement) {
	mine, all := l.died[s.typ], l.crowds.nobodys[s.typ]
	switch {
	case s.typ != TypeAlloc && all.n > 0 && s.refs == mine+all.n && (mine > 0 || all.near(s.size)):
		for _, at := range l.crowds.spots(s.typ) {
			l.empty(at, true)
		}
	case s.refs != mine:
		l.missing(s, "which %d of a dead process went", s.refs)
	}
}

// buffer applies a line of a buffer, which has its id.
func (l *Lines) buffer(s *statement) {
	k := key{TypeAlloc, s.device, s.id}
	was := l.ledger.refs[k]
	switch s.what {
	case Came, CameAgain:
		if was != s.refs-1 {
			l.missing(s, "buffer 0x%x has %d references, where lines account for %d", s.id, s.refs, was+1)
		}
		if s.what == Came {
			l.freeAll(s, k)
		}
		l.apply(s, TypeAlloc, s.id)
	case Left, Gone:
		if was != s.refs+1 || l.ledger.live.first(bySerial, k.lot()).Size != s.size.bytes {
			l.missing(s, "%d bytes of buffer 0x%x are freed to %d references, where lines account for %d before", s.size.bytes, s.id, s.refs, was)
		}
		if was > 0 {
			l.apply(s, TypeFree, s.id)
		}
		if s.what == Gone {
			l.freeAll(s, k)
		}
	default:
		l.missing(s, "buffer 0x%x was freed that is not known", s.id)
		l.freeAll(s, k)
	}
}

// freeAll removes all remaining references to a buffer.
func (l *Lines) freeAll(s *statement, k key) {
	for l.ledger.refs[k] > 0 {
		last := l.ledger.live.last(bySerial, k.lot())
		l.apply(&statement{typ: TypeAlloc, device: s.device, pid: last.PID}, TypeFree, s.id)
	}
}

// sum applies a line of a CB or kernel, which has a total in place of an id.
func (l *Lines) sum(s *statement) {
	at := spot{s.typ, s.device}
	alike := like{s.size.bytes, ownerOf(s.pid), s.kind}
	switch {
	case s.what == Unknown:
		l.missing(s, "a %v was freed that is not known", s.typ)
		return
	case s.what == Came:
		if s.total.spells(s.size) && !l.accounts(s, at, s.size.bytes, s.size.most-s.size.least) {
			l.begins(s, at)
		}
		l.came(s, at, alike)
	case !l.gone(s, at, alike):
		l.missing(s, "%d bytes of a %v were freed that no line brought", s.size.bytes, s.typ)
	case s.total == amount{} && !l.accounts(s, at, 0, 0):
		l.begins(s, at)
	}
	l.account(s, at)
}

// spells reports whether two amounts may be the same.
func (a amount) spells(b amount) bool { return a.least <= b.most && b.least <= a.most }

// begins empties a spot when a total shows that only the lot of its line lives there.
func (l *Lines) begins(s *statement, at spot) {
	l.missing(s, "the total says that nothing else lives")
	l.empty(at, false)
	delete(l.crowds.off, at)
}

func (l *Lines) came(s *statement, at spot, alike like) {
	if s.size.most > s.size.least {
		l.rounded.add(l.pos.Node)
	}
	if s.typ == TypeCBAlloc && !l.bare {
		l.bare = true
		l.tell(event.Event{Kind: event.KindAnomaly, Code: CodeNoAddresses, Count: 1})
	}
	id := l.crowds.id(at, s.size.bytes)
	if e := l.apply(s, s.typ, id); e.What == Came {
		l.crowds.push(at, alike, namelessLot{id, s.size.most - s.size.least})
	}
	l.crowds.forget(at) // where it was refused
}

// gone removes one of several that are alike, and reports whether there was one.
func (l *Lines) gone(s *statement, at spot, alike like) bool {
	n, ok := l.crowds.pop(at, alike)
	if ok {
		l.apply(s, s.typ+1, n.id) // the type of its free
	}
	return ok
}

// empty removes all things at a spot, or the ones that no line gives to a process.
func (l *Lines) empty(at spot, nobodys bool) {
	for _, alike := range l.crowds.kinds(at) {
		pid := int32(uint32(alike.owner))
		s := statement{typ: at.brings, device: at.device, pid: pid, size: exactly(alike.size), kind: alike.kind, dead: nobodys}
		for (!nobodys || pid == 0) && l.gone(&s, at, alike) {
		}
	}
}

// accounts reports whether the lines account for the total of one, which brings more.
func (l *Lines) accounts(s *statement, at spot, more, wide uint64) bool {
	off, sum := l.crowds.off[at], l.ledger.Totals(s.device).sum(s.typ)
	wide += l.crowds.wide(at)
	least, most := sumOf(s.total.least, off.below), sumOf(s.total.most, off.below, wide)
	known := sumOf(sum, more, off.above)
	return !off.wrapped && s.total.known() && !known.plus(wide).less(least) && !most.less(known)
}

// account reports a total that the lines do not account for, once for all lines that follow.
func (l *Lines) account(s *statement, at spot) {
	sum := l.ledger.Totals(s.device).sum(s.typ)
	switch {
	case l.accounts(s, at, 0, 0), !s.total.known() && l.crowds.off[at].wrapped:
	case !s.total.known():
		l.missing(s, "the total has wrapped")
		l.crowds.off[at] = gap{wrapped: true}
	default:
		l.missing(s, "the total is %s bytes, where lines account for %s", l1.Bytes(s.total.bytes).Exact(), l1.Bytes(sum).Exact())
		l.crowds.off[at] = gap{above: s.total.bytes - min(s.total.bytes, sum), below: sum - min(s.total.bytes, sum)}
	}
}
