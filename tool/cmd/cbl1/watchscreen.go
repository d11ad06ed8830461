package main

import (
	"time"

	"github.com/gdamore/tcell/v2"

	safe "github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
)

// screen shows a source in the terminal until somebody ends it.
func (in *watching) screen(from looker) error {
	s, err := tcell.NewScreen()
	if err != nil {
		return err
	}
	if err := s.Init(); err != nil {
		return err
	}
	defer s.Fini()
	watchOn(s, from, time.Tick(in.every))
	return nil
}

// An observation is the result of one look.
type observation struct {
	now watch.Snapshot
	err error
}

// A screenView is the view of a source on a screen. A slow source does not hold up keys: it makes
// one snapshot at a time, beside them.
type screenView struct {
	screen tcell.Screen
	model  watch.Model
	from   looker
	came   chan observation
	busy   bool
	again  bool      // a key wants another one
	since  time.Time // of the snapshot that is being made
}

// watchOn shows a source on a screen until a key ends it, with a snapshot at each tick.
func watchOn(s tcell.Screen, from looker, ticks <-chan time.Time) {
	events, quit := make(chan tcell.Event, 16), make(chan struct{})
	go s.ChannelEvents(events, quit)
	defer close(quit)
	w := screenView{screen: s, from: from, came: make(chan observation, 1)}
	w.ask()
	w.draw()
	for {
		select {
		case e, open := <-events:
			if !open || w.key(e) {
				return
			}
		case <-ticks:
			if w.busy {
				w.model.Fail("the last look takes " + time.Since(w.since).Round(time.Second).String())
			}
			w.ask()
		case got := <-w.came:
			w.take(got)
		}
		w.draw()
	}
}

// take shows what came of a look.
func (w *screenView) take(got observation) {
	if w.busy = false; got.err != nil {
		w.model.Fail(got.err.Error())
	} else {
		w.model.Take(got.now)
	}
	if w.again {
		w.ask()
	}
}

// ask requests a snapshot, unless one is being made.
func (w *screenView) ask() {
	if w.busy {
		return
	}
	w.busy, w.again, w.since = true, false, time.Now()
	at, detail := w.model.Selected()
	go func() {
		now, err := w.from.look(at, detail)
		w.came <- observation{now, err}
	}()
}

// wants requests a snapshot for a key, which the snapshot that is being made may lack.
func (w *screenView) wants() {
	w.again = w.busy
	w.ask()
}

// key does what a key says, and reports whether that is the end.
func (w *screenView) key(e tcell.Event) (end bool) {
	k, is := e.(*tcell.EventKey)
	if !is {
		w.screen.Sync() // another size
		return false
	}
	switch {
	case k.Rune() == 'q', k.Key() == tcell.KeyCtrlC, k.Key() == tcell.KeyEscape:
		return true
	case k.Rune() >= '1' && k.Rune() <= '3':
		w.model.Show(watch.View(k.Rune() - '0'))
		w.wants()
	case k.Rune() == '?':
		w.model.Show(watch.ViewHelp)
	case k.Rune() == 'j', k.Key() == tcell.KeyDown:
		w.model.Move(1)
		w.wants()
	case k.Rune() == 'k', k.Key() == tcell.KeyUp:
		w.model.Move(-1)
		w.wants()
	case k.Rune() == ' ', k.Key() == tcell.KeyPgDn:
		w.model.Scroll(1)
	case k.Rune() == 'b', k.Key() == tcell.KeyPgUp:
		w.model.Scroll(-1)
	}
	return false
}

func (w *screenView) draw() {
	w.screen.Clear()
	columns, rows := w.screen.Size()
	for y, line := range w.model.Lines(columns, rows) {
		x := 0
		for part := &line; part != nil; part = part.Beside {
			style := styleOf(part.Look)
			for _, r := range part.Text {
				if n := safe.Width(string(r)); n > 0 {
					w.screen.SetContent(x, y, r, nil, style)
					x += n
				}
			}
		}
	}
	w.screen.Show()
}

// styleOf returns how a terminal shows a look.
func styleOf(look watch.Look) tcell.Style {
	style := tcell.StyleDefault
	switch look {
	case watch.Head:
		return style.Bold(true)
	case watch.Good:
		return style.Foreground(tcell.ColorGreen)
	case watch.Warn:
		return style.Foreground(tcell.ColorYellow)
	case watch.Bad:
		return style.Foreground(tcell.ColorRed)
	}
	return style
}
