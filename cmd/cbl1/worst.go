package main

import (
	"io"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

// verdicts prints answers to several inputs. The worst of them is that of the command, also when
// nobody reads any more.
type verdicts struct {
	*printer
	worst replay.Answer
}

// print prints one answer.
func (v *verdicts) print(d report.Document, answer replay.Answer) error {
	if answer == replay.DoesNotFit || v.worst == "" || v.worst == replay.Fits {
		v.worst = answer
	}
	err := v.printer.print(d)
	if readerGone(err) {
		v.w, err = io.Discard, nil
	}
	return err
}

// end ends the output and says the worst as the exit code, unless there was an error.
func (v *verdicts) end(err error) error {
	if end := v.printer.end(); err == nil && !readerGone(end) {
		err = end
	}
	switch {
	case err != nil:
		return err
	case v.worst == replay.DoesNotFit:
		return errNo
	case v.worst == replay.CannotTell:
		return errCannotTell
	}
	return nil
}
