package draw

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A Fill is the style of a Block.
type Fill int

// The fills.
const (
	FillCB     Fill = iota // what programs place, from the base up
	FillBuffer             // allocated bytes, from the top down
	fillFree
	fillBelow // the base
	fillBoth  // two hold it
	fillMany  // parts that are too small to be drawn alone
)

// A Column is the address map of a core. Addresses grow upwards: circular buffers from the
// base, tensors down from the end.
type Column struct {
	Name   string
	Base   uint64 // where circular buffers start
	End    uint64 // of L1; 0: unknown
	Blocks []Block
}

// A Block is one thing that lies on the core.
type Block struct {
	Range l1.Range
	Name  string
	Fill  Fill
}

// A part is a range of addresses with the same blocks.
type part struct {
	l1.Range
	fill Fill
	name string
}

// maxBlocks is how many blocks a column reads, and maxParts how many parts it shows.
const (
	maxBlocks = 4096
	maxParts  = 48
)

// parts divides all addresses, from the highest down. left counts the blocks beyond maxBlocks.
func (c Column) parts() (parts []part, left int) {
	blocks := slices.DeleteFunc(slices.Clone(c.Blocks), func(b Block) bool { return b.Range.IsEmpty() })
	if left = max(0, len(blocks)-maxBlocks); left > 0 {
		slices.SortStableFunc(blocks, func(a, b Block) int { return -cmp.Compare(a.Range.Len(), b.Range.Len()) })
		blocks = blocks[:maxBlocks]
	}
	slices.SortStableFunc(blocks, func(a, b Block) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	cuts := []uint64{0, c.Base, c.End}
	for _, b := range blocks {
		cuts = append(cuts, b.Range.Start, b.Range.End)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var there []Block // at the address
	next := 0
	for i := range len(cuts) - 1 {
		r := l1.Range{Start: cuts[i], End: cuts[i+1]}
		there = slices.DeleteFunc(there, func(b Block) bool { return b.Range.End <= r.Start })
		for ; next < len(blocks) && blocks[next].Range.Start <= r.Start; next++ {
			there = append(there, blocks[next])
		}
		parts = append(parts, c.part(r, there))
	}
	slices.Reverse(parts)
	return folded(parts), left
}

// part is one range with its blocks.
func (c Column) part(r l1.Range, there []Block) part {
	switch {
	case len(there) == 1:
		return part{r, there[0].Fill, there[0].Name}
	case len(there) > 1:
		const most = 3
		var names []string
		for _, b := range there[:min(len(there), most)] {
			names = append(names, b.Name)
		}
		name := "both: " + strings.Join(names, " AND ")
		if n := len(there) - most; n > 0 {
			name += fmt.Sprintf(" and %d more", n)
		}
		return part{r, fillBoth, name}
	case r.Start < c.Base:
		return part{r, fillBelow, "below the base: kernels and the reserved area"}
	}
	return part{r, fillFree, "free"}
}

// folded joins small neighbours where there are too many parts, so that the largest stay.
func folded(parts []part) (out []part) {
	if len(parts) <= maxParts {
		return parts
	}
	sizes := make([]uint64, len(parts))
	for i, p := range parts {
		sizes[i] = p.Len()
	}
	slices.Sort(sizes)
	least := sizes[len(sizes)-maxParts/2+1]
	n := 0
	for _, p := range parts {
		if p.Len() > least {
			out, n = append(out, p), 0
			continue
		}
		if n++; n == 1 {
			out = append(out, p)
			continue
		}
		last := &out[len(out)-1]
		last.Start, last.fill, last.name = p.Start, fillMany, fmt.Sprintf("%d parts", n)
	}
	return out
}

// height is how many lines a part has: more for larger ones.
func (c Column) height(p part, whole uint64) int {
	const lines, most = 20, 6
	return max(1, min(most, int(float64(p.Len())/float64(max(whole, 1))*lines)))
}

func (s Style) fill(f Fill) string {
	if s.ASCII {
		return string("#= .X%"[f])
	}
	return string([]rune("█▒ ·╳▚")[f])
}

func fillColour(f Fill) colour {
	return []colour{{255, 24}, {16, 180}, {244, 236}, {250, 239}, {231, 160}, {255, 60}}[f]
}

// Text draws the map: a line or more for each part, the highest address above.
func (c Column) Text(b *bytes.Buffer, s Style) {
	const bar = 12
	parts, left := c.parts()
	corners, side, rule := []string{"+", "+", "+", "+", "+", "+"}, "|", "-"
	if !s.ASCII {
		corners, side, rule = []string{"┌", "┐", "├", "┤", "└", "┘"}, "│", "─"
	}
	edge := func(at uint64, k int) {
		note := ""
		switch {
		case at == 0:
		case at == c.End:
			note = "end of L1"
		case at == c.Base:
			note = "base of circular buffers"
		}
		line(b, "%11s %s%s%s %s", exact(at), corners[k], strings.Repeat(rule, bar), corners[k+1], note)
	}
	line(b, "%s", fitted(c.Name, s.width()))
	for i, p := range parts {
		if i == 0 {
			edge(p.End, 0)
		}
		inside := s.paint(strings.Repeat(s.fill(p.fill), bar), fillColour(p.fill))
		for k := range c.height(p, parts[0].End) {
			label := ""
			if k == 0 {
				label = fmt.Sprintf("%11s  %s", exact(p.Len()), fitted(p.name, s.width()-40))
			}
			line(b, "%11s %s%s%s%s", "", side, inside, side, label)
		}
		if i == len(parts)-1 {
			edge(p.Start, 4)
		} else {
			edge(p.Start, 2)
		}
	}
	if left > 0 {
		line(b, "  the %d smallest are not drawn", left)
	}
}

func (c Column) svg(to *canvas) {
	to.heading(c.Name)
	parts, left := c.parts()
	for i, p := range parts {
		if i == 0 {
			to.text(118, to.y+4, "axis end", exact(p.End))
		}
		h := 20 * c.height(p, parts[0].End)
		to.rect(126, to.y, 150, h, fmt.Sprintf("f%d", p.fill), fmt.Sprintf("%s..%s: %s", exact(p.Start), exact(p.End), p.name))
		to.text(370, to.y+14, "label end", exact(p.Len()))
		to.text(380, to.y+14, "label", fitted(p.name, 70))
		to.y += h
		to.text(118, to.y+4, "axis end", exact(p.Start))
	}
	if left > 0 {
		to.y += 20
		to.text(126, to.y, "label", fmt.Sprintf("the %d smallest are not drawn", left))
	}
	to.y += 30
}
