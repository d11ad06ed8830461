package render

import (
	"encoding/binary"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// A jsonLaid is what each of some cores held at some moments.
type jsonLaid struct {
	On        int    `json:"on"` // number of the cores
	Bytes     uint64 `json:"tracked_bytes"`
	Residents []int  `json:"residents"` // their numbers
}

// jsonCores are some cores.
type jsonCores struct {
	Cores string `json:"cores"`
	Count int    `json:"count"`
}

// A laidTable has what lay on cores of all devices at all moments, each once.
type laidTable struct {
	groups    []jsonLaid
	cores     []jsonCores
	residents []replay.L1Resident
	on        map[string]int      // cores, by their text
	known     map[string]int      // groups, by the numbers of their cores and residents
	seen      map[residentKey]int // residents
}

// A residentKey is an L1Resident that can be compared.
type residentKey struct {
	row     fit.ResidentRow
	cb      event.Opt[uint64]
	program replay.ProgramRun
	buffer  replay.BufferInfo
}

func newLaidTable() *laidTable {
	return &laidTable{[]jsonLaid{}, []jsonCores{}, []replay.L1Resident{}, map[string]int{}, map[string]int{}, map[residentKey]int{}}
}

// group returns the number of a group. Groups with equal cores and residents hold equally many bytes.
func (t *laidTable) group(g replay.LaidGroup) int {
	on := t.place(g.Cores)
	numbers, key := make([]int, 0, len(g.Residents)), binary.AppendUvarint(nil, uint64(on))
	for _, r := range g.Residents {
		n := t.resident(r)
		numbers, key = append(numbers, n), binary.AppendUvarint(key, uint64(n))
	}
	n, ok := t.known[string(key)]
	if !ok {
		n = len(t.groups)
		t.known[string(key)] = n
		t.groups = append(t.groups, jsonLaid{on, g.Bytes, numbers})
	}
	return n
}

// numbers returns the numbers of groups.
func (t *laidTable) numbers(groups []replay.LaidGroup) []int {
	out := make([]int, 0, len(groups))
	for _, g := range groups {
		out = append(out, t.group(g))
	}
	return out
}

// place returns the number of some cores.
func (t *laidTable) place(cores l1.CoreSet) int {
	text := cores.String()
	n, ok := t.on[text]
	if !ok {
		n = len(t.cores)
		t.on[text], t.cores = n, append(t.cores, jsonCores{text, cores.Len()})
	}
	return n
}

// resident returns the number of a resident.
func (t *laidTable) resident(r replay.L1Resident) int {
	key := residentKey{row: r.ResidentRow, cb: r.CB}
	if r.Program != nil {
		key.program = *r.Program
	}
	if r.Buffer != nil {
		key.buffer = *r.Buffer
	}
	n, ok := t.seen[key]
	if !ok {
		n = len(t.residents)
		t.seen[key], t.residents = n, append(t.residents, r)
	}
	return n
}
