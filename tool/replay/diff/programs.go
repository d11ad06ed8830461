package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff/internal/align"
)

// programs matches the programs of two devices. It counts them by state, and lists the ones that differ: the
// largest change on a fullest core comes first.
func (c *comparison) programs(old, new *deviceRow) (map[State]int, []Program) {
	counts, changes := map[State]int{}, []Program{}
	before, after := c.programItems(old), c.programItems(new)
	type change struct{ old, new string }
	known := map[change]int{}
	for _, p := range c.aligner.Align(before, after) {
		var key change
		var one Program
		if p.Old != align.None {
			key.old = before[p.Old].Key
			one.Op, one.Old = old.programs.At(p.Old).Op, rowOf(old.programs.At(p.Old))
		}
		if p.New != align.None {
			key.new = after[p.New].Key
			one.Op, one.New = new.programs.At(p.New).Op, rowOf(new.programs.At(p.New))
		}
		one.State = programState(p, cmp.Or(one.Old, &ProgramRow{}), cmp.Or(one.New, &ProgramRow{}), key.old == key.new)
		counts[one.State]++
		if one.State == Same {
			continue
		}
		row := fold.At(known, &changes, key)
		if row.Times++; row.Times > 1 {
			continue
		}
		one.Times, one.CBs = 1, []CB{}
		if c.basis == ByBuffers && one.Old != nil && one.New != nil {
			one.CBs = c.cbs(old.buffers[p.Old], new.buffers[p.New])
		}
		*row = one
	}
	slices.SortStableFunc(changes, func(a, b Program) int {
		return cmp.Or(cmp.Compare(size(b.Change()), size(a.Change())), cmp.Compare(size(b.overCores()), size(a.overCores())))
	})
	return counts, changes
}

func size(n int64) int64 { return max(n, -n) }

// overCores is by how many bytes a program grew over all cores.
func (p Program) overCores() int64 {
	return grown(p.Old, p.New, func(r *ProgramRow) uint64 { return r.Bytes })
}

// programState compares a program with its partner: by bytes on its fullest core, then over all cores, then with
// shared bytes counted for each buffer.
func programState(p align.Pair, old, new *ProgramRow, same bool) State {
	for _, n := range [][2]uint64{{old.Core, new.Core}, {old.Bytes, new.Bytes}} {
		if n[0] != n[1] {
			return pairState(p, n[0], n[1], false)
		}
	}
	return pairState(p, old.Logical, new.Logical, same)
}

func rowOf(p answer.ProgramDetail) *ProgramRow {
	return &ProgramRow{p.First, p.LocalCBs, p.GlobalCBs, p.Cores, p.Logical, p.Bytes, p.Core, p.HighestEnd}
}

// programItems returns the programs of a device as they are aligned: by operation, then by
// the number and kinds of buffers and the number of cores, then by bytes, then by where
// each buffer lies.
func (c *comparison) programItems(d *deviceRow) []align.Item {
	out := make([]align.Item, 0, d.programs.Len())
	for i, p := range d.programs.All() {
		var buffers bufferKey
		if c.basis == ByBuffers {
			buffers = c.keys.of(d.buffers[i])
		}
		out = append(out, align.NewItem(
			strconv.Quote(string(p.Op)),
			fmt.Sprintf("|%d %d %d%s", p.LocalCBs, p.GlobalCBs, p.Cores, buffers.shape),
			fmt.Sprintf("|%d %d %d%s", p.Logical, p.Bytes, p.Core, buffers.size),
			fmt.Sprintf("|%d %t%s", p.HighestEnd, p.Overlapping, buffers.place),
		))
	}
	return out
}

// A bufferKey is the part of a program's key that its buffers give.
type bufferKey struct{ shape, size, place string }

// bufferKeys remember keys by the first buffer: programs share lists of them.
type bufferKeys map[*answer.ProgramBuffer]bufferKey

func (k *bufferKeys) of(all []answer.ProgramBuffer) bufferKey {
	if len(all) == 0 {
		return bufferKey{}
	}
	if key, ok := (*k)[&all[0]]; ok {
		return key
	}
	var shape, size, place strings.Builder
	for _, b := range all {
		fmt.Fprintf(&shape, " %s%t", b.Kind.Name(), b.Global)
		fmt.Fprintf(&size, " %d", b.Size)
		fmt.Fprintf(&place, " %d-%d%v", b.Range.Start, b.Range.End, b.Cores)
	}
	if *k == nil {
		*k = bufferKeys{}
	}
	key := bufferKey{shape.String(), size.String(), place.String()}
	(*k)[&all[0]] = key
	return key
}

// cbs lists the buffers of a program that differ. Where both programs have buffers of the
// same kinds in the same order, each is compared with the one in its place.
func (c *comparison) cbs(old, new []answer.ProgramBuffer) []CB {
	out := []CB{}
	for _, p := range c.matchCBs(old, new) {
		var one CB
		var a, b answer.ProgramBuffer
		if p.Old != align.None {
			a = old[p.Old]
			one.Kind, one.Global, one.Old = a.Kind, a.Global, cbRow(a)
		}
		if p.New != align.None {
			b = new[p.New]
			one.Kind, one.Global, one.New = b.Kind, b.Global, cbRow(b)
		}
		same := a.Range == b.Range && a.Cores.Equal(b.Cores)
		if one.State = pairState(p, a.Size, b.Size, same); one.State != Same {
			out = append(out, one)
		}
	}
	return out
}

func (c *comparison) matchCBs(old, new []answer.ProgramBuffer) (out []align.Pair) {
	if slices.EqualFunc(old, new, func(a, b answer.ProgramBuffer) bool { return a.Kind == b.Kind && a.Global == b.Global }) {
		for i := range old {
			out = append(out, align.Pair{Old: i, New: i})
		}
		return out
	}
	items := func(all []answer.ProgramBuffer) (out []align.Item) {
		for _, b := range all {
			out = append(out, align.NewItem(fmt.Sprintf("%s%t", b.Kind.Name(), b.Global), fmt.Sprintf("|%v", b.Cores), fmt.Sprintf("|%d", b.Size),
				fmt.Sprintf("|%d-%d", b.Range.Start, b.Range.End)))
		}
		return out
	}
	return c.aligner.Align(items(old), items(new))
}

func cbRow(b answer.ProgramBuffer) *CBRow {
	return &CBRow{b.Number, b.Cores, event.Opt[uint64]{V: b.Range.Start, OK: b.Range != (l1.Range{})}, b.Size}
}
