package render

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Map returns pictures of L1: the cores of each device, shaded by tracked bytes, with equal devices drawn once; or
// the address map of one core, if the Result is narrowed to it. It shows the peak of each device
// (replay.Options.Groups) or, if at is there, the moment after that node (Options.GroupsAt). Its JSON has every
// device, equal or not.
func Map(r *answer.Result, at event.Opt[uint64]) Output {
	d := Output{json: func(w io.Writer) error { return writeJSON(w, r.Map(at)) }}
	page := &d.page
	folds := foldLaid(r, at)
	page.line("%s%s", head("map", r), mapAnswer(r, at, len(folds) > 1))
	for i, f := range folds {
		if i == maxMaps {
			page.apart([]note{{"more", shown.Plural(len(folds)-maxMaps, "further device") + " that differ: --device shows one"}})
			break
		}
		if r.Only.Core.OK {
			page.picture(addressMap(r, f, at))
		} else {
			page.picture(grid(r, f, at))
		}
	}
	if clash, ok := clashMap(r); ok {
		page.picture(clash)
	}
	page.apart(slices.Concat(untrackedNotes(r), textNotes("?", doubts(r))))
	page.detail(func() []note { return chipNotes(r) })
	return d
}

// chipNotes say with which L1 was reckoned, device by device where they differ.
func chipNotes(r *answer.Result) (notes []note) {
	chip := func(d *answer.DeviceL1) named { return named{d.ID, answer.KindChip, nil} }
	folds := foldDevices(r.L1, chip, func(d *answer.DeviceL1) string { return chipText(r, r.SpecOf(d.ID)) })
	if len(folds) < 2 {
		return []note{{"chip", chipText(r, r.Spec)}}
	}
	for i, f := range folds {
		if i == maxMaps {
			return append(notes, note{"chip", "others elsewhere: --format json has them"})
		}
		notes = append(notes, note{"chip", f.where() + ": " + chipText(r, r.SpecOf(f.first.ID))})
	}
	return notes
}

// maxMaps is how many devices that differ are drawn.
const maxMaps = 12

// unlike returns the devices except devices whose name of contents came before.
func unlike(r *answer.Result, at event.Opt[uint64]) iter.Seq[*answer.DeviceL1] {
	return func(yield func(*answer.DeviceL1) bool) {
		seen := map[answer.Composition]bool{}
		for i := range r.L1 {
			d := &r.L1[i]
			name, ok := d.Laid()
			if !at.OK && d.Peak != nil {
				name, ok = d.Peak.Laid()
			}
			if ok && seen[name] {
				continue
			}
			if seen[name] = true; !yield(d) {
				return
			}
		}
	}
}

// mapAnswer gives the highest bytes of a core and, if devices differ, its device.
func mapAnswer(r *answer.Result, at event.Opt[uint64], differ bool) string {
	var best *answer.DeviceL1
	var most answer.LaidGroup
	for d := range unlike(r, at) {
		for _, g := range d.Mapped(at) {
			if (best == nil || g.Below > most.Below) && r.Only.HasCores(g.Cores) {
				best, most = d, g
			}
		}
	}
	if best == nil {
		return "nothing is known to have been in L1" + momentOf(r, nil, at)
	}
	text := areasText(r.SpecOf(best.ID), most.Below, most.Bytes) + " on " + subject(r)
	if differ {
		text += " of " + deviceName(r, best.ID)
	}
	return text + doubtful(r)
}

// momentOf names the moment at which a device is drawn.
func momentOf(r *answer.Result, d *answer.DeviceL1, at event.Opt[uint64]) string {
	switch {
	case at.OK:
		return ", after " + r.Where(at.V, "")
	case d == nil || d.Peak == nil:
		return ""
	case d.Peak.Op == "":
		return ", at the peak: " + r.Where(d.Peak.At, d.Peak.T)
	}
	return fmt.Sprintf(", at the peak: %s", r.Whose(caller(d.Peak.Op), d.Peak.At, d.Peak.T, 40))
}

// A laidFold is devices on which the same cores hold the same, each at its moment.
type laidFold = deviceFold[answer.DeviceL1]

func foldLaid(r *answer.Result, at event.Opt[uint64]) []laidFold {
	same := newSights()
	return foldDevices(r.L1, namedL1, func(d *answer.DeviceL1) string { return laidText(r, d, at, same) })
}

// laidText has all that is drawn of a device, without its id and its nodes; a number stands for what lay there.
func laidText(r *answer.Result, d *answer.DeviceL1, at event.Opt[uint64], same *sights) string {
	var b strings.Builder
	s := r.SpecOf(d.ID)
	fmt.Fprint(&b, d.Cols, d.Rows, s.CBBase, s.L1Size, s.L1Small)
	if d.Peak != nil && !at.OK {
		fmt.Fprintf(&b, "%q", d.Peak.Op)
		fmt.Fprint(&b, same.peak(d.Peak, func(p *answer.L1Peak) string { return groupsText(r, p.Groups) }))
	}
	if at.OK {
		name, named := d.Laid()
		fmt.Fprint(&b, same.laid(name, named, func() string { return groupsText(r, d.LaidGroups()) }))
	}
	return b.String()
}

// groupsText is the part of a drawing that groups of cores decide.
func groupsText(r *answer.Result, groups []answer.LaidGroup) string {
	var b strings.Builder
	for _, g := range groups {
		if !r.Only.HasCores(g.Cores) {
			continue
		}
		fmt.Fprint(&b, g.Cores, g.Bytes, " ", g.Below)
		if r.Only.Core.OK {
			for _, x := range g.Residents {
				x = nowhere([]answer.L1Resident{x})[0]
				fmt.Fprintf(&b, "%v %q %q", x.Range(), what(x.Kind, x.CB), shortOwner(r, called(x), 60))
			}
		}
	}
	return b.String()
}

// pictured names the devices of a picture, and its moment.
func pictured(r *answer.Result, f laidFold, at event.Opt[uint64]) string {
	return f.title(r) + momentOf(r, f.first, at)
}

func grid(r *answer.Result, f laidFold, at event.Opt[uint64]) draw.ShadedGrid {
	g := draw.ShadedGrid{Name: pictured(r, f, at), Cols: f.first.Cols, Rows: f.first.Rows, Full: r.SpecOf(f.first.ID).UsableBytes(), FullIs: "usable L1"}
	for _, one := range f.first.Mapped(at) {
		g.Shades = append(g.Shades, draw.Shade{Cores: one.Cores, Bytes: one.Below})
	}
	return g
}

// addressMap is the address map of the core to which a Result is narrowed; its name counts the cores that hold the
// same.
func addressMap(r *answer.Result, f laidFold, at event.Opt[uint64]) draw.Column {
	s := r.SpecOf(f.first.ID)
	c := draw.Column{Name: fmt.Sprintf("core %s of %s: nothing lies there", r.Only.Core.V, pictured(r, f, at)), Base: s.CBBase, End: s.L1Size}
	for _, g := range f.first.Mapped(at) {
		if !g.Cores.Has(r.Only.Core.V) {
			continue
		}
		c.Name = fmt.Sprintf("core %s of %s", r.Only.Core.V, pictured(r, f, at))
		if n := g.Cores.Len(); n > 1 {
			c.Name = fmt.Sprintf("core %s, like %s %s, of %s", r.Only.Core.V, shown.Plural(n-1, "other"), coreRanges(g.Cores), pictured(r, f, at))
		}
		c.Blocks = blocks(r, g.Residents)
	}
	return c
}

func blocks(r *answer.Result, rows []answer.L1Resident) (out []draw.Block) {
	for _, x := range rows {
		b := draw.Block{Range: x.Range(), Name: what(x.Kind, x.CB) + ", " + shortOwner(r, called(x), 60), Fill: draw.FillCB}
		if x.Program == nil {
			b.Fill = draw.FillBuffer
		}
		if x.Kind.Below() {
			continue // below the base, as is said there
		}
		out = append(out, b)
	}
	return out
}

// clashMap is the address map of the first clash.
func clashMap(r *answer.Result) (draw.Column, bool) {
	c := r.Clash()
	if c == nil {
		return draw.Column{}, false
	}
	s, run := r.SpecOf(c.Device), c.Program
	name := fmt.Sprintf("clash on core %s of %s, by %s bytes: %s does not fit", c.Core, devicesName(r, c.Device, c.Devices),
		grouped(c.Over), r.Whose(caller(run.Op), run.At, run.T, 40))
	return draw.Column{Name: name, Base: s.CBBase, End: s.L1Size, Blocks: blocks(r, c.Residents)}, true
}

// SVG writes the pictures of a Map, for light and dark pages, without a script. Names in it are
// text, whatever they are.
func (d Output) SVG(w io.Writer) error {
	var title string
	var notes []string
	var pictures []draw.Picture
	for i, b := range d.page.blocks {
		switch {
		case i == 0:
			title = b.lines[0]
		case b.picture != nil:
			pictures = append(pictures, b.picture)
		}
		for k, line := range b.lines {
			if i+k > 0 {
				notes = append(notes, line)
			}
		}
		for _, n := range b.notes {
			notes = append(notes, n.label+": "+n.text)
		}
	}
	return draw.SVG(w, title, notes, pictures...)
}
