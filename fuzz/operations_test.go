package fuzz_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	operations = flag.Int("operations", 20_000, "play at least so many operations beside models, on all processors")
	firstLife  = flag.Uint64("life", 0, "the first life to play; 0 = a random one")
)

// So many operations are played as lives of fleets. After each one, everything that has a total is
// compared with a model of a word for each core. Every other life is a short one beside the
// oracle, with all queries.
func TestOperations(t *testing.T) {
	first := *firstLife
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	begin := time.Now()
	c := campaign{next: first, left: *operations, played: map[gen.Op]*tally{}}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(c.work)
	}
	workers.Wait()
	var sum tally
	for _, op := range slices.Sorted(maps.Keys(c.played)) {
		x := c.played[op]
		sum.words, sum.oracle, sum.refused = sum.words+x.words, sum.oracle+x.oracle, sum.refused+x.refused
		t.Logf("%9d %s, of them %d beside the oracle; %d refused", x.words+x.oracle, op, x.oracle, x.refused)
	}
	t.Logf("%9d operations, of them %d beside the oracle; %d refused; %d lives from %d on; %.0f s",
		sum.words+sum.oracle, sum.oracle, sum.refused, c.lives, first, time.Since(begin).Seconds())
	require.Empty(t, c.wrong)
	require.GreaterOrEqual(t, sum.words+sum.oracle, *operations)
}

// A campaign is lives that some workers play.
type campaign struct {
	stop atomic.Bool

	mu     sync.Mutex
	left   int    // operations to play
	next   uint64 // life
	lives  int
	played map[gen.Op]*tally
	wrong  string // about a life in which something differs
}

// A tally says how often something was done beside a model, and how often it was refused.
type tally struct{ words, oracle, refused int }

func (c *campaign) work() {
	for !c.stop.Load() {
		c.mu.Lock()
		number := c.next
		c.next++
		c.mu.Unlock()
		w := &witness{played: map[gen.Op]*tally{}}
		if number%2 == 0 {
			c.note(w.played, w.live(number))
			continue
		}
		c.note(words(number))
	}
}

// words plays a life beside words.
func words(number uint64) (played map[gen.Op]*tally, wrong string) {
	played = map[gen.Op]*tally{}
	w, err := newWordWorld(number)
	if err == nil {
		err = w.live(func(op gen.Op, refused bool) { count(played, op, refused).words++ })
	}
	if err != nil {
		wrong = fmt.Sprintf("life %d (-operations 1 -life %d): %v", number, number, err)
	}
	return played, wrong
}

// count returns the tally of a kind of call that was played.
func count(played map[gen.Op]*tally, op gen.Op, refused bool) *tally {
	x := played[op]
	if x == nil {
		x = new(tally)
		played[op] = x
	}
	if refused {
		x.refused++
	}
	return x
}

func (c *campaign) note(played map[gen.Op]*tally, wrong string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lives++
	for op, x := range played {
		to := count(c.played, op, false)
		to.words, to.oracle, to.refused = to.words+x.words, to.oracle+x.oracle, to.refused+x.refused
		c.left -= x.words + x.oracle
	}
	if c.wrong == "" {
		c.wrong = wrong
	}
	if c.left <= 0 || c.wrong != "" {
		c.stop.Store(true)
	}
}

// A witness is a fleet that records the moves played on it.
type witness struct {
	*fleet
	played map[gen.Op]*tally
	moves  []gen.Move
	checks int
}

// live plays the life with a number, and returns the first difference.
func (w *witness) live(number uint64) (wrong string) {
	rapid.Custom(func(t *rapid.T) (lived bool) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if kind := fmt.Sprintf("%T", p); kind != "rapid.invalidData" && wrong == "" {
				wrong = w.tell(number, p)
			}
		}()
		w.fleet, w.moves = newFleet().(*fleet), w.moves[:0]
		suite.TrackerModel(func() suite.Tracker { return w })(t)
		return true
	}).Example(int(number & math.MaxInt32)) // the oracle's lives do not depend on the size of an int
	return wrong
}

// tell returns the difference of a life, and the moves before it, as text.
func (w *witness) tell(number uint64, p any) string {
	var out strings.Builder
	fmt.Fprintf(&out, "life %d (-operations 1 -life %d): %v", number, number, p)
	for _, m := range w.moves {
		fmt.Fprintf(&out, "\n  %v", m)
	}
	return out.String()
}

// Played notes a call.
func (w *witness) Played(m gen.Move, err error) error {
	w.moves = append(w.moves, m)
	count(w.played, m.Op, err != nil).oracle++
	return w.fleet.Played(m, err)
}

// CheckInvariants lets the fleet recount itself now and then.
func (w *witness) CheckInvariants() error {
	if w.checks++; w.checks%4 != 0 {
		return nil
	}
	return w.fleet.CheckInvariants()
}
