package oracle

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
)

// A field that cannot be read hides its node and what depends on that: of a CB its program, of a free everything that was alive
// on its device, of an allocation that buffer. A node without a type may be anything. What stays is certain.

// unreadable says whether a node has a field that cannot be read.
func (n node) unreadable() bool {
	switch {
	case n.bad && (n.kind == "capture_start" || n.kind == "capture_end" || n.kind == "sub_device_manager"):
		return false // nothing of them is read
	case n.bad:
		return n.kind == "" || isPlaced(n.kind) || isBuffer(n.kind) || slices.Contains([]string{
			"circular_buffer_deallocate_all", "program_execution", "buffer", "tensor", "function_start", "function_end", "error",
		}, n.kind)
	case isPlaced(n.kind):
		_, err := readBuffer(n)
		return err != nil || !n.numbers(math.MaxInt32, "device_id")
	case n.kind == "circular_buffer_deallocate_all":
		return !n.numbers(math.MaxInt32, "device_id")
	case n.kind == "program_execution":
		return !n.numbers(math.MaxInt32, "device_id", "physical_device_id")
	case isBuffer(n.kind):
		return !n.numbers(math.MaxInt32, "device_id") || !n.texts("type", "layout") ||
			!n.numbers(math.MaxInt64, "address", "size", "max_size_per_bank", "page_size", "num_cores", "buffer_type")
	case n.kind == "buffer":
		return !n.numbers(math.MaxInt32, "device_id") || !n.numbers(math.MaxInt64, "size", "buffer_type") || !n.texts("type")
	case n.kind == "tensor":
		config := n.params["memory_config"]
		return !n.numbers(math.MaxInt32, "device_id") || !n.numbers(math.MaxInt64, "address", "buffer_type") ||
			present(config) && config[0] != '"' && config[0] != '{'
	case n.kind == "function_start":
		_, err := n.flag("program_cache_hit")
		return err != nil || !n.texts("name")
	case n.kind == "function_end":
		aborted, err := n.flag("aborted")
		return err != nil || !n.texts("name") || aborted && !n.texts("abort_reason")
	case n.kind == "error":
		return !n.texts("error_message", "error_operation")
	}
	return false
}

// numbers says whether some parameters are numbers up to a limit, where they are there.
func (n node) numbers(most uint64, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		v, err := number(n.params[key])
		return present(n.params[key]) && (err != nil || v > most)
	})
}

func (n node) texts(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return present(n.params[key]) && n.params[key][0] != '"' })
}

// unknownMode marks a buffer whose tensor cannot be read. On which cores it counts is not known, and it is hidden.
const unknownMode = "unknown"

// hidesMode says whether a node is a tensor that does not say how its buffer was allocated, since it cannot be read.
func (n node) hidesMode() bool {
	config := n.params["memory_config"]
	return n.kind == "" || n.kind == "tensor" && (n.noParams || present(config) && config[0] != '"' && config[0] != '{')
}

// mayDescribe says whether a buffer, which no other tensor describes, may belong to a tensor of an unknown mode. One whose
// address cannot be read may lie anywhere on its device.
func (p *player) mayDescribe(owner string, addr uint64) bool {
	return slices.ContainsFunc(p.blind, func(n node) bool {
		anywhere := n.kind == "" || n.noParams || !n.numbers(math.MaxInt64, "address")
		here := addr != 0 && n.number("address") == addr
		return (anywhere || here) && p.ids.same(n.on, owner)
	})
}

// badMembers says whether a node may hide which chips a mesh has.
func (n node) badMembers() bool {
	if n.kind != "tensor" {
		return n.hidden && (n.kind == "" || n.kind == "program_execution")
	}
	raw := n.params["device_tensors"]
	var text string
	var entries []map[string]json.RawMessage
	if !present(raw) {
		return false
	}
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	if json.Unmarshal(raw, &entries) != nil || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return true
	}
	return slices.ContainsFunc(entries, func(e map[string]json.RawMessage) bool {
		part := node{params: e}
		return e == nil || !present(e["device_id"]) || !part.numbers(math.MaxInt32, "device_id", "mesh_device_id") || !part.numbers(math.MaxInt64, "address")
	})
}

// firstHiddenAllocation returns the counter of the first node that may allocate a buffer with
// unknown properties.
func firstHiddenAllocation(nodes []node) int64 {
	addresses := haveAddresses(nodes)
	for _, n := range nodes {
		if n.hidden && n.kind == "" || n.kind == "buffer_allocate" && (n.hidden || n.bufferKind() == "" || addresses && n.lacksAddress()) {
			return n.counter
		}
	}
	return forEver
}

// haveAddresses says whether a capture has addresses in L1. There a buffer without one has no known place.
func haveAddresses(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool {
		return n.placesAt() && n.buffer().local || n.kind == "buffer_allocate" && !n.hidden && n.bufferKind() == "L1" && n.number("address") > 0
	})
}

// lacksAddress says whether a node allocates a buffer of L1 nowhere.
func (n node) lacksAddress() bool { return n.bufferKind() == "L1" && !present(n.params["address"]) }

// hiddenFrees are the frees of CBs that cannot be read, nodes without a kind, and the frees directly behind these.
func hiddenFrees(nodes []node) map[int64]bool {
	out := map[int64]bool{}
	for i, n := range nodes {
		free := n.kind == "circular_buffer_deallocate_all"
		if n.hidden && (n.kind == "" || free) || free && i > 0 && out[nodes[i-1].counter] {
			out[n.counter] = true
		}
	}
	return out
}

// hideNode hides a node and what depends on it.
func (p *player) hideNode(n node) error {
	p.hide("unreadable", !n.copied)
	name := n.on
	switch {
	case isPlaced(n.kind):
		p.hidePrograms(name)
	case n.kind == "circular_buffer_deallocate_all":
		p.hideFree(name)
	case n.kind == "buffer_allocate":
		p.enqueueOn(name)
	case n.kind == "buffer_deallocate":
		p.hideBuffers(n.counter, name)
	case n.kind == "program_execution":
		p.enqueueOn(n.physical())
		p.hideExecution(n.physical())
	case n.kind == "function_start":
		p.begin(n)
	case n.kind == "function_end":
		return p.play(n)
	case n.kind == "":
		p.calls = true
		p.hideBuffers(n.counter, none)
		p.hideExecution(none)
		p.hideFree(none)
	}
	return nil
}

func (p *player) enqueueOn(name string) {
	for _, c := range p.chips {
		if p.reaches(name, c.name) {
			p.enqueue(c)
		}
	}
}

// hidePrograms hides what a device, or each of them, runs up to the next free.
func (p *player) hidePrograms(name string) {
	p.placesHidden()
	if name == none {
		p.covered[p.key()] = true
	}
	for _, c := range p.chips {
		if name == none || c.name == name {
			p.covered[p.key()+"\x00"+c.name] = true
			p.hideProgram(c)
		}
	}
}

// placesHidden notes that the function places something, which is hidden.
func (p *player) placesHidden() {
	p.open = nil
	if len(p.stack) > 0 {
		p.stack[len(p.stack)-1].placed = true
	}
}

func (p *player) hideProgram(c *chip) {
	if len(c.run) > c.sent {
		p.covered[c.key+"\x00"+c.name] = true
		c.run = c.run[:c.sent]
	}
	c.blind, c.since, c.execs, c.last = true, nil, 0, nil
}

// covers says whether an operation may have run a hidden program on a device.
func (p *player) covers(key string, c *chip) bool {
	return p.calls || p.covered[key] || p.covered[key+"\x00"+c.name]
}

// hideFree ends what runs where a hidden free may reach, and hides what comes next there.
func (p *player) hideFree(name string) {
	for _, c := range p.chips {
		if p.reaches(name, c.name) {
			p.endHidden(c)
		}
	}
	p.placesHidden()
}

func (p *player) endHidden(c *chip) {
	p.enqueue(c)
	c.run, c.sent = nil, 0
	p.hideProgram(c)
}

// lift shows again what runs behind a free. A free of a mesh may have reached devices that are not known to be its chips.
func (p *player) lift(name string) {
	if p.ids.onlyChip(name) {
		return
	}
	for _, c := range p.chips {
		switch {
		case p.reaches(name, c.name):
			c.blind = false
		case p.badMembers && p.ids.perhapsReaches(name, c.name):
			p.endHidden(c)
		}
	}
}

func (p *player) hideExecution(name string) {
	for _, c := range p.chips {
		if p.reaches(name, c.name) {
			c.since, c.execs, c.last = nil, 0, nil
		}
	}
}

// hideBuffers takes out all buffers that a hidden free may have ended.
func (p *player) hideBuffers(at int64, name string) {
	p.enqueueOn(name)
	live := slices.Clone(p.live)
	p.live = slices.DeleteFunc(live, func(a *alloc) bool {
		gone := p.ids.same(a.owner, name)
		if gone && a.earlier {
			a.until = at
		}
		return gone
	})
	for _, c := range p.chips {
		c.sums(p)
	}
}
