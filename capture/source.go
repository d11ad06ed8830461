package capture

import (
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// Events opens the capture and returns its events; see Reader.Events. An event log yields its own events.
// If something at its end changes the meaning of its beginning, the events begin again: one event of
// KindAgain, and then all from a header on. That does not happen to what can be read only once, like a
// pipe, nor with Options.Ahead. A file that is another one when it is read again is refused with
// event.ErrChanged.
func (in Input) Events(opt Options) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		if err := in.events(opt, yield); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

func (in Input) events(opt Options, yield func(*event.Event, error) bool) error {
	r, err := in.open()
	if err != nil {
		return err
	}
	first := newReading(r, opt, newKnowledge(), in.Rank)
	first.remember()
	if first.known.once = !r.rereads(); first.known.once {
		return first.run(yield)
	}
	first.out.mute = first.known.stale
	if opt.Ahead {
		first.out.mute = always
	}
	if err := first.run(yield); err != nil || first.isLog || !opt.Ahead && !first.known.stale() {
		return err
	}
	if !opt.Ahead && !yield(&event.Event{Kind: event.KindAgain, Pos: first.out.pos, Node: first.places.at}, nil) {
		return errStop
	}
	known := newKnowledge()
	known.before.mute, known.badRows = first.known.before.mute, first.known.badRows
	if first.known.stale() {
		known = first.known
		clear(known.late)
	}
	if known == first.known && first.places.programs.mayDiffer(first.places.shows.recorded) {
		// Other knowledge changes which programs are settled, and where each starts.
		clear(known.settled)
		known.bottom = newBottom()
		middle, err := in.readAgain(r, opt, known)
		if err != nil {
			return err
		}
		middle.out.mute = always
		if err := middle.run(yield); err != nil {
			return err
		}
		clear(known.late)
	}
	last, err := in.readAgain(r, opt, known)
	if err != nil {
		return err
	}
	return last.run(yield)
}

// always silences a reading that is made for its knowledge alone.
func always() bool { return true }

// readAgain opens an input for another reading.
func (in Input) readAgain(r *Reader, opt Options, known *knowledge) (*reading, error) {
	again, err := in.open()
	if err != nil {
		return nil, err
	}
	if err := again.sameAs(r); err != nil {
		return nil, err
	}
	return newReading(again, opt, known, in.Rank), nil
}

// Events returns what happens in the capture, as far as it shows that: the header first, and event.KindEnd
// last. The last pair has a nil event and an *event.InputError if the capture cannot be read to its end.
// Events can be called once. An event is valid until the next one is yielded: a caller that keeps it makes
// a copy. The lists in it are shared, stay, and must not be changed.
//
// Some events come later than their nodes: a run when its nodes are complete, a sharded buffer when its
// cores are known. Event.Node is then the node that it is about, and Event.Pos the place that the source
// has reached, which never goes back. The capture is read once; if that misplaces something, an anomaly
// says so. An event log yields its own events.
func (r *Reader) Events(opt Options) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		known := newKnowledge()
		known.once = true
		only := newReading(r, opt, known, event.Opt[uint64]{})
		only.remember()
		err := only.run(yield)
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// A reading is a capture read once, from its first node to its last: each node passes through the
// operations and the places, and the events of these are yielded.
type reading struct {
	opt        Options
	reader     *Reader
	rank       event.Opt[uint64] // if the capture does not say it
	known      *knowledge
	operations *operations
	places     *places
	past       *past // nil in a reading that knows it already
	out        *events
	nodes      int64
	isLog      bool // it is an event log, which speaks for itself
}

func newReading(r *Reader, opt Options, known *knowledge, rank event.Opt[uint64]) *reading {
	p := newPlaces(known, opt, &r.info)
	o := newOperations(known)
	return &reading{opt: opt, reader: r, rank: rank, known: known, operations: o, places: p, out: p.out}
}

// remember has the reading gather the traces of buffers from before the capture.
func (r *reading) remember() {
	r.past = newPast(r.known.members)
	r.places.memory.past = r.past
}

// run reads all nodes and yields their events.
func (r *reading) run(yield func(*event.Event, error) bool) error {
	r.reader.log = func(events iter.Seq2[*event.Event, error]) error {
		r.isLog = true
		for e, err := range events {
			if err != nil {
				return err
			}
			if !yield(e, nil) {
				return errStop
			}
		}
		return nil
	}
	r.reader.listed = r.lists()
	if r.reader.part != nil {
		r.slice()
	}
	for n, err := range r.reader.nodes() {
		if err != nil {
			return err
		}
		if r.nodes == 0 {
			r.begin()
		}
		r.ask(n.Counter)
		r.out.pos = n.Pos
		r.places.next(r.operations.next(n, r.lost()))
		if err := r.failed(); err != nil {
			return err
		}
		r.nodes++
		if err := r.out.flush(yield); err != nil {
			return err
		}
	}
	if r.isLog {
		return nil
	}
	if r.nodes == 0 {
		r.begin()
	}
	r.finish()
	if err := r.failed(); err != nil {
		return err
	}
	return r.out.flush(yield)
}

// begin writes the header, and the units that an earlier reading has met, so that none
// comes late.
func (r *reading) begin() {
	source := "capture"
	if r.reader.part != nil {
		source = "database"
	}
	if r.past != nil {
		r.past.time.listable = r.reader.object && !r.known.once // else lists are not read
	}
	r.out.tell(&event.Event{Kind: event.KindHeader, Source: source})
	for _, id := range slices.SortedFunc(maps.Keys(r.known.members.met), byID) {
		r.places.meet(id)
	}
}

// ask completes all open runs behind the node of Options.At, once next is a later node.
func (r *reading) ask(next uint64) {
	if !r.opt.At.OK || next <= r.opt.At.V {
		return
	}
	r.opt.At.OK = false
	r.stand()
	r.places.settle()
	r.places.complete(next, r.places.programs.open.all())
	r.places.devices.declareAgain(r.places.at)
}

// stand says to the third stage where the reading stands behind the node at hand.
func (r *reading) stand() { r.places.stand(r.operations.now(r.places.at)) }

// failed returns an error if a program of the node at hand cannot be defined. No event of the node
// is yielded then.
func (r *reading) failed() error {
	e := r.places.programs.err
	if e == nil {
		return nil
	}
	e.File = r.reader.file
	return e
}

// lost reports whether it is not known which functions run.
func (r *reading) lost() bool { return r.places.programs.hidden.calls }

// lists returns the function that receives the rows of per_operation_buffers, nil if they are skipped. In
// an input that can be read once a listed buffer may have been in the way: it is hidden.
func (r *reading) lists() func(listedBuffer) {
	switch {
	case r.past == nil:
		return nil
	case r.known.once:
		return func(row listedBuffer) {
			if row.kind == fit.KindL1 || row.kind == fit.KindL1Small {
				r.out.hidden[hiddenListed] = &note{count: 1, first: wholeFile}
			}
		}
	}
	return r.past.census.add
}
