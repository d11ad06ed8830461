package shm_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/shm"
)

// Errors, in whole sentences and with the present values.
func TestErrors(t *testing.T) {
	attach := func(size int, version uint32) error {
		_, err := newWorld(make([]byte, size)).attach(version, 50)
		return err
	}
	require.Equal(t, &shm.SizeError{Size: 8535, Want: 8536}, attach(8535, 4))
	require.Equal(t, &shm.SizeError{Size: 8536, Want: 8576}, attach(8536, 4))
	require.Equal(t, &shm.SizeError{Size: 8575, Want: 8576}, attach(8575, 4))
	require.NoError(t, attach(8576, 4))
	require.NoError(t, attach(9000, 3))
	for _, version := range []uint32{0, 2, 5} {
		require.Equal(t, &shm.VersionError{Version: version}, attach(8576, version))
	}
	_, err := newWorld((&shm.Image{Version: 9, References: 1}).Append(nil)).attach(4, 50)
	require.Equal(t, &shm.VersionError{Version: 9}, err)
	for err, want := range map[error]string{
		&shm.SizeError{Size: 5, Want: 6}:                                         "a region of 5 bytes: want 6",
		&shm.VersionError{Version: 9}:                                            "a region of version 9: want 2, 3 or 4",
		&shm.HeldError{PID: 7, Name: "a\x1b"}:                                    `process 7 (a\x1b) holds the region`,
		&shm.HeldError{PID: 7, Name: string(bytes.Repeat([]byte("x"), 64))}:      "process 7 (" + string(bytes.Repeat([]byte("x"), 64)) + ") holds the region",
		&shm.HeldError{PID: 7, Name: string(bytes.Repeat([]byte("x"), 65))[:64]}: "process 7 (" + string(bytes.Repeat([]byte("x"), 64)) + ") holds the region",
	} {
		require.EqualError(t, err, want)
	}
}

// A region of 8536 bytes can be read in versions 2 and 3, and one of version 4 has a word more.
func TestLeastSizes(t *testing.T) {
	for version, least := range map[uint32]int{2: 8536, 3: 8536, 4: 8540} {
		b := (&shm.Image{Version: version, Serial: 5}).Append(nil)
		_, err := shm.Decode(b[:least-1])
		require.Equal(t, &shm.SizeError{Size: int64(least - 1), Want: int64(least)}, err)
		im, err := shm.Decode(b[:least])
		require.NoError(t, err)
		require.EqualValues(t, 5, im.Serial)
	}
	notReady := (&shm.Image{Version: 3}).Append(nil)
	notReady[0] = 4
	_, err := shm.Decode(notReady[:8540])
	require.ErrorIs(t, err, shm.ErrNotReady)
}

// A region that was given back says nothing, and can be given back again.
func TestClosed(t *testing.T) {
	r, err := shm.Over((&shm.Image{Version: 3}).Append(nil))
	require.NoError(t, err)
	_, err = r.Read()
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, r.Close())
		_, err = r.Read()
		require.ErrorIs(t, err, shm.ErrFault)
	}
}

// A name has at most 63 bytes, whatever stands in the last one.
func TestNameOf64Bytes(t *testing.T) {
	im := shm.Image{Version: 3}
	im.Processes[2].PID = 7
	b := im.Append(nil)
	copy(b[856+2*120+56:], bytes.Repeat([]byte("x"), 64))
	got, err := shm.Decode(b)
	require.NoError(t, err)
	require.Len(t, got.Processes[2].Name, 63)

	w := newWorld(nil)
	r, err := shm.Over(w.b)
	require.NoError(t, err)
	terms := w.terms(4, 50)
	terms.Name = string(bytes.Repeat([]byte("y"), 70))
	_, err = shm.Attach(r, terms)
	require.NoError(t, err)
	require.Equal(t, terms.Name[:63], w.image(t).Processes[0].Name)
}

// A process takes the slot that has its number, also the last one, and publishes there.
func TestOwnSlot(t *testing.T) {
	for _, slot := range []int{1, 63} {
		im := shm.Image{Version: 4, Active: 2, References: 2, Totals: shm.Counters{L1: 9}, Updated: 1}
		im.Processes[slot] = shm.Slot{PID: 50, Counters: shm.Counters{L1: 5}}
		w := newWorld(im.Append(nil))
		p, err := w.attach(4, 50)
		require.NoError(t, err)
		require.NoError(t, p.Put(shm.Counters{DRAM: 3, L1: 4}))
		got := w.image(t)
		require.Equal(t, shm.Slot{PID: 50, Counters: shm.Counters{DRAM: 3, L1: 4}, Updated: 1000}, got.Processes[slot])
		require.Equal(t, shm.Counters{DRAM: 3, L1: 8}, got.Totals)
		require.Equal(t, got.Totals, got.Chips[0].Counters)
		require.Equal(t, [2]uint32{2, 2}, [2]uint32{got.Active, got.References}, "it is attached already")
		require.NoError(t, p.Close())
		got = w.image(t)
		require.Equal(t, shm.Slot{}, got.Processes[slot])
		require.Equal(t, shm.Counters{L1: 4}, got.Totals)
		require.Equal(t, [2]uint32{1, 1}, [2]uint32{got.Active, got.References})
	}
}

// What dead processes had goes when one comes, from the first slot to the last.
func TestDeadSlots(t *testing.T) {
	im := shm.Image{Version: 4, Active: 3, References: 3, Totals: shm.Counters{L1: 10}}
	im.Processes[0] = shm.Slot{PID: 60, Counters: shm.Counters{L1: 1}, Name: "a", Updated: 5}
	im.Processes[63] = shm.Slot{PID: 61, Counters: shm.Counters{L1: 2}, Name: "b", Updated: 6}
	im.Processes[30] = shm.Slot{PID: -1, Counters: shm.Counters{L1: 4}}
	w := newWorld(im.Append(nil))
	w.dead[60], w.dead[61] = true, true
	_, err := w.attach(4, 50)
	require.NoError(t, err)
	got := w.image(t)
	require.Equal(t, shm.Slot{PID: 50, Name: "test"}, got.Processes[0])
	require.Equal(t, shm.Slot{}, got.Processes[63])
	require.Equal(t, im.Processes[30], got.Processes[30], "it is on its way")
	require.Equal(t, shm.Counters{L1: 7}, got.Totals)
	require.Equal(t, [2]uint32{2, 2}, [2]uint32{got.Active, got.References})
}

// A process that waits for another one to set the region up is refused if a third one attached
// meanwhile.
func TestHeldMeanwhile(t *testing.T) {
	b := make([]byte, shm.Size)
	binary.LittleEndian.PutUint32(b[8536:], 1)
	w := newWorld(b)
	made := shm.Image{Version: 4, Active: 1, References: 1}
	made.Processes[5] = shm.Slot{PID: 1000, Name: "first"}
	w.wait = func() { copy(w.b, made.Append(nil)) }
	_, err := w.attach(4, 50)
	require.Equal(t, &shm.HeldError{PID: 1000, Name: "first"}, err)
	require.Equal(t, made.Append(nil), w.b)
}

// Free slots count in no sum, whichever processes live.
func TestTotalOfLiving(t *testing.T) {
	all := func(int32) bool { return true }
	im := shm.Image{Version: 3, Totals: shm.Counters{L1: 1, CB: 5}}
	im.Processes[0] = shm.Slot{PID: 0, Counters: shm.Counters{CB: 100}}
	im.Processes[1] = shm.Slot{PID: -1, Counters: shm.Counters{CB: 100}}
	im.Processes[2] = shm.Slot{PID: 1, Counters: shm.Counters{CB: 7}}
	require.Equal(t, shm.Counters{L1: 1, CB: 5}, im.Total(all), "the last writer is the only one")
	im.Processes[63] = shm.Slot{PID: 2, Counters: shm.Counters{CB: 8}}
	require.Equal(t, shm.Counters{L1: 1, CB: 15}, im.Total(all))
	require.Equal(t, shm.Counters{L1: 1, CB: 5}, im.Total(func(pid int32) bool { return pid == 2 }))
	im.Processes[63].CB = 1<<64 - 5
	require.Equal(t, uint64(1<<64-1), im.Total(all).CB)
	im.Version = 4
	require.Equal(t, im.Totals, im.Total(all))
	im.Version = 2
	require.Equal(t, uint64(1<<64-1), im.Total(all).CB)
}
