package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// choiceFlag is one of some words.
type choiceFlag struct {
	value string
	of    []string
}

func (c *choiceFlag) String() string { return c.value }
func (c *choiceFlag) Type() string   { return strings.Join(c.of, "|") }

func (c *choiceFlag) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("want one of %s", strings.Join(c.of, ", "))
	}
	c.value = s
	return nil
}

// archFlag is an architecture; "" = not given.
type archFlag l1.Arch

func (a *archFlag) String() string { return string(*a) }
func (a *archFlag) Type() string   { return "arch" }

func (a *archFlag) Set(s string) error {
	arch, err := parseArch(s)
	*a = archFlag(arch)
	return err
}

// bytesFlag is an address or size in bytes; 0 = not given.
type bytesFlag uint64

func (b *bytesFlag) Type() string { return "bytes" }

func (b *bytesFlag) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(uint64(*b))
}

func (b *bytesFlag) Set(s string) error {
	n, err := l1.ParseBytes(plain(s))
	if err == nil && n == 0 {
		err = errors.New("must be above 0")
	}
	*b = bytesFlag(n)
	return err
}

// sizeFlag is a size in bytes that may be 0.
type sizeFlag uint64

func (b *sizeFlag) Type() string   { return "bytes" }
func (b *sizeFlag) String() string { return (*bytesFlag)(b).String() }

func (b *sizeFlag) Set(s string) error {
	n, err := l1.ParseBytes(plain(s))
	*b = sizeFlag(n)
	return err
}

// roomSizeFlag is the size of a buffer on each core, or an interleaved tensor: "1MiB interleaved",
// "1MiB interleaved 4KiB pages".
type roomSizeFlag struct {
	each   bytesFlag
	tensor replay.Tensor
}

func (r *roomSizeFlag) Type() string { return "bytes|tensor" }

func (r *roomSizeFlag) String() string {
	switch t := r.tensor; {
	case t.Bytes == 0:
		return r.each.String()
	case t.Page == 0:
		return fmt.Sprintf("%d interleaved", t.Bytes)
	default:
		return fmt.Sprintf("%d interleaved %d pages", t.Bytes, t.Page)
	}
}

func (r *roomSizeFlag) Set(s string) error {
	size, pages, interleaved := strings.Cut(s, "interleaved")
	var each, page bytesFlag
	if err := each.Set(strings.TrimSpace(size)); err != nil {
		return err
	}
	if !interleaved {
		*r = roomSizeFlag{each: each}
		return nil
	}
	if pages = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(pages), "pages")); pages != "" {
		if err := page.Set(pages); err != nil {
			return fmt.Errorf("pages: %w", err)
		}
	}
	tensor := replay.Tensor{Bytes: uint64(each), Page: uint64(page)}
	if err := tensor.Check(); err != nil {
		return fmt.Errorf("%w: it takes the size of a page too, like \"1MiB interleaved 64B pages\"", err)
	}
	*r = roomSizeFlag{tensor: tensor}
	return nil
}

// smallFlag is the size of L1_SMALL, if it is given.
type smallFlag event.Opt[uint64]

func (s *smallFlag) Type() string { return "bytes" }

func (s *smallFlag) String() string {
	n := bytesFlag(s.V)
	return n.String()
}

func (s *smallFlag) Set(text string) error {
	var n sizeFlag
	err := n.Set(text)
	*s = smallFlag{V: uint64(n), OK: err == nil}
	return err
}

// setFlag has figures of a chip by name: align=64, l1=1499136. 0 = not given.
type setFlag struct{ align, size bytesFlag }

func (f *setFlag) Type() string { return "name=bytes" }

func (f *setFlag) String() string {
	var words []string
	if f.align > 0 {
		words = append(words, "align="+f.align.String())
	}
	if f.size > 0 {
		words = append(words, "l1="+f.size.String())
	}
	return strings.Join(words, " ")
}

func (f *setFlag) Set(s string) error {
	const most = 1 << 16 // of an alignment, far above that of any memory
	var n bytesFlag
	name, value, _ := strings.Cut(s, "=")
	if name != "align" && name != "l1" {
		return errors.New("want align=BYTES or l1=BYTES, like align=64")
	}
	if err := n.Set(value); err != nil {
		return err
	}
	if name == "l1" {
		f.size = n
		return nil
	}
	if bits.OnesCount64(uint64(n)) != 1 || n > most {
		return fmt.Errorf("want a power of two up to %d, like the 32 of a Wormhole or the 64 of a Blackhole", most)
	}
	f.align = n
	return nil
}

// chip are the flags that say what chip an input is about.
type chip struct {
	arch archFlag
	base bytesFlag
}

func (c *chip) add(flags *pflag.FlagSet) {
	flags.Var(&c.arch, "arch", "architecture: wormhole, blackhole or grayskull")
	flags.Var(&c.base, "base", `address where circular buffers start, like 111616 or "109 KiB"`)
}

// budgetFlag is how much of a core's L1 may be taken; nil = not given.
type budgetFlag struct{ budget *replay.Budget }

func (b *budgetFlag) Type() string { return "bytes|percent" }

func (b *budgetFlag) String() string {
	if b.budget == nil {
		return ""
	}
	return b.budget.String()
}

func (b *budgetFlag) Set(s string) error {
	budget, err := replay.ParseBudget(plain(s))
	if err == nil {
		b.budget = &budget
	}
	return err
}

// coreFlag is a core like 3-0; given says whether there is one.
type coreFlag struct {
	core  l1.Core
	given bool
}

func (c *coreFlag) Type() string { return "x-y" }

func (c *coreFlag) String() string {
	if !c.given {
		return ""
	}
	return c.core.String()
}

func (c *coreFlag) Set(s string) error {
	core, err := l1.ParseCore(s)
	*c = coreFlag{core, err == nil}
	return err
}

// coresFlag is a set of cores in any spelling: 3-0, [0-0 - 7-3], {[0-0 - 7-3], [0-4 - 3-4]}.
type coresFlag struct{ cores l1.CoreSet }

func (c *coresFlag) Type() string { return "cores" }

func (c *coresFlag) String() string {
	if c.cores.IsEmpty() {
		return ""
	}
	return c.cores.String()
}

func (c *coresFlag) Set(s string) error {
	text := strings.TrimSpace(s)
	if core, err := l1.ParseCore(text); err == nil {
		c.cores = l1.CoreSetOf(core)
		return nil
	}
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	set, err := l1.ParseCoreRangeSet(text)
	if err == nil && set.Cores().IsEmpty() {
		err = errors.New("no cores")
	}
	c.cores = set.Cores()
	return err
}

// budgetsFlag is a budget of a core, or a file of budgets. Both may be given.
type budgetsFlag struct {
	budgetFlag
	file string
}

func (b *budgetsFlag) Type() string { return "bytes|percent|FILE" }

func (b *budgetsFlag) Set(s string) error {
	if err := b.budgetFlag.Set(s); err == nil {
		return nil
	} else if info, missing := os.Stat(s); missing != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%w, or a file of budgets", err)
	}
	b.file = s
	return nil
}

// terms reads the file, and returns on which terms a Result is judged.
func (b *budgetsFlag) terms(accept []replay.Code) (t replay.Terms, err error) {
	t = replay.Terms{Budget: b.budget, Accept: accept}
	if b.file == "" {
		return t, nil
	}
	text, err := os.ReadFile(b.file)
	if err != nil {
		return t, fileError(b.file, err)
	}
	core, ops, err := replay.ParseBudgets(b.file, text)
	switch {
	case err != nil:
		return t, err
	case core != nil && t.Budget != nil:
		return t, fmt.Errorf("%s has a budget of a core, and --budget %s is another", b.file, t.Budget)
	case core != nil:
		t.Budget = core
	}
	t.Ops = ops
	return t, nil
}

// filterFlags narrow an answer.
type filterFlags struct {
	device numberFlag
	core   coreFlag
	op     string
}

func (f *filterFlags) add(flags *pflag.FlagSet) {
	f.device.what = "id"
	flags.Var(&f.device, "device", "only this device, by its id in the capture")
	flags.Var(&f.core, "core", "only this core, in logical coordinates")
	flags.StringVar(&f.op, "op", "", "only operations with this function on their path, like ttnn.matmul; * stands for any text")
}

func (f *filterFlags) filter() replay.Filter {
	return replay.Filter{
		Device: event.Opt[uint64]{V: f.device.n, OK: f.device.given}, Core: event.Opt[l1.Core]{V: f.core.core, OK: f.core.given}, Op: replay.Name(f.op),
	}
}

// numberFlag is a whole number; given says whether there is one.
type numberFlag struct {
	n     uint64
	given bool
	what  string // its type in the help
}

func (f *numberFlag) Type() string { return f.what }

func (f *numberFlag) String() string {
	if !f.given {
		return ""
	}
	return fmt.Sprint(f.n)
}

func (f *numberFlag) Set(s string) error {
	n, err := parseWhole(s)
	if err != nil {
		return err
	}
	f.n, f.given = n, true
	return nil
}

// atFlag is a moment: after a node or, in a database, after a node of an operation.
type atFlag struct {
	numberFlag
	operation event.Opt[uint64]
	node      uint64 // in the operation
}

func (f *atFlag) Set(s string) error {
	operation, node, of := strings.Cut(s, ":")
	if !of {
		f.operation.OK = false
		return f.numberFlag.Set(s)
	}
	var first, second numberFlag
	if first.Set(operation) != nil || second.Set(node) != nil {
		return errors.New("want a whole number or, in a database, operation:node")
	}
	f.operation, f.node, f.given = event.Some(first.n), second.n, true
	return nil
}

// acceptFlag are codes of what is taken as seen.
type acceptFlag []replay.Code

func (a *acceptFlag) Type() string { return "code,..." }

func (a *acceptFlag) String() string {
	var words []string
	for _, code := range *a {
		words = append(words, string(code))
	}
	return strings.Join(words, ",")
}

// codes are all that --accept takes.
func codes() []string {
	var words []string
	for _, code := range replay.Codes() {
		words = append(words, string(code))
	}
	return words
}

func (a *acceptFlag) Set(s string) error {
	for code := range strings.SplitSeq(s, ",") {
		code := replay.Code(strings.TrimSpace(code))
		if !slices.Contains(replay.Codes(), code) {
			return fmt.Errorf("%q is no code%s", string(code), cmp.Or(didYouMean("", nearest(string(code), codes())), "; docs/codes.md lists them"))
		}
		*a = append(*a, code)
	}
	return nil
}
