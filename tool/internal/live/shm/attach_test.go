package shm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/internal/live/shm"
)

// A world is a region in memory, and who lives.
type world struct {
	b     []byte
	dead  map[int32]bool
	waits int
	wait  func()
}

func newWorld(b []byte) *world {
	if b == nil {
		b = make([]byte, shm.Size)
	}
	return &world{b: b, dead: map[int32]bool{}}
}

func (w *world) terms(version uint32, pid int32) shm.Claim {
	return shm.Claim{
		Version: version, ASIC: 0x77, Device: 2, PID: pid, Name: "test",
		Alive: func(pid int32) bool { return pid > 0 && !w.dead[pid] },
		Now:   func() time.Time { return time.Unix(0, 1000) },
		Wait: func() {
			w.waits++
			if w.wait != nil {
				w.wait()
			}
		},
	}
}

func (w *world) attach(version uint32, pid int32) (*shm.Publisher, error) {
	r, err := shm.Over(w.b)
	if err != nil {
		return nil, err
	}
	return shm.Attach(r, w.terms(version, pid))
}

func (w *world) image(t require.TestingT) shm.Image {
	im, err := shm.Decode(w.b)
	require.NoError(t, err)
	return im
}

func TestPublish(t *testing.T) {
	for _, version := range []uint32{3, 4} {
		w := newWorld(nil)
		p, err := w.attach(version, 50)
		require.NoError(t, err)
		require.NoError(t, p.Put(shm.Counters{DRAM: 1, L1: 2, L1Small: 3, Trace: 4, CB: 500}))
		u := shm.Counters{DRAM: 10, L1: 1, L1Small: 3, Trace: 0, CB: 400}
		require.NoError(t, p.Put(u))
		want := shm.Image{Version: version, Active: 1, References: 1, Updated: 1000, ASIC: 0x77, Device: 2, Totals: u}
		for i := range want.Chips {
			want.Chips[i].ID = shm.NoChip
		}
		want.Chips[0] = shm.ChipEntry{ID: 2, Counters: u}
		want.Processes[0] = shm.Slot{PID: 50, Counters: u, Updated: 1000, Name: "test"}
		require.Equal(t, want, w.image(t))
		require.Equal(t, want.Append(nil), w.b, "every byte")
		require.NoError(t, p.Close())
		want.Active, want.References, want.Totals, want.Chips[0].Counters, want.Processes[0] = 0, 0, shm.Counters{}, shm.Counters{}, shm.Slot{}
		require.Equal(t, want, w.image(t))
		require.ErrorIs(t, p.Put(u), shm.ErrLost)
		require.Equal(t, want, w.image(t), "what is refused changes nothing")
	}
	_, err := newWorld(nil).attach(2, 1)
	_, unknown := errors.AsType[*shm.VersionError](err)
	require.True(t, unknown)
}

// A process that comes and goes leaves nothing, in one slot; and a slot of a process that was
// killed is given back by the next one.
func TestChurn(t *testing.T) {
	w := newWorld(nil)
	for range 16 {
		p, err := w.attach(4, 9)
		require.NoError(t, err)
		require.NoError(t, p.Put(shm.Counters{DRAM: 1 << 20}))
		require.EqualValues(t, 1, w.image(t).References)
		require.NoError(t, p.Close())
		require.Zero(t, w.image(t).Totals)
	}
	p, err := w.attach(4, 9)
	require.NoError(t, err)
	require.NoError(t, p.Put(shm.Counters{DRAM: 64 << 20, CB: 5}))
	w.dead[9] = true
	require.EqualValues(t, 64<<20, w.image(t).Totals.DRAM, "nobody has come since")
	_, err = w.attach(4, 10)
	require.NoError(t, err)
	im := w.image(t)
	require.Zero(t, im.Totals)
	require.Zero(t, im.Chips[0].Counters)
	require.EqualValues(t, 1, im.References)
	require.EqualValues(t, 10, im.Processes[0].PID)
	require.ErrorIs(t, p.Put(shm.Counters{DRAM: 1}), shm.ErrLost)
}

// A slot that has our number is taken with its figures, and these are corrected.
func TestRecycledNumber(t *testing.T) {
	w := newWorld(nil)
	p, err := w.attach(4, 9)
	require.NoError(t, err)
	require.NoError(t, p.Put(shm.Counters{CB: 70}))
	copy(w.b[856+56:], "else")
	before := slices.Clone(w.b)
	p, err = w.attach(4, 9)
	require.NoError(t, err)
	require.Equal(t, before, w.b)
	require.NoError(t, p.Put(shm.Counters{CB: 30}))
	im := w.image(t)
	require.EqualValues(t, 30, im.Totals.CB)
	require.EqualValues(t, 1, im.References)
}

// A region of a live process is refused and not touched; one of a dead process is set up anew.
func TestHeld(t *testing.T) {
	for _, was := range []uint32{2, 3, 4} {
		for _, version := range []uint32{3, 4} {
			im := shm.Image{Version: was, Active: 1, References: 1, Totals: shm.Counters{DRAM: 64 << 20}}
			im.Processes[7] = shm.Slot{PID: 1000, Counters: im.Totals, Name: "owner"}
			w := newWorld(im.Append(nil))
			before := slices.Clone(w.b)
			_, err := w.attach(version, 50)
			held, ok := errors.AsType[*shm.HeldError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, &shm.HeldError{PID: 1000, Name: "owner"}, held)
			require.Equal(t, before, w.b)

			w.dead[1000] = true
			_, err = w.attach(version, 50)
			require.NoError(t, err)
			got := w.image(t)
			require.Equal(t, version, got.Version)
			require.Zero(t, got.Totals)
			require.EqualValues(t, 1, got.References)
			require.EqualValues(t, 50, got.Processes[0].PID)
			require.Zero(t, got.Processes[7])
		}
	}
	im := shm.Image{Version: 9, References: 1}
	w := newWorld(im.Append(nil))
	_, err := w.attach(4, 50)
	_, unknown := errors.AsType[*shm.VersionError](err)
	require.True(t, unknown, "somebody has what nobody here knows: %v", err)
	require.Equal(t, im.Append(nil), w.b)
	im.References = 0
	w = newWorld(im.Append(nil))
	_, err = w.attach(4, 50)
	require.NoError(t, err)
	require.EqualValues(t, 4, w.image(t).Version)
}

// A region of version 4 that is not ready, and one of another version that says it is, are set up anew. A version before 2 or
// above 4 has no slots, whatever stands there.
func TestNotAsItShouldBe(t *testing.T) {
	const ready = 0x52454459
	for _, was := range []struct{ version, state uint32 }{{4, 0}, {4, ready - 1}, {3, ready}, {1, ready}, {5, ready}} {
		im := shm.Image{Version: was.version, Updated: 9, Active: 1}
		im.Processes[3] = shm.Slot{PID: 1000, Name: "x"}
		w := newWorld(im.Append(nil))
		w.dead[1000] = was.version == 3 || was.version == 4 // the others have no process
		binary.LittleEndian.PutUint32(w.b[8536:], was.state)
		_, err := w.attach(4, 50)
		require.NoError(t, err, "%v", was)
		require.Equal(t, fresh(4, 50), w.b, "%v", was)
	}
}

// A process that waits for another one takes what that makes; where nothing comes of it
// for a second, it begins anew.
func TestInProgress(t *testing.T) {
	b := make([]byte, shm.Size)
	binary.LittleEndian.PutUint32(b[8536:], 1)
	w := newWorld(slices.Clone(b))
	_, err := w.attach(4, 50)
	require.NoError(t, err)
	require.Equal(t, 1000, w.waits)
	require.EqualValues(t, 1, w.image(t).References)

	w = newWorld(b)
	made := shm.Image{Version: 4, Serial: 5}
	w.wait = func() { copy(w.b, made.Append(nil)) }
	_, err = w.attach(4, 50)
	require.NoError(t, err)
	require.Equal(t, 1, w.waits)
	require.Zero(t, w.image(t).Serial, "always written anew")
	require.EqualValues(t, 50, w.image(t).Processes[0].PID)
	require.NotEqualValues(t, 2, w.image(t).Chips[0].ID, "not set up a second time")
}

func TestFull(t *testing.T) {
	im := shm.Image{Version: 4, References: 64, Active: 64}
	for i := range im.Processes {
		im.Processes[i].PID = -1
	}
	w := newWorld(im.Append(nil))
	before := slices.Clone(w.b)
	_, err := w.attach(4, 50)
	require.ErrorIs(t, err, shm.ErrFull)
	require.Equal(t, before, w.b)
	_, err = newWorld(make([]byte, 8568)).attach(4, 50)
	_, short := errors.AsType[*shm.SizeError](err)
	require.True(t, short, "%v", err)
}

// TestLives draws lives of processes. The model is the owner and the figures of each slot: sums
// equal the sums of slots, even if deaths are not noticed yet.
func TestLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(nil)
		var holder *shm.Publisher
		var pid int32
		has := map[int32]shm.Counters{}
		for next := int32(1); next < 30; next++ {
			switch rapid.SampledFrom([]string{"attach", "put", "put", "close", "kill"}).Draw(t, "step") {
			case "attach":
				p, err := w.attach(4, next)
				if holder != nil {
					_, held := errors.AsType[*shm.HeldError](err)
					require.True(t, held, "%v", err)
					continue
				}
				require.NoError(t, err)
				clear(has)
				holder, pid, has[next] = p, next, shm.Counters{}
			case "put":
				if holder == nil {
					continue
				}
				n := rapid.SampledFrom([]uint64{0, 1, 1 << 20, 1 << 40})
				u := shm.Counters{DRAM: n.Draw(t, "dram"), CB: n.Draw(t, "cb")}
				require.NoError(t, holder.Put(u))
				has[pid] = u
			case "close":
				if holder == nil {
					continue
				}
				require.NoError(t, holder.Close())
				holder = nil
				clear(has)
			case "kill":
				w.dead[pid] = true
				holder = nil
			}
			if w.b[0] == 0 {
				continue
			}
			im := w.image(t)
			var sum shm.Counters
			slots := uint32(0)
			for _, p := range im.Processes {
				if p.PID != 0 {
					require.Equal(t, has[p.PID], p.Counters)
					sum.DRAM, sum.CB = sum.DRAM+p.DRAM, sum.CB+p.CB
					slots++
				}
			}
			require.Len(t, has, int(slots))
			require.Equal(t, sum, im.Totals)
			require.Equal(t, slots, im.References)
			require.Equal(t, slots, im.Active)
		}
	})
}

// A process that attaches later, as tt-metal does without a check for others, keeps its figures:
// sums are moved by differences. Before version 4 the CBs are the last writer's.
func TestBeside(t *testing.T) {
	for _, version := range []uint32{3, 4} {
		w := newWorld(nil)
		p, err := w.attach(version, 50)
		require.NoError(t, err)
		require.NoError(t, p.Put(shm.Counters{DRAM: 16 << 20, CB: 1000}))
		im := w.image(t)
		im.Processes[1] = shm.Slot{PID: 60, Counters: shm.Counters{DRAM: 48 << 20, L1: 9, CB: 7}}
		im.References, im.Active = 2, 2
		im.Totals.DRAM, im.Totals.L1, im.Totals.CB = im.Totals.DRAM+48<<20, 9, im.Totals.CB+7
		copy(w.b, im.Append(nil))
		require.NoError(t, p.Put(shm.Counters{DRAM: 8 << 20, L1: 5, CB: 900}))
		got := w.image(t)
		want := shm.Counters{DRAM: 56 << 20, L1: 14, CB: 907}
		require.Equal(t, want, got.Total(func(int32) bool { return true }))
		if version == 3 {
			want.CB = 900
		}
		require.Equal(t, want, got.Totals)
		require.Equal(t, want, got.Chips[0].Counters)
		require.NoError(t, p.Close())
		got = w.image(t)
		require.Equal(t, im.Processes[1], got.Processes[1])
		require.EqualValues(t, 48<<20, got.Totals.DRAM)
		require.EqualValues(t, 1, got.References)
		require.NoError(t, p.Close())
		require.Equal(t, got, w.image(t), "closed a second time")
	}
}

// fresh returns the region that a process has just set up, whatever stood there.
func fresh(version uint32, pid int32) []byte {
	im := shm.Image{Version: version, Active: 1, References: 1, ASIC: 0x77, Device: 2}
	for i := range im.Chips {
		im.Chips[i].ID = shm.NoChip
	}
	im.Chips[0].ID = 2
	im.Processes[0] = shm.Slot{PID: pid, Name: "test"}
	return im.Append(nil)
}

// What stood in a region that is set up is gone, to its last byte.
func TestSetUp(t *testing.T) {
	for _, version := range []uint32{3, 4} {
		w := newWorld(bytes.Repeat([]byte{0xff}, shm.Size))
		binary.LittleEndian.PutUint32(w.b, 0)        // of no version, so that no process can hold it
		binary.LittleEndian.PutUint32(w.b[8536:], 0) // and no process is at work
		_, err := w.attach(version, 50)
		require.NoError(t, err)
		require.Equal(t, fresh(version, 50), w.b)
	}
}

// A region without attached processes begins with sums of 0, also for the chips behind the device;
// its entries of chips stay. Chip and device are set by the process that comes.
func TestIdle(t *testing.T) {
	u := shm.Counters{DRAM: 1, L1: 2, L1Small: 3, Trace: 4, CB: 5}
	im := shm.Image{Version: 4, Updated: 9, Serial: 8, ASIC: 7, Device: 6, Totals: u}
	im.Chips[0] = shm.ChipEntry{ID: 6, Counters: u}
	im.Chips[1] = shm.ChipEntry{ID: shm.NoChip, Counters: u}
	im.Chips[15] = shm.ChipEntry{ID: 3, Remote: true, Counters: u}
	w := newWorld(im.Append(nil))
	_, err := w.attach(4, 50)
	require.NoError(t, err)
	im.Active, im.References, im.Serial, im.ASIC, im.Device, im.Totals = 1, 1, 0, 0x77, 2, shm.Counters{}
	im.Chips[0].Counters, im.Chips[15].Counters = shm.Counters{}, shm.Counters{}
	im.Processes[0] = shm.Slot{PID: 50, Name: "test"}
	require.Equal(t, im, w.image(t))
}

// The last slot is one like the first: it is held, and it is taken.
func TestLastSlot(t *testing.T) {
	im := shm.Image{Version: 4, Active: 1, References: 1}
	im.Processes[63] = shm.Slot{PID: 1, Name: "owner"}
	w := newWorld(im.Append(nil))
	_, err := w.attach(4, 50)
	require.Equal(t, &shm.HeldError{PID: 1, Name: "owner"}, err)

	im = shm.Image{Version: 4, Active: 63, References: 63}
	for i := range im.Processes[:63] {
		im.Processes[i].PID = -1
	}
	w = newWorld(im.Append(nil))
	_, err = w.attach(4, 50)
	require.NoError(t, err)
	require.Equal(t, shm.Slot{PID: 50, Name: "test"}, w.image(t).Processes[63])
	require.EqualValues(t, 64, w.image(t).References)
}

// meanwhile lets another process take a slot right after this one has read all of them.
func meanwhile(t *testing.T, im shm.Image, slot int) (*world, error) {
	t.Helper()
	im.Processes[9].PID = 1000 // dead: it is tested when slots are visited, and when it is cleared
	w := newWorld(im.Append(nil))
	r, err := shm.Over(w.b)
	require.NoError(t, err)
	terms, asked := w.terms(4, 50), 0
	terms.Alive = func(pid int32) bool {
		if pid != 1000 {
			return true
		}
		if asked++; asked == 2 {
			binary.LittleEndian.PutUint32(w.b[856+120*slot:], 60)
		}
		return false
	}
	_, err = shm.Attach(r, terms)
	return w, err
}

// Of two that come at once the one in front stays, and the other one leaves nothing.
func TestTwoAtOnce(t *testing.T) {
	im := shm.Image{Version: 4, Active: 2, References: 2}
	im.Processes[0].PID = -1 // on its way to be free
	w, err := meanwhile(t, im, 0)
	require.Equal(t, &shm.HeldError{PID: 60}, err)
	im.Active, im.References, im.Processes[0].PID = 1, 1, 60
	require.Equal(t, im, w.image(t))

	w, err = meanwhile(t, shm.Image{Version: 4, Active: 1, References: 1}, 20)
	require.NoError(t, err)
	require.EqualValues(t, 50, w.image(t).Processes[0].PID)
	require.EqualValues(t, 60, w.image(t).Processes[20].PID)
}

// Where sums and counts are less than what a process gives back they stop at 0. A process that goes
// takes dead ones with it, and no time is before 1970.
func TestSumsStopAtZero(t *testing.T) {
	w := newWorld(nil)
	r, err := shm.Over(w.b)
	require.NoError(t, err)
	terms := w.terms(4, 50)
	terms.Now = func() time.Time { return time.Unix(-5, 0) }
	terms.Name = strings.Repeat("n", 70)
	p, err := shm.Attach(r, terms)
	require.NoError(t, err)
	require.NoError(t, p.Put(shm.Counters{DRAM: 9, CB: 70}))
	require.Zero(t, w.b[856+56+63])
	im := w.image(t)
	require.Zero(t, im.Updated)
	im.Totals.CB, im.Active, im.References = 5, 0, 1
	im.Processes[1] = shm.Slot{PID: 1000, Counters: shm.Counters{DRAM: 3}}
	w.dead[1000] = true
	copy(w.b, im.Append(nil))
	require.NoError(t, p.Put(shm.Counters{DRAM: 9, CB: 1}))
	require.Equal(t, shm.Counters{DRAM: 9}, w.image(t).Totals)
	require.NoError(t, p.Close())
	im = w.image(t)
	require.Zero(t, im.Processes)
	require.Equal(t, []uint32{0, 0}, []uint32{im.Active, im.References})
	require.Zero(t, im.Totals)
}
