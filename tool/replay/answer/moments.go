package answer

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/fold"
)

// A LaidMoment has the content of every core of a device after a node, or line of a log, that changed it.
type LaidMoment struct {
	At uint64      `json:"counter"`
	T  json.Number `json:"t,omitempty"` // the simulator's time, as it was written; "" = none
	Op Name        `json:"op"`          // that of the last Sample of the node

	held    *Scene
	runs    []ProgramRun  // of the programs of held
	buffers []*BufferInfo // of held; nil where the device does not know one
	laid    Composition
	n       uint64 // of all nodes that changed the device, from 0
}

// A Scene has the content of all cores of a device at one moment. Devices that hold the same share one.
type Scene struct {
	groups    []device.UsageGroup
	programs  map[*program.Program]int // their numbers in LaidMoment.runs
	buffers   map[fit.BufferID]int     // their numbers in LaidMoment.buffers
	residents int                      // of all groups
}

// Residents returns the number of residents in Groups. Cost: O(1).
func (m LaidMoment) Residents() int { return m.held.residents }

// Groups returns what lay on every core, as Options.GroupsAt has it after the node. Cost: the residents of all cores.
func (m LaidMoment) Groups() []LaidGroup {
	if m.held == nil {
		return nil
	}
	return laidGroups(heldGroups(slices.Values(m.held.groups)), m.laid.spec, math.MaxInt, m.resident)
}

// resident names the owner of a resident.
func (m LaidMoment) resident(r fit.Resident) L1Resident {
	out := L1Resident{ResidentRow: fit.NewResidentRow(r.Kind, r.Range)}
	if r.Program != nil {
		out.CB, out.Program = event.Some(uint64(r.CB)), &m.runs[m.held.programs[r.Program]]
	} else if b := m.buffers[m.held.buffers[r.Buffer.ID]]; b != nil {
		out.Buffer = b
	}
	return out
}

// Moments are the Moments of a Timeline in the making: of each node that changed the device, then
// of every second one, then of every fourth one, so that they are not too many.
type Moments struct {
	List  []LaidMoment
	named int    // residents in list
	taken uint64 // nodes
	step  uint64 // 0: not begun
}

// Fill records the content of a device: what lies there, and whose that is.
func (m *LaidMoment) Fill(held *Scene, laid Composition, run func(*program.Program) ProgramRun, buffer func(fit.BufferID) *BufferInfo) {
	m.held, m.laid = held, laid
	m.runs, m.buffers = make([]ProgramRun, len(held.programs)), make([]*BufferInfo, len(held.buffers))
	for p, i := range held.programs {
		m.runs[i] = run(p)
	}
	for id, i := range held.buffers {
		m.buffers[i] = buffer(id)
	}
}

// SceneOf returns the scene of a device at a moment.
func SceneOf(now device.Moment) *Scene {
	out := &Scene{slices.Collect(now.UsageGroups()), map[*program.Program]int{}, map[fit.BufferID]int{}, 0}
	for _, g := range out.groups {
		for r := range g.Residents() {
			out.residents++
			if r.Program == nil {
				fold.Number(out.buffers, r.Buffer.ID)
			} else {
				fold.Number(out.programs, r.Program)
			}
		}
	}
	return out
}

// Laid returns a name of the content. Moments of one Result with equal names have equal Groups but for nodes and times.
func (m LaidMoment) Laid() Composition { return m.laid }

// Keep adds a moment if it is its turn. The moments may name most residents, and fewMoments of them four times as many.
func (m *Moments) Keep(most int, one LaidMoment, fill func(*LaidMoment)) {
	const fewMoments = 480 // half of them stay when a step doubles
	one.n = m.taken
	m.taken++
	m.step = max(m.step, 1)
	if one.n%m.step > 0 {
		return
	}
	fill(&one)
	m.List, m.named = append(m.List, one), m.named+one.held.residents
	for len(m.List) > 1 && (max(m.named, len(m.List)) > 4*most || max(m.named, len(m.List)) > most && len(m.List) > fewMoments) {
		m.step *= 2
		m.List = slices.DeleteFunc(m.List, func(one LaidMoment) bool { return one.n%m.step > 0 })
		m.named = 0
		for _, one := range m.List {
			m.named += one.held.residents
		}
	}
}
