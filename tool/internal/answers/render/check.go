package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Check returns the answer to the question whether the programs of a capture fit. In text it is one line if they do,
// and one more about assumptions. Else it has tt-metal's own message, who is in the way and what to do. Its details are
// how far each buffer may grow, and with which L1 it was reckoned. The CSV
// has a row for each way in which a program run does not fit, and one if there is none.
func Check(r *answer.Result, j answer.Judgement) Output {
	c := check{j, r}
	d := Output{
		json: func(w io.Writer) error { return writeJSON(w, r.Check(j)) },
		csv:  func() flatTable { return checkCSV(c) }, file: r.File, tests: c.tests(),
	}
	c.writeLine(&d.page)
	switch {
	case c.Answer != answer.DoesNotFit:
		d.page.note(slices.Concat(c.reasons("because", c.Untold), c.kept(), c.remarks())...)
	case len(r.Checks.List) > 0:
		c.writeFailed(&d.page)
	case c.overlapping():
		d.page.note(append(c.reasons("because", c.Untold), c.remarks()...)...)
	default:
		c.writeOver(&d.page)
	}
	d.lead = [2]string{answerWords(c.Answer) + c.only() + c.accepted(), c.sentence()}
	d.page.detail(func() []note { return append(c.room(), chipNotes(r)...) })
	d.page.doubts = append(doubts(r), small(r)...)
	return d
}

// sentence is the answer in a sentence: the message of tt-metal where it refuses a program, else the first line with
// its assumptions.
func (c check) sentence() string {
	if c.Answer == answer.DoesNotFit && len(c.result.Checks.List) > 0 {
		return complaint(c.result.Checks.List[0].Verdict)
	}
	return strings.TrimPrefix(c.line(), "cannot tell: ") + doubtful(c.result) // a heading stands above it
}

// line is the first line behind the name of the file.
func (c check) line() string {
	k := &c.result.Checks
	switch {
	case c.Answer == answer.CannotTell && k.Runs > 0:
		return "cannot tell: " + c.ran() + ", and what is known fits"
	case slices.ContainsFunc(c.Untold, func(why answer.Reason) bool { return why.Code == answer.CodeMayClash }):
		return c.result.Reason(answer.CodeMayClash).Text
	case c.Answer == answer.CannotTell:
		return "cannot tell: " + c.ran()
	case c.Answer == answer.Fits && k.Tightest != nil:
		t := k.Tightest
		return fmt.Sprintf("%s, tightest %s bytes: %s", c.ran(), grouped(t.Headroom.Free), c.result.Whose(caller(t.Run.Op), t.Run.At, t.Run.T, 40))
	case c.Answer == answer.Fits:
		return c.ran()
	case c.overlapping():
		return c.ran() + ", and buffers in L1 share bytes"
	case k.Failed == 0:
		return c.overTexts()[0]
	case k.Runs == k.Failed:
		return fmt.Sprintf("%s %s not fit", c.ran(), doNot(k.Failed))
	}
	return fmt.Sprintf("%s of %s %s not fit", grouped(k.Failed), c.ran(), doNot(k.Failed))
}

// overlapping reports whether nothing but buffers that share bytes is wrong.
func (c check) overlapping() bool {
	return c.Answer == answer.DoesNotFit && c.result.Checks.Failed == 0 && len(c.Over) == 0 && len(c.overOps()) == 0
}

// A check is a Result and how it was judged.
type check struct {
	answer.Judgement
	result *answer.Result
}

// markWidth is the width of the marks of answers.
const markWidth = 6

// writeLine writes the first line. It begins with a mark of the answer, the file, and the filter. Narrowed to a core, the
// answer is about all cores of the runs there.
func (c check) writeLine(page *page) {
	mark := map[answer.Answer]string{answer.Fits: "ok", answer.CannotTell: "?", answer.DoesNotFit: "FAIL"}[c.Answer]
	page.line("%-*s%s%s%s  %s", markWidth, mark, shown.End(c.result.File, 60), c.only(), c.accepted(), c.line())
}

// only is the filter of the result.
func (c check) only() string {
	only := c.result.Only.Suffix()
	if c.result.Only.Core.OK {
		only = strings.TrimSuffix(only, ")") + "; each run on all its cores)"
	}
	return only
}

// ran counts the program runs.
func (c check) ran() string {
	switch n := c.result.Recorded(); {
	case c.result.Checks.Runs > 0:
	case n > 0 && len(c.Untold)+len(c.Accepted) == 0:
		return shown.Plural(n, "recorded CB") + ", none ends above an L1 buffer"
	case n > 0:
		return shown.Plural(n, "recorded CB")
	default:
		return nothingRan(c.result)
	}
	return shown.Plural(c.result.Checks.Runs, "run")
}

// kept says that the budget is kept.
func (c check) kept() []note {
	if !c.Limit.OK || c.result.Checks.Runs == 0 || len(c.Over) > 0 || len(c.overOps()) > 0 {
		return nil
	}
	return []note{{"budget", "no core holds more than " + budgetText(*c.Terms.Budget, c.result.Spec.UsableBytes())}}
}

func doNot(n int64) string {
	if n == 1 {
		return "does"
	}
	return "do"
}

// accepted names the accepted reasons: the answer leaves them out.
func (c check) accepted() string {
	if len(c.Accepted) == 0 {
		return ""
	}
	return " apart from what was accepted (" + codesText(answer.CodesOf(c.Accepted)) + ")"
}

// reasons returns the reasons for "cannot tell", a line each.
func (c check) reasons(label string, all []answer.Reason) []note {
	all = slices.DeleteFunc(slices.Clone(all), func(why answer.Reason) bool {
		return why.Code == answer.CodeNothingRan && c.result.Recorded() == 0 || why.Code == answer.CodeMayClash
	})
	return reasonNotes(label, coded(all)) // the first line says that nothing ran
}

// room says how much room the tightest program has.
func (c check) room() []note {
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
func growText(all []answer.CBRoom) string {
	const most = 4
	var parts []string
	same := true
	for _, g := range all {
		same = same && g.Bytes == all[0].Bytes && g.Kind == all[0].Kind
		parts = append(parts, fmt.Sprintf("%s by %s", what(g.Kind, event.Some(g.CB)), grouped(g.Bytes)+" bytes"))
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) == 1:
		return "its " + parts[0]
	case same && all[0].Kind == fit.KindCB:
		return fmt.Sprintf("any one of its %d local CBs by %s bytes", len(all), grouped(all[0].Bytes))
	case len(parts) > most:
		parts = append(parts[:most], fmt.Sprintf("or one of %d more", len(all)-most))
	}
	return "one of " + strings.Join(parts, ", ")
}

// remarks are the anomalies that are no reason to doubt the answer.
func (c check) remarks() []note {
	r := c.result
	notes := append(c.idle(), anomalyNotes(r, "aborted", answer.CodeAborted)...)
	notes = append(notes, anomalyNotes(r, "refused", answer.CodeRefused)...)
	for _, a := range r.Anomalies {
		if a.Code == answer.CodeSmallReached {
			notes = append(notes, note{"l1_small", fmt.Sprintf("reached by %s, first at %s: tt-metal compares with all of L1",
				shown.Plural(a.Count, "program run"), r.Where(uint64(a.First), a.T))})
		}
	}
	unsaid := slices.DeleteFunc(r.Unseen(), func(why answer.Reason) bool { return slices.Contains(c.Untold, why) })
	return append(notes, reasonNotes("unseen", unsaid)...)
}

// writeFailed says why the first program that does not fit does not.
func (c check) writeFailed(page *page) {
	k := &c.result.Checks
	f := &k.List[0]
	page.line("%s", complaint(f.Verdict))
	where := fmt.Sprintf("%s, enqueued at %s on %s", c.result.Whose(f.Run.Op, f.Run.At, f.Run.T, 70), c.result.Where(f.Enqueue, f.T), devicesName(c.result, f.Device, f.Devices))
	if f.Run.Inferred {
		where += "; inferred from an earlier run of the operation"
	}
	if f.Synthesised {
		where += "; its place or that of what is in its way is synthesised"
	}
	if f.Times > 1 {
		where += fmt.Sprintf("; %s times", grouped(f.Times))
	}
	page.note(note{"program", where})
	writeVerdict(page, c.result, f)
	c.writeOthers(page, k.List[1:])
	page.apart(slices.Concat(textNotes("budget", c.overTexts()), c.reasons("besides", c.Untold), c.remarks()))
}

// maxOthers is how many further failures are named in text.
const maxOthers = 8

// writeOthers names the further runs of programs that do not fit.
func (c check) writeOthers(page *page, others []answer.FailedCheck) {
	if len(others) == 0 {
		return
	}
	t := headed(c.result.NodeWord(), "bytes over", "times", "device", "<program")
	for _, f := range first(&t, others, maxOthers, c.result.Checks.More) {
		t.named(func(n int) string { return runText(c.result, f.Run, n) },
			fmt.Sprint(f.Enqueue), overBy(f.Verdict), f.Times, deviceName(c.result, f.Device))
	}
	page.table("other program runs that do not fit", t)
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
func (c check) writeOver(page *page) {
	page.note(slices.Concat(textNotes("also", c.overTexts()[1:]), c.reasons("besides", c.Untold), c.remarks())...)
	if len(c.Over) == 0 {
		return
	}
	p := c.Over[0].On.Peak.Composed()
	if p.At != c.Over[0].Counter || p.Core != c.Over[0].Core {
		return // it held most at another moment, with L1_SMALL
	}
	writeResidents(page, fmt.Sprintf("what lay on core %s then, by address", p.Core), c.result, p.Residents, 0)
}

func (c check) overText(o answer.BudgetExcess) string {
	return fmt.Sprintf("%s bytes on %s of %s at %s, %s above the budget of %s", grouped(o.Below), coresText(o.Cores),
		deviceName(c.result, o.Device), c.result.Where(o.Counter, o.T), grouped(o.Over), budgetText(*c.Terms.Budget, c.result.Spec.UsableBytes()))
}

// overOps are the budgets of operations that are not kept.
func (c check) overOps() (out []answer.OpJudgement) {
	for _, o := range c.Ops {
		if o.Over > 0 {
			out = append(out, o)
		}
	}
	return out
}

// overTexts name the budgets that are exceeded, of cores and of operations.
func (c check) overTexts() (out []string) {
	for _, o := range c.Over {
		out = append(out, c.overText(o))
	}
	for _, o := range c.overOps() {
		text := fmt.Sprintf("%s: CBs of %s bytes on a core of %s, %s above the budget of %s for %s (line %d)",
			c.result.Whose(o.Worst.Op, o.Worst.First, o.Worst.T, 60), grouped(o.Worst.Core), deviceName(c.result, o.Worst.Device),
			grouped(o.Worst.Over), budgetText(o.Budget, c.result.Spec.UsableBytes()), shown.Start(string(o.Op), 40), o.Line)
		if o.Over > 1 {
			text += fmt.Sprintf("; %s programs take more", grouped(o.Over))
		}
		out = append(out, text)
	}
	return out
}

// idle names the lines of a file of budgets that no program is of.
func (c check) idle() (notes []note) {
	for _, o := range c.Ops {
		if o.Programs == 0 {
			notes = append(notes, note{"budget", fmt.Sprintf("no program is of %s (line %d)", shown.Start(string(o.Op), 60), o.Line)})
		}
	}
	return notes
}
