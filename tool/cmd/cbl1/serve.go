package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// The default limits of a server for its clients.
const (
	serveGrace = 50 * time.Millisecond
	serveStall = 10 * time.Second
	serveDelay = 3 * time.Second
	serveLook  = 500 * time.Millisecond // the longest time between two sweeps of processes, and between two tries
	serveStats = 10 * time.Second
	serveLines = 8 << 20 // bytes that wait to be read
)

// serving is one call of the verb.
type serving struct {
	streams
	socket, logs string
	mode         fs.FileMode
	dialect      wire.Dialect
	devices      devicesFlag
	format       string
	quiet        bool
	record       string
	recordSize   uint64
	delay, stats time.Duration
	limits       serve.Limits
	publish      publishing
	expose       exposing
}

// newServe returns the verb.
func newServe() verb {
	// The default is the path of the protocol's own server, in a folder that all share.
	in := &serving{
		socket: filepath.Join("/tmp", "tt_allocation_server.sock"), mode: 0o600,
		recordSize: 64 << 20, delay: serveDelay, stats: serveStats,
		limits: serve.Limits{Clients: 1024, Lots: 1 << 20, PerSecond: 1_000_000, Fleets: 64},
	}
	limit := func(to *int) *setting {
		return &setting{kind: "number", text: strconv.Itoa(*to), set: put(to, parseLimit)}
	}
	own := []option{
		{"socket", "where AllocMessage clients connect", &in.socket},
		{"logs", "another socket, for event logs with queries, a fleet each or one by name", &in.logs},
		{"mode", "permissions of the sockets", &setting{kind: "octal", text: "0600", set: put(&in.mode, parseMode)}},
		{"devices", "what devices are, like 0-7=n150, 8=n150:6GiB (of DRAM) or 32=mesh:0-7; may be given again",
			parsed("ids=board", in.devices.Set)},
		{"dialect", "what clients were built with: bytes of a record, perhaps with the number of types, like 112 or 72/4",
			&setting{kind: "dialect", text: in.dialect.String(), set: put(&in.dialect, wire.ParseDialect)}},
		{"format", "text; protocol: the lines of the protocol's server alone; or json", choice(&in.format, "text", "protocol", "json")},
		{"quiet,q", "print nothing but the summary", &in.quiet},
		{"record", "write an event log; a full one is renamed to FILE.1, and that to FILE.2, which is the last", &in.record},
		{"record-size", "bytes after which a log is full; 0 means never",
			&setting{kind: "bytes", text: fmt.Sprint(in.recordSize), set: put(&in.recordSize, parseSize)}},
		{"delay", "how long a dead process keeps what it had", &in.delay},
		{"statistics", "how often statistics are printed; 0 means never", &in.stats},
		{"max-clients", "connections at once", limit(&in.limits.Clients)},
		{"max-live", "what one process may have live at once", limit(&in.limits.Lots)},
		{"max-rate", "records a second of one connection", limit(&in.limits.PerSecond)},
		{"max-fleets", "fleets with names that event logs share", limit(&in.limits.Fleets)},
	}
	return verb{
		use: "serve", short: "Follow what running processes say that they allocate",
		long: `Listen on a Unix socket as tt-metal's allocation server does, for clients of any version, and print
a line for each circular buffer, buffer and kernel that comes or goes. Sums are those that the protocol means; beside
them stands how much of a core circular buffers take at most. SIGINT and SIGTERM end it with a summary on standard
output, and the exit code 0. Linux only.`,
		example: "  cbl1 serve --devices 0-7=n150\n" +
			"  cbl1 serve -q --record live.jsonl --logs /run/user/1000/cbl1.sock",
		args: cobra.MaximumNArgs(0), own: slices.Concat(own, in.publish.options(), in.expose.options()), whole: in.run,
	}
}

// run serves until a signal ends it, and returns the summary.
func (in *serving) run(c *request, _ []string) (o reply, err error) {
	in.streams = c.streams
	if in.delay < 0 || in.stats < 0 {
		return o, errors.New("a time is below 0")
	}
	// From here on a signal ends it in order.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(stop)
	ignoreFileSize()
	files := descriptors()
	in.limits.Files = files.clients(len(in.publish.chips))
	clients, err := serve.Listen(in.socket, in.mode)
	if err != nil {
		return o, err
	}
	defer func() { _ = clients.Close() }() // again, if it was closed in order
	var logs *serve.Listener
	if in.logs != "" {
		if logs, err = serve.Listen(in.logs, in.mode); err != nil {
			return o, err
		}
		defer func() { _ = logs.Close() }()
	}
	server, err := serve.New(in.config())
	if err != nil {
		return o, err
	}
	unpublish, err := in.publish.start(server, in.devices, in.err)
	if err != nil {
		return o, err
	}
	defer unpublish()
	conceal, err := in.expose.start(server, in.err, files.http())
	if err != nil {
		return o, err
	}
	defer conceal()
	if !in.quiet {
		fmt.Fprintf(in.err, "cbl1: listening on %s\n", in.socket)
		if logs != nil {
			fmt.Fprintf(in.err, "cbl1: listening on %s, for event logs\n", in.logs)
		}
	}
	o.file = func(w io.Writer) error {
		_, err := w.Write(server.AppendSummary(nil))
		return err
	}
	return o, in.until(stop, server, clients, logs)
}

func (in *serving) config() serve.Config {
	c := serve.Config{
		Now: time.Now, Identify: serve.Identify, Out: in.out, Err: in.err, Format: serve.Format(in.format),
		Dialect: in.dialect, Devices: in.devices, Waiting: serveLines, Grace: serveGrace, Stall: serveStall, Delay: in.delay, Limits: in.limits,
	}
	if in.quiet {
		c.Out, c.Quiet = nil, true
	}
	if in.record != "" {
		c.Record = &serve.Recorder{Open: in.nextLog, Most: int64(min(in.recordSize, 1<<62))}
	}
	return c
}

// until serves until a signal comes or the reader of its output closes the pipe.
func (in *serving) until(stop <-chan os.Signal, server *serve.Server, clients, logs *serve.Listener) error {
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(clients) }()
	if logs != nil {
		go func() { ended <- server.ServeLogs(logs) }()
	}
	err := in.wait(stop, server, func() bool { return len(ended) > 0 })
	err = errors.Join(err, server.Close(), clients.Close(), <-ended)
	if logs != nil {
		err = errors.Join(err, logs.Close(), <-ended)
	}
	select {
	case <-server.Printed():
	case <-time.After(serveStall):
		err = errors.Join(err, errors.New("standard output is not read: the last lines and the summary are missing"))
	}
	return err
}

// sweepEvery returns the time between two sweeps for dead processes. One sweep finds a dead
// process. The first sweep at least a delay later releases it. So it keeps its allocations for at
// most the delay and two of these times.
func sweepEvery(delay time.Duration) time.Duration {
	return min(serveLook, max(delay/12, 100*time.Millisecond))
}

// wait sweeps and prints statistics until it is to stop.
func (in *serving) wait(stop <-chan os.Signal, server *serve.Server, ended func() bool) error {
	sweep, stats := time.Tick(sweepEvery(in.delay)), time.Tick(in.stats) // nil for 0
	for {
		select {
		case <-stop:
			return nil
		case <-stats:
			server.Statistics()
		case <-sweep:
			server.Sweep()
			if err := server.Err(); err != nil || ended() {
				return err
			}
		}
	}
}

// parseMode reads a file mode, in octal.
func parseMode(s string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > 0o777 {
		return 0, errors.New("want permissions like 0600")
	}
	return fs.FileMode(n), nil
}

// parseLimit reads how many of something there may be; 0 means any number.
func parseLimit(s string) (int, error) {
	n, err := parseWhole(s)
	if err == nil && n > math.MaxInt32 {
		err = fmt.Errorf("%d is above 2^31-1", n)
	}
	return int(min(n, math.MaxInt32)), err
}
