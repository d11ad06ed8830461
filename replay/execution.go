package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// executions follow the programs that chips executed. For many runs nothing shows whether and when they were
// executed, so what executions left is not what the fleet holds.
type executions struct {
	strays map[device.ID]Residue // executions on devices that no event had named

	// The last overlay. Devices that part execute the same one after the other.
	last struct {
		content  *content
		from, to *overlay
	}
}

func newExecutions() executions { return executions{strays: map[device.ID]Residue{}} }

// An execution counts executions on the devices of a row.
type execution struct {
	row  Residue
	left *overlay // nil if nothing was left
}

// An overlay is what the last executions left, in parts without common cores. It does not change.
type overlay struct {
	parts []layer
	bytes uint64 // summed over cores
}

// A layer is some cores with the same number of bytes.
type layer struct {
	cores l1.CoreSet
	bytes uint64 // on each core
}

// execute records an execution on some devices. placed returns the content that was executed on a row, nil if it
// is not known.
func (x *executions) execute(on []device.ID, rows *rows, placed func(*row) (*content, error)) error {
	for rest := on; len(rest) > 0; {
		var ids []device.ID
		if ids, rest = distinct(rest); len(ids) == 0 {
			break
		}
		for _, id := range ids {
			if rows.Get(id) == nil {
				stray := x.strays[id]
				stray.Executions, stray.Unknown = stray.Executions+1, stray.Unknown+1
				x.strays[id] = stray
			}
		}
		for _, d := range rows.pick(slices.Values(ids)) {
			if d.execution == nil {
				d.execution = &execution{}
			}
			c, err := placed(d)
			if err == nil {
				err = x.executeOn(d.execution, c)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// distinct cuts a list before the first id that comes a second time.
func distinct(ids []device.ID) (first, rest []device.ID) {
	if len(ids) == 1 {
		return ids, nil
	}
	seen := map[device.ID]bool{}
	for i, id := range ids {
		if seen[id] {
			return ids[:i], ids[i:]
		}
		seen[id] = true
	}
	return ids, nil
}

// executeOn records an execution on the devices of a row.
func (x *executions) executeOn(on *execution, c *content) error {
	on.row.Executions++
	switch {
	case c == nil:
		on.row.Unknown++
		return nil
	case !c.places():
		return nil
	}
	left, err := x.over(on.left, c)
	if err != nil {
		return err
	}
	on.left, on.row.Final = left, left.bytes
	on.row.Peak = max(on.row.Peak, on.row.Final)
	on.row.CorePeak = max(on.row.CorePeak, c.detail.Core)
	return nil
}

// over returns what is left after a content is executed where executions left something before.
func (x *executions) over(from *overlay, c *content) (*overlay, error) {
	if x.last.content == c && (x.last.from == from || x.last.to == from) {
		return x.last.to, nil
	}
	to := &overlay{}
	p := c.counted[program.CircularBuffer]
	for g := range p.Occupied(program.CircularBuffer).Groups() {
		to.parts = append(to.parts, layer{g.Cores(), g.Bytes()})
	}
	if from != nil {
		var cores l1.CoreSet // those of global circular buffers and of empty ones too
		for _, cb := range p.CBs() {
			if cb.Kind == program.CircularBuffer {
				cores = cores.Union(cb.Cores.Cores())
			}
		}
		to.parts = slices.Grow(to.parts, len(from.parts))
		for _, part := range from.parts {
			if part.cores.Overlaps(cores) {
				part.cores = part.cores.Minus(cores)
			}
			if !part.cores.IsEmpty() {
				to.parts = append(to.parts, part)
			}
		}
	}
	for _, part := range to.parts {
		all := part.bytes * uint64(part.cores.Len()) // less than 2^63, as a program of more cannot be built
		if all > l1.MaxAddr-to.bytes {
			return nil, device.ErrOverflow
		}
		to.bytes += all
	}
	x.last.content, x.last.from, x.last.to = c, from, to
	return to, nil
}

// on returns the executions of a device, nil if it has none. A source without ids has only dispatches.
func (x *executions) on(d *row, id device.ID) *Residue {
	stray, strayed := x.strays[id]
	of := d.log
	switch {
	case d.id.OK && d.execution != nil:
		of = d.execution.row
		of.Executions, of.Unknown = of.Executions+stray.Executions, of.Unknown+stray.Unknown
	case d.id.OK && strayed:
		of = stray
	case of.Executions == 0:
		return nil
	}
	return &of
}
