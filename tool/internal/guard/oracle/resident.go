package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// list is one list of per_operation_buffers.
type list struct {
	at   int64 // counter of the operation's start
	rows []listed
}

// listed is one of its rows.
type listed struct {
	device  string
	kind    string
	number  uint64 // of the kind
	addr    uint64
	perCore uint64

	placed, sized bool // it has an address, and a size
}

// kindOf names a buffer_type.
func kindOf(number uint64) string {
	if number > 4 {
		return ""
	}
	return []string{"DRAM", "L1", "other", "L1_SMALL", "other"}[number]
}

func (h *header) readLists(raw json.RawMessage) error {
	if !present(raw) {
		return nil
	}
	var lists map[string][]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &lists); err != nil {
		return fmt.Errorf("oracle: per_operation_buffers: %w", err)
	}
	for key, rows := range lists {
		at, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return fmt.Errorf("oracle: per_operation_buffers: %w", err)
		}
		l := list{at: at}
		for _, row := range rows {
			var v [4]uint64
			for i, field := range []string{"device_id", "address", "max_size_per_bank", "buffer_type"} {
				if present(row[field]) {
					if v[i], err = number(row[field]); err != nil {
						return fmt.Errorf("oracle: per_operation_buffers: %w", err)
					}
				}
			}
			device := none
			if present(row["device_id"]) {
				device = strconv.FormatUint(v[0], 10)
			}
			l.rows = append(l.rows, listed{device, "", v[3], v[1], v[2], present(row["address"]), present(row["max_size_per_bank"])})
			if present(row["buffer_type"]) {
				l.rows[len(l.rows)-1].kind = kindOf(v[3])
			}
		}
		h.lists = append(h.lists, l)
	}
	slices.SortFunc(h.lists, func(a, b list) int { return int(a.at - b.at) })
	return nil
}

// life is when and where a buffer lived: from its first counter up to, not at, its last.
type life struct {
	owner    string
	addr     uint64
	kind     string
	buffer   int64 // the node that stands for it, or -1
	perCore  uint64
	sized    bool // perCore is known
	from, to int64
	doubt    bool // a free that may be of a hidden allocation, or of another memory
}

const forEver = math.MaxInt64

// past holds the facts of the whole file about buffers.
type past struct {
	ids      *ids
	lives    []life      // of buffers that the capture allocates
	frees    []life      // of buffers in L1 that it does not: from is the counter
	again    int         // frees of buffers of the capture that were free
	unplaced int         // frees and rows that name no type, and rows without address: each may be of L1
	least    []leastSize // what global CBs show of unsized buffers
	hidden   []life      // L1 buffers that are used or freed and lie nowhere: up to their free
	earlier  []alloc     // buffers with a known place

	since    int64 // the first hidden allocation: what shows later may be its buffer
	nameless bool  // and it does not name a buffer node
}

// remember gathers the lives of all buffers.
func remember(nodes []node, head header, of *ids, usable func(device string, addr uint64) bool) *past {
	p := &past{ids: of, since: firstHiddenAllocation(nodes)}
	open := map[int64][]int{} // by buffer node: the lives that did not end
	made := map[int64]bool{}
	for _, n := range nodes {
		p.nameless = p.nameless || n.counter == p.since && len(n.connections) == 0
		if !isBuffer(n.kind) || len(n.connections) == 0 && n.kind == "buffer_allocate" || n.hidden && n.kind == "buffer_deallocate" {
			continue
		}
		name := n.on
		l := life{doubt: n.counter > p.since, owner: name, addr: n.number("address"), kind: n.bufferKind(), buffer: -1, from: n.counter, to: forEver}
		if len(n.connections) > 0 {
			l.buffer = n.connections[0]
		}
		l.perCore, l.sized = head.perCore(n)
		if n.kind == "buffer_allocate" {
			open[n.connections[0]] = append(open[n.connections[0]], len(p.lives))
			made[n.connections[0]] = true
			p.lives = append(p.lives, l)
			continue
		}
		p.free(n, l, open, made)
	}
	p.readLists(head.lists, nodes, usable)
	p.readTensors(nodes)
	p.readFrees()
	p.readViews(nodes)
	slices.SortStableFunc(p.earlier, func(a, b alloc) int {
		return cmp.Or(cmp.Compare(a.since, b.since), slices.Compare(a.order[:], b.order[:]))
	})
	return p
}

// idOf is the id that a device is named by.
func idOf(name string) int64 {
	id, _ := strconv.ParseInt(idText(name), 10, 64)
	return id
}

// free ends a life as play does, or notes that there is none.
func (p *past) free(n node, l life, open map[int64][]int, made map[int64]bool) {
	at := -1
	if len(n.connections) > 0 {
		for _, i := range open[n.connections[0]] {
			if at < 0 || p.lives[i].owner == l.owner || p.lives[at].owner != l.owner {
				at = i
			}
		}
	}
	switch {
	case at >= 0:
		p.lives[at].to = n.counter
		list := open[n.connections[0]]
		open[n.connections[0]] = slices.Delete(list, slices.Index(list, at), slices.Index(list, at)+1)
	case len(n.connections) > 0 && made[n.connections[0]]:
		p.again++
	case l.kind == "" || inL1(l.kind): // DRAM has addresses of its own
		if l.to = n.counter; l.kind == "" {
			l.doubt = true
			p.unplaced++
		}
		p.frees = append(p.frees, l)
	}
}

// number is a parameter, 0 if it is not there.
func (n node) number(key string) uint64 {
	if !present(n.params[key]) {
		return 0
	}
	v, _ := number(n.params[key])
	return v
}

// made says whether the capture allocates a buffer there that lives at some time of a span.
func (p *past) made(owner string, addr uint64, from, to int64) bool {
	return slices.ContainsFunc(p.lives, func(l life) bool {
		return l.addr == addr && inL1(l.kind) && p.ids.same(l.owner, owner) && l.from <= to && from < l.to
	})
}

// freed is the first free, from a counter on, of a buffer that the capture did not allocate.
func (p *past) freed(owner string, addr uint64, from int64) int64 {
	first := int64(forEver)
	for _, f := range p.frees {
		if f.addr == addr && f.from >= from && p.ids.same(f.owner, owner) {
			first = min(first, f.from)
		}
	}
	return first
}

func inL1(kind string) bool { return kind == "L1" || kind == "L1_SMALL" }

// readLists makes residents of the rows that no allocation of the capture explains.
func (p *past) readLists(lists []list, nodes []node, usable func(string, uint64) bool) {
	type key struct {
		device, kind string
		addr         uint64
	}
	alive := map[key]*alloc{}
	end := func(k key, at int64) {
		if a := alive[k]; a != nil {
			a.until = min(a.until, at)
			p.earlier = append(p.earlier, *a)
			delete(alive, k)
		}
	}
	for i, l := range lists {
		until, named, devices := endOf(nodes, l.at), map[key]bool{}, map[string]bool{}
		for _, row := range l.rows {
			devices[row.device] = true
			k := key{row.device, row.kind, row.addr}
			switch {
			case !row.placed && (row.kind == "L1" || row.kind == ""):
				p.unplaced++
				continue
			case !row.placed, p.made(row.device, row.addr, l.at, until):
				continue
			case row.kind == "" && usable(row.device, row.addr):
				p.unplaced++
				continue
			case !inL1(row.kind):
				continue
			}
			named[k] = true
			if a := alive[k]; a != nil && a.until > l.at {
				if row.sized && !a.sized {
					a.perCore, a.sized, a.end = row.perCore, true, a.start+row.perCore
				}
				continue
			}
			end(k, l.at)
			from := l.at
			if i == 0 && p.since >= l.at && p.freed(row.device, row.addr, 0) >= l.at {
				from = 0
			}
			alive[k] = &alloc{
				counter: l.at, node: -1, owner: row.device, kind: row.kind, perCore: row.perCore, sized: row.sized, recorded: true, placed: true,
				start: row.addr, end: row.addr + row.perCore, order: [4]int64{0, idOf(row.device), int64(row.addr), int64(row.number)}, earlier: true, since: from, until: p.freed(row.device, row.addr, from),
			}
		}
		for k := range alive {
			if devices[k.device] && !named[k] {
				end(k, l.at)
			}
		}
	}
	for k := range alive {
		end(k, forEver)
	}
}

// endOf is where the function that starts at a counter ends.
func endOf(nodes []node, start int64) int64 {
	depth := 0
	for _, n := range nodes {
		if n.counter < start {
			continue
		}
		switch n.kind {
		case "function_start":
			depth++
		case "function_end":
			if depth--; depth <= 0 {
				return n.counter
			}
		}
	}
	return forEver
}

// readTensors makes residents of tensors in L1 that the capture did not allocate, and notes those without a place.
func (p *past) readTensors(nodes []node) {
	made, backing := map[int64]bool{}, map[int64]node{} // buffer nodes that are allocated; buffer nodes by their tensors
	byCounter := map[int64]node{}
	for _, n := range nodes {
		byCounter[n.counter] = n
		if n.kind == "buffer_allocate" && len(n.connections) > 0 {
			made[n.connections[0]] = true
		}
		if n.kind == "buffer" && !n.hidden {
			for _, c := range n.connections {
				backing[c] = n
			}
		}
	}
	for _, n := range nodes {
		if n.hidden || n.counter >= p.since || n.kind == "buffer" && n.counter+1 == p.since && p.nameless {
			continue
		}
		switch {
		case n.kind == "buffer" && !made[n.counter] && inL1(n.bufferKind()):
			var tensor *node
			for _, c := range n.connections {
				if t, ok := byCounter[c]; ok && t.kind == "tensor" && !t.hidden && c < p.since && t.number("address") != 0 && tensor == nil {
					tensor = &t
				}
			}
			p.before(n, tensor)
		case n.kind == "tensor" && (n.number("address") != 0 && inL1(n.bufferKind()) || n.bufferKind() == "L1"):
			if _, ok := backing[n.counter]; !ok {
				p.before(n, &n)
			}
		}
	}
}

// readFrees makes residents of unknown buffers that are freed with an address, from the start to
// the free. Residents without a size get the size of their free.
func (p *past) readFrees() {
	known := func(f life) (is bool) {
		for i := range p.earlier {
			if a := &p.earlier[i]; a.start == f.addr && a.until == f.from && p.ids.same(a.owner, f.owner) {
				if is = true; !a.sized {
					a.perCore, a.sized, a.end = f.perCore, f.sized, a.start+f.perCore
				}
			}
		}
		return is
	}
	for _, f := range p.frees {
		switch {
		case !inL1(f.kind) || f.doubt:
		case f.addr == 0 && f.buffer < 0:
			p.hidden = append(p.hidden, life{owner: f.owner, kind: f.kind, to: f.from})
		case f.addr != 0 && !known(f):
			from := int64(0)
			for i, l := range slices.Concat(p.lives, p.frees) {
				if l.addr == f.addr && (i >= len(p.lives) || inL1(l.kind)) && p.ids.same(l.owner, f.owner) && l.from < f.from {
					from = max(from, min(l.to, f.from))
				}
			}
			p.earlier = append(p.earlier, alloc{
				counter: f.from, node: -1, owner: f.owner, kind: f.kind, perCore: f.perCore, sized: f.sized, recorded: true, placed: true,
				start: f.addr, end: f.addr + f.perCore, order: [4]int64{2, int64(f.addr), f.from}, earlier: true, since: from, until: f.from,
			})
		}
	}
}

// before notes one buffer from before the capture: the node that stands for it, and the tensor that says where it lies.
func (p *past) before(n node, tensor *node) {
	owner := n.on
	to, addr := int64(forEver), uint64(0)
	if tensor != nil {
		addr = tensor.number("address")
		if made := slices.ContainsFunc(p.lives, func(l life) bool {
			return l.addr == addr && (l.kind == "L1" || addr > 0 && inL1(l.kind)) && p.ids.same(l.owner, owner) && l.from <= tensor.counter
		}); made {
			return
		}
	}
	for _, f := range p.frees {
		if f.buffer == n.counter {
			to = min(to, f.from)
			addr = max(addr, f.addr)
		}
	}
	if addr == 0 && (tensor == nil || tensor.chipAddresses() == nil) {
		p.hidden = append(p.hidden, life{owner: owner, kind: n.bufferKind(), to: to})
		return
	}
	if addr > 0 {
		to = min(to, p.freed(owner, addr, 0))
	}
	for _, l := range p.lives {
		if addr > 0 && l.addr == addr && inL1(l.kind) && p.ids.same(l.owner, owner) {
			to = min(to, l.from)
		}
	}
	a := alloc{counter: n.counter, node: -1, owner: owner, kind: n.bufferKind(), recorded: true, placed: true, start: addr, earlier: true, until: to}
	if a.order[0] = 1; n.kind == "buffer" {
		a.order[1] = n.counter
	}
	if tensor != nil {
		a.order[2] = tensor.counter
		a.mode, a.told = tensor.mode(), true
		if a.where = tensor.shards(); len(a.where) > 0 {
			a.sharded = true
			if size, err := number(n.params["size"]); err == nil && n.kind == "buffer" && size%uint64(len(a.where)) == 0 {
				a.perCore, a.sized = size/uint64(len(a.where)), true
			}
		}
	}
	a.end = a.start + a.perCore
	p.addOn(a, tensor)
}

// chipAddresses are the addresses of a tensor by chip, if it has several.
func (n node) chipAddresses() map[int64]uint64 {
	out, seen := map[int64]uint64{}, map[uint64]bool{}
	for _, e := range n.deviceTensors() {
		chip, err := number(e["device_id"])
		if addr, err2 := number(e["address"]); err == nil && err2 == nil && addr > 0 {
			out[int64(chip)], seen[addr] = addr, true
		}
	}
	if len(seen) < 2 {
		return nil
	}
	return out
}

// addOn makes a resident, or one on each chip where the tensor has several addresses. Its own then counts for the chips that it does not list.
func (p *past) addOn(a alloc, tensor *node) {
	var on map[int64]uint64
	if tensor != nil {
		on = tensor.chipAddresses()
	}
	if on == nil {
		p.earlier = append(p.earlier, a)
		return
	}
	for _, name := range p.ids.devicesOf(a.owner) {
		if _, ok := on[idOf(name)]; !ok && name != none {
			on[idOf(name)] = tensor.number("address")
		}
	}
	for _, chip := range slices.Sorted(maps.Keys(on)) {
		part := a
		part.owner, part.start, part.end = nameOf(chip), on[chip], on[chip]+a.perCore
		for _, l := range p.lives {
			if l.addr == part.start && inL1(l.kind) && p.ids.same(l.owner, part.owner) && l.from > tensor.counter {
				part.until = min(part.until, l.from)
			}
		}
		if part.order[3] = chip; part.start > 0 {
			p.earlier = append(p.earlier, part)
		}
	}
	if p.ids.placesOn[a.owner] { // a mesh with programs of its own: where on it is not known
		p.hidden = append(p.hidden, life{owner: a.owner, kind: a.kind, to: a.until})
	}
}
