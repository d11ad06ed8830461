package device

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/lookup"
)

// A recountedState is a state as it was: how its programs are worked out, and where its ways led.
// The states that it names are not looked into.
type recountedState struct {
	lookup.Crossing[state]
	state    *state
	at, hash lookup.Hash      // by which it is found, and its own
	step                      // from the state before
	placed   bool             // it is at its place among those after that
	groups   int              // of devices
	after    int              // states
	content  *classes.Content // nil if it has none
	lent     *state           // that has it, a step farther
}

// recounted returns what has to be recounted of s, which is found by a hash.
func (s *state) recounted(at lookup.Hash) recountedState {
	placed := s.from == nil || s.place < len(s.from.after) && s.from.after[s.place] == s
	out := recountedState{s.Crossing, s, at, s.hash, s.step, placed, len(s.groups), len(s.after), s.content, s.lent}
	for i := range out.Ways {
		if w := &out.Ways[i]; !w.Open() {
			w.To = nil
		}
	}
	return out
}

// checkStates verifies that every state can be found, that no more are kept than those in use and
// those between them, that a content is in one place, and what leads from one to the next.
func (all *recounting) checkStates(t *audit.Audit) {
	of, after := make(map[*state]*recountedState, len(all.states)), make(map[*state]int, len(all.states))
	for s := range audit.Each(t, all.states) {
		of[s.state] = s
		after[s.from]++
	}
	for g := range audit.Each(t, all.groups) {
		t.About(g.id, "", nil)
		t.Once("number of times that a state is found by its hash", of[g.state] != nil)
	}
	t.About(0, "", nil)
	for s := range audit.Each(t, all.states) {
		lent := of[s.lent]
		t.Once("number of states with no device before them", s.from != nil || s.groups > 0)
		t.Once("number of states with no device after them", s.after > 0 || s.groups > 0)
		t.Once("number of times that the first state of a tree has a content", s.from != nil || s.lent != nil || s.content != nil)
		audit.Same(t, "number of contents of a state that has lent its own", audit.Flag(s.lent != nil && s.content != nil), 0)
		t.Once("number of times that a content is lent one step", s.lent == nil || lent != nil && lent.from == s.state && lent.content != nil)
	}
	for s := range audit.Each(t, all.states) {
		audit.Same(t, "hash by which a state is found", s.at, s.hash)
		t.Once("number of times that a state after another one is at its place", s.placed)
		audit.Same(t, "number of states after another one", s.after, after[s.state])
	}
	if t.Err == nil {
		all.checkWays(t, of)
	}
}

// knownStates are states with their programs, as far as those have been worked out.
type knownStates struct {
	of   map[*state]*recountedState
	sets map[*state]bitset.Set
}

// set returns the numbers of the programs of a state, by the steps from the nearest one
// that is known. Cost: O(n/64) for each state, once.
func (k *knownStates) set(t *audit.Audit, s *state) (set bitset.Set) {
	var on []*recountedState // the way there, backwards
	known := false
	for !known {
		if set, known = k.sets[s]; known {
			break
		}
		at := k.of[s]
		switch {
		case at == nil:
			t.Differs("number of times that a state before another one is found by its hash", 0, 1)
			return set
		case at.content != nil:
			set, known = at.content.Live.Bits, true
		case at.lent != nil && k.of[at.lent] != nil:
			ahead := k.of[at.lent]
			set, known = ahead.step.over(ahead.content.Live.Bits.Clone()), true
		default:
			on, s = append(on, at), at.from
		}
	}
	k.sets[s] = set
	for _, at := range slices.Backward(on) {
		set = at.step.over(set.Clone())
		k.sets[at.state] = set
	}
	return set
}

// checkWays verifies that registrations know how many steps name them, that the ways from states
// lead to the set of programs that they name, and that no two states are equal.
func (all *recounting) checkWays(t *audit.Audit, of map[*state]*recountedState) {
	named, number := map[*classes.Holder]int{}, map[uint64]int{} // by serial number; buffers have none
	known := knownStates{of, make(map[*state]bitset.Set, len(all.states))}
	ends := make(map[*lookup.Crossing[state]]*recountedState, len(all.states))
	for s := range audit.Each(t, all.states) {
		ends[&s.state.Crossing] = s
		for _, r := range []*registration{s.old, s.new} {
			if r != nil {
				named[&r.Holder]++
			}
		}
	}
	for i, r := range all.roster.Of {
		if r == nil || r.Serial == 0 || r.Number != i {
			continue
		}
		t.About(0, "", r.Program)
		t.Once("number of times that what has a number is registered or between states", all.numbers[i].named)
		audit.Same(t, "number of steps", all.numbers[i].steps, named[r])
		number[r.Serial] = i
	}
	t.About(0, "", nil)
	known.checkSets(t, all.states)
	for s := range audit.Each(t, all.states) {
		t.Once("number of times that a state is where ways lead", s.Self == s.state && s.Name != 0)
		for _, w := range s.Ways {
			if w.To == nil { // it was not open
				continue
			}
			set := known.sets[s.state].Clone()
			for _, serial := range []uint64{w.Old, w.New} {
				if n, ok := number[serial]; ok {
					set = set.Flip(n)
				}
			}
			to := ends[w.To]
			t.Once("number of times that a way between states leads to the right one", to != nil && set.Equal(known.sets[to.state]))
		}
	}
}

// checkSets works the programs of each state out, which are others than those of all other states.
func (k *knownStates) checkSets(t *audit.Audit, all []recountedState) {
	seen := make(map[string]bool, len(all))
	var text []byte
	for s := range audit.Each(t, all) {
		text = text[:0]
		for number := range k.set(t, s.state).All() {
			text = append(text, byte(number), byte(number>>8), byte(number>>16), byte(number>>24))
		}
		if seen[string(text)] {
			t.Differs("number of states with the same programs", 2, 1)
		}
		seen[string(text)] = true
	}
}
