package capture

import (
	"errors"
	"iter"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
	"github.com/cbl1/cbl1/tool/dump"
)

// Events opens the capture and returns its events; see Reader.Events. An event log yields its own events. A
// file that was written to between its two readings is refused with event.ErrChanged.
func (in Input) Events(opt Options) iter.Seq2[*event.Event, error] {
	return stream(func(yield func(*event.Event, error) bool) error {
		r, err := in.open()
		if err != nil {
			return err
		}
		opt.Again = false
		return r.events(opt, in.Rank, yield)
	})
}

// stream returns what a reading yields, and its error as the last pair.
func stream[T any](read func(yield func(*T, error) bool) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err := read(yield); err != nil && !errors.Is(err, graph.ErrStop) {
			yield(nil, err)
		}
	}
}

// Events returns what happens in the capture, as far as it shows that: the header first, and event.KindEnd
// last. The last pair has a nil event and an *event.InputError if the capture cannot be read to its end. Then
// there are no events before it, but for those of an event log or of a file that changes while it is read.
// Events can be called once, or with Options.Again until Close. An event is valid until the next one is yielded: a caller that keeps it makes
// a copy. The lists in it are shared, stay, and must not be changed.
//
// A capture is read twice, first for its knowledge and then for its events. A source that can seek is read again from
// where it stood. Any other one is kept: in memory up to 1 MiB, beyond that in a file in Options.TempDir, up to
// 8 GiB. The file is removed when Events ends, and on Unix as soon as it is open.
//
// A run comes later than its nodes, when they are complete. Event.Node is then the node that it is about, and
// Event.Pos the place that the source has reached, which never goes back. An event log yields its own events, each as
// soon as its line is read.
func (r *Reader) Events(opt Options) iter.Seq2[*event.Event, error] {
	return stream(func(yield func(*event.Event, error) bool) error { return r.events(opt, event.Opt[uint64]{}, yield) })
}

// events reads a capture for its knowledge, and then for its events. One more reading between them is needed where
// the survey lacks facts. rank counts if the capture does not say it.
func (r *Reader) events(opt Options, rank event.Opt[uint64], yield func(*event.Event, error) bool) error {
	if r.kept {
		next, err := r.again()
		if err != nil {
			return err
		}
		r = next
	} else {
		r.kept = opt.Again
		r.keep(opt.TempDir)
	}
	if !opt.Again {
		defer func() { _ = r.shut() }() // of a file open for reading only
	}
	s := survey.New(survey.NewMembers())
	if isLog, err := r.survey(s, opt, yield); err != nil || isLog {
		return err
	}
	if s.Late {
		again, err := r.again()
		if err != nil {
			return err
		}
		s = survey.New(s.Known.Members)
		s.Again = true
		if _, err := again.survey(s, opt, yield); err != nil {
			return err
		}
	}
	known, lacks, lifts := s.Known, s.Lacks(), s.Planned && s.Placed
	s = nil
	if lacks {
		if err := r.read(known, opt, rank, func(*event.Event, error) bool { return true }); err != nil {
			return err
		}
		if lifts {
			known.FindLifted()
		}
	}
	return r.read(known, opt, rank, yield)
}

// survey reads all nodes, and keeps the facts in them. yield takes the events of an input that is an event log or a dump.
func (r *Reader) survey(s *survey.Survey, opt Options, yield func(*event.Event, error) bool) (isLog bool, err error) {
	r.dump = dump.Options{Arch: opt.Arch, Base: opt.Base, MaxL1: opt.MaxL1, L1Small: opt.L1Small}
	r.log = func(events iter.Seq2[*event.Event, error]) error {
		isLog = true
		for e, err := range events {
			if err != nil {
				return err
			}
			if !yield(e, nil) {
				return graph.ErrStop
			}
		}
		return nil
	}
	r.doc.Listed = s.List
	if opt.Tensors != nil {
		r.doc.Names, s.Uses = true, survey.NewUses(opt.Tensors, s.Known.Members, r.callers())
	}
	if r.part != nil {
		s.SlicesOf()
		r.doc.Ended = s.EndSlice
	}
	defer func() { r.doc = graph.Document{File: r.doc.File} }() // r lives longer, and would keep the survey
	for n, err := range r.nodes() {
		if err != nil {
			return isLog, err
		}
		if r.doc.Object {
			s.MayList()
		}
		s.Next(n)
	}
	if !isLog {
		s.End(opt.overrides(), &r.doc.Info)
	}
	return isLog, nil
}

// read reads the capture once more, for its events.
func (r *Reader) read(known *survey.Knowledge, opt Options, rank event.Opt[uint64], yield func(*event.Event, error) bool) error {
	again, err := r.again()
	if err != nil {
		return err
	}
	return newReading(again, opt, known, rank).run(yield)
}

// A reading is a capture read from its first node to its last for its events: each node passes through the
// operations and the places, and the events of these are yielded.
type reading struct {
	opt        Options
	reader     *Reader
	rank       event.Opt[uint64] // if the capture does not say it
	known      *survey.Knowledge
	operations *operations
	places     *places
	out        *events
	nodes      int64
}

func newReading(r *Reader, opt Options, known *survey.Knowledge, rank event.Opt[uint64]) *reading {
	p, o := newPlaces(known, opt), newOperations(known)
	o.ranMore = p.programs.ranMore
	return &reading{opt: opt, reader: r, rank: rank, known: known, operations: o, places: p, out: p.out}
}

// run reads all nodes and yields their events.
func (r *reading) run(yield func(*event.Event, error) bool) error {
	source := "capture"
	if r.reader.part != nil {
		source = "database"
		r.slice()
	}
	r.out.yield = yield
	r.out.emit(&event.Event{Kind: event.KindHeader, Source: source})
	r.places.declare()
	for n, err := range r.reader.nodes() {
		if err != nil {
			return err
		}
		r.ask(n.Counter)
		r.out.pos = n.Pos
		r.places.next(r.operations.next(n, r.lost()))
		if err := r.failed(); err != nil {
			return err
		}
		r.nodes++
	}
	r.finish()
	return r.failed()
}

// ask completes all open runs behind the node of Options.At, once next is a later node.
func (r *reading) ask(next uint64) {
	if !r.opt.At.OK || next <= r.opt.At.V {
		return
	}
	r.opt.At.OK = false
	r.setPosition()
	r.places.programs.complete(next, r.places.programs.open.from(0))
}

// setPosition says to the third stage where the reading stands behind the node at hand.
func (r *reading) setPosition() { r.places.setPosition(r.operations.now(r.places.at)) }

// failed returns an error if a program of the node at hand cannot be defined, or the caller wants no more events.
func (r *reading) failed() error {
	if e, ok := errors.AsType[*event.InputError](r.out.err); ok {
		e.File = r.reader.doc.File
	}
	return r.out.err
}

// lost reports whether it is not known which functions run.
func (r *reading) lost() bool { return r.places.programs.hidden.calls }
