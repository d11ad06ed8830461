package baseline

import (
	"math/rand/v2"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A shared has one content for all devices with the same programs, and in it one BoundaryCount for all
// cores with the same ranges. Equal contents have equal keys, which are random sums.
type shared struct {
	keys     map[*program.Program]uint64
	contents map[uint64]*content // by key
	devices  []*content
	measure  Measure
}

// A content belongs to all devices with the same programs. Its key is the sum of the keys of its programs.
type content struct {
	key     uint64
	devices int
	classes [2][]*coreClass // of each footprint of the measure: partitions of the grid
	total   uint64
}

// A coreClass is cores with the same ranges. Its key is the sum of the keys of these.
type coreClass struct {
	key   uint64
	cores l1.CoreSet
	BoundaryCount
}

// NewShared returns a Contender for numbered devices of one Spec, which knows no dispatches: it is for
// the measures Registered and Reserved.
func NewShared(spec l1.Spec, devices int, m Measure) Contender {
	empty := &content{devices: devices}
	for k := range empty.classes {
		empty.classes[k] = []*coreClass{{cores: spec.Grid().Cores()}}
	}
	return &shared{map[*program.Program]uint64{}, map[uint64]*content{0: empty}, slices.Repeat([]*content{empty}, devices), m}
}

// Register counts p once for each content of the devices.
func (t *shared) Register(p *program.Program, devices []int) {
	if t.keys[p] == 0 {
		t.keys[p] = rand.Uint64() | 1
	}
	t.change(p, devices, t.keys[p], +1)
}

// Unregister takes p back.
func (t *shared) Unregister(p *program.Program, devices []int) {
	t.change(p, devices, -t.keys[p], -1)
}

// Total returns a number that is kept.
func (t *shared) Total(device int) uint64 { return t.devices[device].total }

// change moves the devices to the contents that p makes of theirs. Such a content is there, or
// becomes of the one before, or of a copy if other devices keep that.
func (t *shared) change(p *program.Program, devices []int, key uint64, sign int) {
	leave := map[*content]int{}
	for _, d := range devices {
		leave[t.devices[d]]++
	}
	next := make(map[*content]*content, len(leave))
	for from, n := range leave {
		to := t.contents[from.key+key]
		if to == nil {
			if to = from; n < from.devices {
				to = from.copy()
			} else {
				delete(t.contents, from.key)
			}
			to.key += key
			t.contents[to.key] = to
			for k, f := range t.measure.footprints(p) {
				to.classes[k] = to.count(to.classes[k], f, key, sign)
			}
		}
		next[from] = to
	}
	for _, d := range devices {
		from, to := t.devices[d], next[t.devices[d]]
		if from == to {
			continue
		}
		to.devices++
		t.devices[d] = to
		if from.devices--; from.devices == 0 {
			delete(t.contents, from.key)
		}
	}
}

// count lets the classes that groups of f meet count its ranges, and returns all classes. A group may meet
// a part of a class, which is then divided. Classes that become equal join.
func (c *content) count(classes []*coreClass, f program.Footprint, key uint64, sign int) []*coreClass {
	for g := range f.Groups() {
		var met []*coreClass
		classes = slices.DeleteFunc(classes, func(k *coreClass) bool {
			in := k.cores.Intersect(g.Cores())
			switch in.Len() {
			case 0:
				return false
			case k.cores.Len():
				met = append(met, k)
				return true
			}
			k.cores = k.cores.Minus(in)
			met = append(met, k.copyOn(in))
			return false
		})
		for _, k := range met {
			for r := range g.Ranges() {
				c.total += uint64(sign) * k.Shift(r, sign) * uint64(k.cores.Len())
			}
			k.key += key
			if i := slices.IndexFunc(classes, func(o *coreClass) bool { return o.key == k.key }); i >= 0 {
				classes[i].cores = classes[i].cores.Union(k.cores)
			} else {
				classes = append(classes, k)
			}
		}
		key *= 3 // another key for each group
	}
	return classes
}

// copyOn returns a copy of k on other cores.
func (k *coreClass) copyOn(cores l1.CoreSet) *coreClass {
	out := &coreClass{key: k.key, cores: cores}
	if k.edges != nil {
		out.edges = newEdges()
		k.edges.Ascend(func(e *edge) bool {
			out.edges.ReplaceOrInsert(&edge{e.addr, e.n})
			return true
		})
	}
	return out
}

// copy returns c for no device.
func (c *content) copy() *content {
	out := &content{key: c.key, total: c.total}
	for i, classes := range c.classes {
		for _, k := range classes {
			out.classes[i] = append(out.classes[i], k.copyOn(k.cores))
		}
	}
	return out
}
