package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

func compareSides(c *request, names []string) (reply, error) {
	d, err := c.diff(names[0], names[1], diff.Terms{Accept: c.terms.Accept, MaxGrowth: c.growth})
	if err != nil {
		return reply{}, err
	}
	o := reply{Output: render.Diff(d), answer: replay.Fits}
	switch {
	case d.Growth != nil && d.Growth.Exceeded:
		o.answer = replay.DoesNotFit
	case d.TensorsOnly(): // nothing that they could show is hidden
	case d.Sides.Old.Answer == replay.CannotTell || d.Sides.New.Answer == replay.CannotTell:
		o.answer = replay.CannotTell
	}
	return o, nil
}

// diff compares two inputs. If one of them cannot be read, or in part, nothing is compared.
func (in *inputs) diff(old, new string, t diff.Terms) (*diff.Document, error) {
	in.replay.Buffers, in.replay.Groups = true, true
	before, err := in.runs(old)
	after, other := in.runs(new)
	if err = errors.Join(err, other); err != nil {
		return nil, err
	}
	return diff.Compare(before, after, t), nil
}

// runs reads one side.
func (in *inputs) runs(arg string) (runs []*diff.Run, err error) {
	text, err := in.savedReport(arg)
	if err != nil {
		in.refuse(arg, missing(arg, fileError(arg, err)))
		return nil, errUnreadable
	}
	if text != nil {
		defer func() { _ = text.Close() }() // open for reading only
		name := arg
		if arg == "-" {
			name = "stdin"
		}
		if runs, err = diff.Decode(text, name); err != nil {
			in.refuse(arg, err)
			return nil, errUnreadable
		}
		return runs, nil
	}
	err = in.each([]string{arg}, func(r *replay.Result) error {
		runs = append(runs, diff.Of(r))
		return nil
	})
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s: nothing to compare", arg)
	}
	return runs, err
}

// savedReport opens an input if it is a saved report; nil if it is something else, or is not
// there.
func (in *inputs) savedReport(arg string) (io.ReadCloser, error) {
	const enough = 4 << 10
	if arg == "-" {
		r := bufio.NewReaderSize(in.in, enough)
		in.in = r
		head, err := r.Peek(enough)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !diff.IsReport(head) {
			return nil, nil
		}
		return io.NopCloser(r), nil
	}
	f, err := in.openRegular(arg)
	if f == nil {
		return nil, err
	}
	head := make([]byte, enough)
	n, _ := io.ReadFull(f, head) // what cannot be read is no report
	if _, err := f.Seek(0, io.SeekStart); err != nil || !diff.IsReport(head[:n]) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
