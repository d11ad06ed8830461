package shm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/internal/live/shm"
)

// A field is a place of the layout, as its description has it.
type field struct {
	name     string
	at, size int
	of       func(im *shm.Image) uint64
}

// fields are all numbers of a region, at the offsets of the fact sheet, without help of the
// package.
func fields() []field {
	out := []field{
		{"version", 0, 4, func(im *shm.Image) uint64 { return uint64(im.Version) }},
		{"num_active_processes", 4, 4, func(im *shm.Image) uint64 { return uint64(im.Active) }},
		{"last_update_timestamp", 8, 8, func(im *shm.Image) uint64 { return im.Updated }},
		{"reference_count", 16, 4, func(im *shm.Image) uint64 { return uint64(im.References) }},
		{"board_serial", 24, 8, func(im *shm.Image) uint64 { return im.Serial }},
		{"asic_id", 32, 8, func(im *shm.Image) uint64 { return im.ASIC }},
		{"device_id", 40, 4, func(im *shm.Image) uint64 { return uint64(im.Device) }},
	}
	usage := func(name string, at int, of func(im *shm.Image) shm.Counters) {
		out = append(out,
			field{name + " dram", at, 8, func(im *shm.Image) uint64 { return of(im).DRAM }},
			field{name + " l1", at + 8, 8, func(im *shm.Image) uint64 { return of(im).L1 }},
			field{name + " l1_small", at + 16, 8, func(im *shm.Image) uint64 { return of(im).L1Small }},
			field{name + " trace", at + 24, 8, func(im *shm.Image) uint64 { return of(im).Trace }},
			field{name + " cb", at + 32, 8, func(im *shm.Image) uint64 { return of(im).CB }})
	}
	usage("total", 48, func(im *shm.Image) shm.Counters { return im.Totals })
	for i := range 16 {
		at := 88 + 48*i
		out = append(out,
			field{fmt.Sprintf("chip %d id", i), at, 4, func(im *shm.Image) uint64 { return uint64(im.Chips[i].ID) }},
			field{fmt.Sprintf("chip %d remote", i), at + 4, 4, func(im *shm.Image) uint64 {
				if im.Chips[i].Remote {
					return 1
				}
				return 0
			}})
		usage(fmt.Sprintf("chip %d", i), at+8, func(im *shm.Image) shm.Counters { return im.Chips[i].Counters })
	}
	for i := range 64 {
		at := 856 + 120*i
		out = append(out,
			field{fmt.Sprintf("slot %d pid", i), at, 4, func(im *shm.Image) uint64 { return uint64(uint32(im.Processes[i].PID)) }},
			field{fmt.Sprintf("slot %d timestamp", i), at + 48, 8, func(im *shm.Image) uint64 { return im.Processes[i].Updated }})
		usage(fmt.Sprintf("slot %d", i), at+8, func(im *shm.Image) shm.Counters { return im.Processes[i].Counters })
	}
	return out
}

// raw writes a region from numbers, without the package.
func raw(version uint32, value func(f field) uint64) []byte {
	b := make([]byte, 8576)
	for _, f := range fields() {
		v := value(f)
		if f.name == "version" {
			v = uint64(version)
		}
		if f.size == 4 {
			binary.LittleEndian.PutUint32(b[f.at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(b[f.at:], v)
		}
	}
	if version == 4 {
		copy(b[8536:], "\x59\x44\x45\x52") // ready
	}
	return b
}

// Every field of every layout stands where the fact sheet says, both ways.
func TestLayout(t *testing.T) {
	for _, version := range []uint32{2, 3, 4} {
		n := uint64(0)
		values := map[string]uint64{}
		b := raw(version, func(f field) uint64 {
			n++
			v := n * 0x01000193 % (1 << 32) // another one for each
			if strings.HasSuffix(f.name, "remote") {
				v = n % 2
			} else if f.size == 8 {
				v |= n << 40
			}
			values[f.name] = v
			return v
		})
		values["version"] = uint64(version)
		copy(b[856+120*63+56:], "the last one")
		copy(b[856+56:], strings.Repeat("n", 63))
		im, err := shm.Decode(b)
		require.NoError(t, err)
		for _, f := range fields() {
			require.Equal(t, values[f.name], f.of(&im), "version %d: %s", version, f.name)
		}
		require.Equal(t, "the last one", im.Processes[63].Name)
		require.Equal(t, strings.Repeat("n", 63), im.Processes[0].Name)
		require.True(t, bytes.Equal(b, im.Append(nil)), "version %d: written as it was read", version)
	}
}

func drawImage(t *rapid.T) shm.Image {
	number := rapid.SampledFrom([]uint64{0, 1, 4096, 1 << 31, 1<<32 - 1, 1 << 40, math.MaxUint64})
	usage := func() shm.Counters {
		return shm.Counters{DRAM: number.Draw(t, "dram"), L1: number.Draw(t, "l1"), L1Small: number.Draw(t, "l1_small"), Trace: number.Draw(t, "trace"), CB: number.Draw(t, "cb")}
	}
	im := shm.Image{
		Version: rapid.SampledFrom([]uint32{2, 3, 4}).Draw(t, "version"), Active: uint32(number.Draw(t, "active")), Updated: number.Draw(t, "updated"),
		References: uint32(number.Draw(t, "references")), Serial: number.Draw(t, "serial"), ASIC: number.Draw(t, "asic"),
		Device: uint32(number.Draw(t, "device")), Totals: usage(),
	}
	for range rapid.IntRange(0, 3).Draw(t, "chips") {
		im.Chips[rapid.IntRange(0, 15).Draw(t, "chip")] = shm.ChipEntry{ID: uint32(number.Draw(t, "id")), Remote: rapid.Bool().Draw(t, "remote"), Counters: usage()}
	}
	for range rapid.IntRange(0, 3).Draw(t, "processes") {
		im.Processes[rapid.IntRange(0, 63).Draw(t, "slot")] = shm.Slot{
			PID: rapid.Int32().Draw(t, "pid"), Counters: usage(), Updated: number.Draw(t, "at"), Name: rapid.StringMatching(`[a-z]{0,63}`).Draw(t, "name"),
		}
	}
	return im
}

// A written image is read back, from any place, whatever follows; and a cut region is refused.
func TestAppendDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		im := drawImage(t)
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")
		b := im.Append(before)
		require.True(t, bytes.HasPrefix(b, before))
		require.Len(t, b, len(before)+8576)
		b = append(b[len(before):], before...)
		got, err := shm.Decode(b)
		require.NoError(t, err)
		require.Equal(t, im, got)

		cut := rapid.IntRange(0, 8575).Draw(t, "cut")
		got, err = shm.Decode(b[:cut])
		least := 8536
		if im.Version == 4 {
			least = 8540
		}
		if cut >= least {
			require.NoError(t, err)
			require.Equal(t, im, got)
			return
		}
		short, ok := errors.AsType[*shm.SizeError](err)
		require.True(t, ok, "cut at %d: %v", cut, err)
		require.Equal(t, int64(cut), short.Size)
		require.Zero(t, got)
	})
}

// A region is as long as what means something in it; one byte less is a region that is cut.
func TestDecodeCut(t *testing.T) {
	for _, c := range []struct {
		version uint32
		least   int
	}{{2, 8536}, {3, 8536}, {4, 8540}} {
		im := shm.Image{Version: c.version, Serial: 7}
		b := im.Append(nil)
		got, err := shm.Decode(b[:c.least])
		require.NoError(t, err)
		require.Equal(t, im, got)
		_, err = shm.Decode(b[:c.least-1])
		require.Equal(t, &shm.SizeError{Size: int64(c.least - 1), Want: int64(c.least)}, err)
	}
}

// A name ends at its 63rd byte, whichever side writes it.
func TestLongName(t *testing.T) {
	im := shm.Image{Version: 4}
	im.Processes[0].Name = strings.Repeat("n", 64)
	b := im.Append(nil)
	require.Zero(t, b[856+56+63])
	im.Processes[0].Name = strings.Repeat("n", 63)
	got, err := shm.Decode(b)
	require.NoError(t, err)
	require.Equal(t, im, got)
}

func TestDecodeRefuses(t *testing.T) {
	im := shm.Image{Version: 4}
	b := im.Append(nil)
	for _, state := range []uint32{0, 1, 2, 0x59444552} {
		binary.LittleEndian.PutUint32(b[8536:], state)
		_, err := shm.Decode(b)
		require.ErrorIs(t, err, shm.ErrNotReady, "state %#x", state)
	}
	im.Version = 3
	b = im.Append(nil)
	binary.LittleEndian.PutUint32(b[8536:], 1) // somebody takes it over
	_, err := shm.Decode(b)
	require.ErrorIs(t, err, shm.ErrNotReady)
	_, err = shm.Decode(make([]byte, 8576))
	require.ErrorIs(t, err, shm.ErrNotReady)
	for _, version := range []uint32{1, 5, math.MaxUint32} {
		im.Version = version
		_, err = shm.Decode(im.Append(nil))
		unknown, ok := errors.AsType[*shm.VersionError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, version, unknown.Version)
	}
	_, err = shm.Over(make([]byte, 8600)[1:])
	require.ErrorIs(t, err, shm.ErrAlign)
}

// Before version 4 the total of CBs is the last writer's; the slots of live processes say more.
func TestTotal(t *testing.T) {
	im := shm.Image{Version: 3, Totals: shm.Counters{DRAM: 7, CB: 100}}
	im.Processes[3] = shm.Slot{PID: 10, Counters: shm.Counters{CB: 300}}
	im.Processes[5] = shm.Slot{PID: 11, Counters: shm.Counters{CB: 100}}
	im.Processes[6] = shm.Slot{PID: -1, Counters: shm.Counters{CB: 1000}}
	im.Processes[7] = shm.Slot{PID: 12, Counters: shm.Counters{CB: math.MaxUint64}}
	all := func(pid int32) bool { return pid != 12 }
	require.Equal(t, shm.Counters{DRAM: 7, CB: 400}, im.Total(all))
	require.Equal(t, shm.Counters{DRAM: 7, CB: 100}, im.Total(func(pid int32) bool { return pid == 10 }), "one alone has written it")
	require.Equal(t, shm.Counters{DRAM: 7, CB: math.MaxUint64}, im.Total(func(int32) bool { return true }), "no sum wraps")
	im.Totals.CB = 1000
	require.Equal(t, shm.Counters{DRAM: 7, CB: 400}, im.Total(all), "who wrote last is dead")
	im.Version = 4
	require.Equal(t, shm.Counters{DRAM: 7, CB: 1000}, im.Total(all))
}

func FuzzDecode(f *testing.F) {
	im := shm.Image{Version: 4}
	f.Add(im.Append(nil))
	f.Add(make([]byte, 8540))
	endless := im.Append(nil) // names without an end
	copy(endless[856:], bytes.Repeat([]byte{0xf9}, 8536-856))
	f.Add(endless)
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := shm.Decode(b)
		if err != nil {
			require.Less(t, len(err.Error()), 300)
			return
		}
		again, err := shm.Decode(im.Append(nil))
		require.NoError(t, err)
		require.Equal(t, im, again)
	})
}
