package render

import (
	"encoding/binary"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A pageLaid is a LaidGroup with the numbers of its residents.
type pageLaid struct {
	answer.LaidGroup
	Residents []int `json:"residents"`
}

// A laidTable has what lay on cores of all devices at all moments, each once.
type laidTable struct {
	groups    []pageLaid
	residents []answer.L1Resident
	known     map[string]int      // groups, by their cores and the numbers of their residents
	seen      map[residentKey]int // residents
}

// A residentKey is an L1Resident that can be compared.
type residentKey struct {
	row     fit.ResidentRow
	cb      event.Opt[uint64]
	program answer.ProgramRun
	buffer  answer.BufferInfo
}

func newLaidTable() *laidTable {
	return &laidTable{[]pageLaid{}, []answer.L1Resident{}, map[string]int{}, map[residentKey]int{}}
}

// group returns the number of a group. Groups with equal cores and residents hold equally many bytes.
func (t *laidTable) group(g answer.LaidGroup) int {
	numbers, key := make([]int, 0, len(g.Residents)), []byte(g.Cores.String())
	for _, r := range g.Residents {
		n := t.resident(r)
		numbers, key = append(numbers, n), binary.AppendUvarint(key, uint64(n))
	}
	n, fresh := fold.Number(t.known, string(key))
	if fresh {
		g.Residents = nil
		t.groups = append(t.groups, pageLaid{g, numbers})
	}
	return n
}

// numbers returns the numbers of groups.
func (t *laidTable) numbers(groups []answer.LaidGroup) []int {
	out := make([]int, 0, len(groups))
	for _, g := range groups {
		out = append(out, t.group(g))
	}
	return out
}

// resident returns the number of a resident.
func (t *laidTable) resident(r answer.L1Resident) int {
	key := residentKey{row: r.ResidentRow, cb: r.CB}
	if r.Program != nil {
		key.program = *r.Program
	}
	if r.Buffer != nil {
		key.buffer = *r.Buffer
	}
	n, fresh := fold.Number(t.seen, key)
	if fresh {
		t.residents = append(t.residents, r)
	}
	return n
}
