package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// verbs are all commands.
func verbs() []verb {
	return slices.Concat(tableVerbs(), pictureVerbs(), []verb{tablesVerb()}, logVerbs(), []verb{mcpVerb()}, []verb{
		{use: "version", short: "Say which version of cbl1 this is, and what built it", args: cobra.MaximumNArgs(0), whole: printVersion},
	})
}

// tableVerbs are the verbs whose answers are tables.
func tableVerbs() []verb {
	return []verb{
		{
			use: "report FILE|FOLDER|- ...", short: "Report on graph captures",
			long: `Report on ttnn graph captures: JSON in any dialect, plain, gzip or zstd, and report databases
(db.sqlite). A folder stands for the captures in it, one per rank; - is standard input. There is one report per
capture. Captures that cannot be read are named on standard error and make the exit code 2; the others are still
reported.`,
			example: "  cbl1 report graph_capture_0_of_1.json\n  cbl1 report --format json reports/ | jq .fullest",
			formats: "json csv markdown", options: "programs cores verbose " + filterOptions + "format" + chipOptions,
			inputs: all, ask: askReport,
			tensors: ofAll,
			answer: func(c *request, r *answer.Result) (reply, error) {
				return reply{Output: render.Report(r, c.shows)}, nil
			},
		},
		{
			use: "check FILE|FOLDER|- ...", short: "Say whether the programs of graph captures fit into L1",
			long: `Say whether every program of a capture fits into L1 beside the L1 buffers that live when it is
enqueued, and if not, who is in the way. Programs are judged as tt-metal judges them, with its messages, and byte by
byte on each core.

The exit code is 0 if everything fits, 1 if something does not, and 3 if it cannot tell, because a capture does not
show all that ran, or where all L1 buffers lay. --accept CODE,... takes such a fact as seen, with the code
in brackets behind a reason: the answer is then about the rest, and its first line says so; so it does where --device, --core or --op narrow what is judged. Of several
inputs the worst counts: 2 if one cannot be read, then 1, then 3.`,
			example: "  cbl1 check run.json\n" +
				"  cbl1 check --budget 90% --l1-small 32768 reports/\n  cbl1 check --budget budgets.txt --format junit reports/ > l1.xml",
			formats: "json csv markdown junit", sums: true, options: "verbose budget accept " + filterOptions + "format" + chipOptions,
			inputs: all, ask: (*request).readTerms,
			tensors: ofMisfits,
			answer: func(c *request, r *answer.Result) (reply, error) {
				j := r.Judge(c.terms)
				return reply{Output: render.Check(r, j), answer: j.Answer}, nil
			},
		},
		{
			use: "peak FILE|FOLDER|- ...", short: "Say how much a core of L1 held at most, and what",
			long: `Say when a core held most of everything that lives in L1: circular buffers of the programs that ran
last, L1 buffers, dataflow buffers, scratchpads. The first line answers; then comes what lay on that core at that
moment, whose it was, and which bytes were held twice.`,
			example: "  cbl1 peak run.json\n  cbl1 peak --format json run.json | jq '.devices[].peak.tracked_bytes'",
			formats: "json csv", options: "verbose " + placeOptions + "format" + chipOptions, inputs: all,
			tensors: ofAll,
			answer: func(_ *request, r *answer.Result) (reply, error) {
				return reply{Output: render.Peak(r)}, nil
			},
		},
		{
			use: "room FILE|FOLDER|- ...", short: "Say how large one more L1 buffer could be",
			long: `Say how large one more L1 buffer could have been throughout: one address range, above the circular
buffers of every program run and free of every buffer that lived at any time, while nothing else moves. An interleaved
buffer is on all cores of the grid; --sharded CORES asks about one on these alone. In lockstep that takes its address
on all cores too; in HYBRID mode it is allocated per core. Sizes are those of each core. It names who limits the room,
and when, also by groups of cores.

With --size BYTES the exit code is 0 if a buffer of that size fits, 1 if it does not, and it says where and when it
does not and where it would. It is 3 if it cannot tell, because something is hidden; --accept as in check. Of several
inputs the worst counts: 2 if one cannot be read, then 1, then 3.

--size "1MiB interleaved" asks about a whole tensor on the grid, in pages of 2,048 bytes if it names no others: "1MiB
interleaved 4KiB pages".

--op asks about the moments alone at which programs of an operation were enqueued, and names the one with the least
room. --at asks about the moment after a node: beside the program that was enqueued last.`,
			example: "  cbl1 room run.json\n  cbl1 room run.json --size 512KiB --sharded '[0-0 - 7-3]'\n  cbl1 room run.json --op '*matmul*'",
			formats: "json", options: "size sharded op at accept verbose format" + chipOptions,
			inputs: all, ask: askRoom, tensors: ofAll,
			answer: answerRoom,
		},
		{
			use: "sizes FILE|FOLDER|- ...", short: "Say which sizes a device has to be opened with",
			long: `Say which l1_small_size, trace_region_size and worker_l1_size a device has to be opened with: the size in
use, the size that works, the input that set it, and a line of Python. Inputs are captures, event logs, databases,
folders, and texts with messages of tt-metal. The largest need counts, which holds if the device is closed between
the runs; --together: it is not, and needs add up.

l1_small_size and trace_region_size come from the buffers that lived there, and from messages. worker_l1_size changes
only to cure a message about the kernel config ring. The exit code is 1 if no sizes work, and 3 if one of the three
cannot be told.`,
			example: "  cbl1 sizes run.json\n  cbl1 sizes --together resnet.json bert.json\n  cbl1 sizes run.json pytest.log",
			formats: "json", options: "together format" + chipOptions,
			inputs: all, whole: findSizes,
		},
		{
			use: "who FILE|FOLDER|- ADDRESS", short: "Say what holds a byte of L1",
			long: `Say what holds a byte of L1, at the end of a capture or after one of its nodes: the buffers of the
program that ran last on each core, allocated buffers, and every program of the cache that uses the byte. ADDRESS is
in bytes, decimal or with 0x hexadecimal. The exit code is 1 if nothing holds it.`,
			example: "  cbl1 who run.json 111616\n  cbl1 who run.json 0x1b400 --core 3-0 --device 0 --at 143",
			formats: "json", options: "verbose " + filterOptions + "at format" + chipOptions, any: true,
			inputs: whoInputs, ask: askWho,
			tensors: ofAll,
			answer: func(c *request, r *answer.Result) (reply, error) {
				doc := r.Who(c.who, c.only)
				o := reply{Output: render.Who(r, doc), answer: answer.Fits}
				if len(doc.Held) == 0 {
					o.answer = answer.DoesNotFit
				}
				return o, nil
			},
		},
		{
			use: "diff OLD NEW|FOLDER", short: "Say what changed between two runs, builds or versions of a plan",
			long: `Say what changed between two runs: chip, base and L1 size, then device by device what cores hold,
programs, their circular buffers and L1 buffers. OLD and NEW are captures, event logs, report databases, folders of
captures (by rank), or saved JSON reports (cbl1 report --format json --programs), in any mix. Programs are matched by
operation, order and shape, never by address. A FOLDER of dumps of the allocator, one for each layer, is a sequence: each
is compared with the one before it, and what a layer left over is new.

The exit code is 0 also if they differ. It is 1 if the fullest core grew by more than --max-growth, and 3 if OLD or
NEW hides something (--accept CODE,... takes it as seen, as in check).`,
			example: "  cbl1 diff monday.json tuesday.json\n" +
				"  cbl1 diff --max-growth 5% --format markdown baseline.report.json run.json",
			formats: "json csv markdown", options: "max-growth accept verbose format" + chipOptions,
			inputs: func(_ *request, args []string) ([]string, error) {
				if len(args) != 2 && len(args) != 1 {
					return nil, errors.New("two sides are compared: cbl1 diff OLD NEW, or the dumps of one FOLDER")
				}
				return args, nil
			},
			whole: compareSides,
		},
		{
			use: "explain [FILE|-]", short: "Explain tt-metal's messages about L1 in a log",
			long: `Explain what tt-metal means when it says that circular buffers clash with L1 buffers, grow beyond
L1, and the like, that its allocator is out of memory, or that a program or a trace is too large. It says which
parameter of open_device helps. The text is a log or a pasted error, from a file or from standard input; messages may
be shortened by dots, or be told again. The exit code is 1 if there is no such message in it.

With a graph capture of the same run, or of the same model, it also names the operation, the circular buffers and the
tensor that a message is about: those with its core range, region end and lowest address. Of a message of the
allocator it looks for the moment at which as much was free, and names what lay between the free blocks of L1 then, on
which cores and since when. Of sizes that are chosen when a device is opened it says by how much they can change.`,
			example: "  cbl1 explain run.log\n" +
				"  pytest test_model.py 2>&1 | cbl1 explain\n  cbl1 explain run.log --with graph_capture_0_of_1.json",
			formats: "json markdown", options: "with format" + chipOptions,
			args: cobra.MaximumNArgs(1), inputs: explainInputs, whole: explain,
		},
	}
}

// pictureVerbs are the verbs that draw, or write files for other viewers.
func pictureVerbs() []verb {
	const one = "one input makes one file: export the others one by one"
	return []verb{
		{
			use: "map FILE|-", short: "Draw what lies in L1: the cores of a device, or addresses of one",
			long: `Draw the cores of each device, shaded by the bytes that they held at its peak; equal devices are
drawn once. With --core x-y, draw the address map of that core at its peak: circular buffers from the base up, tensors
from the end down, what is free, and what two hold. --at is another moment. A program run that does not fit is drawn
with what is in its way.

A terminal gets colour, unless NO_COLOR or TERM=dumb says no, and a file plain ASCII. --format svg is a picture for
light and dark pages.`,
			example: "  cbl1 map run.json\n  cbl1 map --core 0-0 run.json\n  cbl1 map --format svg run.json > l1.svg",
			formats: "json svg", options: "at verbose " + placeOptions + "color format" + chipOptions,
			inputs: func(_ *request, args []string) ([]string, error) {
				if len(args) != 1 {
					return nil, errors.New("want one FILE, like run.json")
				}
				return args, nil
			},
			ask:     askMap,
			tensors: ofAll,
			answer: func(c *request, r *answer.Result) (reply, error) {
				return reply{Output: render.Map(r, c.at.Opt)}, nil
			},
		},
		{
			memory: 4, // it makes many short-lived values: with 2 it takes 1.5 to 3 times the CPU, and 0.6 of the memory
			use:    "page FILE|FOLDER|- ... [-o report.html]", short: "Write a page with pictures and tables, to look at, mail and print",
			long: `Write one HTML file that needs no network: whether everything fits, the cores of each device, what
lies where in the L1 of a core, how it came about over time, and tables of programs, circular buffers and L1 buffers.
Devices that are equal are shown once. With --against it also says what changed. The exit code is 0 whatever the
answer is; cbl1 check has one for it.`,
			example: "  cbl1 page run.json -o report.html\n" +
				"  cbl1 page --against monday.json tuesday.json -o report.html",
			options: "output against budget accept" + chipOptions, inputs: all, ask: askPage, tensors: ofAll,
			whole: writePage,
		},
		{
			use: "export perfetto FILE -o OUT", short: "Write a file for ui.perfetto.dev",
			long: `Write what is known of one input for another viewer: operations, and what each device held, over the
nodes.`,
			whole: func(_ *request, args []string) (reply, error) {
				if len(args) == 0 {
					return reply{}, errors.New("name the format: perfetto")
				}
				return reply{}, fmt.Errorf("%s is no format to export: perfetto", args[0])
			},
			parts: []verb{
				{
					use: "perfetto FILE -o OUT", short: "Write operations, and what devices held, as a Perfetto trace",
					long: `Write operations as slices, and registered, resident and tracked bytes and the headroom of
each device as counters, for ui.perfetto.dev. One microsecond of its axis is one node.`,
					example: "  cbl1 export perfetto run.json -o run.pftrace",
					options: "output" + chipOptions, inputs: alone(one), ask: askExport, whole: perfetto,
				},
			},
		},
	}
}

// tablesVerb writes the tables of many runs.
func tablesVerb() verb {
	return verb{
		use: "tables FILE|FOLDER|- ... --out DIR", short: "Write the tables of many runs, for DuckDB and other engines",
		long: `Write five tables into a folder, in one pass over the inputs: devices, programs, checks and peaks, with
the rows that report, report --programs, check and peak write with --format csv, and refused, with the inputs that cannot
be read. Parquet has the same columns with types: whole numbers are INT64, what is missing is NULL.

A table appears when all are complete. Memory does not grow with the number of inputs. The exit code is 0 also if
programs do not fit, and 2 if an input cannot be read: its row says why. The key of a run is its path: with --out
lake/commit=abc/model=x engines read commit and model as columns.`,
		example: "  cbl1 tables runs/ --out lake/commit=abc/model=resnet --format parquet",
		formats: "csv parquet", files: true, options: "out budget accept format" + chipOptions,
		inputs: all, ask: askTables, whole: writeTables,
	}
}

// logVerbs are the verbs about event logs and running processes.
func logVerbs() []verb {
	return []verb{
		{
			use: "stream [FILE|-]", short: "Follow the event log of a simulator, and answer its queries",
			long: `Follow an event log, which is JSON Lines, from a file or from standard input, and write one line of
JSON for each query in it, and for each event that was refused and changed nothing. An answer is written before the
next line is read: a simulator may write a query and wait for it. The exit code is 0 at the end of the log, and 2 if
it cannot be read to its end.`,
			example: "  cbl1 stream run.jsonl\n  ./simulator | cbl1 stream | jq 'select(.answer == \"anomaly\")'",
			args:    cobra.MaximumNArgs(1), whole: stream,
		},
		{
			use: "convert FILE|-", short: "Write a graph capture as an event log",
			long: `Write the events of a graph capture, a report database or an event log as an event log: JSON Lines,
one event a line. What has no address in the capture is placed, with the flags given here, so that the log needs none
of them: report, check, peak and who say of it what they say of the capture.

A capture is read twice, and a pipe is kept for that. The exit code is 2 if the input cannot be read to its end. A
capture then has no events at all, and -o leaves no file.`,
			example: "  cbl1 convert run.json > run.jsonl\n  cbl1 convert --l1-small 32768 -o run.jsonl run.json.gz",
			options: "output" + chipOptions, inputs: alone("one input makes one log: convert the others one by one"),
			whole: convert,
		},
		newServe(),
		newWatch(),
	}
}

// mcpVerb answers assistants.
func mcpVerb() verb {
	return verb{
		use: "mcp FOLDER", short: "Answer an assistant by the Model Context Protocol",
		long: `Serve the Model Context Protocol over standard input and output, until the assistant closes them. Each verb
whose answer has a JSON is a tool, which changes nothing. Files are given by their paths below FOLDER, and no other file
is read: links that lead out of it are refused. Folders and databases are not read; cbl1 convert makes event logs of
databases.`,
		example: "  claude mcp add cbl1 -- cbl1 mcp captures/",
		args:    cobra.ExactArgs(1), whole: serveMCP,
	}
}

// all takes all arguments for inputs.
func all(_ *request, args []string) ([]string, error) { return args, nil }

// alone takes one input.
func alone(reason string) func(*request, []string) ([]string, error) {
	return func(_ *request, args []string) ([]string, error) {
		if len(args) > 1 {
			return nil, errors.New(reason)
		}
		return args, nil
	}
}

// askReport selects the tables that are narrowed: the others would seem to be.
func askReport(c *request) error {
	s, one := &c.shows, c.format == "csv"
	switch {
	case one && s.Programs && s.Cores:
		return errors.New("a CSV has one kind of row: --programs or --cores")
	case s.Cores && c.only.Op != "":
		return errors.New("--cores counts the programs of all operations: --op goes with --programs")
	case one && (s.Programs || s.Cores): // it has only that table
	case c.only.Op != "":
		s.Programs = true
	default:
		s.Cores = s.Cores || c.only.Core.OK && !(one && s.Programs)
	}
	return nil
}

func askRoom(c *request) error {
	if c.room.Tensor.Bytes > 0 && !c.room.Cores.IsEmpty() {
		return errors.New("an interleaved tensor lies on all cores of the grid: --sharded goes with a --size of each core")
	}
	if c.only.Op != "" && c.at.OK {
		return errors.New("--op and --at are two moments: give one of them")
	}
	c.room.Op, c.room.At = c.only.Op, c.opt.At
	c.replay.Room, c.replay.Only = &c.room, answer.Filter{} // the question is narrowed, not the replay
	return nil
}

func answerRoom(c *request, r *answer.Result) (reply, error) {
	for _, d := range r.Rooms.Devices {
		if core, ok := d.Outside.First(); ok {
			return reply{}, fmt.Errorf("%s: core %v (--sharded) lies outside the grid of device %d", r.File, core, d.Device.V)
		}
	}
	doc := r.Room(c.terms.Accept)
	return reply{Output: render.Room(r, doc), answer: doc.Answer}, nil
}

func whoInputs(c *request, args []string) (files []string, err error) {
	if len(args) != 2 {
		return nil, errors.New("want FILE and ADDRESS, like run.json 0x1b400")
	}
	c.who.Address, err = parseAddress(args[1])
	return args[:1], err
}

func askWho(c *request) error {
	c.who.At = c.opt.At
	c.replay.Ask, c.replay.Only = &c.who, answer.Filter{} // the answer is narrowed, not the replay
	return nil
}

func explainInputs(c *request, args []string) ([]string, error) {
	names := append(slices.Clone(args), "-")[:max(1, len(args))]
	if c.with.OK {
		names = append(names, c.with.V)
	}
	return names, checkBase(c.opt)
}

func askMap(c *request) error {
	c.replay.Groups, c.replay.GroupsAt = !c.at.OK, c.opt.At
	c.style = draw.Terminal(columns(c.out), c.colour, os.Getenv)
	return nil
}
