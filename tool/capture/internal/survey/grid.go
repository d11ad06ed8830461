package survey

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A Grid is the cores of a device on which interleaved buffers lie, and who says so.
type Grid struct {
	Cols, Rows int
	Cores      l1.CoreSet
	From       event.Source // FromFile or FromAssumed
}

// Grids find the grid of each id: as the file says or else the largest of the architecture, with all
// cores that the capture shows.
type Grids struct {
	specs *Specs
	known *Knowledge
	byID  map[device.ID]*Grid
	last  Grid // that was found: most are alike, and share their cores

	boards []l1.Spec
}

// Of returns the grid of an id as it stands.
func (g *Grids) Of(id device.ID) *Grid {
	if g.byID[id] == nil {
		g.byID[id] = g.find(id)
	}
	return g.byID[id]
}

func (g *Grids) find(id device.ID) *Grid {
	found := &Grid{From: event.FromAssumed}
	infos := g.known.Rows
	unread := unreadable(infos) // the first one may be that of the id
	for _, d := range infos {
		if unread && device.ID(d.ID) != id || !legalGrid(d) || found.From == event.FromFile && device.ID(d.ID) != id {
			continue
		}
		found.Cols, found.Rows, found.From = int(d.GridX.V), int(d.GridY.V), event.FromFile
	}
	if found.From == event.FromAssumed {
		if g.boards == nil {
			g.boards = l1.Boards()
		}
		for _, board := range g.boards {
			if board.Arch == g.specs.Spec().Arch && board.Cols*board.Rows > found.Cols*found.Rows {
				found.Cols, found.Rows = board.Cols, board.Rows
			}
		}
		found.Cols, found.Rows = max(found.Cols, int(g.known.seen.X)+1), max(found.Rows, int(g.known.seen.Y)+1)
	}
	if last := g.last; last.Cols != found.Cols || last.Rows != found.Rows {
		g.last = *found
		g.last.Cores = l1.Spec{Cols: found.Cols, Rows: found.Rows}.Grid().Cores()
	}
	found.Cores = g.last.Cores
	return found
}

func legalGrid(d graph.Device) bool {
	return d.GridX.V >= 1 && d.GridX.V <= 256 && d.GridY.V >= 1 && d.GridY.V <= 256
}
