package model

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Room returns the longest run of bytes, the highest of equals, that one more L1 buffer could have
// on each of the given cores of each of the devices, allocated in a mode: free of other buffers, above
// the programs on these cores, and above the ends that tt-metal compares with it. In lockstep and in range lockstep
// it is at one address. Per core each core has a run of its own: the shortest counts, the lowest of equals. An empty
// set means all cores of the grid, or all cores in use if there is no grid. Without devices there is none.
func (f *Fleet) Room(mode Mode, cores l1.CoreRangeSet, ids []uint64) (l1.Range, error) {
	devices, err := f.find(ids)
	if err != nil || len(devices) == 0 {
		return l1.Range{}, err
	}
	on := covered(cores)
	for _, d := range devices {
		for c := range f.held(d) {
			if len(covered(cores)) == 0 {
				on[c] = true
			}
		}
	}
	if mode != PerCore {
		return f.run(mode, on, devices), nil
	}
	sets := []map[l1.Core]bool{}
	for c := range on {
		sets = append(sets, map[l1.Core]bool{c: true})
	}
	if len(on) == 0 {
		sets = append(sets, on)
	}
	var least *l1.Range
	for _, d := range devices {
		for _, one := range sets {
			r := f.run(mode, one, []*device{d})
			if least == nil || r.Len() < least.Len() || r.Len() == least.Len() && r.Start < least.Start {
				least = &r
			}
		}
	}
	return *least, nil
}

// run returns the longest run of bytes at one address on some cores of devices.
func (f *Fleet) run(mode Mode, on map[l1.Core]bool, devices []*device) (best l1.Range) {
	edges := []uint64{0, l1.MaxAddr}
	for _, d := range devices {
		edges = append(edges, f.edges(d)...)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var run l1.Range
	for i, a := range edges[:len(edges)-1] { // up to the next edge all bytes are like the first
		if slices.ContainsFunc(devices, func(d *device) bool { return f.bars(d, mode, on, a) }) {
			run = l1.Range{}
			continue
		}
		if run.IsEmpty() {
			run.Start = a
		}
		run.End = edges[i+1]
		fits := run
		for unaligned(fits.Start, devices) && fits.Start < fits.End {
			fits.Start++
		}
		for unaligned(fits.End, devices) && fits.Start < fits.End {
			fits.End--
		}
		if !fits.IsEmpty() && fits.End-fits.Start >= best.End-best.Start {
			best = fits
		}
	}
	return best
}

// held returns the cores of the grid of a device, or the cores in use if it has none.
func (f *Fleet) held(d *device) map[l1.Core]bool {
	on := covered(d.spec.Grid())
	if d.spec.Cols > 0 {
		return on
	}
	for _, a := range d.live {
		for c := range a.starts() {
			on[c] = true
		}
		if !a.Backing {
			maps.Copy(on, covered(a.Hidden))
		}
	}
	for _, r := range f.on(d) {
		for c := range r.picture.named {
			if own := r.picture.all(c); !own.empty() {
				on[c] = true
			}
		}
	}
	return on
}

// edges are the addresses at which anything begins or ends on a device.
func (f *Fleet) edges(d *device) []uint64 {
	out := []uint64{d.spec.Usable().Start, d.spec.Usable().End}
	for _, a := range d.live {
		for c, start := range a.starts() {
			out = append(out, start)
			for _, r := range a.residents(c) {
				out = append(out, r.Range.Start, r.Range.End)
			}
		}
	}
	for _, r := range f.programs {
		for c := range r.picture.named {
			own := r.picture.all(c)
			out = append(out, own.end())
		}
		for _, e := range slices.Concat(r.picture.circularEntries, r.picture.dataflowEntries) {
			out = append(out, e.end)
		}
	}
	return out
}

// bars reports whether a byte of a device keeps an L1 buffer in a mode away from some cores.
func (f *Fleet) bars(d *device, mode Mode, on map[l1.Core]bool, a uint64) bool {
	if usable := d.spec.Usable(); a < usable.Start || a >= usable.End || d.takes(mode, on, a, false) {
		return true
	}
	for _, r := range f.on(d) {
		for c := range on {
			if a < d.floor(r.picture, mode, c) {
				return true
			}
		}
		if nowhere := (l1.Core{X: 255, Y: 255}); len(on) == 0 && a < d.floor(r.picture, mode, nowhere) {
			return true
		}
	}
	return false
}

// Floor returns the address below which no L1 buffer in a mode on a core of a device may lie while a program
// is checked there now: the end of its bytes on the core, and the end of every region that tt-metal
// compares with the buffer, or may. It is 0 without the device.
func (f *Fleet) Floor(p *program.Program, id uint64, mode Mode, core l1.Core) uint64 {
	d := f.devices[id]
	if d == nil {
		return 0
	}
	return d.floor(Paint(p), mode, core)
}

func (d *device) floor(pic *Painting, mode Mode, core l1.Core) (low uint64) {
	if own := pic.all(core); !own.empty() {
		low = own.end()
	}
	claimed := d.claimed()
	for _, e := range pic.circularEntries {
		if mode == PerCore && !e.cores.Cores().Has(core) {
			continue // it counts on its own cores; one in lockstep on all
		}
		if !e.bytes.empty() && !claimed[e.cores.Start] {
			low = max(low, e.end)
		}
	}
	for _, e := range pic.dataflowEntries { // which know no HYBRID mode
		if !e.bytes.empty() && !claimed[e.cores.Start] {
			low = max(low, e.end)
		}
	}
	return low
}

// unaligned reports whether no L1 buffer starts at an address, and so none ends its last step there.
func unaligned(a uint64, devices []*device) bool {
	return slices.ContainsFunc(devices, func(d *device) bool { return a%d.align() != 0 })
}
