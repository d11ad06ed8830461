package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Classes of cores that hold the same are joined when programs leave. Here two cores
// hold the same ranges of the same programs and as many logical bytes, but not of
// the same program: A counts twice on the one, B on the other. They must stay apart,
// or A would be taken off both twice.
func TestCoresWithEqualSumsOfOtherSizesAreNotJoined(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	a := build(t, d.Spec(), 1, at(200_000, cb("{[0-0 - 1-0]}", 64)), at(200_000, cb("{[1-0 - 1-0]}", 64)))
	b := build(t, d.Spec(), 2, at(300_000, cb("{[0-0 - 1-0]}", 64)), at(300_000, cb("{[0-0 - 0-0]}", 64)))
	g2 := build(t, d.Spec(), 3, global(cb("{[0-0 - 7-7]}", 8)), at(400_000, cb("{[0-0 - 0-0]}", 64))) // reserves more
	for _, reserving := range []bool{false, true} {
		register(t, f, a, d.Set())
		register(t, f, b, d.Set())
		if reserving {
			register(t, f, g2, d.Set())
		}
		for i := range program.ID(20) { // joins happen now and then when something leaves
			noise := build(t, d.Spec(), 10+i, at(500_000, cb("{[0-0 - 0-0], [5-5 - 5-5]}", 64)))
			register(t, f, noise, d.Set())
			f.UnregisterAll(noise.ID())
			intact(t, f)
		}
		require.Equal(t, 1, f.UnregisterAll(a.ID()).Len())
		intact(t, f)
		require.EqualValues(t, 64, d.Core(core(1, 0)).Registered)
		require.EqualValues(t, 64, d.Core(core(1, 0)).Logical)
		f.UnregisterAll(b.ID())
		f.UnregisterAll(g2.ID())
		require.Zero(t, d.Registered())
		intact(t, f)
	}
}

// One device goes ahead for so long that the way back to the others is forgotten.
func TestDeviceLeftFarBehind(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 4, l1.N150())
	stays := build(t, m.Spec(), 1_000_000, cb("{[0-0 - 7-7]}", 4096))
	register(t, f, stays, m.Set())
	window := func(i program.ID) *program.Program {
		return build(t, m.Spec(), i, at(500_000+64*uint64(i), cb("{[0-0 - 3-3]}", 64)))
	}
	ahead, behind := of(t, f, 0), of(t, f, 3)
	register(t, f, window(0), ahead)
	for i := range program.ID(1000) { // a sliding window: no state comes twice
		register(t, f, window(i+1), ahead)
		require.NoError(t, f.Unregister(window(i).ID(), ahead))
		switch {
		case i%97 == 0:
			intact(t, f)
		case i == 400: // somebody follows from far behind, on a way of its own
			register(t, f, window(5000), behind)
		case i == 600:
			f.UnregisterAll(window(5000).ID())
		}
		d, _ := f.Device(device.ID(1 + i%3))
		require.EqualValues(t, 4096, d.Core(core(7, 7)).Registered)
	}
	for id, want := range []uint64{64*4096 + 16*64, 64 * 4096, 64 * 4096, 64 * 4096} {
		d, _ := f.Device(device.ID(id))
		require.Equal(t, want, d.Registered())
	}
	require.EqualValues(t, 4*64*4096+16*64, m.Registered())
	intact(t, f)
	f.UnregisterAll(stays.ID())
	f.UnregisterAll(window(1000).ID())
	require.Zero(t, m.Registered())
	intact(t, f)
}

// The same, while others are spread over the way: states without devices are forgotten first, and
// passed devices manage without them.
func TestDevicesSpreadOverTheWay(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 4, l1.N150())
	window := func(i int) *program.Program {
		return build(t, m.Spec(), program.ID(i), at(500_000+64*uint64(i), cb("{[0-0 - 3-3]}", 64)))
	}
	at := func(i int, on device.Set) { // from window i-1 to window i
		register(t, f, window(i), on) // first, so that no state comes twice
		if i > 0 {
			require.NoError(t, f.Unregister(window(i-1).ID(), on))
		}
	}
	last := map[device.ID]int{0: 700, 1: 3, 2: 40, 3: 90}
	for i := range last[0] + 1 {
		for id := range device.ID(4) {
			if i <= last[id] {
				at(i, of(t, f, id))
			}
		}
		if i%61 == 0 || i > 340 && i < 360 {
			intact(t, f)
		}
	}
	for id, i := range last {
		d, _ := f.Device(id)
		require.Equal(t, []program.ID{program.ID(i)}, programIDs(d.Programs()))
		require.Equal(t, []l1.Range{{Start: 500_000 + 64*uint64(i), End: 500_064 + 64*uint64(i)}}, regions(d.Regions(core(3, 3))))
	}
	intact(t, f)
}
