package gen

import (
	"slices"

	"pgregory.net/rapid"
)

// DeviceIDs draws ids of devices for a call: usually some existing ones, often all, sometimes none,
// sometimes with an unknown id among them, or with an id twice.
func DeviceIDs(exist []uint64) *rapid.Generator[[]uint64] {
	return rapid.Custom(func(t *rapid.T) []uint64 {
		kind := rapid.IntRange(0, 11).Draw(t, "devices")
		switch {
		case kind == 10:
			return nil
		case kind == 11:
			return rapid.SliceOfN(DeviceID(exist), 1, 4).Draw(t, "any")
		case len(exist) == 0:
			return rapid.SliceOfN(DeviceID(nil), 0, 2).Draw(t, "unknown")
		case kind > 6:
			return slices.Clone(exist)
		}
		return rapid.SliceOfN(rapid.SampledFrom(exist), 1, 4).Draw(t, "some")
	})
}

// DeviceID draws one id, usually of a device that exists.
func DeviceID(exist []uint64) *rapid.Generator[uint64] {
	return rapid.SampledFrom(append(slices.Concat(exist, exist), newIDs()...))
}

// newIDs are the ids that devices get. Any number is an ordinary id.
func newIDs() []uint64 { return []uint64{0, 1, 2, 3, 4, 7, 1<<31 - 1, ^uint64(0)} }
