package replay

import (
	"encoding/binary"

	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/program"
)

// Nearly every run of a capture is alive alone: it was freed before the next one came. What
// it leaves are high-water marks, and these are those of its program:
//
//	cb cb execute free     alive: one program           crest
//	cb cb cb' cb' free     alive: one and another one   both in the fleet r.alive

// over returns the larger of peaks and of what a program holds.
func over(peaks *corepeaks.Peaks, f program.Footprint) *corepeaks.Peaks {
	for g := range f.Groups() {
		peaks = peaks.RaiseOn(g.Cores(), g.Bytes())
	}
	return peaks
}

// textOf spells peaks: equal ones have one text.
func textOf(peaks *corepeaks.Peaks, s *spelling) string {
	var out []byte
	for bytes, cores := range peaks.ByBytes() {
		out = append(binary.LittleEndian.AppendUint64(out, bytes), s.of(cores)...)
	}
	return string(out)
}

// A crossing is what a crest, the peaks of runs that were alive alone, became when a content passed
// last. So devices that run the same one by one end up with the same crest, and what changes nothing
// again costs nothing.
type crossing struct {
	known    bool
	from, to *corepeaks.Peaks
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
		*x = crossing{true, d.crest, over(d.crest, c.counted[program.CircularBuffer].Occupied(program.CircularBuffer))}
	}
	d.crest = c.crossed.to
}
