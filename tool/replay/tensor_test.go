package replay_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The pages of a tensor go to the cores in turn: the core with the most has the quotient, rounded
// up, and each page takes a multiple of the alignment.
func TestTensorPerCore(t *testing.T) {
	for _, c := range []struct {
		bytes, page uint64
		cores       int
		align       uint64
		want        uint64
	}{
		{2048, 0, 64, 16, 2048},
		{64 * 2048, 0, 64, 16, 2048},
		{65 * 2048, 0, 64, 16, 4096},
		{128 * 2048, 0, 64, 16, 4096},
		{1 << 20, 0, 64, 16, 16_384},
		{1 << 20, 4096, 64, 16, 16_384},
		{1 << 20, 4096, 56, 16, 20_480},
		{1 << 20, 1 << 20, 64, 16, 1 << 20},
		{100, 10, 4, 16, 48},
		{100, 16, 4, 16, 32},
		{170, 17, 4, 16, 96},
		{100, 10, 4, 0, 30},
		{0, 10, 4, 16, 0},
		{100, 10, 0, 16, 0},
		{l1.MaxAddr, 1, 1, 1, l1.MaxAddr},
		{l1.MaxAddr, 1, 1, 16, l1.MaxAddr},
		{l1.MaxAddr, l1.MaxAddr, 1, 16, l1.MaxAddr},
		{math.MaxUint64, 1, 1, 1, l1.MaxAddr},
	} {
		require.Equal(t, c.want, answer.Tensor{Bytes: c.bytes, Page: c.page}.PerCore(c.cores, c.align), c)
	}
	require.NoError(t, answer.Tensor{Bytes: 4096}.Check())
	require.NoError(t, answer.Tensor{Bytes: 60, Page: 20}.Check())
	require.EqualError(t, answer.Tensor{Bytes: 2047}.Check(), "2,047 bytes are not a whole number of pages of 2,048 bytes")
	require.EqualError(t, answer.Tensor{Bytes: 20, Page: 60}.Check(), "20 bytes are not a whole number of pages of 60 bytes")
}

// A tensor has a size of each core where all devices agree on it. Else no answer is certain, also
// if it is accepted.
func TestRoomOfATensor(t *testing.T) {
	const board, unknown = `"board":"n150"`, `"l1_size":1499136,"cb_base":103712,"cb_align":16,"l1_align":16`
	const space = 1_499_136 - 203_712
	again := `{"event":"remove","devices":[0]}` + "\n" + `{"event":"device","device":0,"spec":{"board":"n150","cols":4}}` + "\n"
	ask := func(tensor answer.Tensor, more string, specs ...string) *answer.Result {
		var log strings.Builder
		log.WriteString(logHead)
		for i, spec := range specs {
			fmt.Fprintf(&log, `{"event":"device","device":%d,"spec":{%s}}`+"\n", i, spec)
		}
		if len(specs) > 0 {
			log.WriteString(`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":100000}]}` + "\n" + `{"event":"enqueue","program":1,"devices":[0]}` + "\n" + more)
		}
		q := &answer.RoomQuestion{Cores: l1.CoreSetOf(l1.Core{X: 1}), Size: 7, Tensor: tensor}
		return replayLog(t, log.String(), replay.Options{Room: q})
	}
	for _, c := range []struct {
		specs  []string
		tensor answer.Tensor
		size   uint64
		want   answer.Answer
		tight  int
	}{
		{[]string{board}, answer.Tensor{Bytes: 64 * space, Page: space}, space, answer.Fits, 0},
		{[]string{board}, answer.Tensor{Bytes: 65 * space, Page: space}, 2 * space, answer.DoesNotFit, 1},
		{[]string{board}, answer.Tensor{Bytes: 64 * (space + 1), Page: space + 1}, space + 16, answer.DoesNotFit, 1},
		{[]string{board, board}, answer.Tensor{Bytes: 64 * space, Page: space}, space, answer.Fits, 0},
		{[]string{board, board + `,"cols":4`}, answer.Tensor{Bytes: 2048}, 2048, answer.Fits, 0},
		{[]string{board, board + `,"cols":4`}, answer.Tensor{Bytes: 65 * 2048}, 0, answer.CannotTell, 0},
		{[]string{board + `,"cols":4`, board}, answer.Tensor{Bytes: 65 * 2048}, 0, answer.CannotTell, 0},
		{[]string{unknown}, answer.Tensor{Bytes: 2048}, 0, answer.CannotTell, 0},
		{[]string{board, unknown}, answer.Tensor{Bytes: 65 * space, Page: space}, 0, answer.CannotTell, 0},
	} {
		r := ask(c.tensor, "", c.specs...)
		require.Equal(t, c.size, r.Rooms.Question.Size, c)
		require.Len(t, r.Rooms.Tight, c.tight, c)
		for _, accept := range [][]answer.Code{nil, {answer.CodeBanksUnknown}} {
			j := r.Room(accept)
			require.Equal(t, c.want, j.Answer, c)
			require.Equal(t, c.want == answer.CannotTell, len(j.Untold) == 1 && j.Untold[0].Code == answer.CodeBanksUnknown, c)
		}
		if len(c.specs) == 1 && c.size > 0 {
			require.Equal(t, 64, r.Rooms.All.Cores.Len(), "the cores of the question are those of the grid")
		}
	}

	r := ask(answer.Tensor{Bytes: 65 * 2048}, again, board)
	require.Equal(t, answer.CannotTell, r.Room(nil).Answer, "the device came back with another grid")
	require.Zero(t, r.Rooms.Question.Size)
	require.EqualValues(t, 2048, ask(answer.Tensor{Bytes: 2048}, again, board).Rooms.Question.Size)
	require.Zero(t, ask(answer.Tensor{Bytes: 2048}, "").Rooms.Question.Size, "there is no device")
}
