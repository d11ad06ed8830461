package oracle

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// ids holds what the ids of a file stand for, whatever comes first. Names of devices are ids as text. A number that is
// a mesh and a chip has two names: the mesh's ends with asMesh.
type ids struct {
	meshes     map[int64][]int64  // chips by mesh
	chips      map[int64]bool     // known as chips by pairs and executions
	chipsOf    map[string][]int64 // meshes by their names
	unnamed    string             // what a node without an id means
	executes   bool               // a program_execution can be read
	knowsChips bool               // a node with an address names an id that is a chip alone, or one of the mesh that was freed
	placesOn   map[string]bool    // meshes that programs are placed on
	collided   map[int64]bool     // both, and some of its nodes may mean either
	mayBeMesh  string             // the only listed device, where several chips are named and nothing pairs it
}

const asMesh = " mesh"

// idText is the id of a name.
func idText(name string) string { return strings.TrimSuffix(name, asMesh) }

func nameOf(id int64) string { return strconv.FormatInt(id, 10) }

// known returns an id that is there and can be read.
func (n node) known(key string) (id int64, ok bool) {
	id, ok, err := n.id(key)
	return id, ok && err == nil
}

// deviceTensors reads JSON text inside a JSON string. Text that cannot be read means: mesh unknown.
func (n node) deviceTensors() (entries []map[string]json.RawMessage) {
	var text string
	if n.kind != "tensor" || n.badMembers() || json.Unmarshal(n.params["device_tensors"], &text) != nil || json.Unmarshal([]byte(text), &entries) != nil {
		return nil
	}
	return entries
}

// findIDs gathers the facts about ids.
func findIDs(nodes []node, head header) *ids {
	s := &ids{meshes: map[int64][]int64{}, chips: map[int64]bool{}, chipsOf: map[string][]int64{}, unnamed: none, mayBeMesh: none, placesOn: map[string]bool{}, collided: map[int64]bool{}}
	for _, n := range nodes {
		mesh, named := n.known("device_id")
		for _, e := range n.deviceTensors() {
			chip, err1 := number(e["device_id"])
			mesh, err2 := number(e["mesh_device_id"])
			if err1 == nil && err2 == nil {
				s.join(int64(mesh), int64(chip), mesh != chip || named) // a view repeats the id of its chip
			}
		}
		if n.kind == "program_execution" && !n.hidden {
			s.executes = true
			if chip, ok := n.known("physical_device_id"); ok {
				s.join(mesh, chip, named)
			}
		}
	}
	s.findOneChip(nodes, head)
	for mesh, chips := range s.meshes {
		s.chipsOf[s.mesh(mesh)] = chips
	}
	freed := int64(-1)
	for _, n := range nodes {
		id, ok := n.known("device_id")
		if ok && n.frees(id) {
			freed = id
		}
		alone := s.chips[id] && s.meshes[id] == nil || freed != id && slices.Contains(s.meshes[freed], id)
		s.knowsChips = s.knowsChips || ok && n.placesAt() && alone
	}
	return s
}

// join notes a chip, and perhaps its mesh.
func (s *ids) join(mesh, chip int64, informs bool) {
	s.chips[chip] = true
	if informs && !slices.Contains(s.meshes[mesh], chip) {
		s.meshes[mesh] = append(s.meshes[mesh], chip)
		slices.Sort(s.meshes[mesh])
	}
}

// placesAt says whether a node places something at an address.
func (n node) placesAt() bool { return isPlaced(n.kind) && !n.hidden && n.number("address") > 0 }

// findOneChip finds whether a file lists one device and names at most one chip: then all other ids are meshes of it.
func (s *ids) findOneChip(nodes []node, head header) {
	chips, named := []int64{}, []int64{}
	for id := range s.chips {
		chips = append(chips, id)
	}
	for _, n := range nodes {
		id, ok := n.known("device_id")
		if ok {
			named = append(named, id)
		}
		if ok && n.placesAt() && s.meshes[id] == nil && !slices.Contains(chips, id) {
			chips = append(chips, id)
		}
	}
	for _, l := range head.lists {
		for _, row := range l.rows {
			if row.device != none {
				named = append(named, idOf(row.device))
			}
		}
	}
	row, one := head.oneDevice()
	if one && len(chips) > 1 && !s.chips[row] && s.meshes[row] == nil {
		s.mayBeMesh = nameOf(row)
	}
	if !one || len(chips) > 1 || len(named) == 0 {
		return
	}
	if len(chips) == 1 && !s.chips[chips[0]] {
		s.join(chips[0], chips[0], true) // its mesh may have the same number
	}
	chips = append(chips, row)
	for _, id := range named {
		if id != chips[0] && s.meshes[id] == nil {
			s.meshes[id] = chips[:1]
		}
	}
	s.unnamed = nameOf(chips[0])
}

// oneDevice returns the only id that the rows of devices have.
func (h *header) oneDevice() (id int64, ok bool) {
	for _, b := range h.banks {
		if b.device == none || b.device != h.banks[0].device {
			return 0, false
		}
		id = idOf(b.device)
	}
	return id, len(h.banks) > 0
}

// mesh is the name of a mesh.
func (s *ids) mesh(id int64) string {
	if s.chips[id] {
		return nameOf(id) + asMesh
	}
	return nameOf(id)
}

// both says whether a number is a mesh and a chip.
func (s *ids) both(id int64) bool { return s.chips[id] && s.meshes[id] != nil }

// bufferOf names where buffers of an id lie.
func (s *ids) bufferOf(id int64) string {
	if s.both(id) {
		return s.mesh(id)
	}
	return nameOf(id)
}

// unitsOf are the devices that have figures of their own, of a name.
func (s *ids) unitsOf(name string) (out []string) {
	if idText(name) == name {
		return []string{name}
	}
	return s.devicesOf(name)
}

// devicesOf are the chips of a mesh, or the device itself.
func (s *ids) devicesOf(name string) (out []string) {
	for _, c := range s.chipsOf[name] {
		out = append(out, nameOf(c))
	}
	if out == nil {
		return []string{name}
	}
	return out
}

// placed names the devices of a node that places something. freed is the id of the last free before it, -1 if there is none.
func (s *ids) placed(n node, id, freed int64) []string {
	own, chips := nameOf(id), s.unitsOf(s.mesh(id))
	switch {
	case !s.both(id):
		return []string{own}
	case n.hidden:
		return slices.Compact(slices.Sorted(slices.Values(append(chips, own))))
	case n.number("address") == 0:
		return chips
	case slices.Equal(chips, []string{own}), s.executes, s.knowsChips:
		return []string{own}
	case freed == id && !slices.Contains(chips, own):
		return chips
	}
	s.collided[id] = true
	return []string{own}
}

// resolve gives each node the name of its device. A node that names several is there once for each. decided holds the
// frees that earlier calls showed to be runs.
func (s *ids) resolve(nodes []node, decided map[int64]bool) (out []node) {
	on, asks := make([][]string, len(nodes)), make([]string, len(nodes))
	freed, unfreed := int64(-1), hiddenFrees(nodes)
	for i, n := range nodes {
		id, ok, err := n.id("device_id")
		free := n.kind == "circular_buffer_deallocate_all"
		switch {
		case err != nil, !ok && (free || n.hidden):
			on[i] = []string{none}
		case !ok:
			on[i] = []string{s.unnamed}
		case isPlaced(n.kind):
			on[i] = s.placed(n, id, freed)
		case free && s.both(id):
			on[i] = []string{nameOf(id), s.mesh(id)}
		default:
			on[i] = []string{s.bufferOf(id)}
		}
		if free && ok && err == nil && !n.hidden {
			freed = id
		}
	}
	s.decide(nodes, on, asks, unfreed, decided)
	for i, n := range nodes {
		for k, name := range on[i] {
			if isPlaced(n.kind) && len(s.chipsOf[name]) > 0 {
				s.placesOn[name] = true
			}
			n.on, n.asks, n.copied, n.silent = name, asks[i], k > 0, asks[i] == silent
			out = append(out, n)
		}
	}
	return out
}

// resolveRows names where the buffers of lists lie.
func (s *ids) resolveRows(lists []list) {
	for _, l := range lists {
		for i, row := range l.rows {
			if l.rows[i].device = s.bufferOf(idOf(row.device)); row.device == none && s.unnamed != none {
				l.rows[i].device = s.unnamed
			}
		}
	}
}

// decide says of the frees of numbers that are both whether they are runs of the mesh or ends of a program of the chip.
func (s *ids) decide(nodes []node, on [][]string, asks []string, unfreed, decided map[int64]bool) {
	var stack []int
	asked := map[int]bool{} // frees that end a program unless an earlier call shows one more
	for i := 0; i < len(nodes); i++ {
		switch n := nodes[i]; {
		case n.kind == "function_start":
			stack = append(stack, i)
		case n.kind == "function_end" && len(stack) > 0:
			stack = stack[:len(stack)-1]
		case len(on[i]) == 2 && !n.hidden && !unfreed[n.counter] && n.kind == "circular_buffer_deallocate_all":
			id, _, _ := n.id("device_id")
			last := i
			for last+1 < len(nodes) && nodes[last+1].frees(id) {
				last++
			}
			run, ask := true, false
			if len(stack) > 0 {
				run, ask = s.runs(nodes, on, asked, id, stack[len(stack)-1], i, last)
			} else if !s.shows(nodes, on, id, i) {
				asks[i] = silent
			}
			if run = run || decided[n.counter]; ask && !run {
				asks[i] = s.mesh(id)
			}
			for ; i <= last; i++ {
				asked[i] = ask
				on[i] = []string{nameOf(id)}
				if run {
					on[i] = []string{s.mesh(id)}
				}
			}
			i--
		}
	}
}

func (n node) frees(id int64) bool {
	of, ok := n.known("device_id")
	return n.kind == "circular_buffer_deallocate_all" && !n.hidden && ok && of == id
}

// runs says whether frees of a number that is both, back to back in a function, are runs. ask: only if an earlier call had one more.
func (s *ids) runs(nodes []node, on [][]string, asked map[int]bool, id int64, start, first, last int) (run, ask bool) {
	places := func(i int, names []string) bool {
		return isPlaced(nodes[i].kind) && slices.ContainsFunc(on[i], func(name string) bool { return slices.Contains(names, name) })
	}
	chips, depth := slices.Clone(s.unitsOf(s.mesh(id))), 1
	shown := false
	for i := last + 1; i < len(nodes) && !nodes[i].frees(id); i++ {
		n := nodes[i]
		switch n.kind {
		case "function_start":
			depth++
		case "function_end":
			depth--
		case "program_execution":
			if !n.hidden && slices.Contains(s.unitsOf(s.mesh(id)), n.physical()) {
				return true, false
			}
		case "circular_buffer_deallocate_all": // what comes on the chips of another mesh is its own
			if of, ok := n.known("device_id"); ok && !n.hidden && s.meshes[of] != nil {
				chips = slices.DeleteFunc(chips, func(c string) bool { return slices.Contains(s.devicesOf(s.mesh(of)), c) })
			}
		}
		if depth == 0 {
			break
		}
		shown = shown || places(i, chips)
	}
	if shown {
		return true, false
	}
	if s.executes {
		return false, false
	}
	if last-first < s.unended(nodes, on, asked, id, start, first) {
		return false, true
	}
	return true, false
}

// unended counts the programs of a function on a chip that no free ended, before a node.
func (s *ids) unended(nodes []node, on [][]string, asked map[int]bool, id int64, start, end int) (n int) {
	name := nameOf(id)
	stack, put, announced := []int{start}, -1, 0
	for i := start + 1; i < end; i++ {
		switch of, ok := nodes[i].known("device_id"); {
		case nodes[i].kind == "function_start":
			stack = append(stack, i)
		case nodes[i].kind == "function_end" && len(stack) > 1:
			stack = stack[:len(stack)-1]
		case isPlaced(nodes[i].kind) && slices.Contains(on[i], name):
			if fresh := put < stack[len(stack)-1]; fresh && announced == 0 {
				n = 1
			} else if fresh {
				n = announced
			} else {
				n += announced
			}
			put, announced = i, 0
		case ok && nodes[i].frees(of) && s.meshes[of] != nil:
			again := i > 0 && nodes[i-1].frees(of)
			if asked[i] {
				n--
			}
			if slices.Contains(s.devicesOf(s.mesh(of)), name) {
				if !again {
					announced = 0
				}
				announced++
			}
		}
	}
	if put < 0 {
		return 0
	}
	return n
}

// silent marks a free outside of functions, before its chip shows anything.
const silent = "silent"

// shows says whether a chip shows something before a node.
func (s *ids) shows(nodes []node, on [][]string, id int64, end int) bool {
	for i := range end {
		if isPlaced(nodes[i].kind) && slices.Contains(on[i], nameOf(id)) {
			return true
		}
	}
	return false
}

// physical names the chip of an execution.
func (n node) physical() string {
	if id, ok := n.known("physical_device_id"); ok {
		return nameOf(id)
	}
	return none
}

// reaches says whether what belongs to one id lies on the device with another.
func (s *ids) reaches(from, to string) bool {
	return from == none || from == to || s.has(from, to)
}

// has says whether a mesh has a chip.
func (s *ids) has(mesh, chip string) bool {
	return slices.ContainsFunc(s.chipsOf[mesh], func(c int64) bool { return nameOf(c) == chip })
}

// rowReaches says whether a row of devices may be of a mesh of a device. Rows have numbers.
func (s *ids) rowReaches(row, name string) bool {
	return row != name && name != none && (s.reaches(row, name) || s.reaches(row+asMesh, name))
}

// same says whether two ids may mean one device.
func (s *ids) same(a, b string) bool {
	return s.reaches(a, b) || s.reaches(b, a) || slices.ContainsFunc(s.chipsOf[a], func(c int64) bool {
		return slices.Contains(s.chipsOf[b], c)
	})
}

// perhapsReaches says whether an id may name a mesh of a device, where not all chips of meshes can be read.
func (s *ids) perhapsReaches(from, to string) bool {
	return !s.onlyChip(from) && (s.isChip(to) || len(s.chipsOf[to]) == 0)
}

// onlyChip says whether a name is known as a chip's.
func (s *ids) onlyChip(name string) bool { return s.isChip(name) && len(s.chipsOf[name]) == 0 }

// onlyMesh says whether a name is known as a mesh's, and its number is no chip's: its frees are runs, also outside of functions.
func (s *ids) onlyMesh(name string) bool {
	return idText(name) == name && len(s.chipsOf[name]) > 0 && !s.isChip(name)
}

func (s *ids) isChip(name string) bool {
	return name != none && idText(name) == name && s.chips[idOf(name)]
}
