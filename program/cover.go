package program

import "github.com/cbl1/cbl1/l1"

// A cover says of any rectangle whether it shares a core with those that the cover was
// made of, in a few steps, however many these are.
//
// below[x*(rows+1)+y] is the number of covered cores left of x and above y, so that
// four of them give the number in a rectangle.
type cover struct {
	cols, rows int
	below      []int32
}

// newCover returns the cover of legal rectangles. Cost: their number and the cores of
// the rectangle around all of them.
func newCover(ranges []l1.CoreRange) *cover {
	c := &cover{}
	for _, r := range ranges {
		c.cols, c.rows = max(c.cols, int(r.End.X)+1), max(c.rows, int(r.End.Y)+1)
	}
	wide := c.rows + 1
	// First the change of the number of rectangles from core to core, then that number,
	// then the sums.
	change := make([]int32, (c.cols+1)*wide)
	for _, r := range ranges {
		x0, y0, x1, y1 := int(r.Start.X), int(r.Start.Y), int(r.End.X)+1, int(r.End.Y)+1
		change[x0*wide+y0]++
		change[x0*wide+y1]--
		change[x1*wide+y0]--
		change[x1*wide+y1]++
	}
	c.below = make([]int32, len(change))
	for x := range c.cols {
		for y := range c.rows {
			i := x*wide + y
			if x > 0 {
				change[i] += change[i-wide]
			}
			if y > 0 {
				change[i] += change[i-1]
			}
			if x > 0 && y > 0 {
				change[i] -= change[i-wide-1]
			}
			next := i + wide + 1
			c.below[next] = c.below[next-1] + c.below[next-wide] - c.below[i] + min(change[i], 1)
		}
	}
	return c
}

// meets reports whether a legal rectangle shares a core with the cover.
func (c *cover) meets(r l1.CoreRange) bool {
	x0, y0 := min(int(r.Start.X), c.cols), min(int(r.Start.Y), c.rows)
	x1, y1 := min(int(r.End.X)+1, c.cols), min(int(r.End.Y)+1, c.rows)
	wide := c.rows + 1
	return c.below[x1*wide+y1]-c.below[x0*wide+y1]-c.below[x1*wide+y0]+c.below[x0*wide+y0] > 0
}
