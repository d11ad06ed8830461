package replay

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Nearly every run of a capture is alive alone: it was freed before the next one came. What
// it leaves are high-water marks, and these are those of its program:
//
//	cb cb execute free     alive: one program           crest.over
//	cb cb cb' cb' free     alive: one and another one   both in the fleet r.alive

// A crest is the most that programs which were alive alone held, core by core. It never
// changes, so that devices may share it; nil is zero everywhere.
type crest struct {
	parts []crestPart // by bytes, the most first; no two with the same
	cores l1.CoreSet  // of all parts
}

// A crestPart is the cores that held as much at most: more than 0 bytes.
type crestPart struct {
	bytes uint64
	cores l1.CoreSet
}

// over returns the larger of a crest and of what a program holds.
func (c *crest) over(f program.Footprint) *crest {
	for g := range f.Groups() {
		c = c.raise(g.Cores(), g.Bytes())
	}
	return c
}

// raise returns a crest with at least so many bytes on some cores. Cost: O(parts) set
// operations, and one where nothing rises.
func (c *crest) raise(cores l1.CoreSet, bytes uint64) *crest {
	if bytes == 0 {
		return c
	}
	out := &crest{}
	if c != nil {
		if least := c.parts[len(c.parts)-1].bytes; bytes <= least && c.cores.Contains(cores) {
			return c
		}
		out.cores = c.cores
		for _, part := range c.parts {
			if part.bytes >= bytes {
				cores = cores.Minus(part.cores)
			}
		}
		if cores.IsEmpty() {
			return c
		}
	}
	out.cores = out.cores.Union(cores)
	risen := crestPart{bytes, cores}
	if c != nil {
		for _, part := range c.parts {
			if part.bytes == bytes {
				risen.cores = risen.cores.Union(part.cores)
				continue
			}
			if part.bytes < bytes {
				part.cores = part.cores.Minus(cores)
			}
			if !part.cores.IsEmpty() {
				out.parts = append(out.parts, part)
			}
		}
	}
	at, _ := slices.BinarySearchFunc(out.parts, bytes, func(p crestPart, bytes uint64) int {
		if p.bytes > bytes {
			return -1
		}
		return 1
	})
	out.parts = slices.Insert(out.parts, at, risen)
	return out
}

// above returns the larger of a crest and of the peaks that a fleet has of a device.
func (c *crest) above(peaks iter.Seq[device.PeakGroup]) *crest {
	for p := range peaks {
		c = c.raise(p.Cores, p.Bytes)
	}
	return c
}

// peaks returns the parts, the most first.
func (c *crest) peaks() []crestPart {
	if c == nil {
		return nil
	}
	return c.parts
}

// text spells a crest: equal ones have one text.
func (c *crest) text(s *spelling) string {
	if c == nil {
		return ""
	}
	var out []byte
	for _, part := range c.parts {
		out = append(binary.LittleEndian.AppendUint64(out, part.bytes), s.of(part.cores)...)
	}
	return string(out)
}

// A crossing is what a crest became when a content passed last. So devices that run the same
// one by one end up with the same crest, and what changes nothing again costs nothing.
type crossing struct {
	known    bool
	from, to *crest
}

// lone returns the run of a device if it is the only one that is alive, and was not
// counted yet. In a log of its own nothing is: the fleet has it as alive while it is registered.
func (r *replay) lone(d *row) *openRun {
	if r.ofRuns() && len(d.open) == 1 && d.held.len() == 0 && !d.open[0].counted {
		return d.open[0]
	}
	return nil
}

// passes takes in the high-water marks of a run that was alive alone.
func (d *row) passes(c *content) {
	f := &d.figures
	f.LogicalPeak = max(f.LogicalPeak, c.logical[program.CircularBuffer])
	f.ResidentPeak, f.CorePeak = max(f.ResidentPeak, c.detail.Bytes), max(f.CorePeak, c.detail.Core)
	for kind, of := range f.others() {
		if counted := c.counted[kind]; of != nil && counted != nil {
			taken := counted.Occupied(program.CircularBuffer)
			of.ResidentPeak = max(of.ResidentPeak, taken.Bytes())
			for g := range taken.Groups() {
				of.CorePeak = max(of.CorePeak, g.Bytes())
			}
		}
	}
	if !c.places() {
		return
	}
	if x := &c.crossed; !x.known || x.from != d.crest {
		*x = crossing{true, d.crest, d.crest.over(c.counted[program.CircularBuffer].Occupied(program.CircularBuffer))}
	}
	d.crest = c.crossed.to
}
