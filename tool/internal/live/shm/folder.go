package shm

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Folder is where regions are.
const Folder = "/dev/shm"

// The name of a file is this, with the number of a chip between.
const (
	prefix = "tt_device_"
	suffix = "_memory"
)

// Name returns the name of the file of a chip.
func Name(asic uint64) string { return prefix + strconv.FormatUint(asic, 10) + suffix }

// A RegionFile is the file of a region.
type RegionFile struct {
	Path string
	ASIC uint64
}

// List finds the regions of a folder, by the numbers of their chips, ascending. It reads names
// alone.
func List(folder string) ([]RegionFile, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []RegionFile
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), prefix)
		number, ok2 := strings.CutSuffix(number, suffix)
		asic, err := strconv.ParseUint(number, 10, 64)
		if ok && ok2 && err == nil && Name(asic) == e.Name() {
			out = append(out, RegionFile{filepath.Join(folder, e.Name()), asic})
		}
	}
	slices.SortFunc(out, func(a, b RegionFile) int { return cmp.Compare(a.ASIC, b.ASIC) })
	return out, nil
}

// Open maps the region of a file, to be read. The error is a *SizeError, ErrPlatform, or one
// of the system; links are not followed.
func Open(path string) (*Region, error) { return open(path) }

// Create maps the region of a chip in a folder, to be written. A missing file is made, with
// permissions for its owner alone; a file of another size than Size is not touched. The file stays
// for good, as tt-metal's does. Errors are the same as Open's.
func Create(folder string, asic uint64) (*Region, error) {
	return create(filepath.Join(folder, Name(asic)))
}

// Alive reports whether a process lives, by the rule of tt-metal: also one of another user does.
func Alive(pid int32) bool { return alive(pid) }
