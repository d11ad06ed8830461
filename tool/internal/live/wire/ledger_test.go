package wire_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// Of these devices, 300 is a mesh of a board and of an undeclared device. 255 is a mesh that has the id of its first chip.
func declared() []wire.DeclaredDevice {
	return []wire.DeclaredDevice{{ID: 0, Spec: l1.N150()}, {ID: 255, Chips: []int32{255, 1}}, {ID: 300, Chips: []int32{0, 1}, Spec: l1.N150()}}
}

func ids() []int32 { return []int32{0, 1, 255, 300} }

// world is a ledger beside the naive model and a session that follows its events.
type world struct {
	ledger *wire.Ledger
	model  naive
	teller wire.Translator
	live   session.Session
	notes  watch.Notes
	leaked int64 // by the events
	log    *event.Writer
	text   bytes.Buffer
}

func newWorld(t require.TestingT) *world {
	w := &world{ledger: wire.NewLedger(), model: naive{freed: map[naiveKey]bool{}, odd: map[wire.Oddity]int64{}, chips: map[int32][]int32{}}}
	w.log = event.NewWriter(&w.text)
	for _, e := range w.teller.Header() {
		w.tell(t, e)
	}
	for _, d := range declared() {
		w.ledger.Declare(d.ID, d.Chips...)
		if d.Chips != nil {
			w.model.chips[d.ID] = d.Chips
		}
		for _, e := range w.teller.Declare(d) {
			w.tell(t, e)
		}
	}
	return w
}

func (w *world) tell(t require.TestingT, e event.Event) {
	err := w.live.Apply(&e)
	require.NoError(t, err)
	w.notes.Take(&e, err)
	require.NoError(t, w.log.Write(&e))
}

func (w *world) effect(t require.TestingT, e *wire.Effect) {
	if e.Leaked && (e.Type != wire.TypeCBAlloc || isInL1(e.ID, e.Lot.Size)) {
		w.leaked++
	}
	for _, told := range w.teller.Tell(e) {
		w.tell(t, told)
	}
}

func (w *world) apply(t require.TestingT, o wire.Client, r wire.Record) wire.Effect {
	e, err := w.ledger.Apply(o, int32(o), &r)
	if err != nil {
		require.ErrorAs(t, err, new(*wire.DeviceError))
		require.Equal(t, wire.Refused, e.What)
	}
	w.model.apply(o, r)
	w.effect(t, &e)
	if e.What != wire.Refused && e.What != wire.Asked {
		require.Equal(t, w.model.total(r), e.Total, "the total of its line")
	}
	return e
}

func (w *world) check(t require.TestingT) {
	var all, spread wire.Sums
	for _, id := range ids() {
		require.Equal(t, w.model.totals(id), w.ledger.Totals(id), "records of %d", id)
		on := w.ledger.On(id)
		require.Equal(t, w.model.on(id), on, "device %d", id)
		all.Merge(on)
		w.checkFleet(t, id, on)
	}
	for o := range wire.Client(4) {
		own := map[int32]wire.Sums{}
		for _, named := range ids() {
			for id, t := range w.ledger.TotalsOf(o, named) {
				t.Merge(own[id])
				own[id] = t
			}
		}
		for _, id := range ids() {
			require.Equal(t, w.model.totalsOf(o, id), own[id], "owner %d on device %d", o, id)
		}
	}
	for _, lot := range w.model.lots { // each record on each declared member
		n := uint64(max(1, len(w.model.chips[lot.device])))
		switch lot.what {
		case 'c':
			spread.CB, spread.CBs = spread.CB+n*lot.size, spread.CBs+int(n)
		case 'k':
			spread.Kernels, spread.Loaded = spread.Kernels+n*lot.size, spread.Loaded+int(n)
		}
	}
	require.Equal(t, []any{spread.CB, spread.CBs, spread.Kernels, spread.Loaded}, []any{all.CB, all.CBs, all.Kernels, all.Loaded})
	w.checkProcesses(t)
	require.Equal(t, len(w.model.lots), w.ledger.Len())
	if odd := w.ledger.Anomalies(); len(odd) > 0 || len(w.model.odd) > 0 {
		require.Equal(t, w.model.odd, odd)
	}
}

// checkFleet holds what a session made of the events against the model.
func (w *world) checkFleet(t require.TestingT, id int32, want wire.Sums) {
	d, err := w.live.Fleet().Device(device.ID(id))
	if err != nil {
		require.Zero(t, want)
		return
	}
	got := d.Totals()
	shared, bytes := w.model.shared(id)
	want.Backings, want.Backing = want.Backings+shared, want.Backing+bytes
	require.Equal(t, w.model.union(id), got.Core, "device %d", id)
	require.Equal(t, got.Core*uint64(d.Spec().NumCores()), got.Registered)
	require.Equal(t, want.BufferTotals, got.Buffers)
}

// checkProcesses holds what a watch of the events shows of processes against the model.
func (w *world) checkProcesses(t require.TestingT) {
	var now watch.Snapshot
	w.notes.Add(&now, "", w.live.Fleet(), 0)
	require.Equal(t, w.leaked, now.Leaked)
	var want []watch.Process
	for o := range wire.Client(4) {
		for _, id := range ids() {
			if p, has := w.model.reported(o, id); has {
				want = append(want, p)
			}
		}
	}
	require.Equal(t, want, now.Processes)
}

func drawEvent(t *rapid.T) wire.Record {
	return wire.Record{
		Type:   rapid.SampledFrom([]wire.Type{1, 1, 1, 2, 2, 8, 8, 8, 9, 9, 10, 10, 11, 3, 5, 12}).Draw(t, "type"),
		Device: rapid.SampledFrom([]int32{0, 0, 0, 1, 255, 255, 300, 300, 256, -1}).Draw(t, "device"),
		ID:     rapid.SampledFrom([]uint64{0, 16, 24, 32, 40, 1<<32 - 16, 1<<63 - 1}).Draw(t, "id"),
		Size:   rapid.SampledFrom([]uint64{8, 16, 16, 24, 0, 100<<30 + 1, 1 << 63}).Draw(t, "size"),
		Kind:   rapid.SampledFrom([]uint8{0, 1, 1, 2, 3, 4, 5}).Draw(t, "kind"),
	}
}

// TestLedgerModel: any history of records, legal or not, and of deaths.
func TestLedgerModel(t *testing.T) { rapid.Check(t, ledgerModel) }

func ledgerModel(t *rapid.T) {
	w := newWorld(t)
	t.Repeat(map[string]func(*rapid.T){
		"record": func(t *rapid.T) {
			r := drawEvent(t)
			o := wire.Client(rapid.IntRange(1, 3).Draw(t, "owner"))
			before := w.ledger.Totals(r.Device)
			e := w.apply(t, o, r)
			if e.What == wire.Refused || e.What == wire.Unknown || e.What == wire.Asked {
				require.Equal(t, before, w.ledger.Totals(r.Device))
			}
			line, _ := e.AppendLine(nil)
			require.Equal(t, e.What == wire.Asked, len(line) == 0)
		},
		"many under one key": func(t *rapid.T) {
			brings := rapid.SampledFrom([]wire.Type{wire.TypeAlloc, wire.TypeCBAlloc, wire.TypeKernelLoad}).Draw(t, "type")
			for range rapid.IntRange(15, 20).Draw(t, "times") {
				size := rapid.SampledFrom([]uint64{8, 16, 24}).Draw(t, "size")
				o := wire.Client(rapid.IntRange(1, 3).Draw(t, "owner"))
				w.apply(t, o, wire.Record{Type: brings, ID: 16, Size: size, Kind: 1})
			}
		},
		"death": func(t *rapid.T) {
			o := wire.Client(rapid.IntRange(1, 3).Draw(t, "owner"))
			had := w.ledger.LenOf(o)
			effects := w.ledger.Release(o)
			require.Len(t, effects, had)
			w.model.release(o)
			for i := range effects {
				require.True(t, effects[i].Leaked)
				w.effect(t, &effects[i])
			}
			require.Zero(t, w.ledger.LenOf(o))
		},
		"": func(t *rapid.T) { w.check(t) },
	})
	require.NoError(t, w.live.Fleet().CheckInvariants())
	w.checkLog(t)
	w.checkAfresh(t)
}

// checkLog reads the written log back: the same fleet comes out.
func (w *world) checkLog(t require.TestingT) {
	var again session.Session
	for e, err := range event.NewLog(&w.text, "log").Events() {
		require.NoError(t, err)
		require.NoError(t, again.Apply(e))
	}
	w.requireSame(t, &again)
}

// checkAfresh begins a log with the live lots: the same fleet comes out, except for its peaks.
func (w *world) checkAfresh(t require.TestingT) {
	var again session.Session
	var teller wire.Translator
	for _, d := range declared() {
		for _, e := range teller.Declare(d) {
			require.NoError(t, again.Apply(&e))
		}
	}
	for lot := range w.ledger.Live() {
		for _, e := range teller.Came(&lot) {
			require.NoError(t, again.Apply(&e))
		}
	}
	w.requireSame(t, &again)
}

func (w *world) requireSame(t require.TestingT, again *session.Session) {
	for d := range w.live.Fleet().Devices() {
		want := d.Totals()
		other, err := again.Fleet().Device(d.ID())
		if err != nil {
			require.Zero(t, want.Programs+want.Buffers.Count+want.Buffers.Backings) // nothing lives there
			continue
		}
		got := other.Totals()
		want.Peak, got.Peak = device.Peaks{}, device.Peaks{}
		require.Equal(t, want, got)
	}
}

// FuzzLedger drives the same model by coverage.
func FuzzLedger(f *testing.F) { f.Fuzz(rapid.MakeFuzz(ledgerModel)) }

// A free takes what the sender has before what others have, and prints the size of its
// allocation, whatever it says itself.
func TestFrees(t *testing.T) {
	w := newWorld(t)
	cb := func(typ wire.Type, size uint64) wire.Record {
		return wire.Record{Type: typ, ID: 0x19000, Size: size}
	}
	w.apply(t, 1, cb(wire.TypeCBAlloc, 4096))
	w.apply(t, 2, cb(wire.TypeCBAlloc, 8192))
	require.Equal(t, wire.OddityTooLarge, w.apply(t, 1, cb(wire.TypeCBFree, 8192)).Odd, "what another process has is not its to free")
	e := w.apply(t, 1, cb(wire.TypeCBFree, 0))
	require.Equal(t, wire.Gone, e.What)
	require.EqualValues(t, 4096, e.Bytes)
	require.EqualValues(t, 8192, e.Total)
	require.EqualValues(t, 1, e.PID)
	require.Equal(t, wire.OddityTooLarge, w.apply(t, 2, cb(wire.TypeCBFree, 8193)).Odd)
	e = w.apply(t, 2, cb(wire.TypeCBFree, 1))
	require.Equal(t, wire.OddityFreeSize, e.Odd)
	require.EqualValues(t, 8192, e.Bytes)
	require.Zero(t, e.Total)
	e = w.apply(t, 2, cb(wire.TypeCBFree, 8192))
	require.Equal(t, wire.OddityDoubleFree, e.Odd)
	require.True(t, e.Wrapped)
	require.Equal(t, wire.OddityUnknownFree, w.apply(t, 2, wire.Record{Type: wire.TypeCBFree, ID: 1}).Odd)
	w.check(t)
}

// A buffer that two processes have lives as long as one of them, and is then that one's.
func TestSharedBuffer(t *testing.T) {
	w := newWorld(t)
	for _, o := range []wire.Client{1, 2, 2} {
		w.apply(t, o, wire.Record{Type: wire.TypeAlloc, ID: 0x1000, Size: 4096, Kind: 1})
	}
	require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 1, L1: 4096, Backings: 1, Backing: 4096}}, w.ledger.Totals(0))
	w.check(t)
	first := w.ledger.Release(1)
	require.Len(t, first, 1)
	require.Equal(t, wire.Left, first[0].What)
	require.EqualValues(t, 2, first[0].Heir.PID)
	w.model.release(1)
	w.effect(t, &first[0])
	w.check(t)
	require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 1, L1: 4096, Backings: 1, Backing: 4096}}, w.ledger.Totals(0))
	require.Len(t, w.ledger.Release(2), 2)
	require.Equal(t, wire.Sums{}, w.ledger.Totals(0))
}

// Eight devices of 29.0 MiB each, counted alone; a mesh buffer that is backed on its reference device.
func TestEightDevices(t *testing.T) {
	w := newWorld(t)
	for id := range int32(8) {
		for i := range uint64(29) {
			w.apply(t, 1, wire.Record{Type: wire.TypeCBAlloc, Device: id, ID: 0x1b400, Size: 1 << 20, Time: i})
		}
	}
	for id := range int32(8) {
		require.EqualValues(t, 29<<20, w.ledger.Totals(id).CB)
		d, err := w.live.Fleet().Device(device.ID(id))
		require.NoError(t, err)
		require.EqualValues(t, 1<<20, d.Totals().Core, "29 circular buffers at one address take one MiB of a core")
	}
	// Device 0 is the reference: it allocates what backs the buffer, then its own part at
	// that address; the others their part. 20 records on device 0, 10 elsewhere.
	for id := range int32(2) {
		for i := range uint64(10) {
			size := uint64(1_475_379)
			for range 2 - id {
				w.apply(t, 1, wire.Record{Type: wire.TypeAlloc, Device: id, ID: 0x100000 + i*0x1000, Size: size, Kind: 1})
			}
		}
	}
	zero, one := w.ledger.Totals(0), w.ledger.Totals(1)
	require.Equal(t, one.L1, zero.L1)
	require.Equal(t, 10, zero.Backings)
	require.Equal(t, zero.L1, zero.Backing)
	require.Zero(t, one.Backing)
	for id := range int32(2) {
		for i := range uint64(10) {
			for n := range 2 - id {
				e := w.apply(t, 1, wire.Record{Type: wire.TypeFree, Device: id, ID: 0x100000 + i*0x1000})
				require.Equal(t, map[bool]wire.Fate{true: wire.Gone, false: wire.Left}[n == 1-id], e.What)
				require.EqualValues(t, 1_475_379, e.Bytes)
			}
		}
	}
	require.Zero(t, w.ledger.Totals(0).BufferBytes()+w.ledger.Totals(0).Backing)
	require.Len(t, w.ledger.Release(1), 8*29)
	require.Zero(t, w.ledger.Len())
}

// The memory of freed ids is bounded.
func TestFreedAreForgotten(t *testing.T) {
	l := wire.NewLedger()
	for i := range uint64(1<<16 + 1) {
		for _, typ := range []wire.Type{wire.TypeCBAlloc, wire.TypeCBFree} {
			_, err := l.Apply(1, 1, &wire.Record{Type: typ, ID: i, Size: 1})
			require.NoError(t, err)
		}
		if i == 1<<16-1 {
			e, err := l.Apply(1, 1, &wire.Record{Type: wire.TypeCBFree})
			require.NoError(t, err)
			require.Equal(t, wire.OddityDoubleFree, e.Odd, "all are remembered yet")
		}
	}
	for id, want := range map[uint64]wire.Oddity{0: wire.OddityUnknownFree, 1 << 16: wire.OddityDoubleFree} {
		e, err := l.Apply(1, 1, &wire.Record{Type: wire.TypeCBFree, ID: id})
		require.NoError(t, err)
		require.Equal(t, want, e.Odd)
	}
}

// A follower of months remembers no more programs than lived at once: the ids of CBs that are gone
// are used again, and no two live CBs share one.
func TestProgramsAreAsManyAsLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := wire.NewLedger()
		var teller wire.Translator
		live, most := map[program.ID]bool{}, 0
		for range rapid.IntRange(1, 100).Draw(t, "records") {
			r := wire.Record{Type: rapid.SampledFrom([]wire.Type{wire.TypeCBAlloc, wire.TypeCBFree, wire.TypeAlloc}).Draw(t, "type"), Size: 16, ID: rapid.Uint64Range(1, 5).Draw(t, "id")}
			e, err := l.Apply(1, 1, &r)
			require.NoError(t, err)
			for _, told := range teller.Tell(&e) {
				switch told.Kind {
				case event.KindRegister:
					require.False(t, live[told.Program])
					live[told.Program] = true
					most = max(most, len(live))
				case event.KindUnregister:
					require.True(t, live[told.Program])
					delete(live, told.Program)
				}
				require.LessOrEqual(t, int(told.Program), most+1)
			}
		}
		for id := range live {
			require.LessOrEqual(t, int(id), most)
		}
	})
}
