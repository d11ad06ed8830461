package watch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A Detail holds the contents of the cores of one device, and of its fullest core.
type Detail struct {
	Fleet  string  `json:"fleet,omitempty"` // as in Device
	Device uint64  `json:"device"`
	Basis  string  `json:"basis"` // "resident" or "registered"
	Cols   int     `json:"cols"`
	Rows   int     `json:"rows"`
	Base   uint64  `json:"cb_base"`
	End    uint64  `json:"l1_bytes"`
	Usable uint64  `json:"usable_bytes"`
	Groups []Group `json:"groups"`
	Core   string  `json:"core"`  // the first that holds most
	Alike  int     `json:"alike"` // others that hold the same
	Blocks []Block `json:"blocks"`
	Left   int     `json:"left"` // groups and blocks beyond the first 1000 of each
}

// A Group is cores that hold the same.
type Group struct {
	Cores string `json:"cores"`
	Bytes uint64 `json:"tracked_bytes"`
	Below uint64 `json:"below_l1_small_bytes"` // of them, those in usable L1
}

// A Block is one thing on the fullest core.
type Block struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Name  string `json:"name"`
	CB    bool   `json:"cb"`
}

// maxDetail is how many groups and blocks a Detail has.
const maxDetail = 1000

// DetailOf returns the contents of the cores of a device: the residents or, where nothing was
// dispatched, the registered programs and buffers. Cost: a Device.UsageGroups.
func DetailOf(d device.Device) *Detail {
	s := d.Spec()
	out := &Detail{
		Device: uint64(d.ID()), Basis: "resident", Cols: s.Cols, Rows: s.Rows, Base: s.CBBase, End: s.L1Size, Usable: s.UsableBytes(), Groups: []Group{}, Blocks: []Block{},
	}
	basis := device.BasisResident
	if d.Totals().Peak.Resident == 0 {
		basis, out.Basis = device.BasisRegistered, "registered"
	}
	var most device.UsageGroup
	for g := range d.UsageGroups(basis) {
		if len(out.Groups) == maxDetail {
			out.Left++
		} else {
			out.Groups = append(out.Groups, Group{g.Cores.Ranges().String(), g.Usage.Tracked, answer.BelowSmall(g, s)})
		}
		if g.Usage.Tracked > most.Usage.Tracked || most.Cores.IsEmpty() {
			most = g
		}
	}
	first, _ := most.Cores.First()
	out.Core, out.Alike = first.String(), max(0, most.Cores.Len()-1)
	for r := range most.Residents() {
		if r.Kind.Below() {
			continue // below the base
		}
		if len(out.Blocks) == maxDetail {
			out.Left++
			continue
		}
		b := Block{Start: r.Range.Start, End: r.Range.End, CB: r.Program != nil, Name: fmt.Sprintf("%v %s", r.Kind, r.Buffer.Name)}
		switch {
		case r.Kind == fit.KindCB:
			b.Name = fmt.Sprintf("CB %d, %s", r.CB, r.Program.Name())
		case b.CB:
			b.Name = fmt.Sprintf("%v %d, %s", r.Kind, r.CB, r.Program.Name())
		}
		b.Name = shown.Clip(b.Name, 200)
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

// grid draws the cores.
func (d *Detail) grid(style draw.Style) []string {
	name := fmt.Sprintf("device %d, %s", d.Device, d.Basis)
	if d.Fleet != "" {
		name = fmt.Sprintf("device %d of %s, %s", d.Device, d.Fleet, d.Basis)
	}
	g := draw.ShadedGrid{Name: name, Cols: min(max(d.Cols, 0), 256), Rows: min(max(d.Rows, 0), 256), Full: d.Usable, FullIs: "usable L1"}
	for _, group := range d.Groups {
		if set, err := l1.ParseCoreRangeSet(group.Cores); err == nil {
			g.Shades = append(g.Shades, draw.Shade{Cores: set.Cores(), Bytes: group.Below})
		}
	}
	var b bytes.Buffer
	g.Text(&b, style)
	if d.Left > 0 {
		fmt.Fprintf(&b, "left out: %d, groups and blocks together\n", d.Left)
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// column draws the addresses of the fullest core; nothing if it is empty.
func (d *Detail) column(style draw.Style) []string {
	if len(d.Blocks) == 0 {
		return nil
	}
	name := "core " + d.Core
	if d.Alike > 0 {
		name += ", like " + shown.Plural(int64(d.Alike), "other")
	}
	c := draw.Column{Name: name, Base: d.Base, End: d.End}
	for _, b := range d.Blocks {
		fill := draw.FillBuffer
		if b.CB {
			fill = draw.FillCB
		}
		c.Blocks = append(c.Blocks, draw.Block{Range: l1.Range{Start: b.Start, End: max(b.Start, b.End)}, Name: b.Name, Fill: fill})
	}
	var b bytes.Buffer
	c.Text(&b, style)
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
