package dump

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
)

// maxDevices is how many devices a view may name.
const maxDevices = 32

// A view is a dump as JSON: banks by name, below them the fields of ttnn's MemoryView. Above or below the banks may be
// devices (device_0), and above all a list of operations with loc and debug_str.
type view struct {
	*reader
	s *jsonobject.Scanner
	r jsonobject.Reader
}

func newView(r *reader, in io.Reader) *view {
	return &view{reader: r, s: jsonobject.New(in, 64<<10)}
}

// read reads all operations. In older files they are members with numbers for keys.
func (v *view) read(numbered bool) error {
	k, err := v.s.Kind()
	switch {
	case err != nil:
	case k == jsonobject.KindArray:
		err = v.s.Each(v.operation)
	case numbered:
		err = v.s.Each(func() error {
			if _, _, err := v.s.Key(); err != nil {
				return err
			}
			return v.operation()
		})
	default:
		err = v.operation()
	}
	if err != nil {
		return err
	}
	return v.s.End()
}

// operation reads one state of all banks.
func (v *view) operation() error {
	m := newMoment(place{v.s.Line(), v.s.Offset()})
	raw, err := v.s.Capture(event.MaxNode)
	if err != nil {
		return err
	}
	o := v.r.Read(raw)
	for _, key := range []string{"loc", "debug_str"} { // the second is better
		if text, _ := o.Text(key); text != "" {
			m.op = shown.Head(shortOp(text), 1<<10)
		}
	}
	banks := func(id device.ID, of jsonobject.Object) {
		m.bank(id, bankL1).read(m.at, of) // of a view alone
		for kind, name := range []string{"l1", "l1_small"} {
			if of.Has(name) {
				b, _ := of.Object(name)
				m.bank(id, kind).read(m.at, b)
				devices(b, func(id device.ID, b jsonobject.Object) { m.bank(id, kind).read(m.at, b) })
			}
		}
	}
	banks(0, o)
	devices(o, banks)
	if e := v.r.Err(); e != nil {
		before := raw[:min(int(e.Offset), len(raw))]
		at := place{m.at.line + int64(bytes.Count(before, []byte("\n"))), m.at.offset + e.Offset}
		return v.fail(at, e.Path, string(e.Value), e.Reason, e.Err)
	}
	maps.DeleteFunc(m.devices, func(_ device.ID, b *[2]bank) bool { return !b[bankL1].stated && !b[bankSmall].stated })
	return v.emitMoment(m)
}

// devices calls do with the members that are devices.
func devices(of jsonobject.Object, do func(device.ID, jsonobject.Object)) {
	for id := range device.ID(maxDevices) {
		if key := fmt.Sprintf("device_%d", id); of.Has(key) {
			inner, _ := of.Object(key)
			do(id, inner)
		}
	}
}

// read reads the fields of a view, if there are any.
func (b *bank) read(at place, o jsonobject.Object) {
	if !o.Has("block_table") && !o.Has("num_banks") && !o.Has("total_bytes_per_bank") {
		return
	}
	*b = bank{at: at, stated: true, each: true, banks: o.Need("num_banks", maxBanks), total: o.Need("total_bytes_per_bank", maxBank)}
	b.allocated, _ = o.Number("total_bytes_allocated_per_bank", maxBank)
	for k := range o.Objects("block_table") {
		one := block{start: k.Need("address", maxBank), size: k.Need("size", maxBank), at: b.at}
		switch text := strings.Trim(string(k.Get("allocated")), `"`); text {
		case "yes", "true":
			one.used = true
		case "no", "false":
		default:
			k.Fail("allocated", "is neither yes nor no", nil)
		}
		if one.size > 0 {
			b.blocks = append(b.blocks, one)
		}
	}
}
