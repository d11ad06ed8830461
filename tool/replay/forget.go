package replay

import (
	"maps"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A log of months takes the memory of the programs that it names at one time: now and then the replay forgets
// everything that no later event can refer to. No answer depends on when that is.
//
//	programs   until they are defined anew, registered nowhere and in no trace; what checks
//	           have found of them goes with them
//	last runs  until their program is forgotten, and lies neither in L1 nor in the highest peak

// patience is how much has to come before anything is looked through.
const patience = 256

// A turn comes when as many entries are new as the last one visited, so that an entry costs amortised
// O(1).
type turn struct{ came, looked int }

func (t turn) comes(patience int) bool { return t.came > patience+t.looked }

// A catalogue describes the programs of a log.
type catalogue struct {
	contents map[*program.Program]*source.Content
	traces   map[device.TraceID][]*program.Program
	turn     turn // of contents and last runs
	patience int
}

func newCatalogue() catalogue {
	return catalogue{
		contents: map[*program.Program]*source.Content{}, traces: map[device.TraceID][]*program.Program{}, patience: patience,
	}
}

// content describes a program. def is how its id is defined now.
func (c *catalogue) content(p *program.Program, def *source.Definition) (*source.Content, error) {
	if known := c.contents[p]; known != nil {
		return known, nil
	}
	fixed := map[int]bool{}
	for i, cb := range p.CBs() {
		fixed[i] = cb.Fixed
	}
	out, err := source.NewContent([]*program.Program{p}, func(_, cb int) bool { return !fixed[cb] })
	if err != nil {
		return nil, err
	}
	out.AsDeclared(p, def)
	c.contents[p] = out
	c.turn.came++
	return out, nil
}

// recorded returns the programs of a trace, each once.
func (c *catalogue) recorded(id device.TraceID) (out []*program.Program) {
	seen := map[*program.Program]bool{}
	for _, p := range c.traces[id] {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// forget drops the contents and last runs of programs that no event can name any more. It
// returns the contents that are gone.
func (c *catalogue) forget(defs source.Definitions, rows *rows) (gone map[*source.Content]bool) {
	named, looked := c.named(defs, rows.fleet)
	gone = map[*source.Content]bool{}
	for p, content := range c.contents {
		if !named[p] {
			gone[content] = true
			delete(c.contents, p)
		}
	}
	for _, d := range rows.All() {
		looked += c.forgetRuns(d, named)
	}
	c.turn = turn{looked: looked + len(c.contents)}
	return gone
}

// forgetAnswers drops the answers about contents that are gone, and returns the number of answers left.
func forgetAnswers[V any](known map[checkKey]V, gone map[*source.Content]bool) int {
	maps.DeleteFunc(known, func(key checkKey, _ V) bool { return gone[key.content] })
	return len(known)
}

// named are the programs that an event may name: as they are defined now, as they are
// registered, and as a trace has recorded them. It returns how many names it visited.
func (c *catalogue) named(defs source.Definitions, fleet *device.Fleet) (out map[*program.Program]bool, looked int) {
	out = map[*program.Program]bool{}
	defs.Named(out)
	for p := range fleet.Programs() {
		out[p] = true
	}
	looked = len(out)
	for _, recorded := range c.traces {
		for _, p := range recorded {
			out[p] = true
		}
		looked += len(recorded)
	}
	return out, looked
}

// forgetRuns drops the last runs of programs that no event can name and that lie nowhere. It returns the number of
// things that it visited.
func (c *catalogue) forgetRuns(d *row, named map[*program.Program]bool) (looked int) {
	last := &d.memory.last
	looked = 1 + last.Len()
	var gone []*program.Program
	for p := range last.All() {
		if !named[p] {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return looked
	}
	there := map[*program.Program]bool{}
	see := func(g device.UsageGroup) {
		for held := range g.Residents() {
			there[held.Program] = true
			looked++
		}
	}
	for g := range d.dev.UsageGroups(device.BasisResident) {
		see(g)
	}
	for w := range d.marks.pasts() {
		for g := range w.moment.UsageGroups() {
			see(g)
		}
	}
	for _, p := range gone {
		if there[p] {
			continue
		}
		last.Delete(p)
		for w := range d.marks.pasts() {
			w.last.Delete(p)
		}
	}
	return looked
}
