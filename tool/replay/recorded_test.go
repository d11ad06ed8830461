package replay_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

const recordedHead = `{"event":"log","version":1}
{"event":"anomaly","code":"every-core","count":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"device","device":1,"spec":{"board":"n150"}}
`

func recordedCB(id, start, size int, devices string) string {
	return fmt.Sprintf(`{"event":"program","program":%d,"name":"CB 0x%x","cbs":[{"cores":"{[0-0 - 7-7]}","size":%d,"address":%d}]}
{"event":"register","program":%[1]d,"devices":[%[5]s]}
`, id, start, size, start, devices)
}

func recordedBuffer(id, address int, kind, device string) string {
	return fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":%q,"name":"0x%x","devices":[%s],"size":4096,"unsized":true,"parts":[{"address":%d,"size":0}],"address":%[5]d,"cores_from":"assumed"}
`, id, kind, address, device, address)
}

func recordedBacking(id, address int) string {
	return fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":"l1","name":"0x%x","devices":[1],"size":4096,"backing":true,"address":%d}
`, id, address, address)
}

// The answer about a recording: a pair of a CB and a lower L1 buffer, when the CB comes or while it stays, and what hides one.
func TestRecordingIsJudged(t *testing.T) {
	for _, c := range []struct{ name, lines, answer, text string }{
		{"nothing", "", "cannot_tell", "no program"},
		{"a CB that ends at a buffer", recordedCB(1, 200000, 4096, "0") + recordedBuffer(1, 204096, "l1", "0"), "fits", ""},
		{"a buffer comes below the end of a CB", recordedCB(1, 200000, 4096, "0") + recordedBuffer(1, 204095, "l1", "0"), "cannot_tell",
			"may clash: CB 0x30d40 ends at 204,096 on device 0, above L1 buffer 0x31d3f at 204,095, while the CB stays (event 8)"},
		{"a CB comes above a buffer", recordedBuffer(1, 204095, "l1", "1") + recordedCB(1, 200000, 4096, "0,1"), "cannot_tell",
			"may clash: CB 0x30d40 ends at 204,096 on device 1, above L1 buffer 0x31d3f at 204,095, when the CB came (event 8)"},
		{"on another device", recordedBuffer(1, 204095, "l1", "1") + recordedCB(1, 200000, 4096, "0"), "fits", ""},
		{"in L1_SMALL", recordedBuffer(1, 204095, "l1_small", "0") + recordedCB(1, 200000, 4096, "0"), "fits", ""},
		{"a buffer that was freed", recordedBuffer(1, 204095, "l1", "0") + `{"event":"free","buffer":1,"devices":[0]}` + "\n" + recordedCB(1, 200000, 4096, "0"), "fits", ""},
		{"a CB that is gone", recordedCB(1, 200000, 4096, "0") + `{"event":"unregister","program":1,"devices":[0]}` + "\n" + recordedBuffer(1, 204095, "l1", "0"), "fits", ""},
		{"a buffer of a mesh and of its chips", recordedBacking(1, 204095) + recordedBuffer(2, 204095, "l1", "0") + recordedCB(1, 180000, 4096, "0"), "fits", ""},
		{"a buffer of a mesh alone", recordedBuffer(2, 206000, "l1", "0") + recordedBacking(1, 204095) + recordedCB(1, 180000, 4096, "0"), "cannot_tell",
			"L1 buffers are recorded under the id of a mesh alone, at 1 address: no record says on which chips"},
		{"beyond the L1 of a device whose base is not known", strings.Replace(recordedCB(1, 4194000, 4096, "2"), "{[0-0 - 7-7]}", "{[0-0 - 7-3]}", 1), "cannot_tell",
			"the size of L1 is not known, or the base"},
		{"on a device without a known L1", strings.Replace(recordedCB(1, 4194000, 4096, "3"), "{[0-0 - 7-7]}", "{[0-0 - 0-0]}", 1), "cannot_tell", "the size of L1 is not known"},
		{"a record that was odd", recordedCB(1, 200000, 4096, "0") + `{"event":"hidden","code":"odd-record","count":2}` + "\n", "cannot_tell", "2 records contradict what was recorded before"},
		{"a client was lost", recordedCB(1, 200000, 4096, "0") + `{"event":"hidden","code":"client-lost","count":1}` + "\n", "cannot_tell", "1 client of the server was closed"},
	} {
		r := recordingOf(t, recordedHead+`{"event":"device","device":2,"spec":{"board":"quasar"}}
{"event":"device","device":3,"spec":{"name":"unknown","cols":1,"rows":1}}
`+c.lines)
		j := r.Judge(answer.Terms{})
		require.EqualValues(t, c.answer, j.Answer, c.name)
		if c.text != "" {
			require.Contains(t, j.Untold[0].Text, c.text, c.name)
		}
	}
}

// A buffer that another process goes on with is the same pair. Another buffer is one more.
func TestRecordingCounts(t *testing.T) {
	buffer := recordedBuffer(1, 204095, "l1", "0")
	log := recordedHead + recordedCB(1, 200000, 4096, "0") + buffer + strings.Replace(buffer, "{", `{"process":"2","corrects":true,`, 1)
	const text = "may clash: CB 0x30d40 ends at 204,096 on device 0, above L1 buffer 0x31d3f at 204,095, while the CB stays (event 6)"
	require.Equal(t, text, recordingOf(t, log).Judge(answer.Terms{}).Untold[0].Text)
	require.Equal(t, text+"; 1 more", recordingOf(t, log+recordedBuffer(2, 204000, "l1", "0")).Judge(answer.Terms{}).Untold[0].Text)
}

func recordingOf(t *testing.T, log string) *answer.Result {
	t.Helper()
	r, err := replay.Run("log", event.NewLog(strings.NewReader(log), "log").Events(), replay.Options{Room: &answer.RoomQuestion{}})
	require.NoError(t, err)
	return r
}

// Random histories against lists that are searched from end to end.
func TestRecordingModel(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	fits := 0
	for range 300 {
		cbs, buffers := map[int]int{}, map[int]int{}
		var log strings.Builder
		clash, bottom, top := false, 110048, 1499136 // of a byte that no CB or buffer takes at any time
		log.WriteString(recordedHead + recordedCB(1000, 110000, 32, "1"))
		for id := range 1 + random.IntN(100) {
			switch random.IntN(4) {
			case 0:
				end := 150000 + 32*random.IntN(130)
				log.WriteString(recordedCB(id, 140000, end-140000, "0"))
				for _, address := range buffers {
					clash = clash || address < end
				}
				cbs[id], bottom = end, max(bottom, (end+31)/32*32) // an address of a buffer is a multiple of 32
			case 1:
				address := 153500 + 32*random.IntN(130)
				log.WriteString(recordedBuffer(id, address, "l1", "0"))
				for _, end := range cbs {
					clash = clash || address < end
				}
				buffers[id], top = address, min(top, address/32*32)
			case 2:
				for old := range cbs {
					fmt.Fprintf(&log, `{"event":"unregister","program":%d,"devices":[0]}`+"\n", old)
					delete(cbs, old)
					break
				}
			case 3:
				for old := range buffers {
					fmt.Fprintf(&log, `{"event":"free","buffer":%d,"devices":[0]}`+"\n", old)
					delete(buffers, old)
					break
				}
			}
		}
		r := recordingOf(t, log.String())
		require.EqualValues(t, max(top-bottom, 0), r.Rooms.All.Bytes, log.String())
		if top > bottom {
			require.EqualValues(t, bottom, r.Rooms.All.Start.V)
		}
		j := r.Judge(answer.Terms{})
		require.Equal(t, map[bool]answer.Answer{true: answer.CannotTell, false: answer.Fits}[clash], j.Answer, log.String())
		if !clash {
			fits++
		}
	}
	require.Greater(t, fits, 30)
	require.Less(t, fits, 270)
}
