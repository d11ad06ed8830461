package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// nothingRan says that no program is known to have run.
func nothingRan(r *answer.Result) string {
	return r.Reason(answer.CodeNothingRan).Text
}

// reasonNotes are reasons, a line each.
func reasonNotes(label string, reasons []answer.Reason) (notes []note) {
	for _, why := range reasons {
		notes = append(notes, note{label, why.Text})
	}
	return notes
}

// coded returns reasons whose texts end with the code that --accept takes.
func coded(reasons []answer.Reason) (out []answer.Reason) {
	for _, why := range reasons {
		why.Text += fmt.Sprintf(" [%s]", shown.Start(string(why.Code), 40))
		out = append(out, why)
	}
	return out
}

// anomalyNotes has a line for an anomaly that was seen.
func anomalyNotes(r *answer.Result, label string, code answer.Code) []note {
	if r.Count(code) == 0 {
		return nil
	}
	return reasonNotes(label, []answer.Reason{r.Reason(code)})
}

// budgetText describes a budget: "80% of usable L1 1,461,248, which are 1,168,998 bytes".
func budgetText(b answer.Budget, usable uint64) string {
	bytes, ok := b.Of(usable)
	switch {
	case !b.IsShare():
		return grouped(bytes) + " bytes"
	case !ok:
		return shown.Visible(b.String()) + " of usable L1, whose size is not known"
	}
	return fmt.Sprintf("%s bytes (%s of usable L1 %s)", grouped(bytes), shown.Visible(strings.TrimSpace(b.String())), grouped(usable))
}
