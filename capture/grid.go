package capture

import (
	"maps"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// A grid is the cores of a device on which interleaved buffers lie, and who says so.
type grid struct {
	cols, rows int
	cores      l1.CoreSet
	from       event.Source // FromFile or FromAssumed
	used       bool         // a queued event depends on it
}

// grids find the grid of each id: as the file says or else the largest of the architecture. An assumed grid
// grows with the cores that the capture shows.
type grids struct {
	specs *specs
	known *knowledge
	byID  map[device.ID]*grid
	last  grid // that was found: most are alike, and share their cores

	boards []l1.Spec
}

// of returns the grid of an id as it stands.
func (g *grids) of(id device.ID) *grid {
	if g.byID[id] == nil {
		g.byID[id] = g.find(id)
	}
	return g.byID[id]
}

// use returns the grid of an id for an event.
func (g *grids) use(id device.ID) *grid {
	found := g.of(id)
	found.used = true
	return found
}

// forget drops the grids that no event has used: the file has better ones now.
func (g *grids) forget() {
	maps.DeleteFunc(g.byID, func(_ device.ID, one *grid) bool { return !one.used })
}

// anyUsed reports whether a queued event depends on a grid.
func (g *grids) anyUsed() bool {
	for _, one := range g.byID {
		if one.used {
			return true
		}
	}
	return false
}

func (g *grids) find(id device.ID) *grid {
	found := &grid{from: event.FromAssumed}
	infos := g.specs.infos()
	unread := unreadable(infos) // the first one may be that of the id
	for _, d := range infos {
		if unread && device.ID(d.ID) != id || !legalGrid(d) || found.from == event.FromFile && device.ID(d.ID) != id {
			continue
		}
		found.cols, found.rows, found.from = int(d.GridX.V), int(d.GridY.V), event.FromFile
	}
	if found.from == event.FromAssumed {
		if g.boards == nil {
			g.boards = l1.Boards()
		}
		for _, board := range g.boards {
			if board.Arch == g.specs.spec().Arch && board.Cols*board.Rows > found.cols*found.rows {
				found.cols, found.rows = board.Cols, board.Rows
			}
		}
		found.cols, found.rows = max(found.cols, int(g.known.seen.X)+1), max(found.rows, int(g.known.seen.Y)+1)
	}
	if last := g.last; last.cols != found.cols || last.rows != found.rows {
		g.last = *found
		g.last.cores = l1.Spec{Cols: found.cols, Rows: found.rows}.Grid().Cores()
	}
	found.cores = g.last.cores
	return found
}

// see records the cores of a node. If an assumed grid turns out to be too small after
// buffers were laid on it, their events have too few cores.
func (g *grids) see(set l1.CoreRangeSet) {
	for r := range set.All() {
		seen := l1.Core{X: max(g.known.seen.X, r.End.X), Y: max(g.known.seen.Y, r.End.Y)}
		if seen == g.known.seen {
			continue
		}
		g.known.seen = seen
		old := g.byID
		g.byID = map[device.ID]*grid{}
		for id, was := range old {
			if is := g.of(id); was.used {
				is.used = true
				if !is.cores.Equal(was.cores) {
					g.known.tooLate(noteMeshLate)
				}
			}
		}
	}
}

// exceed reports whether the capture shows cores outside the grid of a device.
func (g *grids) exceed(d deviceInfo) bool {
	seen := g.known.seen
	return legalGrid(d) && (uint64(seen.X) >= d.GridX.V || uint64(seen.Y) >= d.GridY.V)
}

func legalGrid(d deviceInfo) bool {
	return d.GridX.V >= 1 && d.GridX.V <= 256 && d.GridY.V >= 1 && d.GridY.V <= 256
}
