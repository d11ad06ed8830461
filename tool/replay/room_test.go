package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// roomBeside queries the room of a size beside program 1, to 104,736, and beside the events of more.
func roomBeside(t *testing.T, size uint64, end *event.Event, more ...*event.Event) *answer.Result {
	t.Helper()
	all := slices.Concat(programs(), []*event.Event{ran(1, 3), freed(4)}, more, []*event.Event{end})
	r, err := replay.Run("x", runEvents(event.RoleChip, all...), replay.Options{Room: &answer.RoomQuestion{Size: size}})
	require.NoError(t, err)
	return r
}

// What is hidden only takes more: what does not fit does not, whatever is hidden. It is otherwise
// where something counts that may not be in the way.
func TestRoom(t *testing.T) {
	const all = 1_499_136 - 104_736
	hidden := &event.Event{Kind: event.KindHidden, Code: "not-shown", Node: 7, Count: 1}
	other := ran(1, 5)
	other.Inferred, other.Candidates = true, alone(100) // which ends at 603,712
	again := ran(1, 7)
	again.Inferred, again.Candidates = true, alone(100)
	several := ran(100, 5)
	several.Unsettled = true
	unsized := &event.Event{
		Kind: event.KindAllocate, Node: 6, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64, Unsized: true},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 500_000, End: 500_000}}},
	}
	assumed := ends()
	assumed.Spec, assumed.From.Arch = l1.ArchSpec(l1.Blackhole), event.FromAssumed
	for _, c := range []struct {
		name   string
		size   uint64
		more   []*event.Event
		accept answer.Code
		want   answer.Answer
		untold []answer.Code
	}{
		{"all of it", all, nil, "", answer.Fits, nil},
		{"a byte more", all + 1, nil, "", answer.DoesNotFit, nil},
		{"no size", 0, nil, "", answer.Fits, nil},
		{"hidden and fits", all, []*event.Event{hidden}, "", answer.CannotTell, []answer.Code{"not-shown"}},
		{"hidden and no size", 0, []*event.Event{hidden}, "", answer.CannotTell, []answer.Code{"not-shown"}},
		{"hidden and does not fit", all + 1, []*event.Event{hidden}, "", answer.DoesNotFit, []answer.Code{"not-shown"}},
		{"accepted", all, []*event.Event{hidden}, "not-shown", answer.Fits, nil},
		{"above the candidates", 1_499_136 - 603_712, []*event.Event{other}, "", answer.Fits, nil},
		{"beside a candidate", all, []*event.Event{other}, "", answer.CannotTell, []answer.Code{answer.CodeAmbiguous}},
		{"beside a candidate that ran before", all, []*event.Event{ran(100, 5), freed(6), again}, "", answer.DoesNotFit, nil},
		{"beside a candidate, accepted", all, []*event.Event{other}, answer.CodeAmbiguous, answer.DoesNotFit, nil},
		{"beside runs that may be several programs", all, []*event.Event{several}, "", answer.CannotTell, []answer.Code{answer.CodeUnsettled}},
		{"below a buffer without a known end", 395_264, []*event.Event{unsized}, "", answer.CannotTell, []answer.Code{answer.CodeBufferUnsized}},
		{"perhaps above it", 395_265, []*event.Event{unsized}, "", answer.CannotTell, []answer.Code{answer.CodeBufferUnsized}},
		{"not above it", 395_265, []*event.Event{unsized}, answer.CodeBufferUnsized, answer.DoesNotFit, nil},
	} {
		r := roomBeside(t, c.size, ends(), c.more...)
		var accept []answer.Code
		if c.accept != "" {
			accept = append(accept, c.accept)
		}
		j := r.Room(accept)
		require.Equal(t, c.want, j.Answer, c.name)
		require.Equal(t, c.untold, codesOf(j.Untold), c.name)
		require.Equal(t, c.accept != "", len(j.Accepted) == 1, c.name)
	}

	// A Blackhole that is assumed may be a Wormhole, whose L1 ends earlier.
	big := &event.Event{Kind: event.KindDevice, Device: 4, Spec: l1.P150(), Role: event.RoleChip, From: event.Origins{Grid: event.FromFile}}
	run := ran(1, 3)
	run.On[0].Device = 4
	for size, want := range map[uint64]answer.Answer{1_499_136 - 112_640: answer.Fits, 1_499_136 - 112_640 + 1: answer.CannotTell, 1_572_864 - 112_640 + 1: answer.DoesNotFit} {
		small := defines(1, "{[0-0 - 0-0]}", 1024)
		small.CBs[0].Address = 111_616
		r, err := replay.Run("x", func(yield func(*event.Event, error) bool) {
			for _, e := range []*event.Event{{Kind: event.KindHeader, Source: "capture"}, big, small, run, assumed} {
				if !yield(e, nil) {
					return
				}
			}
		}, replay.Options{Room: &answer.RoomQuestion{Size: size}})
		require.NoError(t, err)
		require.Equal(t, want, r.Room(nil).Answer, size)
	}
}

// The first who took a byte is named, with the event; a run beside which the size has no place is
// listed.
func TestRoomNamesWhoIsInTheWay(t *testing.T) {
	tensor := func(id fit.BufferID, node, start, end uint64) *event.Event {
		return &event.Event{
			Kind: event.KindAllocate, Node: node, Op: event.Some("g"), Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: id, Kind: fit.KindL1},
			Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{X: 1})), Range: l1.Range{Start: start, End: end}}},
		}
	}
	free := &event.Event{Kind: event.KindFree, Node: 7, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1}}
	r := roomBeside(t, 500_000, ends(), tensor(1, 6, 600_000, 700_000), ran(2, 6), freed(7), free, ran(2, 8), freed(9), tensor(2, 10, 600_000, 1_000_000), ran(101, 11))
	room := r.Rooms.Devices[0].Room
	require.Equal(t, l1.Range{Start: 1_000_000, End: 1_499_136}, room.Range())
	require.EqualValues(t, 10, room.Below.Buffer.At)
	require.EqualValues(t, "g", room.Below.Buffer.Op)
	require.Nil(t, room.Above)
	require.False(t, room.Place.OK)
	require.Len(t, r.Rooms.Devices[0].Groups, 1, "in lockstep the addresses of a buffer are taken on all cores")
	require.Equal(t, []answer.TightRun{{
		Run: r.Rooms.Tight[0].Run, Enqueue: 11, Device: event.Some[uint64](3), Devices: 1, Times: 1, Gap: room.Gap,
	}}, r.Rooms.Tight, "beside the others it had a place")
	require.EqualValues(t, 11, r.Rooms.Tight[0].Run.At)
}

// TestRoomOfAShardedBuffer queries the room on the cores 1-0 and 2-0 beside a buffer on core 0-0 and one on core 1-0,
// above a program on core 0-0 that ends at 1,064. In lockstep all of them count on all cores. In HYBRID mode each core
// has room of its own, and the least counts.
func TestRoomOfAShardedBuffer(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"cols":3,"rows":1,"l1_size":4000,"cb_base":64}}
{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1000}]}
{"event":"enqueue","program":1}
`
	const hybrid = `{"event":"hybrid"}` + "\n"
	const first, second = `{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":3000,"size":1000}]%s}` + "\n",
		`{"event":"allocate","buffer":2,"kind":"l1","parts":[{"cores":"1-0","address":2000,"size":500}]%s}` + "\n"
	beside := func(mode string) string { return fmt.Sprintf(first, mode) + fmt.Sprintf(second, mode) }
	const perCore = `,"mode":"per_core"`
	type rooms [3]l1.Range // of the question, of core 1-0, of core 2-0
	low, above := l1.Range{Start: 1064, End: 2000}, l1.Range{Start: 2500, End: 4000}
	for _, test := range []struct {
		name, events string
		mode         fit.Mode
		want         rooms
		fits         uint64 // the largest size with a place
	}{
		{"in lockstep", beside(""), fit.Lockstep, rooms{low, low, low}, 936},
		{"HYBRID, buffers in lockstep", hybrid + beside(""), fit.PerCore, rooms{{Start: 64, End: 2000}, {Start: 64, End: 2000}, {Start: 64, End: 2000}}, 1936},
		{"HYBRID, buffers per core", hybrid + beside(perCore), fit.PerCore, rooms{{Start: 64, End: 2000}, {Start: 64, End: 2000}, {Start: 64, End: 4000}}, 1936},
		{"HYBRID, and back", hybrid + beside(perCore) + `{"event":"lockstep"}` + "\n", fit.Lockstep, rooms{low, low, low}, 936},
		{"HYBRID, at the upper end", hybrid + fmt.Sprintf(second, perCore) + `{"event":"allocate","buffer":3,"kind":"l1","parts":[{"cores":"1-0","address":64,"size":1900}],"mode":"per_core"}` + "\n",
			fit.PerCore, rooms{above, above, {Start: 64, End: 4000}}, 1500},
	} {
		for over, fits := range map[uint64]bool{0: true, 1: false} {
			r := replayLog(t, log+test.events, replay.Options{Room: &answer.RoomQuestion{Size: test.fits + over, Cores: l1.Rect(1, 0, 2, 0).Cores()}})
			require.Equal(t, test.mode, r.Rooms.Mode, test.name)
			require.Equal(t, fits, r.Rooms.All.Place.OK, test.name)
			got := rooms{r.Rooms.All.Range()}
			for _, g := range r.Rooms.Devices[0].Groups {
				for core := range g.Cores.All() {
					got[core.X] = g.Range()
				}
			}
			require.Equal(t, test.want, got, test.name)
		}
	}
}

// A service buffer without a byte claims its cores as well: tt-metal compares a program that begins
// there with no buffer of other cores, as fit.Place.Claimed says.
func TestRoomBesideAClaimWithoutBytes(t *testing.T) {
	claim := &event.Event{
		Kind: event.KindAllocate, Node: 6, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindService, Size: 1},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 600_000, End: 600_000}}},
	}
	room := func(more ...*event.Event) (seen []l1.Range) {
		for _, g := range roomBeside(t, 0, ends(), more...).Rooms.Devices[0].Groups {
			seen = append(seen, g.Range())
		}
		return seen
	}
	above := l1.Range{Start: 603_712, End: 1_499_136}
	require.Equal(t, []l1.Range{above}, room(ran(100, 7)))
	require.Equal(t, []l1.Range{above, {Start: 104_736, End: 1_499_136}}, room(claim, ran(100, 7)))
}

// A thousand runs without a place are listed, and the rest is counted. Each has its devices and
// the number of its runs.
func TestRoomListsAThousandTightRuns(t *testing.T) {
	for runs, more := range map[int]int64{1000: 0, 1001: 1, 1002: 2} {
		var log strings.Builder
		log.WriteString(checksHead)
		for i := range runs {
			fmt.Fprintf(&log, `{"event":"program","program":%d,"cbs":[{"cores":"0-0","size":%d}]}`+"\n", i+2, 32*(i+1))
			fmt.Fprintf(&log, `{"event":"enqueue","program":%d,"devices":[%d]}`+"\n", i+2, i%2)
		}
		log.WriteString(strings.Repeat(`{"event":"enqueue","program":2}`+"\n", 3))
		r := replayLog(t, log.String(), replay.Options{Room: &answer.RoomQuestion{Size: 1_499_136 - 103_712}})
		require.Len(t, r.Rooms.Tight, 1000)
		require.Equal(t, more, r.Rooms.TightMore)
		require.EqualValues(t, 7, r.Rooms.Tight[0].Times)
		require.Equal(t, 1, r.Rooms.Tight[0].Devices)
	}
}

// A program on cores that a service has claimed is in the way there alone, at its moment as throughout.
func TestTightRunsBesideAService(t *testing.T) {
	const service = `{"event":"allocate","buffer":1,"kind":"service","parts":[{"cores":"0-0","address":1400000,"size":64}]}` + "\n"
	for claim, tight := range map[string]int{"": 1, service: 0} {
		r := replayLog(t, `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
`+claim+`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":1000000}]}
{"event":"enqueue","program":1}
`, replay.Options{Room: &answer.RoomQuestion{Size: 1_200_000, Cores: l1.CoreSetOf(l1.Core{X: 1, Y: 1})}})
		require.Zero(t, r.Checks.Failed)
		require.Len(t, r.Rooms.Tight, tight)
		require.Equal(t, tight == 0, r.Rooms.All.Place.OK)
	}
}
