package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/replay"
)

// A Check is the answer to the question whether the programs of a capture fit.
type Check struct {
	replay.Judgement
	result *replay.Result
}

// NewCheck returns how a Result was judged, to be written.
func NewCheck(r *replay.Result, j replay.Judgement) Check { return Check{j, r} }

// Text writes the answer for people: a few lines if it fits, else why not, who is in
// the way and what to do. The first line answers; of a program that does not fit it
// has tt-metal's own message.
func (c Check) Text(w io.Writer) error {
	var b bytes.Buffer
	switch {
	case c.Answer == replay.Fits:
		c.writeFits(&b)
	case c.Answer == replay.CannotTell:
		c.writeCannotTell(&b)
	case len(c.result.Checks.List) > 0:
		c.writeFailed(&b)
	default:
		c.writeOver(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c Check) writeFits(b *bytes.Buffer) {
	r := c.result
	fmt.Fprintf(b, "fits%s: %s: %s\n", c.accepted(), shown.End(r.File, 60), c.checked())
	writeNotes(b, append(c.room(), c.basis()...))
}

func (c Check) writeCannotTell(b *bytes.Buffer) {
	fmt.Fprintf(b, "cannot tell%s: %s: %s\n", c.accepted(), shown.End(c.result.File, 60), c.checked())
	notes := c.reasons("because", c.Untold)
	writeNotes(b, append(append(notes, c.room()...), c.basis()...))
}

// checked says what was checked.
func (c Check) checked() string {
	k := &c.result.Checks
	if k.Runs == 0 {
		return "no program is known to have run"
	}
	text := plural(k.Runs, "program run") + " checked"
	if r := c.result; r.Spec.ArchFrom == event.FromAssumed {
		text += fmt.Sprintf(" (%s assumed)", r.Spec.Arch)
	}
	switch {
	case k.Failed == 0:
	case k.Failed < k.Runs:
		return text + fmt.Sprintf(", %s of them %s not fit", grouped(k.Failed), doNot(k.Failed))
	case k.Runs == 1:
		return text + ": it does not fit"
	default:
		return text + ": none fits"
	}
	if c.Answer == replay.CannotTell {
		text += ", and what is known fits"
	}
	if c.Terms.Budget != nil && len(c.Over) == 0 {
		return text + c.within()
	}
	return text
}

func doNot(n int64) string {
	if n == 1 {
		return "does"
	}
	return "do"
}

// within says that the budget is kept.
func (c Check) within() string {
	if !c.Limit.OK {
		return ""
	}
	return ", no core holds more than " + budgetText(*c.Terms.Budget, c.result.Spec.Usable().Len())
}

// accepted says what was taken as seen: the answer is about the rest.
func (c Check) accepted() string {
	var codes []string
	for _, why := range c.Accepted {
		if code := string(why.Code); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return " apart from what was accepted (" + strings.Join(codes, ", ") + ")"
}

// reasons says why nobody can tell, a line each.
func (c Check) reasons(label string, all []replay.Reason) (notes []note) {
	for _, why := range all {
		if why.Code != replay.CodeNothingRan { // the first line says so
			notes = append(notes, note{label, reasonText(c.result, why)})
		}
	}
	return notes
}

// room says how much room the tightest program has.
func (c Check) room() []note {
	t := c.result.Checks.Tightest
	if t == nil {
		return nil
	}
	h := t.Headroom
	text := fmt.Sprintf("%s: ends at %s, %s bytes free above it on %s of %s", runText(c.result, t.Run, 60), grouped(h.End), grouped(h.Free),
		coresText(h.Cores), deviceName(c.result, t.Device))
	if h.Gap.Len() > h.Free {
		text += fmt.Sprintf("; largest gap %s bytes at %s", grouped(h.Gap.Len()), rangeText(h.Gap))
	}
	notes := []note{{"tightest", text}}
	if grow := growText(t.Grow); grow != "" {
		notes = append(notes, note{"grow", grow})
	}
	return notes
}

// growText says by how much the buffers of a program may grow, one at a time.
func growText(all []replay.Growth) string {
	const most = 4
	var parts []string
	same := true
	for _, g := range all {
		same = same && g.Bytes == all[0].Bytes && g.Kind == all[0].Kind
		parts = append(parts, fmt.Sprintf("%s by %s", what(replay.L1Resident{Kind: g.Kind, Program: &replay.ProgramRun{}, CB: g.CB}), grouped(g.Bytes)+" bytes"))
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) == 1:
		return "its " + parts[0]
	case same && all[0].Kind == device.KindCB:
		return fmt.Sprintf("any one of its %d local CBs by %s bytes", len(all), grouped(all[0].Bytes))
	case len(parts) > most:
		parts = append(parts[:most], fmt.Sprintf("or one of %d more", len(all)-most))
	}
	return "one of " + strings.Join(parts, ", ")
}

// basis says with what it was reckoned, where that is not all recorded.
func (c Check) basis() []note {
	r := c.result
	notes := []note{{"chip", chipText(r)}}
	if n := r.Checks.Inferred; n > 0 {
		notes = append(notes, note{"inferred", fmt.Sprintf("%s of operations that hit the program cache: taken to be those of their last run", plural(n, "program run"))})
	}
	notes = append(notes, aborted(r)...)
	for _, why := range r.Unseen() {
		if !slices.Contains(c.Untold, why) { // else it is said already
			notes = append(notes, note{"unseen", reasonText(r, why)})
		}
	}
	return notes
}

// chipText says with which L1 was reckoned.
func chipText(r *replay.Result) string {
	s := r.Spec
	text := string(s.Arch)
	if s.ArchFrom == event.FromAssumed {
		text = assumed(r) + "; it was reckoned with"
	} else {
		text += ","
	}
	text += " circular buffers from " + grouped(s.CBBase)
	switch {
	case s.L1Size == 0:
		return text + ", size of L1 not known"
	case s.L1Small > 0:
		return text + fmt.Sprintf(", L1_SMALL from %s, L1 to %s", grouped(s.L1Size-min(s.L1Small, s.L1Size)), grouped(s.L1Size))
	}
	text += fmt.Sprintf(", L1 to %s without L1_SMALL", grouped(s.L1Size))
	if !r.Log { // which says for itself
		text += " (--l1-small)"
	}
	return text
}

// writeFailed says why the first program that does not fit does not.
func (c Check) writeFailed(b *bytes.Buffer) {
	k := &c.result.Checks
	f := &k.List[0]
	fmt.Fprintf(b, "does not fit: %s\n", complaint(f.Verdict))
	fmt.Fprintf(b, "%s: %s\n", shown.End(c.result.File, 60), c.checked())
	where := fmt.Sprintf("%s, enqueued at %s on %s", whose(c.result, f.Run.Op, place{f.Run.At, f.Run.T}, 70), place{f.Enqueue, f.T}.text(c.result), c.devices(f))
	if f.Run.Inferred {
		where += "; inferred from an earlier run of the operation"
	}
	if f.Synthesised {
		where += "; its place or that of what is in its way is synthesised"
	}
	if f.Times > 1 {
		where += fmt.Sprintf("; %s times", grouped(f.Times))
	}
	writeNotes(b, []note{{"program", where}})
	writeVerdict(b, f.Verdict, failureLabels(c.result, f))
	c.writeOthers(b, k.List[1:])
	b.WriteByte('\n')
	var notes []note
	for _, o := range c.Over {
		notes = append(notes, note{"budget", c.overText(o)})
	}
	notes = append(notes, c.reasons("besides", c.Untold)...)
	writeNotes(b, append(notes, c.basis()...))
}

// maxOthers is how many further failures are named in text.
const maxOthers = 8

// writeOthers names the further runs of programs that do not fit.
func (c Check) writeOthers(b *bytes.Buffer, others []replay.FailedCheck) {
	if len(others) == 0 {
		return
	}
	b.WriteString("\nother program runs that do not fit\n")
	t := table{left: map[int]bool{4: true}}
	t.add(nodeWord(c.result), "bytes over", "times", "device", "program")
	shown := others[:min(len(others), maxOthers)]
	for i := range shown {
		f := &shown[i]
		t.add(fmt.Sprint(f.Enqueue), grouped(overBy(f.Verdict)), grouped(f.Times), deviceName(c.result, f.Device), runText(c.result, f.Run, 60))
	}
	t.write(b)
	if n := int64(len(others)-len(shown)) + c.result.Checks.More; n > 0 {
		fmt.Fprintf(b, "%s more: --format json shows them\n", grouped(n))
	}
}

// overBy is the largest number of bytes by which a program is too large.
func overBy(v fit.Verdict) (most uint64) {
	for _, c := range v.Clashes {
		most = max(most, c.Over())
	}
	for _, r := range v.Refusals {
		if len(v.Clashes) == 0 {
			most = max(most, r.Over())
		}
	}
	return most
}

// writeOver says which core holds more than the budget, though every program fits.
func (c Check) writeOver(b *bytes.Buffer) {
	fmt.Fprintf(b, "does not fit: %s\n%s: %s\n", c.overText(c.Over[0]), shown.End(c.result.File, 60), c.checked())
	var notes []note
	for _, o := range c.Over[1:] {
		notes = append(notes, note{"also", c.overText(o)})
	}
	notes = append(notes, c.reasons("besides", c.Untold)...)
	writeNotes(b, append(append(notes, c.room()...), c.basis()...))
	p := c.Over[0].Device.Peak
	fmt.Fprintf(b, "\nwhat lay on core %s then, by address\n", p.Core)
	writeResidents(b, c.result, p.Residents)
}

func (c Check) overText(o replay.OverBudget) string {
	p := o.Device.Peak
	return fmt.Sprintf("%s bytes on %s of %s at %s, %s above the budget of %s", grouped(p.Bytes), coresText(p.Cores),
		deviceName(c.result, o.Device.ID), place{p.At, p.T}.text(c.result), grouped(o.Over), budgetText(*c.Terms.Budget, c.result.Spec.Usable().Len()))
}

// failureLabels name what a verdict is about.
func failureLabels(r *replay.Result, f *replay.FailedCheck) labels {
	by := labels{r, map[program.ID]replay.ProgramRun{}, f.Buffers}
	if f.Verdict.Program != nil {
		by.programs[f.Verdict.Program.ID()] = f.Run
	}
	return by
}

// devices names the devices on which a program failed.
func (c Check) devices(f *replay.FailedCheck) string {
	text := deviceName(c.result, f.Device)
	if f.Devices > 1 {
		text += fmt.Sprintf(" and %s more", grouped(f.Devices-1))
	}
	return text
}

// JSON writes the answer as one line of JSON, as cbl1.check-1.schema.json describes it.
func (c Check) JSON(w io.Writer) error { return writeJSON(w, newCheckDocument(c)) }
