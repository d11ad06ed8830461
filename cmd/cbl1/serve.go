package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/serve"
	"github.com/cbl1/cbl1/wire"
)

// How a server treats its clients, where nobody says otherwise.
const (
	serveGrace = 50 * time.Millisecond
	serveStall = 10 * time.Second
	serveDelay = 3 * time.Second
	serveLook  = 500 * time.Millisecond // the longest time between two looks at processes, and between two tries
	serveStats = 10 * time.Second
	serveLines = 8 << 20 // bytes that wait to be read
)

// serving is one call of the verb.
type serving struct {
	streams
	socket, logs string
	mode         modeFlag
	dialect      dialectFlag
	devices      devicesFlag
	format       choiceFlag
	quiet        bool
	record       string
	recordSize   sizeFlag
	delay, stats time.Duration
	limits       serve.Limits
	publish      publishing
	expose       exposing
}

func newServe(s streams) *cobra.Command {
	// The default is that of the protocol's own server, in a folder that all share.
	in := serving{
		streams: s, socket: filepath.Join("/tmp", "tt_allocation_server.sock"), mode: 0o600, recordSize: 64 << 20, delay: serveDelay, stats: serveStats,
		format: choiceFlag{"text", []string{"text", "seeds", "json"}},
		limits: serve.Limits{Clients: 1024, Lots: 1 << 20, PerSecond: 1_000_000, Fleets: 64},
	}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Follow what running processes say that they allocate",
		Long: "Listen on a Unix socket as tt-metal's allocation server does (docs/serve.md), for clients of any version,\n" +
			"and print a line for each circular buffer, buffer and kernel that comes or goes. Sums are those that the\n" +
			"protocol means; beside them stands how much of a core circular buffers take at most.\n" +
			"SIGINT and SIGTERM end it with a summary on standard output, and the exit code 0. Linux only.",
		Example: "  cbl1 serve --devices 0-7=n150\n  cbl1 serve -q --record live.jsonl --logs /run/user/1000/cbl1.sock",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return in.run() },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&in.socket, "socket", in.socket, "where AllocMessage clients connect")
	flags.StringVar(&in.logs, "logs", "", "another socket, for event logs with queries, a fleet each or one by name")
	flags.Var(&in.mode, "mode", "permissions of the sockets")
	flags.Var(&in.devices, "devices", "what devices are, like 0-7=n150, 8=n150:6GiB (of DRAM) or 32=mesh:0-7; may be given again")
	flags.Var(&in.dialect, "dialect", "what clients were built with: bytes of a record, perhaps with the number of types, like 112 or 72/4")
	flags.Var(&in.format, "format", "text; seeds: the lines of the protocol's server alone; or json")
	flags.BoolVarP(&in.quiet, "quiet", "q", false, "print nothing but the summary")
	flags.StringVar(&in.record, "record", "", "write an event log; a full one is renamed to FILE.1, and that to FILE.2, which is the last")
	flags.Var(&in.recordSize, "record-size", "bytes after which a log is full; 0 means never")
	flags.DurationVar(&in.delay, "delay", in.delay, "how long a dead process keeps what it had")
	flags.DurationVar(&in.stats, "statistics", in.stats, "how often statistics are printed; 0 means never")
	flags.Var((*limitFlag)(&in.limits.Clients), "max-clients", "connections at once")
	flags.Var((*limitFlag)(&in.limits.Lots), "max-live", "what one process may have live at once")
	flags.Var((*limitFlag)(&in.limits.PerSecond), "max-rate", "records a second of one connection")
	flags.Var((*limitFlag)(&in.limits.Fleets), "max-fleets", "fleets with names that event logs share")
	in.publish.flags(flags)
	in.expose.flags(flags)
	return cmd
}

func (in *serving) run() error {
	if in.delay < 0 || in.stats < 0 {
		return errors.New("a time is below 0")
	}
	// From here on a signal ends it in order.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(stop)
	ignoreFileSize()
	files := descriptors()
	in.limits.Files = files.clients(len(in.publish.chips))
	clients, err := serve.Listen(in.socket, fs.FileMode(in.mode))
	if err != nil {
		return err
	}
	defer func() { _ = clients.Close() }() // again, if it was closed in order
	var logs *serve.Listener
	if in.logs != "" {
		if logs, err = serve.Listen(in.logs, fs.FileMode(in.mode)); err != nil {
			return err
		}
		defer func() { _ = logs.Close() }()
	}
	server, err := serve.New(in.config())
	if err != nil {
		return err
	}
	unpublish, err := in.publish.start(server, in.devices, in.err)
	if err != nil {
		return err
	}
	defer unpublish()
	conceal, err := in.expose.start(server, in.err, files.http())
	if err != nil {
		return err
	}
	defer conceal()
	if !in.quiet {
		fmt.Fprintf(in.err, "cbl1: listening on %s\n", in.socket)
		if logs != nil {
			fmt.Fprintf(in.err, "cbl1: listening on %s, for event logs\n", in.logs)
		}
	}
	return in.until(stop, server, clients, logs)
}

func (in *serving) config() serve.Config {
	c := serve.Config{
		Now: time.Now, Identify: serve.Identify, Out: in.out, Err: in.err, Format: serve.Format(in.format.value),
		Dialect: wire.Dialect(in.dialect), Devices: in.devices, Waiting: serveLines, Grace: serveGrace, Stall: serveStall, Delay: in.delay, Limits: in.limits,
	}
	if in.quiet {
		c.Out, c.Quiet = nil, true
	}
	if in.record != "" {
		c.Record = &serve.Record{Open: in.nextLog, Most: int64(min(uint64(in.recordSize), 1<<62))}
	}
	return c
}

// until serves until a signal comes, or somebody who reads what is printed has gone.
func (in *serving) until(stop <-chan os.Signal, server *serve.Server, clients, logs *serve.Listener) error {
	type served struct{ err error }
	ended := make(chan served, 2)
	running := 0
	start := func(l *serve.Listener, serve func(net.Listener) error) {
		running++
		go func() { ended <- served{serve(l)} }()
	}
	start(clients, server.Serve)
	if logs != nil {
		start(logs, server.ServeLogs)
	}
	err := in.wait(stop, server, func() bool { return len(ended) > 0 })
	err = errors.Join(err, server.Close(), clients.Close())
	if logs != nil {
		err = errors.Join(err, logs.Close())
	}
	for range running {
		err = errors.Join(err, (<-ended).err)
	}
	select {
	case <-server.Printed():
	case <-time.After(serveStall):
		err = errors.Join(err, errors.New("nobody reads what is printed: its end, and the summary, are not there"))
	}
	if err != nil {
		return err
	}
	_, err = in.out.Write(server.AppendSummary(nil))
	return err
}

// sweepEvery returns how often dead processes are looked for: one of them is found at one look,
// and released at the first that is a delay behind it, so that two of these times are what it keeps
// beyond its delay.
func sweepEvery(delay time.Duration) time.Duration {
	return min(serveLook, max(delay/12, 100*time.Millisecond))
}

// wait sweeps and prints statistics until it is to stop.
func (in *serving) wait(stop <-chan os.Signal, server *serve.Server, ended func() bool) error {
	sweep := time.NewTicker(sweepEvery(in.delay))
	defer sweep.Stop()
	var stats <-chan time.Time
	if in.stats > 0 {
		ticker := time.NewTicker(in.stats)
		defer ticker.Stop()
		stats = ticker.C
	}
	for {
		select {
		case <-stop:
			return nil
		case <-stats:
			server.Statistics()
		case <-sweep.C:
			server.Sweep()
			if err := server.Err(); err != nil || ended() {
				return err
			}
		}
	}
}

// modeFlag is a file mode, in octal.
type modeFlag fs.FileMode

func (m *modeFlag) Type() string   { return "octal" }
func (m *modeFlag) String() string { return fmt.Sprintf("%04o", fs.FileMode(*m)) }

func (m *modeFlag) Set(s string) error {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > 0o777 {
		return errors.New("want permissions like 0600")
	}
	*m = modeFlag(n)
	return nil
}

// limitFlag is how many of something there may be; 0 means any number.
type limitFlag int

func (f *limitFlag) Type() string { return "number" }

func (f *limitFlag) String() string { return strconv.Itoa(int(*f)) }

func (f *limitFlag) Set(s string) error {
	n, err := parseWhole(s)
	if err == nil && n > math.MaxInt32 {
		err = fmt.Errorf("%d is above 2^31-1", n)
	}
	if err == nil {
		*f = limitFlag(n)
	}
	return err
}

// dialectFlag is what clients were built with; zero = recognised.
type dialectFlag wire.Dialect

func (d *dialectFlag) Type() string   { return "dialect" }
func (d *dialectFlag) String() string { return wire.Dialect(*d).String() }

func (d *dialectFlag) Set(s string) error {
	dialect, err := wire.ParseDialect(s)
	*d = dialectFlag(dialect)
	return err
}
