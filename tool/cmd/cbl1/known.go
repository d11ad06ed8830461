package main

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// maxNames is how many names of operations are kept, to list the nearest.
const maxNames = 1 << 16

// knownNames says whether inputs know the operation, the device and the core of a filter. Results of
// inputs wait until an input knows it: a filter that no input knows is wrong usage.
type knownNames struct {
	filter  answer.Filter
	waiting []*answer.Result

	mu               sync.Mutex // all below; inputs are read at once
	op, device, core bool
	names            map[string]bool
	devices          map[uint64]bool
	cores            map[l1.Core]bool
	grids            map[string]bool // ", 8x10"
}

// newKnown returns a known without inputs.
func newKnown(f answer.Filter) *knownNames {
	return &knownNames{
		filter: f, op: f.HasOp(""), device: !f.Device.OK, core: !f.Core.OK,
		names: map[string]bool{}, devices: map[uint64]bool{}, cores: map[l1.Core]bool{}, grids: map[string]bool{},
	}
}

// through passes the events of an input on, and notes the names and devices in them.
func (k *knownNames) through(events iter.Seq2[*event.Event, error]) iter.Seq2[*event.Event, error] {
	if k.filter.IsZero() {
		return events
	}
	return func(yield func(*event.Event, error) bool) {
		var path []string // of operations that did not end
		for e, err := range events {
			if err == nil {
				path = k.take(e, path)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// take notes the names and devices of an event, and returns the path after it.
func (k *knownNames) take(e *event.Event, path []string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch e.Kind {
	case event.KindDevice:
		k.addDevice(uint64(e.Device))
	case event.KindMesh:
		for i := range min(e.Rows*e.Cols, maxNames) {
			k.addDevice(uint64(e.Device) + uint64(i))
		}
	case event.KindOpStart:
		path = append(path, e.Name)
		k.addName(strings.Join(path, " > "))
	case event.KindOpEnd:
		path = path[:max(0, len(path)-1)]
	}
	for _, name := range []string{e.Op.V, e.Name, e.Buffer.Name} {
		k.addName(name)
	}
	return path
}

func (k *knownNames) addDevice(id uint64) {
	if device.ID(id) == answer.NoDevice {
		return
	}
	k.devices[id] = true
	k.device = k.device || k.filter.HasDevice(event.Some(id))
}

// addName notes the functions on a path.
func (k *knownNames) addName(path string) {
	if k.filter.Op == "" || path == "" || k.names[path] {
		return
	}
	k.op = k.op || k.filter.HasOp(answer.Name(path))
	for name := range strings.SplitSeq(path, " > ") {
		if len(k.names) < maxNames {
			k.names[name] = true
		}
	}
}

// add notes the devices and cores of a Result, which may be nil.
func (k *knownNames) add(r *answer.Result) {
	if r == nil || k.filter.IsZero() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range r.Devices { // also cores outside an assumed grid
		k.core = k.core || slices.ContainsFunc(r.Devices[i].CoreGroups, func(g answer.CoreGroup) bool { return g.Cores.Has(k.filter.Core.V) })
	}
	for _, d := range r.L1 {
		k.device = k.device || k.filter.HasDevice(d.ID)
		grid := l1.Spec{Cols: d.Cols, Rows: d.Rows}
		k.core = k.core || grid.NumCores() == 0 || grid.Has(k.filter.Core.V)
		k.grids[fmt.Sprintf(", %dx%d", d.Cols, d.Rows)] = true
		for core := range grid.Grid().Cores().All() {
			k.cores[core] = true
		}
	}
	k.core = k.core || len(r.L1) == 0 // its cores are not known
}

// holding returns do for the results of inputs in order, from the first one on with which the filter is
// known.
func (k *knownNames) holding(do func(*answer.Result) error) func(*answer.Result) error {
	if k.filter.IsZero() {
		return do
	}
	return func(r *answer.Result) error {
		k.waiting = append(k.waiting, r)
		k.mu.Lock()
		all := k.op && k.device && k.core
		k.mu.Unlock()
		if !all {
			return nil
		}
		return k.release(do)
	}
}

// release hands over what waits.
func (k *knownNames) release(do func(*answer.Result) error) error {
	for len(k.waiting) > 0 {
		r := k.waiting[0]
		k.waiting = k.waiting[1:]
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// unknown returns an error if no input knows a part of the filter. It lists the nearest.
func (k *knownNames) unknown() error {
	f := k.filter
	switch {
	case len(k.waiting) == 0:
		return nil
	case !k.device:
		far := func(id uint64) uint64 { return max(id, f.Device.V) - min(id, f.Device.V) }
		return fmt.Errorf("--device %d: no input has it%s", f.Device.V, nearestOf(k.devices, "device", far))
	case !k.op:
		written := strings.ToLower(strings.ReplaceAll(safe.Head(string(f.Op), 100), "*", ""))
		return fmt.Errorf("--op %s: no input has it%s", safe.Start(string(f.Op), 40), nearestOf(k.names, "operation", func(name string) int {
			if name = strings.ToLower(safe.Head(name, 100)); strings.Contains(name, written) {
				return 0
			}
			return slips(written, name)
		}))
	}
	far := func(c l1.Core) int {
		x, y := int(c.X)-int(f.Core.V.X), int(c.Y)-int(f.Core.V.Y)
		return x*x + y*y
	}
	return fmt.Errorf("--core %v: it lies outside the grid of all inputs%s%s", f.Core.V,
		strings.Join(slices.Sorted(maps.Keys(k.grids)), ""), nearestOf(k.cores, "core", far))
}

// nearestOf lists the ten nearest of some things, and how many there are.
func nearestOf[T comparable, N cmp.Ordered](all map[T]bool, noun string, far func(T) N) string {
	const most = 10
	type one struct {
		far  N
		text string
	}
	var list []one
	for x := range all {
		list = append(list, one{far(x), safe.Start(fmt.Sprint(x), 40)})
	}
	slices.SortFunc(list, func(a, b one) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
	})
	var words []string
	for _, x := range list[:min(len(list), most)] {
		words = append(words, x.text)
	}
	if len(list) == 0 {
		return "; there is none"
	}
	if len(list) <= most {
		be := "are"
		if len(list) == 1 {
			be = "is"
		}
		return fmt.Sprintf("; there %s %s: %s", be, safe.Plural(len(list), noun), strings.Join(words, ", "))
	}
	return fmt.Sprintf("; the nearest of %s: %s", safe.Plural(len(list), noun), strings.Join(words, ", "))
}
