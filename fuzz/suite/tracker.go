package suite

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

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

// invariants checks the invariants of a subject that has a method for it.
func invariants(t *rapid.T, subject any) {
	if c, ok := subject.(checker); ok {
		if err := c.CheckInvariants(); err != nil {
			t.Fatalf("invariants: %v", err)
		}
	}
}

// same compares two values.
func same[E comparable](t *rapid.T, got, want E, what string, args ...any) {
	if got != want {
		t.Fatalf(what+"\n got: %+v\nwant: %+v", append(args, got, want)...)
	}
}

// equal compares two lists; nil and empty are the same.
func equal[E program.ID | uint64 | l1.Range](t *rapid.T, got, want []E, what string, args ...any) {
	if !slices.Equal(got, want) {
		t.Fatalf(what+"\n got: %v\nwant: %v", append(args, got, want)...)
	}
}

// alike compares printed forms: nil and empty are the same.
func alike[E any](t *rapid.T, got, want E, what string, args ...any) {
	if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); a != b {
		t.Fatalf(what+"\n got: %s\nwant: %s", append(args, a, b)...)
	}
}

// sameError compares the errors of a call by their class.
func sameError(t *rapid.T, got, want error, what string, args ...any) {
	if !model.SameError(want, got) {
		t.Fatalf(what+"\n got error: %v\nwant error: %v", append(args, got, want)...)
	}
}
