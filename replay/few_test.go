package replay_test

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/testkit"
	"github.com/cbl1/cbl1/replay"
)

var update = flag.Bool("update", false, "TestFew: write testdata/few.txt anew; review the difference")

// TestFew compares the whole answer about logs of a few lines: testdata/few.txt has a section for each, with
// a question, the events behind the header and a device or two, and the answer behind >.
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		return strings.Split(strings.TrimSpace(askedOf(t, asked)), "\n")
	})
}

// fewDevices are those of all sections: 1 and 2 have cores 0-0 and 1-0, with L1 from 1024 to 4096.
const fewDevices = logHead + `{"event":"device","device":1,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16}}
{"event":"device","device":2,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16}}
`

// askedOf answers the question of a section.
func askedOf(t *testing.T, given []string) string {
	t.Helper()
	word, rest, _ := strings.Cut(given[0], " ")
	var log strings.Builder
	log.WriteString(fewDevices)
	for _, line := range given[1:] {
		log.WriteString(lineOf(t, line) + "\n")
	}
	switch word {
	case "room":
		q := replay.RoomQuestion{}
		_, err := fmt.Sscan(rest, &q.Size)
		require.NoError(t, err)
		r, err := replay.Run("few", events(strings.NewReader(log.String()), "few"), replay.Options{Room: &q})
		require.NoError(t, err, log.String())
		return textOfRoom(r)
	case "moment":
		var out bytes.Buffer
		require.NoError(t, fed(t, log.String()).WriteMoment(&out))
		_, text, _ := strings.Cut(out.String(), "\n") // without the header
		return text
	}
	var shared replay.Shared
	var answers bytes.Buffer
	require.NoError(t, replay.Feed(events(strings.NewReader(log.String()), "few"), func(*event.Event) (*replay.Shared, error) { return &shared, nil }, &answers))
	return answers.String()
}

// lineOf returns an event: a word with an id, and what belongs to it, or JSON as it stands.
func lineOf(t *testing.T, line string) string {
	f := strings.Fields(line)
	on := func(i int) string {
		if i < len(f) {
			return `,"devices":[` + f[i] + `]`
		}
		return ""
	}
	switch {
	case strings.HasPrefix(line, "{"):
		return line
	case f[0] == "program": // program ID SIZE[@ADDRESS] [CORES]
		size, address, fixed := strings.Cut(f[2], "@")
		if fixed {
			size += `,"address":` + address
		}
		cores := "0-0 - 1-0"
		if len(f) > 3 {
			cores = f[3] + " - " + f[3]
		}
		return fmt.Sprintf(`{"event":"program","program":%s,"name":"p%s","cbs":[{"cores":"{[%s]}","size":%s}]}`, f[1], f[1], cores, size)
	case f[0] == "alloc": // alloc ID KIND ADDRESS SIZE [CORE [DEVICES]]
		cores := ""
		if len(f) > 5 && f[5] != "-" {
			cores = `"cores":"{[` + f[5] + " - " + f[5] + `]}",`
		}
		return fmt.Sprintf(`{"event":"allocate","buffer":%s,"name":"b%s","kind":%q,"size":%s,"parts":[{%s"address":%s,"size":%s}]%s}`, f[1], f[1], f[2], f[4], cores, f[3], f[4], on(6))
	case f[0] == "free":
		return fmt.Sprintf(`{"event":"free","buffer":%s%s}`, f[1], on(2))
	case len(f) > 1:
		return fmt.Sprintf(`{"event":%q,"program":%s%s}`, f[0], f[1], on(2))
	}
	t.Fatalf("%q is no event", line)
	return ""
}

// textOfRoom is all that is said of a room.
func textOfRoom(r *replay.Result) string {
	limit := func(l *replay.RoomLimit) string {
		switch {
		case l == nil:
			return "-"
		case l.Buffer != nil:
			return fmt.Sprintf("buffer of event %d", l.Buffer.At)
		}
		return fmt.Sprintf("%s of event %d at %d", l.Program.Op, l.Program.At, l.Enqueue)
	}
	room := func(one replay.Room) string {
		return fmt.Sprintf("%v: %v, place %v, above %s, below %s", one.Cores, one.Range, one.Place, limit(one.Below), limit(one.Above))
	}
	var b strings.Builder
	j := r.JudgeRoom(nil)
	fmt.Fprintf(&b, "%s %v\nall %s\n", j.Answer, j.Untold, room(r.Room.All))
	for _, d := range r.Room.Devices {
		fmt.Fprintf(&b, "device %d %s\n", d.Device.V, room(d.Room))
		for _, g := range d.Groups {
			fmt.Fprintf(&b, "  %s\n", room(g))
		}
	}
	for _, one := range r.Room.Tight {
		fmt.Fprintf(&b, "tight: %s of event %d at %d, device %d of %d, %d times, %v\n", one.Run.Op, one.Run.At, one.Enqueue, one.Device.V, one.Devices, one.Times, one.Range)
	}
	return b.String()
}
