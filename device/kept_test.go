package device_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A kept moment holds the contents of its time, whatever comes later; and the fullest cores agree
// with the groups.
func TestMomentsAreKept(t *testing.T) {
	spec := l1.Spec{Cols: 3, Rows: 2, L1Size: 4096, CBBase: 256, CBAlign: 16, L1Align: 16, CBIndices: 32}
	rapid.Check(t, func(t *rapid.T) {
		f := device.NewFleet()
		d, other := addDevice(t, f, 0, spec), addDevice(t, f, 1, spec)
		type kept struct {
			moment device.Moment
			groups []device.UsageGroup
		}
		var all []kept
		named := map[device.MomentName][]device.UsageGroup{}
		live := map[fit.BufferID]bool{}
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			x, y := rapid.Uint8Range(0, 2).Draw(t, "x"), rapid.Uint8Range(0, 1).Draw(t, "y")
			on := l1.Rect(x, y, rapid.Uint8Range(x, 2).Draw(t, "to x"), rapid.Uint8Range(y, 1).Draw(t, "to y"))
			start := 16 * rapid.Uint64Range(0, 60).Draw(t, "start")
			at := l1.Range{Start: start, End: start + 16*rapid.Uint64Range(1, 20).Draw(t, "length")}
			id := fit.BufferID(rapid.IntRange(0, 4).Draw(t, "buffer"))
			switch rapid.SampledFrom([]string{"allocate", "allocate", "free", "dispatch", "both"}).Draw(t, "step") {
			case "allocate", "both":
				kind := rapid.SampledFrom([]fit.Kind{fit.KindL1, fit.KindL1Small, fit.KindKernel}).Draw(t, "kind")
				if !live[id] {
					s := d.Set()
					if rapid.Bool().Draw(t, "on both") && !other.Hybrid() {
						_, had := other.Buffer(id)
						if !had {
							s = f.Set()
						}
					}
					require.NoError(t, f.Allocate(fit.Buffer{ID: id, Kind: kind, Cores: on.Cores(), Range: at}, s))
					live[id] = true
				}
			case "free":
				if live[id] {
					moment := d.Moment(id)
					_, err := f.Free(id, d.Set())
					require.NoError(t, err)
					delete(live, id)
					require.Equal(t, slices.Collect(d.UsageGroups(device.BasisResident)), slices.Collect(moment.UsageGroups()), "without it")
				}
			case "dispatch":
				b := program.NewBuilder(program.ID(i + 1))
				p, err := b.Range(on, at).Build(spec)
				require.NoError(t, err)
				_, err = f.Register(p, f.Set())
				require.NoError(t, err)
				s := rapid.SampledFrom([]device.Set{d.Set(), other.Set(), f.Set()}).Draw(t, "on")
				require.NoError(t, f.Dispatch(p.ID(), s))
			}
			groups := slices.Collect(d.UsageGroups(device.BasisResident))
			all = append(all, kept{d.Moment(), groups})
			for i, k := range all {
				require.Equal(t, k.groups, slices.Collect(k.moment.UsageGroups()), "the moment after step %d", i)
			}
			for _, m := range []device.Moment{d.Moment(), other.Moment(), d.Moment(id), other.Moment(id, id+1)} {
				now := slices.Collect(m.UsageGroups())
				if was, known := named[m.Name()]; known {
					require.Equal(t, was, now, "one name")
				}
				named[m.Name()] = now
			}
			fullestAgrees(t, d, groups)
			clear := l1.Range{End: math.MaxUint64}
			for b := range d.Buffers() {
				if b.Kind == fit.KindKernel {
					clear.Start = max(clear.Start, b.Range.End)
				} else {
					clear.End = min(clear.End, b.Range.Start)
				}
			}
			require.Equal(t, clear, d.Clear())
			intact(t, f)
		}
	})
}

// fullestAgrees holds the fullest cores against the groups.
func fullestAgrees(t require.TestingT, d device.Device, groups []device.UsageGroup) {
	var cores l1.CoreSet
	on := map[l1.Core]uint64{}
	for _, g := range groups {
		if g.Usage.Tracked > 0 && g.Usage.Tracked == d.Totals().TrackedCore {
			cores = cores.Union(g.Cores)
		}
		for c := range g.Cores.All() {
			on[c] = g.Usage.Tracked
		}
	}
	require.True(t, cores.Equal(d.Fullest()), "%v, not %v", d.Fullest(), cores)
	grid := d.Spec().Grid().Cores()
	first, _ := grid.First()
	for _, among := range []l1.CoreSet{{}, l1.CoreSetOf(first)} {
		for _, within := range []l1.Range{{End: l1.MaxAddr}, {End: d.Spec().Usable().End}, {End: 40}, {Start: 30, End: 90}} {
			most, fullest := uint64(0), l1.CoreSet{}
			for _, g := range groups {
				bytes, here := uint64(0), g.Cores
				for _, r := range g.Regions {
					bytes += r.Intersect(within).Len()
				}
				if !among.IsEmpty() {
					here = here.Intersect(among)
				}
				if here.IsEmpty() || bytes == 0 || bytes < most {
					continue
				}
				if bytes > most {
					most, fullest = bytes, l1.CoreSet{}
				}
				fullest = fullest.Union(here)
			}
			bytes, cores := d.FullestIn(within, among)
			require.Equal(t, most, bytes, within)
			require.True(t, fullest.Equal(cores), "%v, not %v, in %v", cores, fullest, within)
		}
	}
	for c := range d.Spec().Grid().Cores().All() {
		require.Equal(t, on[c], d.Core(c).Tracked, c)
	}
}
