package bench

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Workload is a history of programs on devices of one Spec, numbered from 0.
type Workload struct {
	Name    string
	Spec    l1.Spec
	Devices int
	Before  []Call // has happened when the measurement begins
	Steps   []Call // is measured
	Both    bool   // contenders count reserved bytes too; see Asked
}

// A Call is something that happens on devices: to a program or, as the last two
// actions, to a buffer.
type Call struct {
	Program *program.Program
	Devices []int
	Do      Action
	Buffer  *fit.Buffer
}

// An Action is the deed of a Call.
type Action uint8

// The actions. All but the first two are for a baseline.Memory.
const (
	Register Action = iota
	Unregister
	Dispatch
	Enqueue
	Allocate
	Free
)

// Changes returns the number of (program, device) pairs in steps.
func Changes(steps []Call) (n int) {
	for i := range steps {
		n += len(steps[i].Devices)
	}
	return n
}

// Asked returns w with Both set if that matters: if one of its programs reserves other bytes than
// it occupies.
func (w Workload) Asked() Workload {
	differs := func(s Call) bool {
		if s.Program == nil {
			return false
		}
		o, r := s.Program.Occupied(program.CircularBuffer), s.Program.Reserved(program.CircularBuffer)
		return o.Bytes() != r.Bytes() || o.NumGroups() != r.NumGroups()
	}
	w.Both = !w.inMemory() && (slices.ContainsFunc(w.Before, differs) || slices.ContainsFunc(w.Steps, differs))
	return w
}

// A Total is the answer of a contender for a device.
type Total struct {
	Bytes, Reserved uint64
	Asked           bool // Reserved was queried
}

// Play makes the steps on c. After each it queries the total of each device of the step, and
// appends the answer to totals, which should have room for all. A contender that counts reserved
// bytes is queried for those bytes of the last device.
func Play(c baseline.Contender, steps []Call, totals []Total) []Total {
	m, _ := c.(baseline.Memory)
	both, _ := c.(interface{ Reserved(device int) uint64 })
	for i := range steps {
		s := &steps[i]
		s.make(c, m)
		for _, d := range s.Devices {
			totals = append(totals, Total{Bytes: c.Total(d)})
		}
		if both != nil {
			last := &totals[len(totals)-1]
			last.Reserved, last.Asked = both.Reserved(s.Devices[len(s.Devices)-1]), true
		}
	}
	return totals
}

// make makes the step on c, which is m if it is a Memory.
func (s *Call) make(c baseline.Contender, m baseline.Memory) {
	switch s.Do {
	case Register:
		c.Register(s.Program, s.Devices)
	case Unregister:
		c.Unregister(s.Program, s.Devices)
	case Dispatch:
		m.Dispatch(s.Program, s.Devices)
	case Enqueue:
		m.Enqueue(s.Program, s.Devices)
	case Allocate:
		m.Allocate(s.Buffer, s.Devices)
	case Free:
		m.Free(s.Buffer, s.Devices)
	}
}

// Change makes the steps on c without asking for anything.
func Change(c baseline.Contender, steps []Call) {
	m, _ := c.(baseline.Memory)
	for i := range steps {
		steps[i].make(c, m)
	}
}

// Load makes steps on c without asking for anything. Contenders that can register many programs
// at once do, up to the first that leaves.
func Load(c baseline.Contender, steps []Call) {
	bulk, ok := c.(interface {
		Load(programs []*program.Program, devices []int)
	})
	if !ok {
		Change(c, steps)
		return
	}
	end := slices.IndexFunc(steps, func(s Call) bool { return s.Do == Unregister })
	if end < 0 {
		end = len(steps)
	}
	defer Change(c, steps[end:])
	// Devices with the same programs are loaded together.
	var programs [][]*program.Program // by device
	for _, s := range steps[:end] {
		for _, d := range s.Devices {
			for len(programs) <= d {
				programs = append(programs, nil)
			}
			programs[d] = append(programs[d], s.Program)
		}
	}
	for d := 0; d < len(programs); {
		devices := []int{d}
		for d++; d < len(programs) && slices.Equal(programs[d], programs[devices[0]]); d++ {
			devices = append(devices, d)
		}
		bulk.Load(programs[devices[0]], devices)
	}
}

// Disagree returns an error that names the first total in which a contender differs
// from another; it may have stopped earlier.
func Disagree(workload, name string, got []Total, other string, want []Total) error {
	if len(got) > len(want) {
		return fmt.Errorf("%s: %s computed %d totals, %s only %d", workload, name, len(got), other, len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Bytes != w.Bytes {
			return fmt.Errorf("%s: total %d is %d for %s and %d for %s", workload, i, g.Bytes, name, w.Bytes, other)
		}
		if g.Asked && w.Asked && g.Reserved != w.Reserved {
			return fmt.Errorf("%s: %d bytes are reserved for %s at total %d, and %d for %s", workload, g.Reserved, name, i, w.Reserved, other)
		}
	}
	return nil
}

// On returns the part of w that concerns the given devices.
func (w Workload) On(devices ...int) Workload {
	cut := func(steps []Call) (out []Call) {
		for _, s := range steps {
			s.Devices = keep(s.Devices, devices)
			if len(s.Devices) > 0 {
				out = append(out, s)
			}
		}
		return out
	}
	w.Before, w.Steps = cut(w.Before), cut(w.Steps)
	return w
}

// Totals returns the part of the totals of w's steps that concerns the given devices.
func (w Workload) Totals(totals []Total, devices ...int) (out []Total) {
	i := 0
	for _, s := range w.Steps {
		for _, d := range s.Devices {
			if slices.Contains(devices, d) {
				out = append(out, totals[i])
			}
			i++
		}
	}
	return out
}

// First returns w with the first steps only.
func (w Workload) First(steps int) Workload {
	w.Steps = w.Steps[:min(steps, len(w.Steps))]
	return w
}

// PerDevice returns w with each step taken apart into one step per device: the devices
// of one program after each other.
func (w Workload) PerDevice() Workload {
	single := numbers(w.Devices)
	cut := func(steps []Call) (out []Call) {
		for _, s := range steps {
			for _, d := range s.Devices {
				s.Devices = single[d : d+1]
				out = append(out, s)
			}
		}
		return out
	}
	w.Before, w.Steps = cut(w.Before), cut(w.Steps)
	w.Name += "/call=device"
	return w
}

// DeviceMajor returns w with all steps on device 0 first, then all on device 1, and so
// on.
func (w Workload) DeviceMajor() Workload {
	major := func(steps []Call) []Call {
		steps = slices.Clone(steps)
		slices.SortStableFunc(steps, func(a, b Call) int { return a.Devices[0] - b.Devices[0] })
		return steps
	}
	w = w.PerDevice()
	w.Before, w.Steps = major(w.Before), major(w.Steps)
	w.Name += "/order=device"
	return w
}

// keep returns the devices that are in both lists, in the order of the first.
func keep(devices, these []int) (out []int) {
	for _, d := range devices {
		if slices.Contains(these, d) {
			out = append(out, d)
		}
	}
	return out
}

// numbers returns 0 to n-1.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
