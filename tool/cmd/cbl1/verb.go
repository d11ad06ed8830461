package main

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A verb is a command as data: its words, its options, its question, and either the answer for one input or the
// answer for all of them.
type verb struct {
	use, short, long, example string

	formats string   // besides text, with blanks between
	options string   // their names in the order of the help, with blanks between
	own     []option // that no other verb has
	files   bool     // it writes files, of which none is text
	sums    bool     // text has no blank lines between inputs, and a last line counts the answers
	tensors tensorsOf
	memory  uint64 // the limit of memory is so many times what is in use; 0: 3
	any     bool   // the answer is yes if it is for one input; else the worst answer counts

	args   cobra.PositionalArgs                              // nil: any; inputs and whole check them
	inputs func(c *request, args []string) ([]string, error) // the inputs among the arguments; nil: whole opens its own
	ask    func(c *request) error                            // makes the question of options; may be nil
	answer func(c *request, r *answer.Result) (reply, error)
	whole  func(c *request, names []string) (reply, error)
	parts  []verb // verbs below it
}

// A reply is one answer. A verb that writes a file for other programs has no Document.
type reply struct {
	render.Output
	file   func(io.Writer) error // writes it
	answer answer.Answer
	no     error // why there is nothing to show as text; the answer is no
}

// command returns the command of a verb.
func (v verb) command(s streams) *cobra.Command {
	c := newRequest(s, v)
	cmd := &cobra.Command{
		Use: v.use, Short: v.short, Long: fill(v.long, helpWidth(s.out)), Example: v.example,
		Args: v.args,
		RunE: func(_ *cobra.Command, args []string) error {
			if s.limit != nil {
				s.limit(cmp.Or(v.memory, 3))
			}
			return c.run(args)
		},
	}
	cmd.Flags().SortFlags = false
	for _, o := range append(pick(c.options(), v.options), v.own...) {
		o.add(cmd)
	}
	for _, part := range v.parts {
		cmd.AddCommand(part.command(s))
	}
	return cmd
}

// run opens inputs, makes the question, prints each answer, and returns the exit code as an error.
func (c *request) run(args []string) error {
	names, err := c.begin(args)
	if err != nil {
		return err
	}
	if c.verb.whole != nil {
		return c.exit(c.printWhole(names))
	}
	return c.exit(c.each(names, func(r *answer.Result) error {
		if c.ended(r) {
			return nil
		}
		o, err := c.verb.answer(c, r)
		if err != nil {
			c.refuse(r.File, err)
			return nil
		}
		return c.print(o)
	}))
}

// begin returns the names of the inputs, and makes the question.
func (c *request) begin(names []string) (_ []string, err error) {
	if c.verb.inputs != nil {
		if names, err = c.verb.inputs(c, names); err == nil {
			err = c.start(names)
		}
	}
	if err == nil && c.verb.ask != nil {
		err = c.verb.ask(c)
	}
	if err == nil {
		err = c.checkOutput(names)
	}
	return names, err
}

// printWhole prints the one answer for all inputs.
func (c *request) printWhole(names []string) error {
	defer c.shut()
	o, err := c.verb.whole(c, names)
	if err == nil {
		err = c.print(o)
	}
	switch {
	case err != nil:
		return err
	case c.unreadable:
		return errUnreadable
	case o.no != nil:
		c.complain(o.no)
	}
	return nil
}

// formatNames are the formats of an answer, the default first.
func (v verb) formatNames() []string {
	if v.files {
		return strings.Fields(v.formats)
	}
	return strings.Fields("text " + v.formats)
}

// An option is a flag of a verb: its name, perhaps with a letter behind a comma, its help, and the place
// of its value: a *bool, *string, *[]string, *time.Duration or *setting. A *string is the name of a file.
type option struct {
	name, help string
	to         any
}

// A setting is a value that is parsed.
type setting struct {
	kind  string   // how the help calls it
	text  string   // as it stands
	words []string // to complete
	set   func(string) error
}

func (s *setting) Type() string   { return s.kind }
func (s *setting) String() string { return s.text }

func (s *setting) Set(text string) error {
	err := s.set(text)
	if err == nil {
		s.text = text
	}
	return err
}

// parsed returns a setting that is absent. Words complete it.
func parsed(kind string, set func(string) error, words ...string) *setting {
	return &setting{kind: kind, set: set, words: words}
}

// choice returns a setting that is one of some words. The first one is the default.
func choice(to *string, words ...string) *setting {
	*to = words[0]
	return &setting{strings.Join(words, "|"), *to, words, func(s string) error {
		if !slices.Contains(words, s) {
			return errors.New("want one of " + strings.Join(words, ", "))
		}
		*to = s
		return nil
	}}
}

// add adds an option to a command.
func (o option) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	name, letter, _ := strings.Cut(o.name, ",")
	switch to := o.to.(type) {
	case *bool:
		flags.BoolVarP(to, name, letter, false, o.help)
	case *string:
		flags.StringVarP(to, name, letter, *to, o.help)
	case *[]string:
		flags.StringSliceVar(to, name, nil, o.help)
	case *time.Duration:
		flags.DurationVar(to, name, *to, o.help)
	case *setting:
		flags.VarP(to, name, letter, o.help)
	}
}

// pick returns the options with some names, in the order of the names.
func pick(all []option, names string) (out []option) {
	for name := range strings.FieldsSeq(names) {
		i := slices.IndexFunc(all, func(o option) bool { return o.name == name || strings.HasPrefix(o.name, name+",") })
		out = append(out, all[i])
	}
	return out
}

// complete makes the words of settings complete them, in all commands. Package cobra keeps them for all time.
func complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if s, ok := f.Value.(*setting); ok && !strings.Contains(s.kind, "FILE") {
			words := cobra.FixedCompletions(s.words, cobra.ShellCompDirectiveNoFileComp)
			_ = cmd.RegisterFlagCompletionFunc(f.Name, words) // the flag is there
		}
	})
	for _, part := range cmd.Commands() {
		complete(part)
	}
}

// helpColumns is how wide help is, at most.
const helpColumns = 100

// helpWidth returns how wide help is: as wide as the terminal.
func helpWidth(w io.Writer) int {
	if width := columns(w); width > 0 {
		return min(width, helpColumns)
	}
	return helpColumns
}

// fill breaks the lines of paragraphs anew.
func fill(text string, width int) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		paragraphs = append(paragraphs, strings.Join(append(lines, line), "\n"))
	}
	return strings.Join(paragraphs, "\n\n")
}
