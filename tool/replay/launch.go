package replay

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// maxRemembered bounds how many results of checks are remembered. Beyond it all are
// forgotten and found anew.
const maxRemembered = 1 << 14

// A checkKey is all that the answer of a check depends on. The mode of the allocator is left out, except for room:
// beside has the cores on which a buffer counts.
type checkKey struct {
	content *source.Content
	beside  sum128
	spec    *l1.Spec // of checks.specs

	unsettled, persistent bool
	hybrid                bool // of the room beside it alone
}

// A launch is a run on the devices of a row at the moment when it is enqueued.
type launch struct {
	on      *row
	content *source.Content
	run     answer.ProgramRun
	spec    *l1.Spec // with the grid; of checks.specs

	candidates *candidates // what else its workload may be; nil if it is known, or given in another launch
	unsettled  bool        // it may be several programs
	persistent bool        // persistent pages lift its buffers
}

// uncertain reports whether addresses that the source placed are too low.
func (l launch) uncertain() bool { return l.persistent && l.content.From.Resolved }

// doubts reports whether the refusals of a program are uncertain: their only cause is an L1
// buffer below the program, which may be a persistent page. tt-metal compares none of these.
func (l launch) doubts(p *program.Program, v fit.Verdict) bool {
	start := uint64(math.MaxUint64)
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Len() > 0 {
			start = min(start, cb.Range.Start)
		}
	}
	above := func(r *fit.Refusal) bool { return r.Kind != fit.RefusedClash || r.Limit >= start }
	return l.persistent && len(v.Clashes) == 0 && !slices.ContainsFunc(v.Refusals, above)
}

func (l launch) key() checkKey {
	return checkKey{l.content, l.on.memory.beside, l.spec, l.unsettled, l.persistent, false}
}

// devices returns on how many devices a group of launches is.
func devices(group []launch) (n int64) {
	for _, l := range group {
		n += int64(l.on.members.Len())
	}
	return n
}

// candidates are the workloads that may have run instead, for devices of one Spec.
type candidates struct {
	workloads [][]*source.Content // each is judged as a whole
	several   int                 // how many there are, where they are too many too
	unsettled bool                // some may be more programs than they list
	many      string              // why they are too many to be judged; "" = they are not
}

// groupsOf divides launches into groups with equal keys, in the order of their first launches.
func groupsOf(all []launch, key func(launch) checkKey) (groups [][]launch) {
	if len(all) == 1 {
		return [][]launch{all}
	}
	at := make(map[checkKey]int, 1)
	for _, l := range all {
		by := key(l)
		i, ok := at[by]
		if !ok {
			i = len(groups)
			at[by] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// leave returns the launches that a Filter leaves.
func leave(all []launch, f answer.Filter) []launch {
	if f.IsZero() {
		return all
	}
	return slices.DeleteFunc(all, func(l launch) bool {
		return !f.HasDevice(l.on.id) || !f.HasOp(l.run.Op) || !f.HasCores(l.content.AllCores())
	})
}

// place returns what lives where a launch is judged, on so many devices that are alike.
func (l launch) place(devices int) fit.Place {
	buffers := slices.AppendSeq(make([]fit.Buffer, 0, l.on.memory.live.Len()), l.on.dev.Buffers())
	return fit.Place{Device: l.on.slot, Devices: devices, Spec: *l.spec, Hybrid: l.on.dev.Hybrid(), Buffers: buffers}
}
