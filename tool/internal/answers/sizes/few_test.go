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
			b := fit.Buffer{ID: id, Kind: fit.KindL1, Cores: spec.Grid().Cores()}
			size := rapid.Uint64Range(1, 200_000).Draw(t, "size")
			at, err := fleets[0].Place(b, size, devices[0].Set())
			moved, movedErr := fleets[1].Place(b, size, devices[1].Set())
			if err != nil || movedErr != nil {
				require.ErrorIs(t, movedErr, fit.ErrNoSpace, "less room, and a place: %v", err)
				return
			}
			low, lower := lowest(at), lowest(moved)
			require.Equal(t, low-more, lower)
			live[id] = low
		}
	})
}

// Runs that were opened with other sizes are made again with those that work, with the same allocations: they fit, or
// one does not, as the answer says. A run that did not fit may do so with a smaller L1_SMALL.
func TestSizesOfRunsMadeAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var found sizes.Answer
		var runs []made
		failed := false
		for range rapid.IntRange(1, 2).Draw(t, "runs") {
			run := madeRun(t)
			log, ok := run.log(run.spec)
			if !ok {
				return
			}
			r := replayed(t, log)
			if low := r.L1[0].Needs.Lowest.Value; low > 0 { // and a program that leaves little, or does not fit
				most := low - run.spec.CBBase + 64
				run.steps = append(run.steps, step{size: most - min(most-1, 32*rapid.Uint64Range(0, 1500).Draw(t, "left"))})
				log, _ = run.log(run.spec)
				r = replayed(t, log)
			}
			failed = failed || r.Judge(answer.Terms{}).Answer == answer.DoesNotFit
			found.AddRun(r)
			runs = append(runs, run)
		}
		size, asked := rapid.Uint64Range(60_000, 120_000).Draw(t, "size"), rapid.Bool().Draw(t, "asked")
		if asked {
			messages, err := clash.Read(strings.NewReader(fmt.Sprintf("Program size (%d) too large for kernel config buffer (%d) on TENSIX", size, size)))
			require.NoError(t, err)
			found.AddMessages("m", messages.Messages)
		}
		doc, works := found.Document(false), true
		for _, run := range runs {
			spec := run.spec
			spec.L1Small = doc.Sizes[0].Works.V
			if asked {
				spec.CBBase = spec.L1Size - doc.Sizes[2].Works.V
				require.Greater(t, spec.CBBase-(103_712-70_656), size)
			}
			log, ok := run.log(spec)
			works = works && ok && replayed(t, log).Judge(answer.Terms{}).Answer == answer.Fits
		}
		switch doc.Answer {
		case answer.Fits:
			require.True(t, works && !failed, doc)
		case answer.DoesNotFit:
			require.False(t, works, doc)
		default:
			require.True(t, failed || strings.HasSuffix(doc.Why, "how much more is not known"), doc)
		}
	})
}

// A made run allocates and frees buffers, and runs programs.
type made struct {
	spec  l1.Spec
	steps []step
}

// A step is an allocation of bytes on each core, a program of so many bytes, or a free of a buffer.
type step struct {
	kind fit.Kind
	size uint64
	free fit.BufferID
}

func madeRun(t *rapid.T) (out made) {
	out.spec = l1.N150()
	out.spec.L1Small = 32 * rapid.Uint64Range(0, 2000).Draw(t, "small")
	out.spec.CBBase += 32 * rapid.SampledFrom([]uint64{0, 300, 1000}).Draw(t, "base")
	room := out.spec.UsableBytes()
	out.steps = []step{{size: 64}} // something ran
	if small := rapid.Uint64Range(0, out.spec.L1Small).Draw(t, "used"); small > 0 {
		out.steps = append(out.steps, step{kind: fit.KindL1Small, size: small})
	}
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		size := rapid.Uint64Range(1, room/2).Draw(t, "bytes")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			out.steps = append(out.steps, step{free: fit.BufferID(rapid.IntRange(1, 8).Draw(t, "freed"))})
		case 1:
			out.steps = append(out.steps, step{size: size})
		default:
			out.steps = append(out.steps, step{kind: fit.KindL1, size: size})
		}
	}
	return out
}

// log returns the run on a device with a Spec, where all buffers find a place.
func (m made) log(spec l1.Spec) (log string, ok bool) {
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, spec)
	if err != nil {
		return "", false
	}
	log = fmt.Sprintf(`{"event":"log","version":1}`+"\n"+`{"event":"device","device":0,"spec":{"arch":"wormhole","cols":8,"rows":8,"cb_base":%d,"l1_size":%d,"l1_small":%d}}`+"\n"+
		`{"event":"allocate","buffer":99,"kind":"trace","size":64}`+"\n", spec.CBBase, spec.L1Size, spec.L1Small)
	for i, s := range m.steps {
		id := fit.BufferID(i + 1)
		switch {
		case s.free > 0:
			if _, err := fleet.Free(s.free, d.Set()); err != nil {
				continue // it was none, or is gone
			}
			log += fmt.Sprintf(`{"event":"free","buffer":%d}`+"\n", s.free)
		case s.kind == 0:
			log += fmt.Sprintf(`{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - 7-7]","size":%d}]}`+"\n"+`{"event":"enqueue","program":%d}`+"\n", id, s.size, id)
		default:
			b, err := fleet.Place(fit.Buffer{ID: id, Kind: s.kind, Cores: d.Spec().Grid().Cores()}, s.size, d.Set())
			if err != nil {
				return "", false
			}
			log += fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":%q,"parts":[{"address":%d,"size":%d}]}`+"\n", id, map[fit.Kind]string{fit.KindL1: "l1", fit.KindL1Small: "l1_small"}[s.kind], lowest(b), s.size)
		}
	}
	return log, true
}

func replayed(t require.TestingT, log string) *answer.Result {
	r, err := replay.Run("a", event.NewLog(strings.NewReader(log), "a").Events(), replay.Options{Strays: true})
	require.NoError(t, err)
	return r
}

func lowest(b fit.Buffer) (low uint64) {
	for p := range b.All() {
		low = p.Range.Start
	}
	return low
}
