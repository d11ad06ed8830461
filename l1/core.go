package l1

import "fmt"

// A Core is the logical coordinate of a core: x is the column, y the row, from 0
// to 255. The largest real grid is 14x10.
type Core struct {
	X, Y uint8
}

// Compare orders cores by x, then by y, as tt-metal sorts them.
func (c Core) Compare(o Core) int {
	return (int(c.X)<<8 | int(c.Y)) - (int(o.X)<<8 | int(o.Y))
}

// String returns "x-y", the spelling of tt-metal since June 2026.
func (c Core) String() string { return fmt.Sprintf("%d-%d", c.X, c.Y) }

// MarshalText returns String: the spelling of JSON.
func (c Core) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a core as ParseCore does.
func (c *Core) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCore(string(text))
	return err
}

// Legacy returns "(x=x,y=y)", the older spelling.
func (c Core) Legacy() string { return fmt.Sprintf("(x=%d,y=%d)", c.X, c.Y) }

// A CoreRange is a rectangle of cores, inclusive at both ends. A legal range has
// Start at or left of and above End on both axes. CoreRanges compare with ==.
type CoreRange struct {
	Start, End Core
}

// Check returns nil if r is legal and a *CoreRangeError otherwise.
func (r CoreRange) Check() error {
	if r.Start.X > r.End.X || r.Start.Y > r.End.Y {
		return &CoreRangeError{r}
	}
	return nil
}

// Len returns the number of cores in r, at most 65,536. A range that is not legal has
// none.
func (r CoreRange) Len() int {
	if r.Start.X > r.End.X || r.Start.Y > r.End.Y {
		return 0
	}
	return (int(r.End.X) - int(r.Start.X) + 1) * (int(r.End.Y) - int(r.Start.Y) + 1)
}

// Cores returns the cores of r. A range that is not legal has none.
func (r CoreRange) Cores() CoreSet {
	switch {
	case r.Check() != nil:
		return CoreSet{}
	case r.numTiles() > fewTiles:
		return CoreSet{rect: r, isRect: true}
	}
	var b coreSetBuilder
	b.addRange(r)
	return b.set()
}

// intersect returns the cores that lie in r and in o: a range that is not legal, if there
// are none.
func (r CoreRange) intersect(o CoreRange) CoreRange {
	return CoreRange{
		Core{max(r.Start.X, o.Start.X), max(r.Start.Y, o.Start.Y)},
		Core{min(r.End.X, o.End.X), min(r.End.Y, o.End.Y)},
	}
}

// all yields the cores of a legal range by x, then by y.
func (r CoreRange) all(yield func(Core) bool) {
	for x := int(r.Start.X); x <= int(r.End.X); x++ {
		for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
			if !yield(Core{uint8(x), uint8(y)}) {
				return
			}
		}
	}
}

// Has reports whether c lies in r.
func (r CoreRange) Has(c Core) bool {
	return r.Start.X <= c.X && c.X <= r.End.X && r.Start.Y <= c.Y && c.Y <= r.End.Y
}

// Overlaps reports whether r and o share a core.
func (r CoreRange) Overlaps(o CoreRange) bool {
	return r.Start.X <= o.End.X && o.Start.X <= r.End.X && r.Start.Y <= o.End.Y && o.Start.Y <= r.End.Y
}

// Compare orders ranges by start, then by end.
func (r CoreRange) Compare(o CoreRange) int {
	if d := r.Start.Compare(o.Start); d != 0 {
		return d
	}
	return r.End.Compare(o.End)
}

// String returns "[x-y - x-y]".
func (r CoreRange) String() string { return "[" + r.Start.String() + " - " + r.End.String() + "]" }

// Legacy returns "[(x=x,y=y) - (x=x,y=y)]".
func (r CoreRange) Legacy() string { return "[" + r.Start.Legacy() + " - " + r.End.Legacy() + "]" }

// A CoreRangeError names a rectangle whose start lies beyond its end. tt-metal
// refuses it too ("Invalid core range").
type CoreRangeError struct {
	Range CoreRange
}

func (e *CoreRangeError) Error() string {
	return fmt.Sprintf("core range %v: start lies beyond end", e.Range)
}
