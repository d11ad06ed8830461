package render_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// TestFew compares the whole text about logs of a few events: testdata/few.txt has a section for each, with events in
// short (testkit.EventLog), then questions behind ?, and behind > what was answered. A question names a verb:
//
//	report, peak, map [CORE], diff                                    diff compares what stands before -- with the rest
//	room SIZE [op=OP] [CORE], who ADDRESS [device=ID] [line=LINE] [CORE]
//	check, junit [BUDGET]...                                          lines of a file of budgets, with - for blanks
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) (out []string) {
		at := slices.IndexFunc(asked, func(line string) bool { return line[0] == '?' })
		log, earlier := asked[:at], []string(nil)
		if i := slices.Index(log, "--"); i >= 0 {
			earlier, log = log[:i], log[i+1:]
		}
		for _, line := range asked[at:] {
			text := fewAnswer(t, testkit.EventLog(log...), testkit.EventLog(earlier...), strings.Fields(line)[1:])
			for line := range strings.Lines(text) {
				out = append(out, strings.TrimRight(line, "\n "))
			}
		}
		return out
	})
}

func fewAnswer(t *testing.T, log, earlier string, words []string) string {
	t.Helper()
	opt := replay.Options{Runs: true, Buffers: true, Groups: true}
	number := func(i int) (n uint64) {
		_, err := fmt.Sscan(words[i], &n)
		require.NoError(t, err)
		return n
	}
	var core event.Opt[l1.Core]
	if last := words[len(words)-1]; len(words) > 1 && strings.Contains(last, "-") && !strings.Contains(last, "=") {
		one, err := l1.ParseCore(last)
		require.NoError(t, err)
		core = event.Some(one)
	}
	named := func(name string) (value string, n event.Opt[uint64]) {
		for i, word := range words {
			if text, ok := strings.CutPrefix(word, name+"="); ok {
				words[i], value = text, text
				if _, err := fmt.Sscan(text, &n.V); err == nil {
					n.OK = true
				}
			}
		}
		return value, n
	}
	switch words[0] {
	case "report":
		return written(t, render.Report(logged(t, log, opt), render.Options{Programs: true, Cores: true}).Detailed())
	case "peak":
		return written(t, render.Peak(logged(t, log, opt)).Detailed())
	case "map":
		opt.Only.Core = core
		return written(t, render.Map(logged(t, log, opt), event.Opt[uint64]{}).Detailed())
	case "room":
		q := answer.RoomQuestion{Size: number(1)}
		if core.OK {
			q.Cores = l1.CoreSetOf(core.V)
		}
		op, _ := named("op")
		q.Op = answer.Name(op)
		opt.Room = &q
		r := logged(t, log, opt)
		return written(t, render.Room(r, r.Room(nil)).Detailed())
	case "who":
		q, only := answer.Question{Address: number(1)}, answer.Filter{Core: core}
		_, only.Device = named("device")
		_, q.At = named("line")
		opt.Ask = &q
		r := logged(t, log, opt)
		return written(t, render.Who(r, r.Who(q, only)))
	case "diff":
		doc := diff.Compare([]*diff.Run{diff.Of(logged(t, earlier, opt))}, []*diff.Run{diff.Of(logged(t, log, opt))}, diff.Terms{})
		return written(t, render.Diff(doc).Detailed())
	}
	var terms answer.Terms
	var err error
	budgets := strings.NewReplacer("=", " = ", "-", " ").Replace(strings.Join(words[1:], "\n"))
	terms.Budget, terms.Ops, err = answer.ParseBudgets("budgets", []byte(budgets))
	require.NoError(t, err)
	r := logged(t, log, opt)
	answer := render.Check(r, r.Judge(terms)).Detailed()
	if words[0] == "check" {
		return written(t, answer)
	}
	require.Equal(t, "junit", words[0])
	var b bytes.Buffer
	j := render.NewJUnit(&b)
	require.NoError(t, j.Add(answer))
	require.NoError(t, j.Close())
	return b.String()
}
