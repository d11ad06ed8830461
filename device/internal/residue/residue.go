package residue

import (
	"math"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Residue holds the last writers of a device after its dispatches. It never
// changes. Devices with equal residues share one, which is found by its hash and then
// compared. nil holds nothing.
type Residue struct {
	Serial uint64             // given to no other
	hash   lookup.Hash        // a sum over cores: a dispatch adds its cores and subtracts the ones it overwrites
	pieces []Piece            // of one program or trace on an empty device; nil if there is a plane
	plane  plane              // of dispatches over others
	n      int                // cores of all kinds, at least one
	bytes  uint64             // of circular buffers, sum over cores
	other  uint64             // of dataflow buffers and scratchpads
	charge uint64             // bytes and other
	all    uint64             // of all kinds, each byte once
	core   uint64             // of all kinds, each byte once, on the fullest core
	End    uint64             // of the highest range of any core
	held   *program.Footprint // of all kinds; nil = not worked out yet
}

// A Piece is a set of cores on which a writer was the last of its kind.
type Piece struct {
	*writer
	Cores l1.CoreSet
}

// TrackedBytes counts the bytes in the L1 of a device, each byte once, without kernels and
// the reserved area.
type TrackedBytes struct {
	Bytes uint64 // summed over cores
	Core  uint64 // on the fullest core
}

// Raise returns the larger value of each figure.
func (t TrackedBytes) Raise(o TrackedBytes) TrackedBytes {
	return TrackedBytes{Bytes: max(t.Bytes, o.Bytes), Core: max(t.Core, o.Core)}
}

// orNone returns r, an empty residue for nil.
func (r *Residue) orNone() *Residue {
	if r == nil {
		return new(Residue)
	}
	return r
}

// Charged bounds the bytes that a residue adds to any sum.
func (r *Residue) Charged() uint64 { return r.orNone().charge }

// Others returns the bytes of dataflow buffers and scratchpads.
func (r *Residue) Others() uint64 { return r.orNone().other }

// Union returns the bytes of all kinds, each once.
func (r *Residue) Union() uint64 { return r.orNone().all }

// Fullest returns the bytes of all kinds on the fullest core, each once.
func (r *Residue) Fullest() uint64 { return r.orNone().core }

// Tracked returns the tracked bytes of a device with dispatches alone.
func (r *Residue) Tracked() TrackedBytes { return TrackedBytes{Bytes: r.Union(), Core: r.Fullest()} }

// Total returns the bytes of circular buffers, summed over cores.
func (r *Residue) Total() uint64 { return r.orNone().bytes }

// Written returns the piece of each writer, disjoint within a kind. Cost: O(cores).
func (r *Residue) Written() []Piece {
	if r = r.orNone(); r.pieces != nil {
		return r.pieces
	}
	return r.plane.pieces()
}

// fresh returns the plane of a residue, which may be written, with room for more claims.
func (r *Residue) fresh(more int) plane {
	out := r.plane.clone(more)
	out.paint(r.pieces...)
	return out
}

// On returns the last writer of a kind on a core, nil if there was none.
func (r *Residue) On(kind program.Kind, c l1.Core) *writer {
	if r == nil {
		return nil
	}
	for _, w := range r.pieces {
		if w.Kind == kind && w.Cores.Has(c) {
			return w.writer
		}
	}
	return r.plane.on(kind, c)
}

// HeldOn returns what lies on a core, of any kind, merged.
func (r *Residue) HeldOn(c l1.Core) []l1.Range {
	var all []l1.Range
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		if w := r.On(kind, c); w != nil {
			all = slices.AppendSeq(all, w.Group().Ranges())
		}
	}
	return l1.Merge(all)
}

// within reports whether over is written on all cores of r, and is quick: false may be wrong.
func (r *Residue) within(over *Residue) bool {
	for _, w := range r.pieces {
		covers := func(o Piece) bool { return o.Kind == w.Kind && o.Cores.Contains(w.Cores) }
		if !slices.ContainsFunc(over.pieces, covers) {
			return false
		}
	}
	return r.pieces != nil
}

// holds reports whether r has all that over writes, and is quick: false may be wrong.
func (r *Residue) holds(over *Residue) bool {
	for _, w := range over.pieces {
		for core := range w.Cores.All() {
			if r.plane.on(w.Kind, core) != w.writer {
				return false
			}
		}
	}
	return over.pieces != nil
}

// sum works out the figures that are sums or maxima over writers. The charge is 2^64-1 if a sum
// does not fit.
func (r *Residue) sum() {
	for _, w := range r.pieces {
		r.writes(w.writer, w.Cores.Len())
	}
	for _, c := range r.plane.claims {
		r.writes(c.writer, c.cores)
	}
	if r.charge != math.MaxUint64 {
		r.charge = r.bytes + r.other
	}
}

// equal reports whether r and o were left by the same writers on the same cores.
func (r *Residue) equal(o *Residue) bool {
	if o.n != r.n || o.bytes != r.bytes {
		return false
	}
	a, b := o.plane, r.plane
	if o.pieces != nil {
		a = o.fresh(0)
	}
	if r.pieces != nil {
		b = r.fresh(0)
	}
	return a.equal(&b)
}

// writes adds the bytes of a writer on n cores to the figures.
func (r *Residue) writes(w *writer, n int) {
	if n == 0 || r.charge == math.MaxUint64 {
		return
	}
	r.n += n
	r.core = max(r.core, w.bytes)
	r.End = max(r.End, w.end)
	sum := &r.bytes
	if w.Kind != program.CircularBuffer {
		sum = &r.other
	}
	high, all := bits.Mul64(w.bytes, uint64(n))
	if high > 0 || all > l1.MaxAddr-*sum {
		r.charge = math.MaxUint64
		return
	}
	*sum += all
}

// Held returns what lies on which cores, of any kind. It may write, so it is for changes only.
func (r *Residue) Held() program.Footprint {
	if r == nil {
		return program.Footprint{}
	}
	if r.held == nil {
		held, _ := program.FootprintOf(func(yield func(l1.CoreSet, l1.Range) bool) {
			for _, w := range r.Written() {
				for at := range w.Group().Ranges() {
					if !yield(w.Cores, at) {
						return
					}
				}
			}
		})
		r.held = &held
	}
	return *r.held
}
