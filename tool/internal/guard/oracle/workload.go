package oracle

import "slices"

// split holds the facts about mesh workloads of several programs.
type split struct {
	programs  map[int64]int  // by the first of several frees back to back: how many they are
	repeated  map[int64]bool // the other frees
	begins    map[spot]bool  // nodes that begin another program than the node before them on their device
	unsettled map[spot]bool  // nodes of workloads that may have more programs than were found
}

// spot is a node on a device.
type spot struct {
	counter int64
	device  string
}

// workloads finds mesh workloads of several programs: so many frees of one id back to back, then all CBs.
// A new program begins where a buffer shares a byte of a core with the program so far, or repeats its first buffer.
func workloads(nodes []node, of *ids) split {
	s := split{map[int64]int{}, map[int64]bool{}, map[spot]bool{}, map[spot]bool{}}
	unfreed, bad := hiddenFrees(nodes), slices.ContainsFunc(nodes, node.badMembers)
	for i := 0; i < len(nodes); i++ {
		if nodes[i].hidden || unfreed[nodes[i].counter] {
			continue
		}
		id := nodes[i].on
		if nodes[i].kind != "circular_buffer_deallocate_all" || of.onlyChip(id) {
			continue
		}
		first := i
		for i+1 < len(nodes) && nodes[i+1].kind == nodes[first].kind && !nodes[i+1].hidden {
			if nodes[i+1].on != id {
				break
			}
			i++
			s.repeated[nodes[i].counter] = true
		}
		if i > first {
			s.programs[nodes[first].counter] = i - first + 1
			s.divide(nodes[i+1:], i-first+1, id, of, bad)
		}
	}
	return s
}

// divide scans the nodes behind k frees of an id, on each device that the frees reach, until the next free of the device. bad
// says that not all chips of meshes are known.
func (s *split) divide(rest []node, k int, id string, of *ids, bad bool) {
	type state struct {
		program  []*buffer
		counters []int64
		found    int
		over     bool
	}
	states := map[string]*state{}
	var others []string // ids of later frees, which announce programs of their own
	for _, n := range rest {
		if n.hidden {
			for device, st := range states {
				ends := isPlaced(n.kind) || n.kind == "" || n.kind == "circular_buffer_deallocate_all"
				st.over = st.over || ends && (n.on == none || n.on == device)
			}
			continue
		}
		name := n.on
		if n.kind == "circular_buffer_deallocate_all" {
			for device, st := range states {
				st.over = st.over || of.reaches(name, device) || bad && of.perhapsReaches(name, device)
			}
			if name == id || name == none {
				break
			}
			if !of.onlyChip(name) {
				others = append(others, name)
			}
		}
		announced := slices.ContainsFunc(others, func(o string) bool { return of.reaches(o, name) })
		if !isPlaced(n.kind) || announced || !of.reaches(id, name) {
			continue
		}
		b, st := n.buffer(), states[name]
		if st == nil {
			st = &state{found: 1}
			states[name] = st
		}
		if st.over {
			continue
		}
		if st.found < k && len(st.program) > 0 && (sharesBytes(st.program, b) || b.equal(st.program[0])) {
			st.found++
			st.program = nil
			s.begins[spot{n.counter, name}] = true
		}
		st.program = append(st.program, b)
		st.counters = append(st.counters, n.counter)
	}
	for device, st := range states {
		for _, c := range st.counters {
			s.unsettled[spot{c, device}] = st.found < k
		}
	}
}

// sharesBytes says whether a buffer overlaps one of a program on a core that both have. Address 0 is none.
func sharesBytes(program []*buffer, b *buffer) bool {
	return slices.ContainsFunc(program, func(a *buffer) bool {
		if a.addr == 0 || b.addr == 0 || !a.local || !b.local || max(a.addr, b.addr) >= min(a.addr+a.size, b.addr+b.size) {
			return false
		}
		return slices.ContainsFunc(a.cores, func(c core) bool { return slices.Contains(b.cores, c) })
	})
}

// equal compares all but the counter.
func (b *buffer) equal(o *buffer) bool {
	return b.kind == o.kind && b.local == o.local && b.addr == o.addr && b.size == o.size && slices.Equal(b.ranges, o.ranges)
}
