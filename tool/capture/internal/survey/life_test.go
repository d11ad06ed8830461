package survey

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// When an address was free of others before a lost free, and when it was taken first, compared with a scan of all lives and frees each time.
func TestLivesAgreeWithList(t *testing.T) {
	const address = 4096
	rapid.Check(t, func(t *rapid.T) {
		members := NewMembers()
		p := newPast(members)
		members.Join(7, 0)
		members.Join(7, 1)
		p.time.listable = rapid.Bool().Draw(t, "each life counts")
		id := rapid.SampledFrom([]device.ID{event.NoDevice, 0, 1, 2, 7})
		var alive []*Buffer
		var lives []*life
		named := map[*life]device.ID{}
		var lost frees
		shared := func(named, id device.ID) bool { return members.Share(named, id) }
		for at := range rapid.Uint64Range(1, 40).Draw(t, "nodes") {
			switch n := rapid.IntRange(0, 9).Draw(t, "what"); {
			case n < 3:
				b := &Buffer{Said: Allocation{Kind: fit.KindL1, Recorded: address, Named: id.Draw(t, "id"), At: at}}
				b.life = p.allocated(b)
				alive = append(alive, b)
				if !slices.Contains(lives, b.life) {
					lives = append(lives, b.life)
				}
				named[b.life] = b.Said.Named
			case n < 6 && len(alive) > 0:
				i := rapid.IntRange(0, len(alive)-1).Draw(t, "of")
				p.ended(alive[i], at)
				require.Equal(t, at, alive[i].life.to)
				alive = slices.Delete(alive, i, i+1)
			default:
				by := id.Draw(t, "id")
				after := uint64(0)
				for _, l := range lives {
					if shared(named[l], by) {
						after = max(after, min(l.to, at))
					}
				}
				for _, f := range lost {
					if shared(f.named, by) {
						after = max(after, f.at)
					}
				}
				var n graph.Node
				n.Counter, n.Address, n.Buffer.BufferType = at, event.Some(uint64(address)), event.Some(uint64(1))
				if by != event.NoDevice {
					n.DeviceID = event.Some(uint64(by))
				}
				p.lost(&n)
				lost = p.frees[address].all
				require.Equal(t, after, lost[len(lost)-1].after)
				require.Equal(t, by, lost[len(lost)-1].named)
			}
		}

		for _, by := range []device.ID{event.NoDevice, 0, 1, 2, 7} {
			first := uint64(Forever)
			for _, l := range lives {
				if shared(named[l], by) {
					first = min(first, l.from)
				}
			}
			require.Equal(t, first, p.firstLife(by, address), "id %d", by)
			for from := range uint64(41) {
				freed := uint64(Forever)
				for _, f := range lost {
					if f.at >= from && shared(f.named, by) {
						freed = min(freed, f.at)
					}
				}
				if freed != p.freed(by, address, from) {
					t.Fatalf("from node %d on, id %d", from, by)
				}
			}
		}
	})
}

// Twice the lists, each with a buffer at another address, need twice the memory, or a bit more: slices grow in steps.
func TestListsOfManyPlaces(t *testing.T) {
	asked := func(lists uint64) float64 {
		p := newPast(NewMembers())
		for at := range lists {
			p.census.add(graph.ListedBuffer{Begins: true, At: at})
			p.census.add(graph.ListedBuffer{At: at, Typed: true, Kind: fit.KindL1, Address: event.Some(4096 + 64*at), PerCore: event.Some(uint64(64))})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Len(t, p.fromLists(), int(lists))
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	require.Less(t, asked(800), 3*asked(400))
}
