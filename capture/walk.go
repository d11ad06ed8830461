package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// A walk is one reading of a capture: it turns one node after the other into events.
// Each of its parts knows one thing.
type walk struct {
	opt    Options
	reader *Reader
	rank   event.Opt[uint64] // if the capture does not say it

	known     *knowledge
	specs     *specs
	grids     *grids
	units     *units
	functions *functions
	layouts   *layouts
	hits      hits
	buffers   *buffers
	places    places
	upstream  upstreamSums
	unread    unread

	open    openRuns
	heralds heralds
	out     writer
	shows   shows

	past      *past   // nil unless another reading could use it
	attending []guest // by their end
	attended  int     // of the residents that are known
	absent    absentees
	again     bool // this is another reading

	farthest uint64 // largest counter that a connection names

	counter uint64 // of the node at hand
	nodes   int64
	isLog   bool // it is an event log, which speaks for itself

	leaving     guests // buffers that are gone when an operation ends, by their end
	crossed     crossings
	undescribed bool          // no tensor has described a sharded buffer that was told
	placeless   bool          // a buffer without an address may live on behind a window
	starting    []event.Event // room for those of start
}

func newWalk(r *Reader, opt Options, known *knowledge, rank event.Opt[uint64]) *walk {
	s := &specs{opt: opt, known: known, info: &r.info}
	g := &grids{specs: s, known: known, byID: map[device.ID]*grid{}}
	u := newUnits(known.members)
	return &walk{
		opt: opt, reader: r, rank: rank,
		known: known, specs: s, grids: g, units: u, heralds: newHeralds(u), open: openRuns{units: u},
		functions: newFunctions(), layouts: newLayouts(), hits: hits{}, buffers: newBuffers(known), out: newWriter(),
		absent: newAbsentees(), places: newPlaces(known), unread: newUnread(),
	}
}
