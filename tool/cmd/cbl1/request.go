package main

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A request is one call of a verb: its question, made of options, its inputs, and its output.
type request struct {
	inputs
	printer

	shows   render.Options
	only    answer.Filter
	room    answer.RoomQuestion
	who     answer.Question
	terms   answer.Terms
	budgets string // a file of them
	growth  *answer.Budget
	with    event.Opt[string]
	against string

	together bool   // of sizes
	folder   string // of tables
}

func newRequest(s streams, v verb) *request {
	c := &request{inputs: inputs{streams: s}, printer: newPrinter(s.out, v)}
	c.refused, c.tensors = c.countRefused, v.tensors
	c.misfits = func(r *answer.Result) bool { return r.Judge(c.terms).Answer == answer.DoesNotFit }
	return c
}
