package oracle

import (
	"encoding/json"
	"slices"
	"strconv"
)

// bank is what a row of devices says of L1: its size, where CBs start, and the bytes of a bank. Zero: it does not say it.
type bank struct {
	device           string
	size, base, free uint64
}

func (h *header) readBank(d map[string]json.RawMessage) error {
	var b bank
	fields := map[string]*uint64{"worker_l1_size": &b.size, "address_at_first_l1_cb_buffer": &b.base, "l1_bank_size": &b.free}
	for key, to := range fields {
		if !present(d[key]) {
			continue
		}
		v, err := number(d[key])
		if err != nil {
			return err
		}
		*to = v
	}
	id, err := number(d["device_id"])
	b.device = strconv.FormatUint(id, 10)
	h.banks = append(h.banks, b)
	return err
}

// small is the size of L1_SMALL. ok is false if the row does not say all of it, or numbers that cannot be.
func (b bank) small() (n uint64, ok bool) {
	if b.size == 0 || b.base == 0 || b.free == 0 || b.base+b.free > b.size {
		return 0, false
	}
	return b.size - b.base - b.free, true
}

// banksOf are the rows that speak of a device: its own, else those of its meshes, else all.
func (p *player) banksOf(name string) (rows []bank) {
	for _, is := range []func(bank) bool{
		func(b bank) bool { return b.device == name },
		func(b bank) bool { return b.device != name && name != none && p.reaches(b.device, name) },
		func(bank) bool { return true },
	} {
		for _, b := range p.banks {
			if is(b) {
				rows = append(rows, b)
			}
		}
		if rows != nil {
			break
		}
	}
	return rows
}

// smallOf is the size of L1_SMALL of a device by the file: all rows that speak of it must say the same, and no L1_SMALL
// buffer may lie below the end of a bank.
func (p *player) smallOf(name string) uint64 {
	rows := p.banksOf(name)
	for i, b := range rows {
		n, ok := b.small()
		if first, _ := rows[0].small(); !ok || n != first || p.wrong[b.device] {
			return 0
		}
		if i == len(rows)-1 {
			return n
		}
	}
	return 0
}

// findSmall sets the size of L1_SMALL of every device, when all buffers are known.
func (p *player) findSmall(nodes []node, head header) {
	if p.opts.L1Small != 0 {
		return
	}
	p.banks, p.wrong = head.banks, map[string]bool{}
	deny := func(owner, kind string, address uint64) {
		for _, c := range p.chips {
			if kind != "L1_SMALL" || address == 0 || !p.reaches(owner, c.name) {
				continue
			}
			for _, b := range p.banksOf(c.name) {
				if _, ok := b.small(); ok && address < b.base+b.free {
					p.wrong[b.device] = true
				}
			}
		}
	}
	for _, n := range nodes {
		if n.kind == "buffer_allocate" && !n.hidden {
			name, _ := n.device()
			deny(name, n.bufferKind(), n.number("address"))
		}
	}
	for _, a := range p.past.earlier {
		deny(a.owner, a.kind, a.start)
	}
	for _, b := range p.banks {
		if b.size > 0 && b.base > 0 && b.base+b.free > b.size || p.wrong[b.device] {
			p.out.Denied = append(p.out.Denied, b.device)
		}
	}
	slices.Sort(p.out.Denied)
	for _, c := range p.chips {
		if c.spec.small = p.smallOf(c.name); c.spec.small > c.spec.size {
			c.spec.small = 0
		}
		c.row.Small = c.spec.small
	}
}
