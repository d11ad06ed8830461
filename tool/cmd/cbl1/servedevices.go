package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// devicesFlag are devices of a running system: 0-7=n150 are eight boards, 8=n150:24GiB is one with
// other DRAM, 32=mesh:0-7 is the id of a mesh of eight chips.
type devicesFlag []wire.DeclaredDevice

// mostDevices is how many devices one flag may name.
const mostDevices = 1 << 16

func (f *devicesFlag) Set(s string) error {
	added := slices.Clone(*f)
	for text := range strings.SplitSeq(s, ",") {
		names, what, ok := strings.Cut(text, "=")
		ids, err := deviceIDs(names)
		if !ok || err != nil {
			return errors.New("want devices like 0-7=n150 or 32=mesh:0-7")
		}
		like, err := deviceLike(what)
		if err != nil {
			return err
		}
		for _, id := range ids {
			like.ID = id
			added = append(added, like)
		}
	}
	if err := checkDevices(added); err != nil {
		return err
	}
	*f = added
	return nil
}

// checkDevices verifies that each id stands once, for a device or for a mesh, or for a mesh and its first chip. It gives
// meshes the board of their first chip.
func checkDevices(devices []wire.DeclaredDevice) error {
	boards, meshes := map[int32]l1.Spec{}, map[int32]int32{} // with their first chip
	for _, d := range devices {
		_, board := boards[d.ID]
		first, mesh := meshes[d.ID]
		switch {
		case board && d.Chips == nil, mesh && d.Chips != nil, mesh && first != d.ID, board && d.Chips[0] != d.ID:
			return fmt.Errorf("device %d comes twice", d.ID)
		case d.Chips == nil:
			boards[d.ID] = d.Spec
		default:
			meshes[d.ID] = d.Chips[0]
		}
	}
	for i := range devices {
		d := &devices[i]
		for _, id := range d.Chips {
			if first, mesh := meshes[id]; mesh && first != id {
				return fmt.Errorf("mesh %d: its chip %d is a mesh", d.ID, id)
			}
		}
		if d.Chips != nil && boards[d.Chips[0]].Name != "" {
			d.Spec = boards[d.Chips[0]]
		}
	}
	return nil
}

// deviceIDs reads an id, or the first and the last of some.
func deviceIDs(text string) ([]int32, error) {
	from, to, both := strings.Cut(text, "-")
	if !both {
		to = from
	}
	first, err := parseWhole(from)
	last, err2 := parseWhole(to)
	if err = errors.Join(err, err2); err != nil || last < first || last > math.MaxInt32 || last-first >= mostDevices {
		return nil, errors.New("no devices")
	}
	var ids []int32
	for id := first; id <= last; id++ {
		ids = append(ids, int32(id))
	}
	return ids, nil
}

// deviceLike reads what devices are.
func deviceLike(what string) (d wire.DeclaredDevice, err error) {
	if chips, mesh := strings.CutPrefix(what, "mesh:"); mesh {
		if d.Chips, err = deviceIDs(chips); err != nil {
			return d, fmt.Errorf("mesh of %q: want chips like 0-7", chips)
		}
		d.Spec = l1.Spec{Name: "mesh", Cols: 1, Rows: 1}
		return d, nil
	}
	what, dram, more := strings.Cut(what, ":")
	if more {
		bytes, err := l1.ParseBytes(dram)
		if err != nil || bytes < 1<<20 || bytes > l1.MaxAddr { // 6 stands for 6GiB
			return d, fmt.Errorf("DRAM of %q: want 1MiB or more, like 12GiB", dram)
		}
		d.DRAM = uint64(bytes)
	}
	var ok bool
	if d.Spec, ok = l1.Board(what); ok {
		return d, nil
	}
	return d, fmt.Errorf("board %q: want one of %s", what, strings.Join(boards(), ", "))
}

// boards are the names of boards.
func boards() (names []string) {
	for _, board := range l1.Boards() {
		names = append(names, board.Name)
	}
	return names
}
