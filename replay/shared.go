package replay

import (
	"io"
	"iter"
	"sync"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A Shared is a Session that several logs feed (Feed). The zero Shared is empty and ready to
// use; it must not be copied. Its methods may be called at the same time.
type Shared struct {
	// Heard, if not nil, is told of each event after it was applied, and of its *RefusedError, one
	// call after the other. It is set before the first event, and keeps all logs waiting.
	Heard func(e *event.Event, refused error)

	mu      sync.Mutex
	session Session
	unseen  []event.Event // what logs say of what they do not show
}

// Fleet returns the fleet.
func (s *Shared) Fleet() *device.Fleet { return s.session.Fleet() }

// Feed is Session.Stream for a log whose first event, its header, says which session it feeds:
// of is asked, and its error ends the log. Each event is applied as a whole, before or after
// those of other logs, and an answer is about the fleet as it was then. Ids are those of all
// logs; the operations that run are those of this one. Where its events end, what it did
// stays. Nobody waits for w but this log.
func Feed(events iter.Seq2[*event.Event, error], of func(header *event.Event) (*Shared, error), w io.Writer) error {
	var s *Shared
	var own running
	return stream(events, w, func(e *event.Event) (answers [2][]byte, err error) {
		if s == nil {
			if s, err = of(e); err != nil {
				return answers, err
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.session.running = own
		answers, err = s.session.step(e)
		own = s.session.running
		s.see(e)
		if s.Heard != nil {
			s.Heard(e, err)
		}
		return answers, nil
	})
}
