package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The names of options that verbs share.
const (
	placeOptions  = "device core "
	filterOptions = placeOptions + "op "
	chipOptions   = " arch base set l1-small no-infer"
)

// options are all options of verbs that read captures.
func (c *request) options() []option {
	return []option{
		{"programs", "also a table of programs (JSON always has them)", &c.shows.Programs},
		{"cores", "also a table of groups of cores (JSON always has them)", &c.shows.Cores},
		{"verbose,v", "also the chip, and what the figures count and leave out", &c.details},
		{"budget", `what a core may hold at most, like "900 KiB", or 90% of usable L1, or a file of budgets by operation`,
			parsed("bytes|percent|FILE", c.setBudget)},
		{"max-growth", `by how much the peak of the fullest core may grow, like "8 KiB", or 5% of OLD's`,
			parsed("bytes|percent", put(&c.growth, parseBudget))},
		{"size", `bytes of each core of the buffer that is asked about, or a tensor, like "1MiB interleaved": does it fit?`,
			parsed("bytes|tensor", c.setRoomSize)},
		{"sharded", "cores of the buffer instead of the whole grid, like 3-0, [0-0 - 7-3] or {[0-0 - 7-3], [0-4 - 3-4]}",
			parsed("cores", put(&c.room.Cores, parseCores))},
		{"accept", "codes of hidden facts, taken as seen: the answer is about the rest",
			parsed("code,...", c.addAccepted, codes()...)},
		{"at", "after the node with this counter; in a database also operation:node", parsed("node", c.at.Set)},
		{"device", "only this device, by its id in the capture", parsed("id", into(&c.only.Device, parseWhole))},
		{"core", "only this core, in logical coordinates", parsed("x-y", into(&c.only.Core, l1.ParseCore))},
		{"op", "only operations with this function on their path, like ttnn.matmul; * stands for any text",
			parsed("name", put(&c.only.Op, func(s string) (answer.Name, error) { return answer.Name(s), nil }))},
		{"together", "all inputs run on one device, which stays open between them", &c.together},
		{"color", "colours of text", choice(&c.colour, "auto", "always", "never")},
		{"format", "how the answer is written", choice(&c.format, c.verb.formatNames()...)},
		{"output,o", "the file to write; - for standard output", &c.to},
		{"out", "the folder to write the tables into; it is made if it is not there", &c.folder},
		{"against", "an older run, or its saved report, to be compared with", &c.against},
		{"with", "a graph capture or event log, or a folder of captures, of the same run; the flags from --set on are for it",
			parsed("FILE", into(&c.with, func(s string) (string, error) { return s, nil }))},
		{"arch", "architecture: wormhole, blackhole, grayskull or quasar",
			parsed("arch", put(&c.opt.Arch, parseArch), "wormhole", "blackhole", "grayskull", "quasar")},
		{"base", `address where circular buffers start, like 111616 or "109 KiB"`, parsed("bytes", put(&c.opt.Base, parseBytes))},
		{"set", "align=64: alignment of the addresses of circular buffers; l1=1499136: size of the L1 of a core",
			parsed("name=bytes", func(s string) error { return setFigure(&c.opt, s) }, "align=64", "l1=1499136")},
		{"l1-small", "size of the L1_SMALL area at the top of L1, if not that of the file",
			parsed("bytes", into(&c.opt.L1Small, parseSize))},
		{"no-infer", "take nothing from earlier runs where an operation hit the program cache", &c.opt.NoInfer},
	}
}

// put returns a function that parses a value to its place.
func put[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*to = v
		}
		return err
	}
}

// into is put of an optional value.
func into[T any](to *event.Opt[T], parse func(string) (T, error)) func(string) error {
	return put(to, func(s string) (event.Opt[T], error) {
		v, err := parse(s)
		return event.Some(v), err
	})
}

// parseSize reads a size in bytes.
func parseSize(s string) (uint64, error) {
	n, err := l1.ParseBytes(plain(s))
	return uint64(n), err
}

// parseBytes reads an address or a size in bytes above 0.
func parseBytes(s string) (uint64, error) {
	n, err := parseSize(s)
	if err == nil && n == 0 {
		err = errors.New("must be above 0")
	}
	return n, err
}

// setRoomSize sets the size of a buffer on each core, or an interleaved tensor: "1MiB interleaved",
// "1MiB interleaved 4KiB pages".
func (c *request) setRoomSize(s string) error {
	size, pages, interleaved := strings.Cut(s, "interleaved")
	each, err := parseBytes(strings.TrimSpace(size))
	if err != nil {
		return err
	}
	c.room.Size, c.room.Tensor = each, answer.Tensor{}
	if !interleaved {
		return nil
	}
	tensor := answer.Tensor{Bytes: each}
	if pages = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(pages), "pages")); pages != "" {
		if tensor.Page, err = parseBytes(pages); err != nil {
			return fmt.Errorf("pages: %w", err)
		}
	}
	if err := tensor.Check(); err != nil {
		return fmt.Errorf("%w: it takes the size of a page too, like \"1MiB interleaved 64B pages\"", err)
	}
	c.room.Size, c.room.Tensor = 0, tensor
	return nil
}

// setFigure sets a figure of a chip by name: align=64, l1=1499136.
func setFigure(to *capture.Options, s string) error {
	const most = 1 << 16 // of an alignment, far above that of any memory
	name, value, _ := strings.Cut(s, "=")
	if name != "align" && name != "l1" {
		return errors.New("want align=BYTES or l1=BYTES, like align=64")
	}
	n, err := parseBytes(value)
	switch {
	case err != nil:
		return err
	case name == "l1":
		to.MaxL1 = n
	case bits.OnesCount64(n) != 1 || n > most:
		return fmt.Errorf("want a power of two up to %d, like the 32 of a Wormhole or the 64 of a Blackhole", most)
	default:
		to.Align = n
	}
	return nil
}

// parseCores reads a set of cores in any spelling: 3-0, [0-0 - 7-3], {[0-0 - 7-3], [0-4 - 3-4]}.
func parseCores(s string) (l1.CoreSet, error) {
	text := strings.TrimSpace(s)
	if core, err := l1.ParseCore(text); err == nil {
		return l1.CoreSetOf(core), nil
	}
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	set, err := l1.ParseCoreRangeSet(text)
	if err == nil && set.Cores().IsEmpty() {
		err = errors.New("no cores")
	}
	return set.Cores(), err
}

// parseBudget reads how much of a core's L1 may be taken. A number that may have lost its percent sign is refused.
func parseBudget(s string) (*answer.Budget, error) {
	budget, err := answer.ParseBudget(plain(s))
	if n, _ := budget.Of(0); err == nil && 0 < n && n <= 100 && strings.Trim(s, "0123456789") == "" {
		err = fmt.Errorf("%s bytes, or %s%%? want \"%s B\" or %s%%", s, s, s, s)
	}
	return &budget, err
}

// setBudget sets a budget of a core, or the name of a file of budgets. Both may be given.
func (c *request) setBudget(s string) error {
	err := put(&c.terms.Budget, parseBudget)(s)
	if err == nil {
		return nil
	}
	if info, missing := os.Stat(s); missing != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%w, or a file of budgets", err)
	}
	c.budgets = s
	return nil
}

// readTerms reads the file of budgets. A budget of a core is about all operations.
func (c *request) readTerms() error {
	if err := c.readBudgets(); err != nil || c.terms.Budget == nil || c.only.Op == "" {
		return err
	}
	return fmt.Errorf("a core holds buffers of all operations: a file of budgets limits some, with a line like op %s = %s", c.only.Op, c.terms.Budget)
}

func (c *request) readBudgets() error {
	if c.budgets == "" {
		return nil
	}
	text, err := os.ReadFile(c.budgets)
	if err != nil {
		return fileError(c.budgets, err)
	}
	core, ops, err := answer.ParseBudgets(c.budgets, text)
	if err == nil && core != nil && c.terms.Budget != nil {
		err = fmt.Errorf("%s has a budget of a core, and --budget %s is another", c.budgets, c.terms.Budget)
	}
	c.terms.Budget, c.terms.Ops = cmp.Or(core, c.terms.Budget), ops
	return err
}

// An instant lies after a node or, in a database, after a node of an operation.
type instant struct {
	event.Opt[uint64]
	operation event.Opt[uint64]
	node      uint64 // in the operation
}

// Set parses an instant.
func (m *instant) Set(s string) error {
	operation, node, of := strings.Cut(s, ":")
	if !of {
		m.operation.OK = false
		return into(&m.Opt, parseWhole)(s)
	}
	first, err := parseWhole(operation)
	second, err2 := parseWhole(node)
	if err != nil || err2 != nil {
		return errors.New("want a whole number or, in a database, operation:node")
	}
	m.operation, m.node, m.OK = event.Some(first), second, true
	return nil
}

// codes are all that --accept takes.
func codes() (words []string) {
	for _, code := range answer.Codes() {
		words = append(words, string(code))
	}
	return words
}

// addAccepted adds codes, with commas between.
func (c *request) addAccepted(s string) error {
	for code := range strings.SplitSeq(s, ",") {
		if code = strings.TrimSpace(code); !slices.Contains(codes(), code) {
			meant := didYouMean("", nearest(code, codes()))
			return fmt.Errorf("%q is no code%s", code, cmp.Or(meant, ": want one of "+strings.Join(codes(), ", ")))
		}
		c.terms.Accept = append(c.terms.Accept, answer.Code(code))
	}
	return nil
}

// plain returns a number as l1.ParseBytes reads it. It accepts the forms that the command
// prints: 111,616, 0x1b400, 108KiB and 32K. Other text is returned unchanged.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if digits, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		if n, err := strconv.ParseUint(digits, 16, 63); err == nil {
			return strconv.FormatUint(n, 10)
		}
		return s
	}
	if regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+([^0-9,.]|$)`).MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	if regexp.MustCompile(`^[0-9.]+ *[KMG]$`).MatchString(s) {
		s += "iB"
	}
	return s
}

// parseWhole reads a number that is no number of bytes, like an id.
func parseWhole(s string) (uint64, error) {
	n, err := strconv.ParseUint(plain(s), 10, 63)
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	return n, nil
}

// parseAddress reads an address.
func parseAddress(s string) (uint64, error) {
	n, err := l1.ParseBytes(plain(s))
	if err != nil {
		return 0, fmt.Errorf("%.40q is no address: want bytes, like 111616, 0x1b400 or 109KiB", s)
	}
	return uint64(n), nil
}

// parseArch reads an architecture in any spelling of captures and of tt-metal:
// "blackhole", "wormhole_b0", "WORMHOLE_B0", "ARCH.BLACKHOLE", "tt::ARCH::GRAYSKULL".
func parseArch(s string) (l1.Arch, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	if i := strings.LastIndexAny(name, ".:"); i >= 0 {
		name = name[i+1:]
	}
	for _, revision := range []string{"_a0", "_b0"} {
		name = strings.TrimSuffix(name, revision)
	}
	arch, err := l1.ParseArch(name)
	if err != nil {
		_, err = l1.ParseArch(s) // which shows what was written
	}
	return arch, err
}
