package replay_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

var update = flag.Bool("update", false, "TestFew: write its files anew; review the difference")

// TestFew compares the whole answer about logs of a few lines: the files have a section for each, with a question,
// the events behind the header and two devices, and the answer behind >. In results.txt it is the whole Result.
func TestFew(t *testing.T) {
	for _, file := range []string{"testdata/few.txt", "testdata/results.txt"} {
		testkit.Sections(t, file, *update, func(asked []string) []string {
			return strings.Split(strings.TrimSpace(askedOf(t, asked)), "\n")
		})
	}
}

// fewDevices are those of all sections: 1 and 2 have cores 0-0 and 1-0, with L1 from 1024 to 4096.
const fewDevices = logHead + `{"event":"device","device":1,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16}}
{"event":"device","device":2,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16}}
`

// askedOf answers the question of a section.
func askedOf(t *testing.T, given []string) string {
	t.Helper()
	word, rest, _ := strings.Cut(given[0], " ")
	size, ofRuns := strings.CutSuffix(rest, " runs")
	if word == "room" && ofRuns {
		q := answer.RoomQuestion{Size: uint64(fewID(t, size))}
		r, err := replay.Run("few", fewRuns(t, given[1:]), replay.Options{Room: &q})
		require.NoError(t, err)
		return textOfRoom(r)
	}
	if word == "runs" {
		r, err := replay.Run("few", fewRuns(t, given[1:]), optionsOf(t, rest))
		require.NoError(t, err)
		return said(r) + judged(t, r, rest)
	}
	var log strings.Builder
	log.WriteString(fewDevices)
	for _, line := range given[1:] {
		log.WriteString(lineOf(t, line) + "\n")
	}
	switch word {
	case "documents":
		return documentsOf(t, log.String(), rest)
	case "result":
		r, err := replay.Run("few", events(strings.NewReader(log.String()), "few"), optionsOf(t, rest))
		require.NoError(t, err, log.String())
		return said(r) + judged(t, r, rest)
	case "room":
		q := roomOf(t, rest)
		r, err := replay.Run("few", events(strings.NewReader(log.String()), "few"), replay.Options{Room: &q})
		require.NoError(t, err, log.String())
		return textOfRoom(r)
	case "stale":
		r, err := replay.Run("few", events(strings.NewReader(log.String()), "few"), replay.Options{})
		require.NoError(t, err, log.String())
		require.NoError(t, replay.FindStale(r, events(strings.NewReader(log.String()), "few"), replay.Options{}))
		return strings.Join(testkit.Brief(t, r.Stale), "\n")
	case "moment":
		var out bytes.Buffer
		require.NoError(t, fed(t, log.String()).WriteMoment(&out))
		return strings.Join(testkit.Short(out.String(), "cb_align", "l1_align", "cb_indices"), "\n")
	}
	var shared session.Shared
	var answers bytes.Buffer
	require.NoError(t, session.Feed(events(strings.NewReader(log.String()), "few"), func(*event.Event) (*session.Shared, error) { return &shared, nil }, &answers))
	return strings.Join(testkit.Short(answers.String()), "\n")
}

// roomOf reads a size, and words like "at=3", "op=p*" and "cores=0-0".
func roomOf(t *testing.T, words string) (q answer.RoomQuestion) {
	t.Helper()
	size, rest, _ := strings.Cut(words, " ")
	q.Size = uint64(fewID(t, size))
	for word := range strings.FieldsSeq(rest) {
		name, text, _ := strings.Cut(word, "=")
		switch name {
		case "at":
			q.At = event.Some(uint64(fewID(t, text)))
		case "op":
			q.Op = answer.Name(text)
		case "cores":
			core, err := l1.ParseCore(text)
			require.NoError(t, err)
			q.Cores = l1.CoreSetOf(core)
		}
	}
	return q
}

// optionsOf reads words like "runs", "at=3" and "most=4".
func optionsOf(t *testing.T, words string) (opt replay.Options) {
	t.Helper()
	for word := range strings.FieldsSeq(words) {
		name, text, _ := strings.Cut(word, "=")
		var n []uint64
		for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
			v, err := strconv.ParseUint(one, 10, 64)
			require.NoError(t, err)
			n = append(n, v)
		}
		switch name {
		case "budget": // of those who judge
		case "runs":
			opt.Runs = true
		case "buffers":
			opt.Buffers = true
		case "groups":
			opt.Groups = true
		case "onepeak":
			opt.OnePeak = true
		case "groupsat":
			opt.GroupsAt = event.Some(n[0])
		case "ask": // ask=ADDRESS[@NODE]
			opt.Ask = &answer.Question{Address: n[0]}
			if len(n) > 1 {
				opt.Ask.At = event.Some(n[1])
			}
		case "scarce": // scarce=FREE/BLOCK[/BANK]
			one := answer.Scarcity{Free: n[0], Block: n[1]}
			if len(n) > 2 {
				one.Bank = n[2]
			}
			opt.Scarce = append(opt.Scarce, one)
		case "device":
			opt.Only.Device = event.Some(n[0])
		case "core":
			opt.Only.Core = event.Some(l1.Core{X: uint8(n[0]), Y: uint8(n[1])})
		case "op":
			opt.Only.Op = answer.Name(text)
		default:
			t.Fatalf("%q is no option", word)
		}
	}
	return opt
}

// judged is how a Result is judged, also by the budget in "budget=128".
func judged(t *testing.T, r *answer.Result, words string) string {
	t.Helper()
	terms := answer.Terms{}
	if _, text, ok := strings.Cut(words, "budget="); ok {
		budget, err := answer.ParseBudget(strings.Fields(text)[0])
		require.NoError(t, err)
		terms.Budget = &budget
	}
	j := r.Judge(terms)
	over := make([]string, len(j.Over))
	for i, o := range j.Over {
		over[i] = fmt.Sprintf(", device %d: %d bytes over", o.Device.V, o.Over)
	}
	out := fmt.Sprintf("Judge: %s %v%s\n", j.Answer, codesOf(j.Untold), strings.Join(over, ""))
	for _, why := range j.Untold {
		out += fmt.Sprintf("Why: %s\n", why.Text)
	}
	for _, text := range r.AnomalyTexts(j.Untold...) {
		out += fmt.Sprintf("Note: %s\n", text)
	}
	return out
}

// documentsOf returns all documents about a log in which the line n has the time n.5 and CBs are aligned to 32, with budgets of a core and of its operations.
func documentsOf(t *testing.T, log, words string) string {
	t.Helper()
	var timed strings.Builder
	n := 0
	for line := range strings.Lines(strings.ReplaceAll(log, `"cb_align":16`, `"cb_align":32`)) {
		fmt.Fprintf(&timed, "%s,\"t\":%d.5}\n", strings.TrimSuffix(line, "}\n"), n)
		n++
	}
	core, ops, err := answer.ParseBudgets("budgets", []byte(strings.NewReplacer("=", " = ", "-", " ", " ", "\n").Replace(words)))
	require.NoError(t, err)
	r, err := replay.Run("few", events(strings.NewReader(timed.String()), "few"), replay.Options{Groups: true})
	require.NoError(t, err)
	var out []string
	peaks := r.Peak()
	for i := range peaks.Devices {
		peaks.Devices[i].Peak = nil // the report has it
	}
	pictures := r.Map(event.Opt[uint64]{})
	for _, d := range pictures.Devices {
		for i := range d.Groups {
			d.Groups[i].Residents = nil
		}
	}
	for _, doc := range []any{r.Report(), peaks, r.Check(r.Judge(answer.Terms{Budget: core, Ops: ops})), pictures} {
		out = append(out, fmt.Sprintf("%T", doc))
		out = append(out, testkit.Brief(t, doc, "schema", "includes", "excludes", "physical", "file")...)
	}
	return strings.Join(out, "\n")
}

// fewRuns returns the events of a source that saw what ran on the chips 1 and 2. The node of each is the number of
// its line. Besides those of lineOf there are:
//
//	run ID [DEVICES [WORDS]]   inferred, continues, unsettled, persistent, aborted; or=ID+ID,ID: candidates;
//	                           first=NODE; node=NODE: of its event
//	alloc ... WORDS            earlier, backing, unsized, made: its address; unplaced=WHY
//	freed [DEVICE]             its circular buffers
//	executed ID DEVICE
func fewRuns(t *testing.T, lines []string) iter.Seq2[*event.Event, error] {
	t.Helper()
	var all []*event.Event
	for read, err := range events(strings.NewReader(fewDevices), "few") {
		require.NoError(t, err)
		own := *read
		e := &own
		if e.Source = "capture"; e.Kind == event.KindDevice {
			e.Source, e.Role, e.From = "", event.RoleChip, event.Origins{Grid: event.FromFile, Small: event.FromAssumed}
		}
		all = append(all, e)
	}
	for i, line := range lines {
		f := append(strings.Fields(line), "", "", "")
		e := &event.Event{}
		switch f[0] {
		case "run":
			e = fewRun(t, f[1:], uint64(i+1))
		case "freed":
			e.Kind, e.Devices = event.KindCBsFreed, event.Some(fewDevicesOf(t, f[1]))
		case "executed":
			e.Kind, e.Devices, e.Known = event.KindExecuted, event.Some(fewDevicesOf(t, f[2])), f[1] != "-"
			if e.Known {
				e.Program = fewID(t, f[1])
			}
		default:
			for one, err := range events(strings.NewReader(logHead+lineOf(t, line)+"\n"), "few") {
				require.NoError(t, err)
				*e = *one
			}
			if e.Kind == event.KindDevice {
				e.Role = event.RoleChip
			}
			if f[0] == "alloc" {
				e.Named = event.Some(append(slices.Clone(e.Devices.V), 1)[0])
				fewWords(t, e, f[min(7, len(f)):])
			}
		}
		if e.Node = uint64(i + 1); len(e.On) > 0 {
			e.Node = e.On[0].Last
		}
		all = append(all, e)
	}
	from := event.Origins{Arch: event.FromFile, Base: event.FromFile}
	all = append(all, &event.Event{Kind: event.KindEnd, Nodes: int64(len(lines) + 1), Spec: all[1].Spec, From: from})
	return func(yield func(*event.Event, error) bool) {
		for i, e := range all {
			if e.Pos.Node = int64(i); !yield(e, nil) {
				return
			}
		}
	}
}

func fewRun(t *testing.T, f []string, node uint64) *event.Event {
	t.Helper()
	e := &event.Event{Kind: event.KindRun, Program: fewID(t, f[0]), Op: event.Some("op" + f[0])}
	first := node
	for _, word := range f[2:] {
		name, text, _ := strings.Cut(word, "=")
		switch name {
		case "inferred":
			e.Inferred = true
		case "continues":
			e.Continues = true
		case "unsettled":
			e.Unsettled = true
		case "persistent":
			e.Persistent = true
		case "aborted":
			e.Aborted = true
		case "first":
			first = uint64(fewID(t, text))
		case "node":
			node = uint64(fewID(t, text))
		case "or":
			for one := range strings.SplitSeq(text, ",") {
				var workload []program.ID
				for id := range strings.SplitSeq(one, "+") {
					workload = append(workload, fewID(t, id))
				}
				e.Candidates = append(e.Candidates, workload)
			}
		case "":
		default:
			t.Fatalf("%q is no word about a run", word)
		}
	}
	for _, id := range fewDevicesOf(t, f[1]) {
		e.On = append(e.On, event.RunDevice{Device: id, First: first, Last: node, CBFirst: first, CBLast: node})
	}
	return e
}

// fewWords says more about an allocation.
func fewWords(t *testing.T, e *event.Event, words []string) {
	t.Helper()
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		switch name {
		case "earlier":
			e.Earlier = true
		case "backing":
			e.Buffer.Backing = true
		case "unsized":
			e.Buffer.Unsized = true
		case "made":
			e.Parts[0].Synthesised = true
		case "unplaced":
			e.Unplaced, e.Parts = text, nil
		case "":
		default:
			t.Fatalf("%q is no word about a buffer", word)
		}
	}
}

func fewDevicesOf(t *testing.T, text string) (out []device.ID) {
	t.Helper()
	for one := range strings.SplitSeq(cmp.Or(text, "1,2"), ",") {
		out = append(out, device.ID(fewID(t, one)))
	}
	return out
}

func fewID(t *testing.T, text string) program.ID {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return program.ID(n)
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
	case f[0] == "program": // program ID SIZE[xTIMES][@ADDRESS] [CORES]
		size, address, fixed := strings.Cut(f[2], "@")
		if fixed {
			size += `,"address":` + address
		}
		cores := "0-0 - 1-0"
		if len(f) > 3 {
			cores = f[3] + " - " + f[3]
		}
		size, times, _ := strings.Cut(size, "x")
		n, _ := strconv.Atoi(cmp.Or(times, "1")) // 0 where it is no number
		cbs := strings.Repeat(fmt.Sprintf(`,{"cores":"{[%s]}","size":%s}`, cores, size), n)[1:]
		return fmt.Sprintf(`{"event":"program","program":%s,"name":"p%s","cbs":[%s]}`, f[1], f[1], cbs)
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
func textOfRoom(r *answer.Result) string {
	limit := func(l *answer.RoomLimit) string {
		switch {
		case l == nil:
			return "-"
		case l.Buffer != nil:
			return fmt.Sprintf("buffer of event %d", l.Buffer.At)
		}
		return fmt.Sprintf("%s of event %d at %d", l.Program.Op, l.Program.At, l.Enqueue.V)
	}
	room := func(one answer.Room) string {
		var at l1.Range
		if one.Place.OK {
			at = l1.Range{Start: one.Place.V, End: one.Place.V + r.Rooms.Size.V}
		}
		return fmt.Sprintf("%v: %v, place %v, above %s, below %s", one.Cores, one.Range(), at, limit(one.Below), limit(one.Above))
	}
	var b strings.Builder
	j := r.Room(nil)
	fmt.Fprintf(&b, "%s %v\n", j.Answer, codesOf(j.Untold))
	for _, why := range j.Untold {
		fmt.Fprintf(&b, "Why: %s\n", why.Text)
	}
	fmt.Fprintf(&b, "all %s\n", room(*r.Rooms.All))
	if at := r.Rooms.Moment; at != nil {
		op := answer.Name("-")
		if at.Run != nil {
			op = at.Run.Op
		}
		fmt.Fprintf(&b, "moment %d, %s of %d runs: %s", at.Counter, op, at.Runs, room(at.Room))
		if at.PerCore.OK {
			fmt.Fprintf(&b, ", per core %d", at.PerCore.V)
		}
		b.WriteString("\n")
	}
	for _, d := range r.Rooms.Devices {
		fmt.Fprintf(&b, "device %d %s\n", d.Device.V, room(d.Room))
		for _, g := range d.Groups {
			fmt.Fprintf(&b, "  %s\n", room(g))
		}
	}
	for _, one := range r.Rooms.Tight {
		fmt.Fprintf(&b, "tight: %s of event %d at %d, device %d of %d, %d times, %v\n", one.Run.Op, one.Run.At, one.Enqueue, one.Device.V, one.Devices, one.Times, one.Range())
	}
	return b.String()
}
