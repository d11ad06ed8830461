package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
)

// The laws hold for every answer to every input, however broken the input is. They
// know nothing of how an answer comes about: only the command and its JSON.
const (
	lawPanic   = "nothing panics"
	lawTwice   = "the same question has the same answer"
	lawExit    = "the exit code is 0 to 3, and says what the streams say"
	lawJSON    = "an answer is one line of JSON in ASCII"
	lawNumber  = "a figure is a whole number from 0 to 2^63-1, an id one to 2^64-1"
	lawL1      = "no core holds more than its L1"
	lawRoom    = "no room is larger than what is usable"
	lawSum     = "a sum over cores is at most cores times what a core holds"
	lawUnion   = "what is shared counts once: union <= logical"
	lawOrder   = "a peak is no less than the end"
	lawRegions = "regions add up to what they are the regions of"
	lawAgree   = "two verbs do not contradict each other"
	lawCut     = "a cut input is not taken for a whole one"
)

// A breach is one law that one answer breaks.
type breach struct{ law, verb, what string }

func (b breach) String() string { return fmt.Sprintf("%s: %s: %s", b.verb, b.law, b.what) }

// breaches collects the laws that the answers to one input break.
type breaches struct {
	verb string // whose answer is checked
	list []breach
}

// hold notes the breach of a law.
func (b *breaches) hold(ok bool, law, format string, args ...any) {
	if !ok {
		b.list = append(b.list, breach{law, b.verb, fmt.Sprintf(format, args...)})
	}
}

// An outcome is what one call of the command gave.
type outcome struct {
	code     int
	out, err string
	panicked string // empty, or why, with the stack
}

// ask calls the command.
func ask(in io.Reader, args ...string) (a outcome) {
	defer func() {
		if p := recover(); p != nil {
			a.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	var out, errw bytes.Buffer
	a.code = run(args, pipe{in}, &out, &errw)
	a.out, a.err = out.String(), errw.String()
	return a
}

// inspection is what came of one input.
type inspection struct {
	report, check outcome
	room          outcome
	held          bool // something holds the byte of the question
	took          time.Duration
	service       bool // something in the input may lie on service cores
	breaches
}

// inspect runs each verb twice on an input from standard input, in JSON, and once in text
// where the answer is not a refusal. On an input that report refuses, the other verbs run
// once.
func inspect(input []byte) (in inspection) {
	start := time.Now()
	in.service = bytes.Contains(input, []byte("service"))
	defer func() { in.took = time.Since(start) }()
	get := func(verb string, args ...string) outcome {
		in.verb = verb
		args = append([]string{verb}, args...)
		inJSON := append(slices.Clone(args), "--format", "json")
		a := ask(bytes.NewReader(input), inJSON...)
		b := a
		if verb == "report" || in.report.code != exitUsage { // what all refuse must be what report says
			b = ask(bytes.NewReader(input), inJSON...)
		}
		in.hold(a.panicked == "" && b.panicked == "", lawPanic, "%s", a.panicked+b.panicked)
		in.hold(a == b, lawTwice, "first %s, then %s", shown(a), shown(b))
		in.exit(verb, a)
		if a.code != exitUsage && a.panicked == "" {
			text := ask(bytes.NewReader(input), args...)
			in.hold(text.panicked == "", lawPanic, "in text: %s", text.panicked)
			in.hold(text.code == a.code && text.err == a.err && printable(text.out), lawAgree, "in text %s, in JSON %s", shown(text), shown(a))
		}
		return a
	}
	in.report = get("report", "-")
	in.check = get("check", "-")
	peak := get("peak", "-")
	in.room = get("room", "--size", "400000", "-")
	who := get("who", "-", fmt.Sprint(heldAddress(in.report.out)))
	in.held = who.code == exitOK
	in.judge(peak, who)
	return in
}

// judge holds the JSON of the four verbs against the laws.
func (in *inspection) judge(peak, who outcome) {
	for verb, a := range map[string]outcome{"check": in.check, "peak": peak, "room": in.room, "who": who} {
		in.verb = verb
		in.hold((a.code == exitUsage) == (in.report.code == exitUsage), lawAgree, "%s, but report %s", shown(a), shown(in.report))
		if a.code == exitUsage {
			in.hold(a.err == in.report.err, lawAgree, "%s, but report %s", shown(a), shown(in.report))
		}
	}
	var (
		r reportAnswer
		c checkAnswer
		p peakAnswer
		w whoAnswer
		m roomAnswer
	)
	parsed := []bool{in.parse("report", in.report, &r), in.parse("check", in.check, &c), in.parse("peak", peak, &p), in.parse("who", who, &w), in.parse("room", in.room, &m)}
	if slices.Contains(parsed, false) {
		return
	}
	in.verb = "report"
	in.reported(&r)
	in.verb = "check"
	in.checked(&r, &c, in.check.code)
	in.verb = "peak"
	in.peaked(&r, &p)
	in.verb = "room"
	in.roomed(&r, &c, &m)
	in.verb = "who"
	in.hold((len(w.Held) > 0) == (who.code == exitOK), lawExit, "%d hold it, exit code %d", len(w.Held), who.code)
	in.hold(w.Nodes == r.Nodes, lawAgree, "%d nodes, report %d", w.Nodes, r.Nodes)
	for _, h := range w.Held {
		in.hold(h.Count > 0 && len(h.Resident)+len(h.Registered) > 0, lawAgree, "a row of %d cores and nothing that holds the byte", h.Count)
		for _, res := range slices.Concat(h.Resident, h.Registered) {
			in.hold(res.Start <= w.Address && w.Address < res.End, lawAgree, "[%d, %d) does not hold %d", res.Start, res.End, w.Address)
		}
	}
}

// exit checks the exit code of a call in JSON, and that the streams say the same.
func (in *inspection) exit(verb string, a outcome) {
	allowed := map[string][]int{
		"report": {exitOK, exitUsage}, "check": {exitOK, exitNo, exitUsage, exitTell},
		"peak": {exitOK, exitUsage}, "room": {exitOK, exitNo, exitUsage, exitTell}, "who": {exitOK, exitNo, exitUsage},
	}[verb]
	in.hold(a.panicked != "" || slices.Contains(allowed, a.code), lawExit, "%s", shown(a))
	if a.code == exitUsage {
		oneLine := strings.HasPrefix(a.err, "cbl1: ") && strings.Count(a.err, "\n") == 1 && strings.HasSuffix(a.err, "\n")
		in.hold(a.out == "" && oneLine && printable(a.err) && len(a.err) < 500, lawExit, "%s", shown(a))
		return
	}
	in.hold(a.err == "", lawExit, "%s", shown(a))
}

// parse reads the JSON of an answer and checks its form and its numbers. It reports
// whether there is something to check.
func (in *inspection) parse(verb string, a outcome, into any) bool {
	if a.code == exitUsage || a.panicked != "" {
		return false
	}
	in.verb = verb
	line := strings.HasSuffix(a.out, "\n") && strings.Count(a.out, "\n") == 1 && safe.Escape(a.out) == strings.TrimSuffix(a.out, "\n")+`\n`
	in.hold(line, lawJSON, "%s", shown(a))
	var v any
	d := json.NewDecoder(strings.NewReader(a.out))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		in.hold(false, lawJSON, "%v: %s", err, shown(a))
		return false
	}
	before := len(in.list)
	in.numbers("", v)
	if len(in.list) > before {
		return false // the figures below would not parse
	}
	if err := json.Unmarshal([]byte(a.out), into); err != nil {
		in.hold(false, lawJSON, "%v: %s", err, shown(a))
		return false
	}
	return true
}

// numbers checks every number of an answer. Only percentages may be broken. Ids, and
// upstream's own figures, may be as large as they like.
func (in *inspection) numbers(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, v := range v {
			in.numbers(path+"."+key, v)
		}
	case []any:
		for _, v := range v {
			in.numbers(path+"[]", v)
		}
	case json.Number:
		if strings.HasSuffix(path, ".t") { // the time of a log: any number
			return
		}
		size := 63
		if strings.HasPrefix(path, ".upstream.") || isID(path) {
			size = 64
		}
		if strings.HasSuffix(path, ".percent_of_l1") {
			f, err := v.Float64()
			in.hold(err == nil && f >= 0, lawNumber, "%s is %s", path, v)
			return
		}
		_, err := strconv.ParseUint(v.String(), 10, size)
		in.hold(err == nil, lawNumber, "%s is %s", path, v)
	}
}

// isID reports whether a number is the id of a device, program or buffer.
func isID(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "device", "chips[]", "program", "dispatched_program", "buffer":
		return true
	}
	return strings.HasPrefix(path, ".mesh_members.")
}

// reported checks a report.
func (in *inspection) reported(r *reportAnswer) {
	for id, d := range r.Devices {
		in.device(r, "device "+id, &d)
	}
	for i := range r.L1 {
		l := &r.L1[i]
		name := "l1 of device " + l.name()
		in.hold(l.TrackedFinal <= l.TrackedPeak && l.L1Final <= l.L1Peak && l.SmallFinal <= l.SmallPeak && l.DRAMFinal <= l.DRAMPeak &&
			l.BuffersFinal <= l.BuffersPeak, lawOrder, "%s: %+v", name, *l)
		// Where a core holds more than its L1, the peak of that core says why.
		// A device of a log may leave its grid open: it has 0 cores then. What belongs to
		// a service may lie beyond the grid.
		if r.judged() && l.Cores > 0 && !in.service && (l.CorePeak == nil || l.CorePeak.Tracked <= *r.Basis.L1) {
			cores := l.Cores + r.Devices[l.name()].Cores
			in.hold(l.TrackedPeak <= times(cores, *r.Basis.L1), lawSum, "%s: %d tracked bytes on %d cores", name, l.TrackedPeak, cores)
		}
		if d := l.Dispatched; d != nil {
			in.hold(d.Final <= d.Peak, lawOrder, "%s: dispatched %+v", name, *d)
			in.hold(d.CorePeak <= d.Peak, lawSum, "%s: dispatched %+v", name, *d)
			in.hold(d.Unknown <= d.Executions, lawOrder, "%s: dispatched %+v", name, *d)
			in.core(r, name+": dispatched", d.CorePeak)
		}
		if l.CorePeak != nil {
			in.moment(r, name, l.CorePeak)
			in.hold(l.CorePeak.Tracked <= l.TrackedPeak, lawSum, "%s: a core with %d of %d bytes", name, l.CorePeak.Tracked, l.TrackedPeak)
		}
	}
	in.hold(r.Checks.Inferred <= r.Checks.Runs && r.Checks.Failed <= r.Checks.Runs, lawOrder, "checks %+v", r.Checks)
	if f := r.Fullest; f != nil {
		d, ok := r.Devices[f.Device]
		in.hold(ok && f.Bytes <= d.RegisteredCore && f.Share <= f.Bytes && f.Cores <= d.Cores, lawAgree, "fullest %+v", *f)
	}
}

// core checks what one core holds of something.
func (in *inspection) core(r *reportAnswer, name string, figure uint64) {
	if r.judged() {
		in.hold(figure <= *r.Basis.L1, lawL1, "%s: a core with %d bytes of %d", name, figure, *r.Basis.L1)
	}
}

// device checks the figures of one device's program buffers.
func (in *inspection) device(r *reportAnswer, name string, d *deviceAnswer) {
	for _, k := range []struct {
		what                                   string
		peak, core, registered, regCore, logic uint64
	}{
		{"circular", d.ResidentPeak, d.CorePeak, d.Registered, d.RegisteredCore, d.RegisteredLogical},
		{"dataflow", d.DataflowPeak, d.DataflowCore, d.DataflowRegistered, d.DataflowRegCore, d.DataflowLogical},
		{"scratchpad", d.ScratchPeak, d.ScratchCore, d.ScratchRegistered, d.ScratchRegCore, d.ScratchLogical},
	} {
		at := name + ": " + k.what
		in.core(r, at+" alive", k.core)
		in.core(r, at+" registered", k.regCore)
		in.hold(k.core <= k.peak, lawSum, "%s: a core with %d of %d bytes", at, k.core, k.peak)
		in.hold(k.registered <= k.logic, lawUnion, "%s: %d registered, %d logical", at, k.registered, k.logic)
	}
	in.hold(d.ResidentPeak <= times(d.Cores, d.CorePeak), lawSum, "%s: %d alive on %d cores with %d at most", name, d.ResidentPeak, d.Cores, d.CorePeak)
	in.hold(d.Registered <= times(d.Cores, d.RegisteredCore), lawSum, "%s: %d registered on %d cores with %d at most",
		name, d.Registered, d.Cores, d.RegisteredCore)
	if r.judged() {
		in.hold(max(d.ResidentPeak, d.Registered) <= times(d.Cores, *r.Basis.L1), lawSum, "%s: %d alive, %d registered on %d cores",
			name, d.ResidentPeak, d.Registered, d.Cores)
		in.hold(d.HighestEnd <= *r.Basis.L1, lawL1, "%s: highest end %d", name, d.HighestEnd)
	}
	in.hold(d.ResidentPeak <= d.LogicalPeak, lawUnion, "%s: %d alive, %d logical", name, d.ResidentPeak, d.LogicalPeak)
	in.hold(d.ResidentFinal <= d.ResidentPeak, lawOrder, "%s: %d alive at the end, %d at most", name, d.ResidentFinal, d.ResidentPeak)
	in.hold(d.LocalCBs+d.GlobalCBs == d.CBNodes && d.DataflowLocal+d.DataflowBorrowed == d.DataflowBuffers, lawRegions, "%s: %+v", name, *d)
	for _, p := range d.ProgramsDetail {
		in.core(r, name+": program", p.Core)
		in.hold(p.Bytes <= p.Logical, lawUnion, "%s: program %+v", name, p)
		in.hold(p.Core <= p.Bytes && p.Bytes <= times(p.Cores, p.Core), lawSum, "%s: program %+v", name, p)
		in.hold(p.First <= p.Last && p.Last < r.Nodes, lawOrder, "%s: program %+v", name, p)
	}
	for _, g := range d.CoreGroups {
		in.group(r, name, g)
	}
}

// group checks one group of cores.
func (in *inspection) group(r *reportAnswer, name string, g groupAnswer) {
	in.core(r, name+": group", max(g.Registered, g.CorePeak))
	in.hold(g.Count > 0, lawSum, "%s: a group of no cores", name)
	var sum, last uint64
	for i, region := range g.Regions {
		in.hold(region[0] < region[1] && (i == 0 || last < region[0]), lawRegions, "%s: regions %v", name, g.Regions)
		sum += region[1] - region[0]
		last = region[1]
	}
	in.hold(sum == g.Registered, lawRegions, "%s: %d registered, regions %v", name, g.Registered, g.Regions)
}

// moment checks a core at the moment when it held most.
func (in *inspection) moment(r *reportAnswer, name string, p *momentAnswer) {
	if r.judged() && in.inside(*r.Basis.L1, name, p) {
		in.core(r, name+" tracked", p.Tracked)
		in.core(r, name+" with kernels", p.WithKernels)
	}
	in.hold(p.Tracked <= p.WithKernels, lawUnion, "%s: %d tracked, %d with kernels", name, p.Tracked, p.WithKernels)
	in.hold(p.Count > 0 && p.Counter < r.Nodes, lawOrder, "%s: %d cores, at node %d of %d", name, p.Count, p.Counter, r.Nodes)
	var kinds uint64
	for kind, n := range p.Kinds {
		if kind == "kernel" || kind == "reserved" {
			continue
		}
		in.hold(0 < n && n <= p.Tracked, lawUnion, "%s: %d of %s, %d tracked", name, n, kind, p.Tracked)
		kinds += n
	}
	in.hold(p.Tracked <= kinds, lawUnion, "%s: %d tracked, %d by kind", name, p.Tracked, kinds)
	var union, end, last uint64
	for _, res := range p.Residents {
		in.hold(res.Start < res.End && res.Bytes == res.End-res.Start && last <= res.Start, lawRegions, "%s: resident %+v", name, res)
		last = res.Start
		if res.Kind != "kernel" && res.Kind != "reserved" && end < res.End {
			union += res.End - max(end, res.Start)
			end = res.End
		}
	}
	in.hold(union == p.Tracked, lawRegions, "%s: %d tracked, its residents are %d", name, p.Tracked, union)
	if len(p.LargestGap) == 2 && len(p.HighestGap) == 2 {
		large, high := p.LargestGap, p.HighestGap
		in.hold(large[0] < large[1] && high[0] < high[1] && large[1]-large[0] >= high[1]-high[0] && large[0] <= high[0],
			lawRegions, "%s: largest gap %v, highest %v", name, large, high)
	}
	in.hold((p.LargestGap == nil) == (p.HighestGap == nil), lawRegions, "%s: largest gap %v, highest %v", name, p.LargestGap, p.HighestGap)
}

// inside checks that all that lay on a core ends within its L1, and reports it.
func (in *inspection) inside(size uint64, name string, p *momentAnswer) bool {
	of := map[string]uint64{}
	for _, res := range p.Residents {
		what := "a buffer"
		switch res.Kind {
		case "cb":
			what = "a circular buffer"
		case "dataflow", "scratchpad":
			what = "a dataflow buffer or scratchpad"
		}
		of[what] = max(of[what], res.End)
	}
	ok := true
	for what, end := range of {
		in.hold(end <= size, lawL1, "%s: %s ends at %d, L1 at %d", name, what, end, size)
		ok = ok && end <= size
	}
	return ok
}

// checked checks what check says, beside the report of the same input.
func (in *inspection) checked(r *reportAnswer, c *checkAnswer, code int) {
	want := map[string]int{"fits": exitOK, "does_not_fit": exitNo, "cannot_tell": exitTell}
	in.hold(want[c.Answer] == code, lawExit, "%q, exit code %d", c.Answer, code)
	in.hold(c.Nodes == r.Nodes && c.Runs == r.Checks.Runs && c.Inferred == r.Checks.Inferred && c.Failed == r.Checks.Failed,
		lawAgree, "%d runs, %d inferred, %d failed; report %+v", c.Runs, c.Inferred, c.Failed, r.Checks)
	quasar := strings.Contains(fmt.Sprint(c.Untold), "fit on a quasar alone") // the chip that is assumed may be another one
	in.hold(r.has("buffers-overlap") || (c.Answer == "does_not_fit" || quasar) == (c.Failed > 0), lawAgree, "%q, %d failed", c.Answer, c.Failed)
	in.hold((c.Failed > 0) == (len(c.Failures) > 0), lawAgree, "%d failures listed of %d", len(c.Failures), c.Failed)
	in.hold((c.Answer != "cannot_tell") || len(c.Untold) > 0, lawAgree, "nobody can tell, and nothing says why")
	in.hold((c.Answer != "fits") || len(c.Untold) == 0, lawAgree, "fits, although %v", c.Untold)
	in.hold(c.Answer != "fits" || !r.has("beyond-l1"), lawAgree, "fits, although the report says beyond-l1")
	in.hold(c.Answer != "fits" || !r.has("torn-line"), lawCut, "fits, although the report says torn-line")
	for _, f := range c.Failures {
		in.enqueued(f.Counter, c.Nodes)
		in.hold(f.Program.Counter < c.Nodes && f.Devices > 0 && f.Times > 0 && f.Verdict.Message != "", lawAgree, "failure %+v", f)
		in.hold(len(f.Verdict.Refusals)+len(f.Verdict.Hybrid)+len(f.Verdict.Clashes) > 0, lawAgree, "a failure without a reason: %+v", f)
	}
	if t := c.Tightest; t != nil {
		in.enqueued(t.Counter, c.Nodes)
		in.hold(t.Program.Counter < c.Nodes, lawAgree, "tightest %+v", *t)
	}
	if t := c.Tightest; t != nil && c.Basis.Usable != nil && r.alike() {
		in.hold(max(t.Headroom.Gap, t.Headroom.Free) <= *c.Basis.Usable, lawRoom, "headroom %+v of %d bytes from %d on", t.Headroom, *c.Basis.Usable, c.Basis.Base)
		for _, g := range t.Grow {
			in.hold(g.Bytes <= *r.Basis.L1, lawRoom, "may grow by %d in an L1 of %d", g.Bytes, *r.Basis.L1)
			in.hold(g.Bytes <= *c.Basis.Usable || g.Bytes > *r.Basis.L1, lawRoom, "may grow into L1_SMALL: by %d, %d are usable", g.Bytes, *c.Basis.Usable)
		}
	}
}

// enqueued checks at which node a run was enqueued.
func (in *inspection) enqueued(at, nodes uint64) {
	in.hold(at != nodes, lawAgree, "enqueued at a node behind the last, %d", at)
	in.hold(at <= nodes, lawAgree, "enqueued at node %d of %d", at, nodes)
}

// peaked checks what peak says, beside the report of the same input.
func (in *inspection) peaked(r *reportAnswer, p *peakAnswer) {
	in.hold(p.Nodes == r.Nodes && len(p.Devices) == len(r.L1), lawAgree, "%d nodes, %d devices; report %d, %d", p.Nodes, len(p.Devices), r.Nodes, len(r.L1))
	for i, d := range p.Devices {
		if d.Peak == nil || i >= len(r.L1) {
			continue
		}
		in.moment(r, fmt.Sprintf("row %d", i), d.Peak)
		other := r.L1[i].CorePeak
		in.hold(other != nil && other.Tracked == d.Peak.Tracked && other.Core == d.Peak.Core && other.Counter == d.Peak.Counter,
			lawAgree, "row %d: %+v; report %+v", i, *d.Peak, other)
		fullest := p.Fullest != nil && *p.Fullest < uint64(len(p.Devices)) && p.Devices[*p.Fullest].Peak != nil
		in.hold(fullest && p.Devices[*p.Fullest].Peak.Tracked >= d.Peak.Tracked, lawAgree, "fullest %v, row %d has %d", p.Fullest, i, d.Peak.Tracked)
	}
}

// roomed checks what room says, beside the report and the check of the same input.
func (in *inspection) roomed(r *reportAnswer, c *checkAnswer, m *roomAnswer) {
	in.hold(m.Nodes == r.Nodes && len(m.Devices) == len(r.L1) && m.Runs == r.Checks.Runs, lawAgree, "%d nodes, %d devices, %d runs; report %d, %d, %d",
		m.Nodes, len(m.Devices), m.Runs, r.Nodes, len(r.L1), r.Checks.Runs)
	in.hold(in.room.code == map[string]int{"fits": exitOK, "does_not_fit": exitNo, "cannot_tell": exitTell}[m.Answer], lawExit, "%s", m.Answer)
	in.hold(m.Answer != "fits" || m.Room != nil && m.Room.Fits != nil && len(m.Untold) == 0, lawAgree, "%s: %+v", m.Answer, m.Room)
	for i, d := range m.Devices {
		in.space(c, m.Size, &d.Room)
		if m.Room != nil {
			in.hold(m.Room.Bytes <= d.Room.Bytes, lawRoom, "%d bytes on all devices, %d on device %d", m.Room.Bytes, d.Room.Bytes, i)
		}
		for _, g := range d.Groups {
			in.space(c, m.Size, &g)
			in.hold(d.Room.Bytes <= g.Bytes, lawRoom, "%d bytes on all cores, %d on %d of them", d.Room.Bytes, g.Bytes, g.Count)
		}
	}
}

// space checks one room.
func (in *inspection) space(c *checkAnswer, size uint64, m *spaceAnswer) {
	in.hold((m.Bytes > 0) == (m.Start != nil) && (m.Start == nil) == (m.End == nil) && (m.Start == nil || *m.End-*m.Start == m.Bytes), lawRegions, "room %+v", *m)
	in.hold(m.Fits == nil || size <= m.Bytes, lawRoom, "%d bytes fit in %+v", size, *m)
	if m.Start != nil && c.Basis.Usable != nil && m.Fits != nil {
		in.hold(*m.Fits+size >= *m.Start, lawRoom, "%d bytes at %d, room %+v", size, *m.Fits, *m)
	}
}

// heldAddress returns the first byte of a region that the report shows, or the usual
// first address of circular buffers.
func heldAddress(report string) uint64 {
	var r reportAnswer
	if json.Unmarshal([]byte(report), &r) == nil {
		for _, d := range r.Devices {
			for _, g := range d.CoreGroups {
				if len(g.Regions) > 0 {
					return g.Regions[0][0]
				}
			}
		}
	}
	return 111616
}

// times multiplies, and stops at the largest number.
func times(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return 1<<64 - 1
}

// printable reports whether a terminal shows text as it stands.
func printable(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if safe.Visible(line) != line {
			return false
		}
	}
	return true
}

// shown cuts an answer to what a person reads.
func shown(a outcome) string {
	cut := func(s string) string {
		if len(s) > 300 {
			return s[:300] + "..."
		}
		return s
	}
	return fmt.Sprintf("%d %q %q", a.code, cut(a.out), cut(a.err))
}
