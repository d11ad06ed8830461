package dump

import (
	"bufio"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
)

// maxLine is how much of a line is kept, in bytes. The lists of free blocks, which are not read, may be longer.
const maxLine = 4 << 10

// A table is a dump in the form of a text: sections of DRAM, L1 and others, each with totals and blocks.
type table struct {
	*reader
	in     *bufio.Reader
	at     place // of the line at hand
	next   place
	moment *moment
	seen   map[string]bool // sections of the moment

	bank   *bank   // of the section at hand; nil = one that is not read
	blocks []block // of its bank or core at hand
	units  [2]uint64
	form   rowForm
}

// A rowForm is the layout of the lines at hand.
type rowForm int

const (
	rowNone   rowForm = iota
	rowHead           // the columns of rowBlanks come next
	rowBlanks         // FreeListOpt: padded with blanks
	rowCommas         // FreeList
)

func newTable(r *reader, in io.Reader) *table {
	return &table{reader: r, in: bufio.NewReaderSize(in, 64<<10), next: place{line: 1}}
}

// line returns the start of the next line.
func (t *table) line() (text string, err error) {
	t.at = t.next
	var kept []byte
	for {
		piece, err := t.in.ReadSlice('\n')
		t.next.offset += int64(len(piece))
		kept = append(kept, piece[:min(len(piece), maxLine-len(kept))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || t.next.offset == t.at.offset):
			return "", err
		}
		t.next.line++
		return strings.TrimRight(strings.TrimPrefix(string(kept), "\xef\xbb\xbf"), " \t\r\n"), nil
	}
}

// sectionOf reads the first line of a section: its program, if any, and its name. A name that is "" is another line.
// perCore: it is one core's.
func sectionOf(line string) (program, name string, perCore, ok bool) {
	program, rest, ok := strings.Cut(line, ",")
	rest = strings.TrimRight(rest, " \t\r\n")
	if !ok || program != "" && !digits(program) {
		return "", "", false, false
	}
	switch {
	case rest == "L1", rest == "L1_SMALL", rest == "DRAM", rest == "TRACE":
		return program, rest, false, true
	case strings.HasPrefix(rest, "DRAM channel ID,"):
		return program, "DRAM", true, true
	case strings.HasPrefix(rest, `"Logical core `):
		return program, "L1", true, true
	}
	return "", "", false, false
}

func (t *table) read() error {
	for {
		line, err := t.line()
		switch {
		case errors.Is(err, io.EOF):
			if err = t.endBank(); err != nil || t.moment == nil {
				return err
			}
			return t.emitMoment(t.moment)
		case err != nil:
			return err
		}
		if program, name, perCore, ok := sectionOf(line); ok {
			err = t.section(program, name, perCore)
		} else if t.bank != nil {
			err = t.take(line)
		}
		if err != nil {
			return err
		}
	}
}

// section begins a section. One that comes again, or one of a program, begins a moment.
func (t *table) section(program, name string, perCore bool) error {
	if err := t.endBank(); err != nil {
		return err
	}
	if t.moment == nil || program != "" || t.seen[name] && !perCore || perCore && name == "DRAM" && t.seen["L1"] {
		if t.moment != nil {
			if err := t.emitMoment(t.moment); err != nil {
				return err
			}
		}
		t.moment, t.seen = newMoment(t.at), map[string]bool{}
		if program != "" {
			t.moment.op = "program " + program
		}
	}
	t.bank, t.units, t.form = nil, [2]uint64{1, 1}, rowNone
	switch name {
	case "L1":
		t.bank = t.moment.bank(0, bankL1)
	case "L1_SMALL":
		t.bank = t.moment.bank(0, bankSmall)
	}
	if t.bank != nil && !t.seen[name] {
		t.bank.at = t.at
	}
	t.seen[name] = true
	return nil
}

// endBank compares the blocks of a bank or core with the ones before it.
func (t *table) endBank() error {
	switch {
	case t.blocks == nil:
		return nil
	case t.bank.blocks == nil:
		t.bank.blocks = t.blocks
	case !slices.EqualFunc(t.bank.blocks, t.blocks, func(a, b block) bool { return a.start == b.start && a.size == b.size && a.used == b.used }):
		return t.fail(t.at, "blocks", "", "above are others than those of the bank or core before: the allocator was not in lockstep", nil)
	}
	t.blocks, t.form = nil, rowNone
	return nil
}

// take reads a line of a section.
func (t *table) take(line string) error {
	text := strings.TrimLeft(line, " \t")
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, ",Total "):
		return t.total(text[1:])
	case strings.HasPrefix(text, "Bank ID:,"):
		return t.endBank()
	case strings.HasPrefix(text, ",,Blocks:,"):
		t.form = rowCommas
		for i, column := range []string{"Address (", "Size ("} {
			if strings.Contains(text, column+"KB)") {
				t.units[i], t.bank.coarse = 1<<10, true
			}
		}
		return nil
	case strings.HasPrefix(text, ",,,"):
		f := strings.Split(text, ",")
		if t.form != rowCommas || len(f) != 6 {
			return t.fail(t.at, "block", text, "is not a row of address, size and Y or N", nil)
		}
		return t.block(f[3], f[4], f[5])
	case strings.HasPrefix(text, ",,"), strings.HasPrefix(text, "FreeListOpt"), strings.HasPrefix(text, "segregated "),
		strings.HasPrefix(text, "Size class "), strings.HasPrefix(text, "Free slots "): // figures that follow from blocks
		return nil
	case text == "Block table:":
		t.form = rowHead
		return nil
	}
	f := strings.Fields(text)
	switch {
	case t.form == rowHead && slices.Equal(f, []string{"Block", "Address", "Size", "PrevID", "NextID", "Allocated"}):
		t.form = rowBlanks
		return nil
	case t.form == rowBlanks && len(f) == 6:
		return t.block(f[1], f[2], f[5])
	}
	return t.fail(t.at, "line", text, "is no line of a dump that is known", nil)
}

// total reads a line like Total allocated (B):,7040.
func (t *table) total(text string) error {
	label, value, _ := strings.Cut(text, ":,")
	unit := uint64(1)
	if strings.HasSuffix(label, "(KB)") {
		unit, t.bank.coarse = 1<<10, true
	}
	n, err := t.number(label, value, (math.MaxInt64-max(t.bank.total, t.bank.allocated))/unit) // of several cores
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(label, "Total allocatable"):
		t.bank.total, t.bank.stated = t.bank.total+n*unit, true
	case strings.HasPrefix(label, "Total allocated"):
		t.bank.allocated += n * unit
	}
	return nil
}

// block reads a row of a table.
func (t *table) block(address, size, state string) error {
	start, err := t.number("address", address, maxBank/t.units[0])
	if err != nil {
		return err
	}
	bytes, err := t.number("size", size, maxBank/t.units[1])
	if err != nil {
		return err
	}
	b := block{start: start * t.units[0], size: bytes * t.units[1], at: t.at}
	switch state {
	case "yes", "Y":
		b.used = true
	case "no", "N":
	default:
		return t.fail(t.at, "allocated", state, "is neither yes nor no", nil)
	}
	if b.size > 0 {
		t.blocks = append(t.blocks, b)
	}
	return nil
}

func (t *table) number(field, text string, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, t.fail(t.at, field, text, "is not a whole number", event.ErrNotCapture)
	case err != nil || n > most:
		return 0, t.fail(t.at, field, text, "is above "+strconv.FormatUint(most, 10), nil)
	}
	return n, nil
}
