package replay_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// When so much was free comes first, and once: two buffers at one address on two cores take its
// bytes once, and where no buffer lies there is nothing scarce. A log has the size of L1_SMALL,
// so that a bank changes nothing.
func TestFreeMomentsLineByLine(t *testing.T) {
	lies := func(id, core string) string {
		return `{"event":"allocate","buffer":` + id + `,"kind":"l1","parts":[{"cores":"` + core + `","address":2048,"size":32}]}` + "\n"
	}
	free := func(id string) string { return `{"event":"free","buffer":` + id + `}` + "\n" }
	sought := []answer.Scarcity{
		{Free: 3072, Block: 3072}, {Free: 3040, Block: 2016}, {Free: 3040, Block: 1024}, {Free: 3039, Block: 2016},
		{Free: 3040, Block: 2016, Bank: 2048}, {Free: 2016, Block: 1024, Bank: 2048}, {Free: 3008, Block: 1984},
	}
	r := replayLog(t, logHead+
		`{"event":"device","device":1,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"cb_base":1024,"cb_align":16,"l1_align":16,"l1_size":4096}}`+"\n"+
		lies("1", "0-0")+free("1")+lies("2", "1-0")+lies("3", "0-0")+free("2")+
		`{"event":"allocate","buffer":4,"kind":"l1","parts":[{"cores":"0-0","address":2080,"size":32}]}`+"\n",
		replay.Options{Scarce: sought})
	var found []string
	for _, m := range r.L1[0].Scarce {
		found = append(found, fmt.Sprint(m.At, " ", m.Scarcity))
	}
	require.Equal(t, []string{"2 {3040 2016 0}", "2 {3040 2016 2048}", "7 {3008 1984 0}"}, found)
}

// A capture does not always have the size of L1_SMALL: then the size of a bank gives it.
func TestFreeMomentsOfABank(t *testing.T) {
	const usable, bank = 1_499_136 - 103_712, 1_499_136 - 103_712 - 16_384
	sought := []answer.Scarcity{
		{Free: usable - 64, Block: 896_288}, {Free: usable - 64, Block: 896_288, Bank: bank}, {Free: bank - 64, Block: 896_288}, {Free: bank - 64, Block: 896_288, Bank: bank},
	}
	lies := &event.Event{
		Kind: event.KindAllocate, Node: 6, Devices: event.Some([]device.ID{3}), Buffer: fit.Buffer{ID: 1, Kind: fit.KindL1, Size: 64},
		Parts: []event.Part{{Cores: event.Some(l1.CoreSetOf(l1.Core{})), Range: l1.Range{Start: 1_000_000, End: 1_000_064}}},
	}
	r, err := replay.Run("x", runEvents(event.RoleChip, lies, ends()), replay.Options{Scarce: sought})
	require.NoError(t, err)
	require.Len(t, r.L1[0].Scarce, 2)
	require.Equal(t, sought[0], r.L1[0].Scarce[0].Scarcity)
	require.Equal(t, sought[3], r.L1[0].Scarce[1].Scarcity)
}
