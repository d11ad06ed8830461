package cbregion

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
)

// allen has the 13 relations of two ranges a and b, as the package documentation draws them, with
// their union and with b less a.
var allen = []struct {
	name    string
	a, b    l1.Range
	regions []l1.Range // of both
	shared  uint64     // bytes in both
}{
	{"before", l1.Range{Start: 0, End: 3}, l1.Range{Start: 6, End: 9}, []l1.Range{{Start: 0, End: 3}, {Start: 6, End: 9}}, 0},
	{"after", l1.Range{Start: 6, End: 9}, l1.Range{Start: 0, End: 3}, []l1.Range{{Start: 0, End: 3}, {Start: 6, End: 9}}, 0},
	{"meets", l1.Range{Start: 0, End: 3}, l1.Range{Start: 3, End: 6}, []l1.Range{{Start: 0, End: 6}}, 0},
	{"met by", l1.Range{Start: 3, End: 6}, l1.Range{Start: 0, End: 3}, []l1.Range{{Start: 0, End: 6}}, 0},
	{"overlaps", l1.Range{Start: 0, End: 5}, l1.Range{Start: 3, End: 8}, []l1.Range{{Start: 0, End: 8}}, 2},
	{"overlapped by", l1.Range{Start: 3, End: 8}, l1.Range{Start: 0, End: 5}, []l1.Range{{Start: 0, End: 8}}, 2},
	{"starts", l1.Range{Start: 0, End: 3}, l1.Range{Start: 0, End: 7}, []l1.Range{{Start: 0, End: 7}}, 3},
	{"started by", l1.Range{Start: 0, End: 7}, l1.Range{Start: 0, End: 3}, []l1.Range{{Start: 0, End: 7}}, 3},
	{"during", l1.Range{Start: 2, End: 5}, l1.Range{Start: 0, End: 7}, []l1.Range{{Start: 0, End: 7}}, 3},
	{"contains", l1.Range{Start: 0, End: 7}, l1.Range{Start: 2, End: 5}, []l1.Range{{Start: 0, End: 7}}, 3},
	{"finishes", l1.Range{Start: 4, End: 7}, l1.Range{Start: 0, End: 7}, []l1.Range{{Start: 0, End: 7}}, 3},
	{"finished by", l1.Range{Start: 0, End: 7}, l1.Range{Start: 4, End: 7}, []l1.Range{{Start: 0, End: 7}}, 3},
	{"equal", l1.Range{Start: 0, End: 5}, l1.Range{Start: 0, End: 5}, []l1.Range{{Start: 0, End: 5}}, 5},
}

func TestThirteenRelations(t *testing.T) {
	require.Len(t, allen, 13)
	for _, rel := range allen {
		for _, at := range []uint64{0, 111_616, l1.MaxAddr - 9} {
			t.Run(rel.name, func(t *testing.T) {
				move := func(r l1.Range) l1.Range { return l1.Range{Start: r.Start + at, End: r.End + at} }
				a, b := move(rel.a), move(rel.b)
				both := slices.Clone(rel.regions)
				for i := range both {
					both[i] = move(both[i])
				}
				for _, firstOut := range []Owner{1, 2} {
					var c Counter
					grew, err := c.Add(1, a)
					require.NoError(t, err)
					require.Equal(t, a.Len(), grew)
					require.Equal(t, []l1.Range{a}, slices.Collect(c.Regions()))

					grew, err = c.Add(2, b)
					require.NoError(t, err)
					require.Equal(t, b.Len()-rel.shared, grew)
					require.Equal(t, both, slices.Collect(c.Regions()))
					require.Equal(t, a.Len()+b.Len()-rel.shared, c.Bytes())
					require.NoError(t, c.CheckInvariants())

					gone, left, owner := a, b, Owner(2)
					if firstOut == 2 {
						gone, left, owner = b, a, 1
					}
					freed, err := c.Remove(firstOut, gone)
					require.NoError(t, err)
					require.Equal(t, gone.Len()-rel.shared, freed)
					require.Equal(t, []l1.Range{left}, slices.Collect(c.Regions()))
					require.Equal(t, left.Len(), c.Bytes())
					require.NoError(t, c.CheckInvariants())

					freed, err = c.Remove(owner, left)
					require.NoError(t, err)
					require.Equal(t, left.Len(), freed)
					require.Zero(t, c.Bytes())
					require.Zero(t, c.Len())
					require.Empty(t, slices.Collect(c.Regions()))
					require.NoError(t, c.CheckInvariants())
				}
			})
		}
	}
}
