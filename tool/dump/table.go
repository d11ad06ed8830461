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

	name   string // of the section at hand; "" = none yet
	whole  bank   // of the section
	first  []block
	blocks []block // of the bank at hand
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
			return t.endMoment()
		case err != nil:
			return err
		}
		if program, name, perCore, ok := sectionOf(line); ok {
			err = t.section(program, name, perCore)
		} else if t.name == "L1" || t.name == "L1_SMALL" {
			err = t.take(line)
		} // other banks are not read
		if err != nil {
			return err
		}
	}
}

// section begins a section. One that comes again, or one of a program, begins a moment.
func (t *table) section(program, name string, perCore bool) error {
	if err := t.endSection(); err != nil {
		return err
	}
	if t.moment == nil || program != "" || t.seen[name] && !perCore || perCore && name == "DRAM" && t.seen["L1"] {
		if err := t.endMoment(); err != nil {
			return err
		}
		t.moment, t.seen = newMoment(t.at), map[string]bool{}
		if program != "" {
			t.moment.op = "program " + program
		}
	}
	t.seen[name] = true
	t.name, t.whole, t.first, t.blocks, t.units, t.form = name, bank{at: t.at}, nil, nil, [2]uint64{1, 1}, rowNone
	return nil
}

// endMoment yields the moment at hand, if there is one.
func (t *table) endMoment() error {
	if err := t.endSection(); err != nil || t.moment == nil {
		return err
	}
	m := t.moment
	t.moment = nil
	return t.tellMoment(m)
}

// endSection adds a section to the moment. Further cores have the same blocks.
func (t *table) endSection() error {
	if t.name != "L1" && t.name != "L1_SMALL" {
		return nil
	}
	if err := t.endBank(); err != nil {
		return err
	}
	kind := bankL1
	if t.name == "L1_SMALL" {
		kind = bankSmall
	}
	t.name, t.whole.blocks = "", t.first
	have := t.moment.bank(0, kind)
	if have.blocks == nil {
		*have = t.whole
		return nil
	}
	if !slices.EqualFunc(have.blocks, t.whole.blocks, sameBlock) {
		return t.fail(t.whole.at, "blocks", "", "are others than those of the core before: the allocator was not in lockstep", nil)
	}
	have.total, have.allocated = have.total+t.whole.total, have.allocated+t.whole.allocated
	if have.total > math.MaxInt64 {
		return t.fail(t.whole.at, "total", "", "adds up to more than 2^63-1 bytes", nil)
	}
	return nil
}

func sameBlock(a, b block) bool { return a.start == b.start && a.size == b.size && a.used == b.used }

// endBank compares the blocks of a bank with those of the banks before it.
func (t *table) endBank() error {
	switch {
	case t.first == nil:
		t.first = t.blocks
	case t.blocks != nil && !slices.EqualFunc(t.first, t.blocks, sameBlock):
		return t.fail(t.at, "blocks", "", "are others than those of the bank before: the allocator was not in lockstep", nil)
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
				t.units[i], t.whole.coarse = 1<<10, true
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
		unit, t.whole.coarse = 1<<10, true
	}
	n, err := t.number(label, value, math.MaxInt64/unit)
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(label, "Total allocatable"):
		t.whole.total, t.whole.stated = n*unit, true
	case strings.HasPrefix(label, "Total allocated"):
		t.whole.allocated = n * unit
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
