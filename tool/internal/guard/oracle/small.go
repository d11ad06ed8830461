package oracle

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// bank holds the L1 fields of a row of devices: its size, the start of CBs, and the bytes of a
// bank. Zero: the row lacks it.
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
	b.device = none
	if id, err := number(d["device_id"]); err == nil {
		b.device = strconv.FormatUint(id, 10)
	}
	h.banks = append(h.banks, b)
	return nil
}

// baseOf returns where CBs without address start on a device: by its own row, else by rows of its meshes, else by rows of all its
// chips, else by the first row. differ says that rows of its meshes, or of its chips, disagree.
func (p *player) baseOf(name string) (base uint64, differ bool) {
	if p.opts.Base != 0 {
		return p.opts.Base, false
	}
	rows := func(is func(string) bool) (bases []uint64) {
		for _, b := range p.head.banks {
			if b.base != 0 && is(b.device) {
				bases = append(bases, b.base)
			}
		}
		return bases
	}
	own := rows(func(row string) bool { return row == name })
	meshes := rows(func(row string) bool { return p.ids.rowReaches(row, name) })
	chips := rows(func(row string) bool { return row != name && p.ids.has(name, row) })
	several := func(bases []uint64) bool { return len(bases) > 0 && slices.Min(bases) < slices.Max(bases) }
	differ = several(chips) || len(own) == 0 && several(meshes)
	for _, id := range p.ids.chipsOf[name] {
		if len(rows(func(row string) bool { return row == nameOf(id) })) == 0 {
			chips = nil
		}
	}
	return slices.Concat(own, meshes, chips, []uint64{p.spec.Base})[0], differ
}

// small is the size of L1_SMALL. ok is false if the row does not say all of it, or numbers that cannot be.
func (b bank) small() (n uint64, ok bool) {
	if b.size == 0 || b.base == 0 || b.free == 0 || b.base+b.free > b.size {
		return 0, false
	}
	return b.size - b.base - b.free, true
}

// banksOf returns the rows about a device: its own, else its meshes', else all.
func (p *player) banksOf(name string) (rows []bank) {
	for _, is := range []func(bank) bool{
		func(b bank) bool { return b.device == name },
		func(b bank) bool { return p.ids.rowReaches(b.device, name) },
		func(bank) bool { return true },
	} {
		for _, b := range p.head.banks {
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
func (p *player) findSmall(nodes []node) {
	if p.opts.L1Small != 0 {
		return
	}
	p.wrong = map[string]bool{}
	lowest := uint64(forEver)
	for _, l := range p.smallBuffers(nodes) {
		lowest = min(lowest, l.addr)
		for _, c := range p.chips {
			if !p.reaches(l.owner, c.name) {
				continue
			}
			for _, b := range p.banksOf(c.name) {
				if _, ok := b.small(); ok && l.addr < b.base+b.free {
					p.wrong[b.device] = true
				}
			}
		}
	}
	for _, b := range p.head.banks {
		if b.size > 0 && b.base > 0 && b.base+b.free > b.size || p.wrong[b.device] {
			p.out.Denied = append(p.out.Denied, b.device)
		}
	}
	slices.Sort(p.out.Denied)
	said := p.smallSaid(nodes, lowest)
	for _, c := range p.chips {
		if c.spec.small = max(p.smallOf(c.name), said); c.spec.small > c.spec.size {
			c.spec.small = 0
		}
		c.row.Small = c.spec.small
	}
}

// outOfMemory finds what the allocator says of the size of a bank.
func outOfMemory(text string) [][]string {
	return regexp.MustCompile(`Not enough space to allocate \d+ B (L1|L1_SMALL) buffer across \d+ banks, `+
		`where each bank needs to store \d+ B, but bank size is (?:only )?(\d+)`).FindAllStringSubmatch(text, -1)
}

// smallSaid is the size of L1_SMALL by the messages of the allocator: the size of its bank, or the rest of L1 above its bank. It
// holds for all devices, if these are one, or the chips of one mesh, and no row says the size of a bank. lowest is the lowest address of an
// L1_SMALL buffer.
func (p *player) smallSaid(nodes []node, lowest uint64) (small uint64) {
	if slices.ContainsFunc(p.head.banks, func(b bank) bool { return b.free > 0 }) || !p.oneMesh() {
		return 0
	}
	sizes, wrong := map[uint64]bool{}, false
	for _, n := range nodes {
		var text string
		if n.kind != "error" || n.hidden || json.Unmarshal(n.params["error_message"], &text) != nil {
			continue
		}
		for _, m := range outOfMemory(text) {
			bytes, err := strconv.ParseUint(m[2], 10, 63)
			switch told := p.opts.L1Size != 0 || p.opts.Arch != "" || p.head.l1Size != 0; {
			case err != nil:
			case m[1] == "L1_SMALL":
				sizes[bytes] = true
			case bytes > 0 && told:
				left, ok := bank{size: p.spec.size, base: p.spec.Base, free: bytes}.small()
				sizes[left] = true
				wrong = wrong || !ok
			}
		}
	}
	for bytes := range sizes {
		small = bytes
	}
	if wrong || len(sizes) > 1 || small > p.spec.size || len(sizes) > 0 && lowest < p.spec.size-small {
		p.out.Denied = append(p.out.Denied, "messages")
		return 0
	}
	return small
}

// smallBuffers are the L1_SMALL buffers with an address.
func (p *player) smallBuffers(nodes []node) (out []life) {
	for _, n := range nodes {
		if n.kind == "buffer_allocate" && !n.hidden && n.bufferKind() == "L1_SMALL" {
			out = append(out, life{owner: n.on, addr: n.number("address")})
		}
	}
	for _, a := range p.past.earlier {
		if a.kind == "L1_SMALL" {
			out = append(out, life{owner: a.owner, addr: a.start})
		}
	}
	return slices.DeleteFunc(out, func(l life) bool { return l.addr == 0 })
}

// oneMesh says whether the capture shows one device alone, or one mesh and its chips.
func (p *player) oneMesh() bool {
	ids := map[string]bool{}
	for _, c := range p.chips {
		ids[c.name] = true
	}
	for mesh, chips := range p.ids.chipsOf {
		ids[mesh] = true
		for _, id := range chips {
			ids[strconv.FormatInt(id, 10)] = true
		}
	}
	for root := range ids {
		others := slices.DeleteFunc(slices.Collect(maps.Keys(ids)), func(id string) bool {
			return id == root || root != none && p.reaches(root, id)
		})
		if len(others) == 0 {
			return true
		}
	}
	return len(ids) == 0
}
