package dump

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// A view is a dump as JSON: banks by name, below them the fields of ttnn's MemoryView. Above may be devices
// (device_0), operations with loc and debug_str, and a list of these.
type view struct {
	*reader
	s      *jsonobject.Scanner
	moment *moment
}

func newView(r *reader, in io.Reader) *view { return &view{reader: r, s: jsonobject.New(in, 64<<10)} }

func (v *view) at() place { return place{v.s.Line(), v.s.Offset()} }

// deviceOf reads a key like device_0.
func deviceOf(key string) (device.ID, bool) {
	text, ok := strings.CutPrefix(key, "device_")
	id, err := strconv.ParseUint(text, 10, 31)
	return device.ID(id), ok && err == nil
}

func (v *view) read() error {
	k, err := v.s.Kind()
	switch {
	case err != nil:
	case k == jsonobject.KindArray:
		err = v.s.Each(v.operation)
	default:
		err = v.operation()
	}
	if err != nil {
		return err
	}
	return v.s.End()
}

// operation reads one state of all banks, or an object of several.
func (v *view) operation() error {
	outer, before, m := v.moment, v.moments, newMoment(v.at())
	defer func() { v.moment = outer }()
	v.moment = m
	if err := v.object(0, bankL1); err != nil {
		return err
	}
	if len(m.devices) == 0 && v.moments > before {
		return nil // it was several
	}
	return v.tellMoment(m)
}

// object reads an object that is, or holds, banks of a device and a kind.
func (v *view) object(id device.ID, kind int) error {
	if err := v.is(jsonobject.KindObject, "bank"); err != nil {
		return err
	}
	return v.s.Each(func() error {
		raw, _, err := v.s.Key()
		if err != nil {
			return err
		}
		switch key := string(raw); key {
		case "loc", "debug_str":
			return v.name(key)
		case "l1":
			return v.object(id, bankL1)
		case "l1_small":
			return v.object(id, bankSmall)
		case "num_banks", "total_bytes_per_bank", "total_bytes_allocated_per_bank":
			return v.figure(v.moment.bank(id, kind), key)
		case "block_table":
			b := v.moment.bank(id, kind)
			if err := v.is(jsonobject.KindArray, key); err != nil {
				return err
			}
			return v.s.Each(func() error { return v.block(b) })
		default:
			if of, ok := deviceOf(key); ok {
				return v.object(of, kind)
			}
			if digits(key) && len(v.moment.devices) == 0 {
				return v.operation()
			}
			return v.s.Skip()
		}
	})
}

// is refuses a value of another kind.
func (v *view) is(want jsonobject.Kind, field string) error {
	k, err := v.s.Kind()
	if err == nil && k != want {
		err = v.fail(v.at(), field, "", fmt.Sprintf("is %v, not %v", k, want), nil)
	}
	return err
}

// name reads a text about an operation. The text of the operation itself is better than its location.
func (v *view) name(key string) error {
	raw, err := v.s.Capture(event.MaxNode)
	if err != nil || len(raw) == 0 || raw[0] != '"' {
		return err
	}
	if text := shortOp(jsonobject.Unquote(raw)); text != "" && (key == "debug_str" || v.moment.op == "") {
		v.moment.op = strings.Clone(text[:min(len(text), 1<<10)])
	}
	return nil
}

// number reads a whole number.
func (v *view) number(field string, most uint64) (uint64, error) {
	at := v.at()
	raw, err := v.s.Capture(event.MaxNode)
	if err != nil {
		return 0, err
	}
	n, wrong := jsonobject.Whole(raw)
	if wrong == "" && n > most {
		wrong = "is above " + strconv.FormatUint(most, 10)
	}
	if wrong != "" {
		return 0, v.fail(at, field, string(raw), wrong, nil)
	}
	return n, nil
}

func (v *view) figure(b *bank, key string) (err error) {
	b.at, b.each = v.at(), true
	switch key {
	case "num_banks":
		if b.banks, err = v.number(key, maxBanks); err == nil && b.banks == 0 {
			err = v.fail(b.at, key, "0", "is no number of banks", nil)
		}
	case "total_bytes_per_bank":
		b.total, err = v.number(key, maxBank)
		b.stated = true
	default:
		b.allocated, err = v.number(key, maxBank)
	}
	return err
}

// block reads an element of a block table.
func (v *view) block(of *bank) error {
	b := block{at: v.at()}
	if err := v.is(jsonobject.KindObject, "block_table"); err != nil {
		return err
	}
	var has [3]bool
	err := v.s.Each(func() error {
		raw, _, err := v.s.Key()
		if err != nil {
			return err
		}
		switch string(raw) {
		case "address":
			has[0] = true
			b.start, err = v.number("address", maxBank)
		case "size":
			has[1] = true
			b.size, err = v.number("size", maxBank)
		case "allocated":
			has[2] = true
			at := v.at()
			raw, err := v.s.Capture(event.MaxNode)
			if err != nil {
				return err
			}
			switch string(raw) {
			case `"yes"`, "true":
				b.used = true
			case `"no"`, "false":
				b.used = false
			default:
				return v.fail(at, "allocated", string(raw), "is neither yes nor no", nil)
			}
		default:
			err = v.s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, field := range []string{"address", "size", "allocated"} {
		if !has[i] {
			return v.fail(b.at, field, "", "is missing in a block", nil)
		}
	}
	if b.size > 0 {
		of.blocks = append(of.blocks, b)
	}
	return nil
}
