package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
)

// The obstacles are named as by hand: list all of them, sort them by their starts, and strike out
// repeated names.
func TestInTheWayAgreesWithList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.IntRange(0, 3)
		long := strings.Repeat("ä", 60)
		names := []string{"", long + "b", long + "c"}
		var places []Place
		for range rapid.IntRange(1, 3).Draw(t, "sites") {
			var at Place
			for range rapid.IntRange(0, 10).Draw(t, "buffers") {
				start := uint64(10 * small.Draw(t, "start"))
				x := uint8(rapid.IntRange(0, 2).Draw(t, "x"))
				at.Buffers = append(at.Buffers, Buffer{
					ID: BufferID(rapid.IntRange(0, 1).Draw(t, "id")), Kind: rapid.SampledFrom([]Kind{KindL1, KindL1Small}).Draw(t, "kind"),
					Cores: l1.Rect(x, 0, x, 0).Cores(), Range: l1.Range{Start: start, End: start + 5}, Name: rapid.SampledFrom(names).Draw(t, "name"),
				})
			}
			places = append(places, at)
		}
		r := l1.Range{Start: uint64(10 * rapid.IntRange(0, 1).Draw(t, "from")), End: uint64(10 + 10*small.Draw(t, "to"))}
		v := Verdict{judged: sitesOf(places)}
		if rapid.Bool().Draw(t, "refused") {
			v.Refusals = []*Refusal{{Kind: RefusedClash}}
		}
		if rapid.Bool().Draw(t, "clashes") {
			v.Clashes = []Clash{{Cores: l1.Rect(0, 0, 1, 0).Cores()}}
		}

		type line struct {
			start uint64
			text  string
		}
		var list []line
		for _, at := range places {
			for _, b := range at.Buffers {
				met := b.Range.Start == r.Start
				if b.Range.Start > r.Start && b.Range.Start < r.End {
					met = len(v.Refusals) > 0 && b.Kind == KindL1 || len(v.Clashes) > 0 && (b.Cores.Has(l1.Core{}) || b.Cores.Has(l1.Core{X: 1}))
				}
				if met {
					text := fmt.Sprintf("%v %d", b.Kind, b.ID)
					if b.Name != "" {
						text += fmt.Sprintf(" (%.60q)", b.Name)
					}
					list = append(list, line{b.Range.Start, text})
				}
			}
		}
		slices.SortStableFunc(list, func(a, b line) int { return cmp.Compare(a.start, b.start) })
		var texts []string
		for _, one := range list {
			if !slices.Contains(texts, one.text) {
				texts = append(texts, one.text)
			}
		}
		want := strings.Join(texts, " and ")
		if n := len(texts); n > 2 {
			want = fmt.Sprintf("%s and %s (+%d more)", texts[0], texts[1], n-2)
		}
		require.Equal(t, want, v.namesOf(v.met(Clash{Limit: r.Start, End: r.End})))
	})
}

// A buffer that two devices have in two places is named by the lower one.
func TestInTheWayNamesTheLowestFirst(t *testing.T) {
	on := func(id BufferID, start uint64) Buffer {
		return Buffer{ID: id, Kind: KindL1, Cores: l1.Rect(0, 0, 0, 0).Cores(), Range: l1.Range{Start: start, End: start + 5}}
	}
	v := Verdict{
		Clashes: []Clash{{Cores: l1.Rect(0, 0, 0, 0).Cores()}},
		judged:  sitesOf([]Place{{Buffers: []Buffer{on(1, 30), on(2, 20)}}, {Buffers: []Buffer{on(1, 10), on(3, 25)}}}),
	}
	require.Equal(t, "L1 buffer 1 and L1 buffer 2 (+1 more)", v.namesOf(v.met(Clash{Limit: 10, End: 40})))
}
