package device

import "slices"

// A recountedState is a state as it was: how its programs are worked out, and where its ways led.
// The states that it names are not looked into.
type recountedState struct {
	state, found *state // where ways to it lead: itself
	name         uint64
	step                  // from the state before
	content      *content // nil if it has none
	lent         *state   // that has it, a step farther
	ways         [2]way[state]
	to           [2]*state // where they led; nil if they were not open
}

// recounted returns what has to be recounted of s.
func (s *state) recounted() recountedState {
	out := recountedState{state: s, found: s.self, name: s.name, step: s.step, content: s.content, lent: s.lent, ways: s.ways}
	for i := range s.ways {
		if s.ways[i].open() {
			out.to[i] = s.ways[i].to.self
		}
	}
	return out
}

// knownStates are states with their programs, as far as those have been worked out.
type knownStates struct {
	of   map[*state]*recountedState
	sets map[*state]bitset
}

// set returns the numbers of the programs of a state, by the steps from the nearest one
// that is known. Cost: O(n/64) for each state, once.
func (k *knownStates) set(t *audit, s *state) (set bitset) {
	var on []*recountedState // the way there, backwards
	known := false
	for !known {
		if set, known = k.sets[s]; known {
			break
		}
		at := k.of[s]
		switch {
		case at == nil:
			t.differs("number of times that a state before another one is found by its hash", 0, 1)
			return set
		case at.content != nil:
			set, known = at.content.live.bits, true
		case at.lent != nil && k.of[at.lent] != nil:
			ahead := k.of[at.lent]
			set, known = ahead.content.live.bits.clone().over(ahead.step), true
		default:
			on, s = append(on, at), at.from
		}
	}
	k.sets[s] = set
	for _, at := range slices.Backward(on) {
		set = set.clone().over(at.step)
		k.sets[at.state] = set
	}
	return set
}

// over returns b with what a step puts on and without what it takes off, or the other way
// round, in place where there is room.
func (b bitset) over(by step) bitset {
	for _, r := range [...]*registration{by.old, by.new} {
		if r != nil {
			b = b.flip(r.number)
		}
	}
	return b
}

// checkWays verifies that registrations know how many steps name them, that the ways from states
// lead to the set of programs that they name, and that no two states are equal.
func (all *recounting) checkWays(t *audit) {
	named, number := map[*registration]int{}, map[uint64]int{} // by serial number; buffers have none
	known := knownStates{make(map[*state]*recountedState, len(all.states)), make(map[*state]bitset, len(all.states))}
	for s := range each(t, all.states) {
		known.of[s.state] = s
		for _, r := range []*registration{s.old, s.new} {
			if r != nil {
				named[r]++
			}
		}
	}
	for i, r := range all.roster.of {
		if r == nil {
			continue
		}
		if all.steps[i] != named[r] {
			t.about(0, "", r.program)
			same(t, "number of steps", all.steps[i], named[r])
		}
		if r.serial != 0 {
			number[r.serial] = r.number
		}
	}
	t.about(0, "", nil)
	known.checkSets(t, all.states)
	for s := range each(t, all.states) {
		t.once("number of times that a state is where ways lead", s.found == s.state && s.name != 0)
		for w, to := range s.to {
			if to == nil {
				continue
			}
			set := known.sets[s.state].clone()
			for _, serial := range []uint64{s.ways[w].old, s.ways[w].new} {
				if n, ok := number[serial]; ok {
					set = set.flip(n)
				}
			}
			there, ok := known.sets[to]
			t.once("number of times that a way between states leads to the right one", ok && set.equal(there))
		}
	}
}

// checkSets works the programs of each state out, which are others than those of all other states.
func (k *knownStates) checkSets(t *audit, all []recountedState) {
	seen := make(map[string]bool, len(all))
	var text []byte
	for s := range each(t, all) {
		text = text[:0]
		for number := range k.set(t, s.state).all() {
			text = append(text, byte(number), byte(number>>8), byte(number>>16), byte(number>>24))
		}
		if seen[string(text)] {
			t.differs("number of states with the same programs", 2, 1)
		}
		seen[string(text)] = true
	}
}
