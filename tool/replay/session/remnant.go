package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/fold"
)

// A remnants has the CBs that dispatches have left, the same on some devices.
type remnants struct {
	devices []device.ID
	all     []*remnant
}

// A remnant has the CBs that dispatches of one program have left, on the cores where they still are.
type remnant struct {
	program *program.Program
	cbs     map[int]remnantCB           // by position in the program
	cores   map[program.Kind]l1.CoreSet // of cbs
	wrote   map[program.Kind]l1.CoreSet // cores that a dispatch of it writes
}

// A remnantCB is one CB on some cores.
type remnantCB struct {
	kind  program.Kind
	where l1.Range
	cores l1.CoreSet
}

// remnantsOf returns what dispatches left on the devices of a fleet, by the first of them.
func remnantsOf(f *device.Fleet) (out []remnants) {
	same := map[string]int{}
	for d := range f.Devices() {
		all := leftOn(d)
		if len(all) == 0 {
			continue
		}
		var key strings.Builder
		for _, l := range all {
			fmt.Fprintf(&key, "%p %s\n", l.program, l.text())
		}
		there := fold.At(same, &out, key.String())
		there.all, there.devices = all, append(there.devices, d.ID())
	}
	return out
}

// leftOn returns what dispatches left on one device, by program.
func leftOn(d device.Device) []*remnant {
	if d.Totals().Tracked == 0 {
		return nil
	}
	of := map[*program.Program]*remnant{}
	for g := range d.UsageGroups(device.BasisResident) {
		for r := range g.Residents() {
			if r.Program == nil {
				continue
			}
			l := of[r.Program]
			if l == nil {
				l = &remnant{program: r.Program, cbs: map[int]remnantCB{}, cores: map[program.Kind]l1.CoreSet{}}
				of[r.Program] = l
			}
			kind := program.Kind(r.Kind)
			l.cbs[r.CB] = remnantCB{kind, r.Range, l.cbs[r.CB].cores.Union(g.Cores)}
			l.cores[kind] = l.cores[kind].Union(g.Cores)
		}
	}
	return slices.SortedFunc(maps.Values(of), func(a, b *remnant) int {
		return cmp.Or(cmp.Compare(a.program.ID(), b.program.ID()), strings.Compare(a.text(), b.text()))
	})
}

// text has all CBs with their cores. Two programs that had one id have left something on other cores.
func (l *remnant) text() string {
	var b strings.Builder
	for _, i := range slices.Sorted(maps.Keys(l.cbs)) {
		fmt.Fprintf(&b, " %d %v %v", i, l.cbs[i].where, l.cbs[i].cores.Ranges())
	}
	return b.String()
}

// order returns programs that leave all that, dispatched one after the other. First come registered programs, as
// far as some order of them leaves nothing else. The rest comes behind them, as parts.
func (ls remnants) order(registered func(p *program.Program, on []device.ID) bool) (whole, parts []*remnant) {
	taken := map[program.Kind]l1.CoreSet{}
	for _, l := range ls.all {
		for kind, cores := range l.cores {
			taken[kind] = taken[kind].Union(cores)
		}
	}
	rest := make([]*remnant, 0, len(ls.all))
	for _, l := range ls.all {
		if registered(l.program, ls.devices) && l.wroteWithin(taken) {
			rest = append(rest, l)
		} else {
			parts = append(parts, l)
		}
	}
	// The last is one that writes over nothing that the others have left, and so on.
	for len(rest) > 0 {
		last := slices.IndexFunc(rest, func(l *remnant) bool {
			return !slices.ContainsFunc(rest, func(other *remnant) bool { return other != l && l.hides(other) })
		})
		if last < 0 {
			return whole, append(parts, rest...)
		}
		whole = slices.Insert(whole, 0, rest[last])
		rest = slices.Delete(rest, last, last+1)
	}
	return whole, parts
}

// wroteWithin works out which cores a dispatch writes, and reports whether something is left on all of
// them. Of a program with global CBs nothing shows where it has emptied cores.
func (l *remnant) wroteWithin(taken map[program.Kind]l1.CoreSet) bool {
	l.wrote = map[program.Kind]l1.CoreSet{}
	for _, cb := range l.program.CBs() {
		if cb.Global || cb.Range.IsEmpty() {
			return false
		}
		l.wrote[cb.Kind] = l.wrote[cb.Kind].Union(cb.On)
	}
	for kind, cores := range l.wrote {
		if !taken[kind].Contains(cores) {
			return false
		}
	}
	return true
}

// hides reports whether a dispatch writes over what another program has left.
func (l *remnant) hides(other *remnant) bool {
	for kind, cores := range l.wrote {
		if cores.Overlaps(other.cores[kind]) {
			return true
		}
	}
	return false
}

// definition is a program that leaves just that.
func (l *remnant) definition(id program.ID) event.Event {
	e := event.Event{Kind: event.KindProgram, Program: id, Name: l.program.Name(), AsWritten: true}
	for _, i := range slices.Sorted(maps.Keys(l.cbs)) {
		at := l.cbs[i]
		e.CBs = append(e.CBs, event.CB{CB: program.CB{Kind: at.kind, Cores: at.cores.Ranges(), Size: at.where.Len(), Address: at.where.Start, Fixed: true}})
	}
	return e
}
