package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A grid is the cores of a device on which interleaved buffers lie, and who says so.
type grid struct {
	cols, rows int
	cores      l1.CoreSet
	from       event.Source // FromFile or FromAssumed
}

// grids find the grid of each id: as the file says or else the largest of the architecture, with all
// cores that the capture shows.
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

func (g *grids) find(id device.ID) *grid {
	found := &grid{from: event.FromAssumed}
	infos := g.known.rows
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

func legalGrid(d graph.Device) bool {
	return d.GridX.V >= 1 && d.GridX.V <= 256 && d.GridY.V >= 1 && d.GridY.V <= 256
}
