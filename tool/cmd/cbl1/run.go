package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/event"
	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The exit codes.
const (
	exitOK    = 0
	exitNo    = 1 // the answer is no
	exitUsage = 2 // wrong usage, or input that cannot be read
	exitTell  = 3 // the answer is "cannot tell"
)

// An exitError is the exit code of a command that has printed all its messages.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

const (
	errNo         = exitError(exitNo)
	errUnreadable = exitError(exitUsage) // an input cannot be read
	errCannotTell = exitError(exitTell)
)

// streams are the input and the outputs of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
	below    *os.Root           // of mcp: inputs lie below it; nil: anywhere
	limit    func(times uint64) // of memory, to so many times what is in use; nil: none
}

// complain writes one line to standard error.
func (s streams) complain(err error) {
	fmt.Fprintln(s.err, "cbl1:", safe.Visible(err.Error()))
}

// runIn is the command as a function. It returns the exit code.
func runIn(s streams, args []string) int {
	root := newRoot(s)
	if err := misspelt(root, args); err != nil {
		s.complain(err)
		return exitUsage
	}
	if len(args) > 0 && isCompletion(args[0]) {
		complete(root)
	}
	root.SetArgs(withVerb(root, args))
	err := root.Execute()
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	switch {
	case err == nil:
		return exitOK
	case readerGone(err):
		return exitOK // it has seen enough, as with head
	}
	s.complain(err)
	return exitUsage
}

// readerGone reports whether writing failed because the reader of the output has gone.
func readerGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "cbl1 FILE|FOLDER|- ...",
		Short: "How much of each core's L1 do circular buffers take?",
		Long: fill(`cbl1 says how much of each core's L1 the circular buffers (CBs) of Tenstorrent programs take, what
else lives there, and whether it all fits. "cbl1 FILE" is short for "cbl1 report FILE"; a file that is named like a
command needs a path (./report). The exit code is 0, or 1 if the answer is no, or 2 after wrong usage or unreadable
input, or 3 if it cannot tell.`, helpWidth(s.out)),
		Example: "  cbl1 graph_capture_0_of_1.json\n  cbl1 report --programs --cores run.json.gz\n" +
			"  cbl1 check --budget 90% run.json\n  cbl1 peak run.json\n  cbl1 room run.json --size 512KiB\n" +
			"  cbl1 who run.json 0x1b400\n  pytest test_model.py 2>&1 | cbl1 explain",
		Version:               versionText(),
		DisableFlagsInUseLine: true,
		CompletionOptions:     cobra.CompletionOptions{DisableDefaultCmd: true}, // see completion
		SilenceErrors:         true,
		SilenceUsage:          true,
		Args:                  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("nothing to read; try: cbl1 FILE, or cbl1 --help")
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // verbs, and files
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.Flags().Bool("version", false, "version for cbl1") // without -v, which is --verbose
	root.SetVersionTemplate("cbl1 {{.Version}}\n")
	wrapped := fmt.Sprintf("FlagUsagesWrapped %d ", helpWidth(s.out))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages ", wrapped))
	for _, v := range verbs() {
		cmd := v.command(s)
		for _, group := range verbGroups() {
			if slices.Contains(strings.Fields(group[1]), cmd.Name()) {
				cmd.GroupID = group[0]
			}
		}
		root.AddCommand(cmd)
	}
	for _, group := range verbGroups() {
		root.AddGroup(&cobra.Group{ID: group[0], Title: group[0] + ":"})
	}
	help := newHelp()
	root.SetHelpCommand(help)
	root.AddCommand(newCompletion(s), help)
	root.SetFlagErrorFunc(unknownFlag)
	return root
}

// verbGroups are the groups of commands in the help, each with its names.
func verbGroups() [][2]string {
	return [][2]string{
		{"One run", "report check peak room sizes who map page export convert"}, {"Many runs", "tables"}, {"Two runs", "diff"}, {"An error", "explain"},
		{"Live", "serve watch stream"}, {"Assistants", "mcp"},
	}
}

// newHelp is the command that shows the help of a verb.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|words]",
		Short: "Show the help of a command, or the words of the tables",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return append(verbNames(cmd.Root()), "words"), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				return root.Help()
			}
			if args[0] == "words" {
				_, err := io.WriteString(cmd.OutOrStdout(), glossary)
				return err
			}
			if !isVerb(root, args[0]) {
				return fmt.Errorf("%s is no command%s", args[0], didYouMean("cbl1 help ", nearest(args[0], verbNames(root))))
			}
			verb, _, err := root.Find(args)
			if err != nil {
				return err
			}
			verb.InitDefaultHelpFlag() // so that it is shown
			return verb.Help()
		},
	}
}

// verbNames are the names of all commands.
func verbNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

func isVerb(root *cobra.Command, word string) bool { return slices.Contains(verbNames(root), word) }

// withVerb puts "report" in front of arguments that do not begin with a verb: a
// file, or a flag of report.
func withVerb(root *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return args
	}
	switch first := args[0]; {
	case first == "-h", first == "--help", first == "--version", isCompletion(first), isVerb(root, first):
		return args
	}
	return append([]string{"report"}, args...)
}

// isCompletion reports whether a shell requests completions.
func isCompletion(verb string) bool { return strings.HasPrefix(verb, "__complete") }

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
