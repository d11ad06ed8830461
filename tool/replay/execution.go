package replay

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// executions follow the programs that chips executed. For many runs nothing shows whether and when they were
// executed, so what executions left is not what the fleet holds.
type executions struct {
	strays map[device.ID]answer.Residue // executions on devices that no event had named
	known  map[writing]*overlay         // some of the overlays: a model executes the same again and again (1.2x)
	size   int                          // of known: entries and layers
}

// maxKnown bounds the size of the known overlays, which keep contents that a log may have dropped. Beyond it all are
// forgotten, and made anew.
const maxKnown = 1 << 12

// A writing is a content that is executed where something is left.
type writing struct {
	under *overlay
	over  *source.Content
}

func newExecutions() executions {
	return executions{strays: map[device.ID]answer.Residue{}, known: map[writing]*overlay{}}
}

// An execution counts executions on the devices of a row.
type execution struct {
	row  answer.Residue
	left *overlay // nil if nothing was left
}

// An overlay holds the circular buffers that executions left. Its parts share no cores. It does not change.
type overlay struct {
	top   *source.Content // the last one
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
func (x *executions) execute(on []device.ID, rows *rows, placed func(*row) (*source.Content, error)) error {
	for _, id := range on {
		if rows.Get(id) == nil {
			stray := x.strays[id]
			stray.Executions, stray.Unknown = stray.Executions+1, stray.Unknown+1
			x.strays[id] = stray
			continue
		}
		d := rows.alone(id)
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
	return nil
}

// executeOn records an execution on the devices of a row.
func (x *executions) executeOn(on *execution, c *source.Content) error {
	on.row.Executions++
	switch {
	case c == nil:
		on.row.Unknown++
		return nil
	case !c.Places():
		return nil
	}
	left, err := x.write(c, on.left)
	if err != nil {
		return err
	}
	on.left, on.row.Final = left, left.bytes
	on.row.Peak = max(on.row.Peak, on.row.Final)
	on.row.CorePeak = max(on.row.CorePeak, c.Detail.Core)
	return nil
}

// write returns the overlay after a content is executed on top of another overlay; nil is an empty one.
func (x *executions) write(c *source.Content, under *overlay) (*overlay, error) {
	if under != nil && under.top == c {
		return under, nil
	}
	w := writing{under, c}
	to, err := x.known[w], error(nil)
	if to != nil {
		return to, nil
	}
	if rest := under.without(c); len(rest) > 0 || under == nil {
		to, err = newOverlay(c, rest)
	} else {
		to, err = x.write(c, nil) // nothing of it is left
	}
	if err != nil {
		return nil, err
	}
	size := 1 + len(to.parts) // a program of global circular buffers has no layers
	if x.size += size; x.size > maxKnown {
		clear(x.known)
		x.size = size
	}
	x.known[w] = to
	return to, nil
}

// without returns the layers on cores that a content does not write. It empties the cores of global circular buffers.
func (o *overlay) without(c *source.Content) (rest []layer) {
	if o == nil {
		return nil
	}
	cores := c.Counted[program.CircularBuffer].Named(program.CircularBuffer)
	rest = make([]layer, 0, len(o.parts)+1) // one more: most programs have one group of cores
	for _, part := range o.parts {
		if part.cores.Overlaps(cores) {
			part.cores = part.cores.Minus(cores)
		}
		if !part.cores.IsEmpty() {
			rest = append(rest, part)
		}
	}
	return rest
}

// newOverlay returns an overlay of the circular buffers of a content, and of layers on other cores.
func newOverlay(c *source.Content, rest []layer) (*overlay, error) {
	o := &overlay{top: c, parts: rest}
	for g := range c.Counted[program.CircularBuffer].Occupied(program.CircularBuffer).Groups() {
		o.parts = append(o.parts, layer{g.Cores(), g.Bytes()})
	}
	for _, part := range o.parts {
		all := part.bytes * uint64(part.cores.Len()) // less than 2^63, as a program of more cannot be built
		if all > l1.MaxAddr-o.bytes {
			return nil, device.ErrOverflow
		}
		o.bytes += all
	}
	return o, nil
}

// on returns the executions of a device, nil if it has none. A source without ids has only dispatches.
func (x *executions) on(d *row, id event.Opt[uint64]) *answer.Residue {
	stray, strayed := x.strays[device.ID(id.V)]
	of := d.log
	switch {
	case id.OK && d.execution != nil:
		of = d.execution.row
		of.Executions, of.Unknown = of.Executions+stray.Executions, of.Unknown+stray.Unknown
	case id.OK && strayed:
		of = stray
	case of.Executions == 0:
		return nil
	}
	return &of
}
