package suite

import (
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Tracker counts the bytes of programs on devices: the operations of a device.Fleet in plain
// types. A device is named by its id, a mesh by its number, from 0 in the order in which meshes
// were added. The oracle, model.Fleet, is one, and its comments describe each method.
//
// Ids are given in any order and may repeat. They come back ascending, each once; no ids may be nil
// or empty. An error comes without results, and nothing has changed.
type Tracker interface {
	gen.Mover

	Devices() []uint64
	Programs() []program.ID
	Where(id program.ID) []uint64
	ProgramsOn(id uint64) []program.ID
	Totals(id uint64) (model.Totals, error)
	MeshTotals(mesh int) (model.Totals, error)
	Core(id uint64, core l1.Core) model.CoreTotals
	Regions(id uint64, core l1.Core) []l1.Range
	Owners(id uint64, core l1.Core, addr uint64) []program.ID
	Resident(id uint64, core l1.Core) (p program.ID, regions []l1.Range, ok bool)

	Buffers(id uint64) []model.Buffer
	Usage(id uint64, registered bool) model.Usage
	CoreUsage(id uint64, core l1.Core, registered bool) model.Usage
	Residents(id uint64, core l1.Core, registered bool) []model.Resident
	Moment(id uint64, without ...uint64) model.Moment

	Check(p *program.Program, ids []uint64) (model.Verdict, error)
	Headroom(p *program.Program, ids []uint64) ([]model.Headroom, error)
	Room(mode model.Mode, cores l1.CoreRangeSet, ids []uint64) (l1.Range, error)
	MayGrow(p *program.Program, cb int, ids []uint64) (bytes uint64, ok bool, err error)
}

var _ Tracker = (*model.Fleet)(nil)

// checker is an optional interface of a Tracker or Counter.
type checker interface {
	CheckInvariants() error
}

// witness is an optional interface of a Tracker.
type witness interface {
	Played(m gen.Move, err error) error
}
