package model

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Room returns the longest run of bytes, the highest of equals, that one more L1 buffer could have
// on each of the given cores of each of the devices, at one address: free of other buffers, above
// the programs on these cores, and above the ends that tt-metal compares with it. An empty set
// means all cores of the grid, or all cores in use if there is no grid. Without devices there is
// none.
func (f *Fleet) Room(cores l1.CoreRangeSet, ids []uint64) (l1.Range, error) {
	devices, err := f.find(ids)
	if err != nil || len(devices) == 0 {
		return l1.Range{}, err
	}
	on := covered(cores)
	edges := []uint64{0, l1.MaxAddr}
	for _, d := range devices {
		edges = append(edges, f.edges(d)...)
		for c := range f.held(d) {
			if len(covered(cores)) == 0 {
				on[c] = true
			}
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var best, run l1.Range
	for i, a := range edges[:len(edges)-1] { // up to the next edge all bytes are like the first
		if slices.ContainsFunc(devices, func(d *device) bool { return f.bars(d, on, a) }) {
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
	return best, nil
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
	for _, r := range f.programs {
		for c := range r.picture.named {
			if own := r.picture.all(c); r.on[d] && !own.empty() {
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

// bars reports whether a byte of a device keeps an L1 buffer away from some cores.
func (f *Fleet) bars(d *device, on map[l1.Core]bool, a uint64) bool {
	if usable := d.spec.Usable(); a < usable.Start || a >= usable.End {
		return true
	}
	for _, live := range d.live {
		hidden, starts := covered(live.Hidden), live.starts()
		for c := range on {
			start, starting := starts[c]
			above := live.Unsized && starting && a >= start // where it ends is not known
			if bytes := live.bytes[c]; bytes.holds(a) || above || !live.Backing && hidden[c] {
				return true
			}
		}
	}
	for _, r := range f.programs {
		for c := range on {
			if r.on[d] && a < d.floor(r.picture, c) {
				return true
			}
		}
		if nowhere := (l1.Core{X: 255, Y: 255}); r.on[d] && len(on) == 0 && a < d.floor(r.picture, nowhere) {
			return true
		}
	}
	return false
}

// Floor returns the address below which no L1 buffer on a core of a device may lie while a program
// is checked there now: the end of its bytes on the core, and the end of every region that tt-metal
// compares with a buffer in lockstep. It is 0 without the device.
func (f *Fleet) Floor(p *program.Program, id uint64, core l1.Core) uint64 {
	d := f.devices[id]
	if d == nil {
		return 0
	}
	return d.floor(Paint(p), core)
}

func (d *device) floor(pic *Painting, core l1.Core) (low uint64) {
	if own := pic.all(core); !own.empty() {
		low = own.end()
	}
	claimed := d.claimed()
	for _, e := range slices.Concat(pic.circularEntries, pic.dataflowEntries) {
		if e.bytes.empty() || claimed[e.cores.Start] {
			continue
		}
		low = max(low, e.end) // a buffer in lockstep counts on all cores
	}
	return low
}

// unaligned reports whether no L1 buffer starts at an address, and so none ends its last step there.
func unaligned(a uint64, devices []*device) bool {
	return slices.ContainsFunc(devices, func(d *device) bool { return a%d.align() != 0 })
}
