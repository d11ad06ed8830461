package sizes_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/sizes"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

var update = flag.Bool("update", false, "TestFew: write its file anew; review the difference")

// TestFew compares the whole answer about a few inputs: a section has a line "log NAME" or "text NAME" before the
// lines of each.
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) (out []string) {
		var found sizes.Answer
		together := asked[0] == "together"
		inputs := strings.Split("\n"+strings.Join(asked, "\n"), "\nlog ")
		for i, one := range inputs {
			parts := strings.Split("\n"+one, "\ntext ")
			if name, lines, ok := strings.Cut(parts[0], "\n"+"{"); i > 0 && ok {
				r, err := replay.Run(strings.TrimSpace(name), event.NewLog(strings.NewReader("{"+lines+"\n"), name).Events(), replay.Options{Strays: true})
				require.NoError(t, err)
				found.AddRun(r)
			}
			for _, text := range parts[1:] {
				name, lines, _ := strings.Cut(text, "\n")
				messages, err := clash.Read(strings.NewReader(lines))
				require.NoError(t, err)
				found.AddMessages(name, messages.Messages)
			}
		}
		doc := found.Document(together)
		out = append(out, strings.TrimSpace(fmt.Sprintf("%v, takes %d of %s %s", doc.Answer, doc.Taken, opt(doc.Room), doc.Why)))
		for _, s := range doc.Sizes {
			out = append(out, fmt.Sprintf("%s %s of %s, %s, %s:%s, %s", s.Name, opt(s.Works), opt(s.Used), s.Sure, s.File, opt(s.At), s.Text))
		}
		return append(out, "python "+doc.Python)
	})
}

func opt(n event.Opt[uint64]) string {
	if !n.OK {
		return "-"
	}
	return fmt.Sprint(n.V)
}

// A device that does not name its l1_small_size works with what it needs, if that is known, and with no more.
func TestSmallIsNotKnown(t *testing.T) {
	run := func(file string, small event.Source, needs answer.Needs) *answer.Result {
		return &answer.Result{
			File: file, Spec: answer.Spec{Spec: l1.N150(), ArchFrom: event.FromFile, SmallFrom: small},
			L1: []answer.DeviceL1{{ID: event.Some(uint64(0)), Needs: needs}},
		}
	}
	lies := func(bytes uint64) answer.Needs {
		return answer.Needs{Small: answer.Need{Value: l1.N150().L1Size - bytes}}
	}
	const why = "a: its l1_small_size is not known: --l1-small says it"
	for name, c := range map[string]struct {
		needs, others answer.Needs
		want          string
	}{
		"what it needs":         {lies(512), lies(0), ""},
		"what another one does": {lies(512), lies(1024), why},
		"what is not certain":   {answer.Needs{Kept: answer.Need{Value: 320}}, lies(0), why},
		"nothing":               {lies(0), lies(0), ""},
	} {
		var found sizes.Answer
		found.AddRun(run("a", event.FromAssumed, c.needs))
		b := run("b", event.FromFile, c.others)
		b.Spec.L1Small = 2048
		found.AddRun(b)
		require.Equal(t, c.want, found.Document(false).Why, name)
	}
}

// A change of l1_small_size by whole steps moves every buffer of the top by as much, unless there is no room. So new
// sizes work if the lowest free space is as large as they take.
func TestSmallMovesAllBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := l1.N150()
		more := fit.Alignment(spec) * rapid.Uint64Range(1, 500).Draw(t, "steps")
		var devices [2]device.Device
		var fleets [2]*device.Fleet
		for i := range devices {
			fleets[i] = device.NewFleet()
			d, err := fleets[i].AddDevice(0, spec)
			require.NoError(t, err)
			devices[i], spec.L1Small = d, spec.L1Small+more
		}
		live := map[fit.BufferID]uint64{}
		for id := range fit.BufferID(rapid.IntRange(1, 40).Draw(t, "calls")) {
			for old := range live {
				if rapid.IntRange(0, 5).Draw(t, "free") == 0 {
					for i := range devices {
						_, err := fleets[i].Free(old, devices[i].Set())
						require.NoError(t, err)
					}
					delete(live, old)
				}
			}
			b := fit.Buffer{ID: id, Kind: fit.KindL1}
			size := rapid.Uint64Range(1, 200_000).Draw(t, "size")
			at, err := fleets[0].Place(b, size, devices[0].Set())
			moved, movedErr := fleets[1].Place(b, size, devices[1].Set())
			if err != nil || movedErr != nil {
				require.True(t, err == nil || movedErr != nil, "less room, and a place: %v", err)
				return
			}
			low, lower := lowest(at), lowest(moved)
			require.Equal(t, low-more, lower)
			live[id] = low
			require.NoError(t, fleets[0].Allocate(at, devices[0].Set()))
			require.NoError(t, fleets[1].Allocate(moved, devices[1].Set()))
		}
	})
}

func lowest(b fit.Buffer) (low uint64) {
	for p := range b.All() {
		low = p.Range.Start
	}
	return low
}
