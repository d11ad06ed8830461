package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	safe "github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
)

// watching is one call of the verb.
type watching struct {
	streams
	every  time.Duration
	once   bool
	demo   int
	format string
	board  l1.Spec
}

// newWatch returns the verb.
func newWatch() verb {
	in := &watching{every: time.Second}
	own := []option{
		{"interval", "time between two looks", &in.every},
		{"once", "look once, and end", &in.once},
		{"format", "of --once and without a terminal: text, or json with a line for each look",
			choice(&in.format, "text", "json")},
		{"board", "what the chips of shared memory are, like n150: shares need it",
			parsed("board", put(&in.board, parseBoard), boards()...)},
		{"demo", "make up so many devices, to try the screen", parsed("number", put(&in.demo, parseLimit))},
	}
	return verb{
		use: "watch LOG|URL|FOLDER", short: "Watch what devices hold now, in a terminal",
		long: `Show what devices hold now and in the last minutes: of an event log that grows, of a server (cbl1
serve --http), or of the regions of shared memory in a folder (/dev/shm), which have sums alone. Keys: 1 devices, 2 a
chart, 3 the cores of a device, j and k another device, space and b where that is longer than the screen, ? help, q
the end. Without a terminal there is a line for each device whenever something has changed.`,
		example: "  cbl1 watch run.jsonl\n  cbl1 watch http://localhost:9117\n" +
			"  cbl1 watch /dev/shm --board n150\n  cbl1 watch --once --format json run.jsonl",
		args: cobra.MaximumNArgs(1), own: own, whole: in.run,
	}
}

func (in *watching) run(c *request, args []string) (reply, error) {
	in.streams = c.streams
	if in.every < 10*time.Millisecond {
		return reply{}, errors.New("an interval is at least 10ms")
	}
	from, err := in.source(args)
	return reply{file: func(io.Writer) error {
		defer from.close()
		switch {
		case in.once:
			return in.look(from)
		case columns(in.out) > 0 && in.format == "text":
			return in.screen(from)
		}
		return in.lines(from)
	}}, err
}

// look prints one look.
func (in *watching) look(from looker) error {
	now, err := from.look(watch.DeviceKey{}, false)
	if err != nil {
		return err
	}
	if in.format == "json" {
		return in.row(&now)
	}
	m := watch.Model{ASCII: columns(in.out) == 0}
	m.Take(now)
	width := columns(in.out)
	if width == 0 {
		width = math.MaxInt32 // no terminal, no columns: nothing is cut
	}
	for _, line := range m.Lines(width, 0)[1:] { // without the keys
		if _, err := fmt.Fprintln(in.out, strings.TrimRight(line.Text, " ")); err != nil {
			return err
		}
	}
	return nil
}

func (in *watching) row(now *watch.Snapshot) error {
	b, err := now.AppendJSON(nil)
	if err != nil {
		return err
	}
	_, err = in.out.Write(b)
	return err
}

// lines prints changes until a signal or a closed pipe ends it.
func (in *watching) lines(from looker) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(stop)
	tick := time.Tick(in.every)
	last, said := map[watch.DeviceKey]string{}, ""
	for {
		now, err := from.look(watch.DeviceKey{}, false)
		if err == nil {
			said = ""
		}
		switch {
		case err != nil && err.Error() == said:
		case err != nil:
			said = err.Error()
			in.complain(err)
		case in.format == "json":
			err = in.row(&now)
		default:
			err = changes(in.out, &now, last)
		}
		if readerGone(err) {
			return nil
		}
		select {
		case <-stop:
			return nil
		case <-tick:
		}
	}
}

// changes prints a line for each device whose line is another one.
func changes(w io.Writer, now *watch.Snapshot, last map[watch.DeviceKey]string) error {
	var out strings.Builder
	for i := range now.Devices {
		d := &now.Devices[i]
		bytes, of, what := watch.Fullness(d)
		line := fmt.Sprintf("device %d: %d bytes", d.Device, bytes)
		if d.Fleet != "" {
			line = fmt.Sprintf("device %d of %s: %d bytes", d.Device, safe.Visible(d.Fleet), bytes)
		}
		if of > 0 {
			line += fmt.Sprintf(" of %d, %.1f%%", of, 100*float64(bytes)/float64(of))
		}
		if what != "" {
			line += ", " + what
		}
		if cbs := watch.CBs(d); cbs != nil {
			line += fmt.Sprintf("; CBs %d", *cbs)
		}
		line += fmt.Sprintf(", L1 buffers %d, DRAM %d", d.L1, d.DRAM)
		if d.Bound {
			line += "; at most"
		}
		if d.Incomplete {
			line += "; incomplete"
		}
		if at := watch.DeviceKeyOf(d); last[at] != line {
			last[at] = line
			fmt.Fprintf(&out, "%s %s\n", time.Unix(0, now.Time).UTC().Format(time.RFC3339), line)
		}
	}
	if now.Behind > 0 {
		fmt.Fprintf(&out, "behind by %d bytes\n", now.Behind)
	}
	_, err := io.WriteString(w, out.String())
	return err
}
