package render

import (
	"iter"

	"github.com/cbl1/cbl1/replay"
)

// A csvCheck is an answer, and one way in which a program run does not fit.
type csvCheck struct {
	csvFile
	Answer   replay.Answer        `json:"answer"`
	Untold   []replay.Code        `json:"untold"`
	Accepted []replay.Code        `json:"accepted"`
	Aborted  *replay.Aborted      `json:"aborted"`
	Runs     int64                `json:"runs"`
	Inferred int64                `json:"runs_inferred"`
	Failed   int64                `json:"runs_failed"`
	More     int64                `json:"failures_more"`
	Budget   *replay.BudgetJudged `json:"budget"`
	Over     int                  `json:"budget_exceeded"` // on so many devices
	Ops      int                  `json:"op_budgets_exceeded"`
	Tightest *replay.Tightest     `json:"tightest"`
	Failure  *replay.FailedCheck  `json:"failure"`
	By       *uint64              `json:"failure_over_bytes"`
}

func checkRows(c check) iter.Seq[csvCheck] {
	return func(yield func(csvCheck) bool) {
		doc := c.result.Check(c.Judgement)
		row := csvCheck{
			csvFile: newCSVFile(c.result, c.result.Only.Device), Answer: c.Answer, Untold: replay.CodesOf(c.Untold), Accepted: replay.CodesOf(c.Accepted), Aborted: doc.Aborted,
			Runs: doc.Runs, Inferred: doc.Inferred, Failed: doc.Failed, More: doc.More, Budget: doc.Budget, Over: len(c.Over), Ops: len(c.overOps()), Tightest: doc.Tightest,
		}
		if len(doc.Failures) == 0 {
			yield(row)
			return
		}
		for i := range doc.Failures {
			by := overBy(doc.Failures[i].Verdict)
			if row.Failure, row.By = &doc.Failures[i], &by; !yield(row) {
				return
			}
		}
	}
}
