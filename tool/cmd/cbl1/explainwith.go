package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// compare looks for the programs of captures that messages are about. If one of them
// cannot be read it says so and goes on with the others; the error is errUnreadable.
// Of captures that cannot be read at all nothing is added.
func (in *inputs) compare(found *clash.Messages, with string) error {
	all := clash.Compare(*found, specOf(in.opt))
	in.replay.Runs = true
	for _, m := range found.Messages {
		if m.Kind != clash.OutOfMemory {
			continue
		}
		in.replay.GroupsAt = event.Some(uint64(math.MaxUint64)) // at the end
		_, says := m.Numbers["free"]
		sought := answer.Scarcity{Free: m.Numbers["free"], Block: m.Numbers["block"], Bank: m.Numbers["bank"]}
		if says && m.What == "L1" && !slices.Contains(in.replay.Scarce, sought) {
			in.replay.Scarce = append(in.replay.Scarce, sought)
		}
	}
	read := false
	err := in.each([]string{with}, func(r *answer.Result) error {
		read = true
		devices := devicesOf(r)
		for _, run := range r.Runs {
			addRuns(all, r, run, devices[run.Device])
		}
		addBanks(all, r, devices)
		all.Advise(r.File, func(event uint64) string { return adviceAbout(r, event) })
		for _, d := range r.L1 {
			if found.Run.Spec.Arch == "" {
				found.Run = devices[d.ID]
			}
		}
		if margin, ok := marginOf(r); ok {
			all.AddMargin(margin)
		}
		return nil
	})
	if read {
		found.Matches = all.Matches()
	}
	return err
}

// adviceAbout returns the advice of check about the program run that began at an event; "" if it fits.
func adviceAbout(r *answer.Result, event uint64) string {
	for i := range r.Checks.List {
		if f := &r.Checks.List[i]; f.Run.At == event {
			return r.Verdict(f).Advice()
		}
	}
	return ""
}

// devicesOf returns the devices with L1 buffers or programs, as far as the capture describes them.
func devicesOf(r *answer.Result) map[event.Opt[uint64]]clash.Device {
	out := map[event.Opt[uint64]]clash.Device{}
	for i := range r.L1 {
		d := &r.L1[i]
		spec := r.SpecOf(d.ID)
		on := clash.Device{SmallFree: smallFree(d, spec), Small: spec.SmallFrom == event.FromFile || spec.SmallFrom == event.FromOption, Hybrid: d.Hybrid}
		switch {
		case spec.L1Size == 0 || spec.ArchFrom == event.FromAssumed:
		case !r.Log && r.Count(answer.CodeSpecsDiffer) > 0: // the L1 size is that of one device
			on.Spec.CBBase = spec.CBBase
		default:
			on.Spec = spec.Spec
		}
		if d.CoresFrom != event.FromAssumed {
			on.Banks = uint64(d.NumCores)
		}
		out[d.ID] = on
	}
	return out
}

// smallFree returns how much of L1_SMALL lies below all buffers that ever lay there.
func smallFree(d *answer.DeviceL1, spec answer.Spec) uint64 {
	if d.Needs.Small.Value == 0 {
		return spec.L1Small
	}
	return min(d.Needs.Small.Value-min(d.Needs.Small.Value, spec.L1Size-spec.L1Small), spec.L1Small)
}

// addBanks compares the buffers of each device at the end, and at the moments of Options.Scarce. Of devices with equal
// banks the first one counts.
func addBanks(c *clash.Comparison, r *answer.Result, devices map[event.Opt[uint64]]clash.Device) {
	type likeness struct {
		laid   answer.Composition
		shared *answer.LaidGroup // the first of a list
		spec   answer.Spec
	}
	known := map[likeness]bool{}
	add := func(d answer.DeviceL1, bank clash.Bank) {
		bank.Run.On = devices[d.ID]
		c.AddBank(bank)
	}
	first := func(like likeness) bool {
		was := known[like]
		known[like] = true
		return !was
	}
	for _, d := range r.L1 {
		spec := r.SpecOf(d.ID)
		if name, named := d.Laid(); !named || first(likeness{laid: name, spec: spec}) {
			add(d, bankOf(r, d, d.LaidGroups()))
		}
		for _, m := range d.Scarce {
			if len(m.Groups) > 0 && !first(likeness{shared: &m.Groups[0], spec: spec}) {
				continue
			}
			bank := bankOf(r, d, m.Groups)
			bank.Moment, bank.Run.Event, bank.Run.T, bank.Run.Op = true, m.At, m.T, string(m.Op)
			add(d, bank)
		}
	}
}

// marginOf returns how far sizes of open_device can change before a run does not fit.
func marginOf(r *answer.Result) (m clash.Margin, ok bool) {
	m.Capture, m.Log = r.File, r.Log
	m.Failed = r.Checks.Failed
	if t := r.Checks.Tightest; t != nil {
		m.Event, m.T, m.Op, m.Inferred = t.Run.At, t.Run.T, string(t.Run.Op), t.Run.Inferred
		m.Free = t.Headroom.Free
	}
	for i := range r.L1 {
		d := &r.L1[i]
		spec := r.SpecOf(d.ID)
		free := smallFree(d, spec)
		if m.Spec.L1Size == 0 || spec.CBBase < m.Spec.CBBase {
			m.Spec = spec.Spec
		}
		switch {
		case spec.L1Small == 0:
		case m.Small == 0:
			m.SmallFree = free
		default:
			m.SmallFree = min(m.SmallFree, free)
		}
		m.Small, m.SmallUsed = max(m.Small, spec.L1Small), m.SmallUsed || d.SmallPeak > 0
	}
	return m, m.Failed > 0 || r.Checks.Tightest != nil
}

// bankOf returns what lay in the L1 of a device at the end, or at another moment.
func bankOf(r *answer.Result, d answer.DeviceL1, groups []answer.LaidGroup) clash.Bank {
	spec := r.SpecOf(d.ID)
	out := clash.Bank{
		Run: clash.ProgramRun{Capture: r.File, Log: r.Log}, Usable: spec.Usable(), L1Size: spec.L1Size, Align: fit.Alignment(spec.Spec), SmallAssumed: spec.SmallFrom == event.FromAssumed,
	}
	if d.ID.OK {
		out.Run.Device = fmt.Sprintf("device %d", d.ID.V)
	}
	type key struct {
		what, op string
		at       l1.Range
		event    uint64
	}
	seen := map[key]int{}
	for _, g := range groups {
		for _, x := range g.Residents {
			if x.Buffer == nil {
				continue // a program's, which the allocator does not know
			}
			one := key{x.Kind.String(), string(x.Buffer.Op), x.Range(), x.Buffer.At}
			if i, ok := seen[one]; ok { // on other cores, beside other things
				out.Laid[i].Cores = out.Laid[i].Cores.Union(g.Cores)
				continue
			}
			seen[one] = len(out.Laid)
			out.Laid = append(out.Laid, clash.PlacedBuffer{What: one.what, Cores: g.Cores, Start: x.Start, End: x.End, Event: one.event, T: x.Buffer.T, Op: one.op})
		}
	}
	return out
}

// addRuns adds the buffers of an enqueued program, by the two kinds that messages distinguish.
func addRuns(c *clash.Comparison, r *answer.Result, e answer.EnqueuedProgram, on clash.Device) {
	lowest := func() (out []clash.LowestBuffer) {
		for _, b := range e.Lowest {
			out = append(out, clash.LowestBuffer{
				Address: b.Address.V, PerCore: b.PerCore.V, Event: b.At, T: b.T, Op: string(b.Op), Layout: b.Layout, Synthesised: e.LowestSynthesised, Cores: e.LowestCores,
			})
		}
		return out
	}
	device := ""
	if e.Device.OK {
		device = fmt.Sprintf("device %d", e.Device.V)
	}
	if e.Devices > 1 {
		device = fmt.Sprintf("%d devices", e.Devices)
	}
	for _, p := range e.Programs {
		for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
			run := clash.ProgramRun{
				Capture: r.File, Log: r.Log, Event: e.Run.At, T: e.Run.T, Op: string(e.Run.Op), Device: device, Times: e.Times, Inferred: e.Run.Inferred, OneOf: e.OneOf,
				What: clash.Circular, On: on, Base: p.Spec().CBBase, Synthesised: e.Synthesised,
			}
			entries := p.Entries(kind)
			if kind == program.DataflowBuffer {
				run.What = clash.Dataflow
				if p.Occupied(kind).NumGroups() == 0 {
					entries = p.Entries(program.Scratchpad) // which share the bookkeeping
				}
			}
			for entry := range entries {
				run.Entries = append(run.Entries, clash.Entry{Cores: entry.Cores, End: entry.End})
			}
			for i, cb := range p.CBs() {
				if (cb.Kind == program.CircularBuffer) != (kind == program.CircularBuffer) {
					continue
				}
				known := clash.CB{Number: i, Cores: cb.Cores}
				if !cb.Global {
					known.Range = cb.Range
				}
				run.CBs = append(run.CBs, known)
			}
			c.Add(run, lowest)
		}
	}
}
