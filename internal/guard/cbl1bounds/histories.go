package main

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// here is the queried core.
func here() l1.Core { return l1.Core{X: 1, Y: 1} }

// beside is two devices with n nested programs, and then n buffers.
func beside(n int) []call {
	w := worldOf(2, 8, 8)
	w.nested(n, w.all)
	d, grid := w.devices[1], w.spec.Grid().Cores()
	half, quarter := w.everywhere(fresh, 0, 32*n), w.everywhere(fresh, 0, 16*n)
	small, second, large := w.everywhere(fresh, 0, 64), w.everywhere(fresh+1, 0, 64), w.everywhere(fresh, 0, 1<<20)
	fits := [2]*program.Program{w.everywhere(fresh+2, 200_000, 200_064), w.everywhere(fresh+3, 200_000, 200_128)}
	turn := 0
	return []call{
		{line: "a total", steps: constant(), bytes: none(), times: 64, play: func() {
			_ = d.Registered() + w.mesh.Registered() + d.Resident() + w.mesh.Resident()
		}},
		{line: changing, about: "of half the size", steps: log(), bytes: constant(), times: 64, calls: 2, before: w.turn(half, w.all), play: w.turn(half, w.all)},
		{line: changing, about: "of the largest", steps: log(), bytes: constant(), times: 64, calls: 2, play: w.turn(w.everywhere(fresh, 0, 64*n+64), w.all)},
		{
			line: changing, about: "by another size", steps: log(), bytes: constant(), times: 64, before: func() { w.add(half, w.all) },
			play: func() { turn++; must(w.Replace(fresh, [2]*program.Program{half, quarter}[turn%2])) },
		},
		{
			line: cores, steps: constant(), bytes: none(), times: 64, before: func() { w.UnregisterAll(fresh) },
			play: func() { d.Core(here()) },
		},
		{line: "Programs, Owners", steps: sorting(), bytes: linear(), times: 4, play: func() {
			use(d.Programs())
			use(d.Owners(here(), 0))
			use(w.Programs())
		}},
		w.traced(n/4, logOfQuarter(), logOfQuarter()),
		{
			line: usage, steps: sorting(), bytes: sorting(), before: func() { w.buffers(n, w.all) },
			play: func() {
				d.Usage(device.BasisRegistered)
				use(d.Moment().UsageGroups())
			},
		},
		{line: snapshot, steps: sorting(), bytes: linear(), play: func() { w.Snapshot() }},
		{line: judging, steps: sorting(), bytes: linear(), play: func() {
			_ = must(w.Check(large, w.all))
			must(w.Headroom(large, w.all))
		}},
		{line: judging, about: "that fits", steps: constant(), bytes: constant(), play: func() { _ = must(w.Check(small, w.all)) }},
		{line: room, steps: sorting(), bytes: sorting(), play: func() { must(w.Room(fit.Lockstep, l1.CoreSet{}, w.all)) }},
		{line: "Place, FindPlace", steps: sorting(), bytes: sorting(), play: func() {
			must(w.FindPlace(w.buffer(fresh, grid, 0, 0), 64, w.all))
			must(w.Place(w.buffer(fresh, grid, 0, 0), 64, w.all))
			must(w.Free(fresh, w.all))
		}},
		{line: buffering, steps: log(), bytes: constant(), times: 64, calls: 2, play: w.freed(w.buffer(fresh, grid, top-64, top), w.all)},
		{line: recounting, steps: sorting(), bytes: linear(), play: func() { check(w.CheckInvariants()) }},
		{line: dispatched, about: "in turn", steps: constant(), bytes: constant(), times: 64, play: func() {
			turn++
			check(w.Dispatch(program.ID(turn%2), w.all))
		}},
		{
			line: dispatched, about: "of what fits", steps: constant(), bytes: constant(), times: 64,
			before: func() {
				for range 4 {
					turn++
					must(w.Enqueue(fits[turn%2], w.all))
				}
			},
			play: func() { turn++; must(w.Enqueue(fits[turn%2], w.all)) },
		},
		{
			line: most, about: other, steps: sorting(), bytes: linear(),
			before: func() { w.add(small, w.each[0]) },
			play:   func() { w.add(second, w.each[1]) },
		},
		{
			line: "meeting by another way", steps: linear(), bytes: linear(),
			before: func() { w.add(second, w.each[0]) },
			play:   func() { w.add(small, w.each[1]) },
		},
		{
			line: other, steps: log(), bytes: linear(), times: n, calls: 4,
			before: func() { w.UnregisterAll(fresh); w.UnregisterAll(fresh + 1) },
			play: func() { // they part and meet
				w.add(small, w.each[0])
				w.add(second, w.each[1])
				w.UnregisterAll(fresh)
				w.UnregisterAll(fresh + 1)
			},
		},
		{line: meshes, steps: linear(), bytes: linear(), play: func() { check(w.Remove(w.each[0])) }},
	}
}

// ofClasses is two devices with a program and a buffer of its own on each of n cores.
func ofClasses(n int) []call {
	w := worldOf(2, n/16, 16)
	w.parted(n-1, w.all)
	for i := range n {
		check(w.Allocate(w.buffer(i, w.one(i).Cores(), top, top+64*i+64), w.all))
	}
	d, grid, i := w.devices[0], w.spec.Grid().Cores(), 0
	all, large := w.everywhere(fresh, 0, 64*n+64), w.everywhere(fresh, 0, 1<<24)
	return []call{
		{line: "a total", steps: constant(), bytes: none(), times: 64, play: func() { _ = d.Registered() + w.mesh.Registered() }},
		{line: "joining classes", steps: constant(), bytes: constant(), times: 4 * n, calls: 2, play: w.turn(w.put(fresh, w.one(n-1), 0, 64), w.all)},
		{line: changing, steps: linear(), bytes: linear(), times: 16, calls: 2, play: w.turn(all, w.all)},
		{line: "the fullest core", steps: linear(), bytes: constant(), times: 4 * n, calls: 2, play: w.turn(w.put(fresh, w.one(0), 0, 64*n+64), w.all)},
		{
			line: "high-water marks of cores", steps: edges(), bytes: edges(), times: 8 * n,
			play: func() { // each time another core, and more than it ever had
				p := w.put(fresh, w.one(i%n), 0, 128*n+64*i)
				i++
				w.add(p, w.all)
				w.UnregisterAll(fresh)
			},
		},
		{line: cores, steps: constant(), bytes: none(), times: 64, play: func() { d.Core(here()) }},
		{line: usage, steps: product(), bytes: sorting(), play: func() {
			d.Usage(device.BasisRegistered)
			d.Fullest()
			d.LeastHeadroom()
		}},
		{line: snapshot, steps: sorting(), bytes: sorting(), play: func() { w.Snapshot() }},
		{line: recounting, steps: sorting(), bytes: sorting(), play: func() { check(w.CheckInvariants()) }},
		{line: judging, steps: product(), bytes: linear(), play: func() {
			_ = must(w.Check(large, w.all))
			must(w.Headroom(large, w.all))
		}},
		{line: room, steps: product(), bytes: product(), play: func() {
			must(w.Room(fit.Lockstep, l1.CoreSet{}, w.all))
			must(w.CheckBuffer(w.buffer(fresh, grid, top-64, top), w.all))
		}},
		{line: headroom, steps: product(), bytes: linear(), play: func() { must(w.Headroom(nil, w.all)) }},
		{line: buffering, steps: linear(), bytes: linear(), times: 16, calls: 2, play: w.freed(w.buffer(fresh, grid, top-64, top), w.all)},
		{
			line: dispatched, steps: linear(), bytes: linear(), times: 16,
			before: func() {
				for i := range n {
					must(w.Free(fit.BufferID(i), w.all))
				}
				for i := range n - 1 {
					check(w.Dispatch(program.ID(i), w.all))
				}
			},
			play: func() { // ever new programs
				i++
				w.add(w.put(2*fresh+i, w.one(i%n), 0, 32), w.all)
				check(w.Dispatch(program.ID(2*fresh+i), w.all))
			},
		},
		w.traced(n-1, linear(), linear()),
		{
			line: other, steps: linear(), bytes: linear(),
			before: func() { w.add(w.put(fresh, w.one(0), 0, 64), w.each[0]) },
			play:   func() { w.add(w.put(fresh+1, w.one(1), 0, 64), w.each[1]) },
		},
		{
			line: "after another device", steps: constant(), bytes: constant(),
			before: func() {
				w.UnregisterAll(fresh)
				w.UnregisterAll(fresh + 1)
				w.add(all, w.each[0])
			},
			play: func() { w.add(all, w.each[1]) },
		},
		{
			line: most, about: "with hidden programs", steps: linear(), bytes: linear(),
			before: func() {
				w.UnregisterAll(fresh)
				w.add(w.everywhere(fresh, 0, 1_000_000), w.all)
				for i := range 100 {
					w.add(w.everywhere(fresh+1+i, 64*n+128*i, 64*n+128*i+64), w.all)
				}
			},
			play: func() { w.UnregisterAll(fresh) },
		},
	}
}

// ofDevices is n devices, each with four buffers of its own, and then a program.
func ofDevices(n int) []call {
	w := worldOf(n, 8, 8)
	for d, s := range w.each {
		for i := range 4 {
			check(w.Allocate(w.buffer(4*d+i, w.spec.Grid().Cores(), top+64*(4*d+i), top+64*(4*d+i)+64), s))
		}
	}
	last, grid := w.devices[n-1], w.spec.Grid().Cores()
	large := w.everywhere(fresh, 0, 1<<24)
	return []call{
		{line: recounting, about: "of buffers", steps: sorting(), bytes: linear(), play: func() { check(w.CheckInvariants()) }},
		{line: judging, steps: sorting(), bytes: linear(), play: func() { _ = must(w.Check(large, w.all)) }},
		{
			line: "a total", steps: constant(), bytes: none(), times: 64,
			before: func() {
				for i, s := range w.each {
					w.add(w.everywhere(i, 0, 64*(i+1)), s)
				}
			},
			play: func() { _ = last.Registered() + w.mesh.Registered() },
		},
		{line: "Totals", about: "of a device", steps: constant(), bytes: none(), times: 64, play: func() { last.Totals() }},
		{line: "Totals", about: "of a mesh", steps: linear(), bytes: none(), times: 64, play: func() { w.mesh.Totals() }},
		{line: changing, steps: linear(), bytes: linear(), times: 8, calls: 2, play: w.turn(w.everywhere(fresh, 32, 64*n), w.all)},
		{line: changing, about: "on one of them", steps: constant(), bytes: constant(), times: 16, calls: 2, play: w.turn(w.everywhere(fresh, 0, 64), w.each[n-1])},
		{line: snapshot, steps: sorting(), bytes: linear(), play: func() { w.Snapshot() }},
		{line: headroom, steps: sorting(), bytes: linear(), play: func() { must(w.Headroom(nil, w.all)) }},
		{line: buffering, steps: linear(), bytes: linear(), times: 4, calls: 2, play: w.freed(w.buffer(fresh, grid, top-64, top), w.all)},
		{
			line: buffering, about: "of one id", steps: linear(), bytes: linear(),
			before: func() {
				for i, s := range w.each {
					check(w.Allocate(w.buffer(fresh, grid, top+1<<18, top+1<<18+64*i+64), s))
				}
			},
			play: func() { must(w.Free(fresh, w.all)) },
		},
		{
			line: dispatched, steps: linear(), bytes: linear(),
			before: func() {
				for i, s := range w.each {
					check(w.Dispatch(program.ID(i), s))
				}
				w.add(w.everywhere(fresh, 0, 64), w.all)
			},
			play: func() { check(w.Dispatch(fresh, w.all)) },
		},
		{line: meshes, steps: linear(), bytes: linear(), play: func() {
			m := must(w.AddMesh(1<<20, 1, n, w.spec))
			w.add(w.everywhere(fresh+1, 0, 64), m.Set())
			check(w.Remove(m.Set()))
		}},
		{line: meshes, about: "of those", steps: linear(), bytes: linear(), play: func() { check(w.Remove(w.all)) }},
	}
}

// hiding is two devices below a large program: n programs that reach far on a few cores of the
// first, and n programs side by side on the second.
func hiding(n int) []call {
	w := worldOf(2, 8, 8)
	large := w.everywhere(fresh, 0, 1_000_000)
	w.add(large, w.all)
	for i := range n {
		low, far := uint64(64*i), uint64(900_000+16*i)
		w.add(must(program.NewBuilder(program.ID(i)).
			Range(l1.Rect(0, 0, 6, 7), l1.Range{Start: low, End: low + 32}).
			Range(l1.Rect(7, 0, 7, 7), l1.Range{End: far}).Build(w.spec)), w.each[0])
		w.add(w.everywhere(n+i, 128*i, 128*i+64), w.each[1])
	}
	between := w.put(fresh, w.one(9), 64*n, 64*n+320)
	own := worldOf(1, 8, 8)
	own.add(large, own.all)
	for i := range n {
		b := program.NewBuilder(program.ID(i))
		for c := range 64 {
			low := uint64(64 * ((i + 61*c) % n))
			b.Range(own.one(c), l1.Range{Start: low, End: low + 64})
		}
		own.add(must(b.Build(own.spec)), own.all)
	}
	const searching = "searching hidden programs"
	return []call{
		{line: most, about: "with hidden programs", steps: sorting(), bytes: linear(), play: func() { w.UnregisterAll(fresh) }},
		{line: searching, about: "of other ranges on each core", steps: log(), bytes: log(), play: func() { own.UnregisterAll(fresh) }},
		{line: searching, about: "that reach far on other cores", steps: log(), bytes: log(), times: 8 * n, calls: 2, play: w.turn(large, w.each[0])},
		{line: searching, about: "that leave a gap each", steps: log(), bytes: log(), times: 8 * n, calls: 2, play: w.turn(large, w.each[1])},
		{line: changing, about: "beside boundaries", steps: log(), bytes: constant(), times: 64, calls: 2, play: w.turn(w.everywhere(fresh, 64*n, 64*n+320), w.each[1])},
		{line: "cutting a class", steps: log(), bytes: linear(), play: func() { w.add(between, w.each[1]) }},
		{
			line: "joining classes", steps: log(), bytes: linear(), times: 64, calls: 2, before: func() { w.UnregisterAll(fresh) },
			play: w.turn(between, w.each[1]),
		},
		{line: cores, about: "with regions", steps: linear(), bytes: linear(), times: 8, play: func() { use(w.devices[1].Regions(here())) }},
		{line: snapshot, about: "of regions", steps: sorting(), bytes: linear(), play: func() { w.Snapshot() }},
		{line: recounting, about: "of boundaries", steps: sorting(), bytes: linear(), play: func() { check(w.CheckInvariants()) }},
	}
}

// following is four devices. The first goes ahead, two follow, and the last stays behind: it keeps
// the content there.
func following(n int) []call {
	w := worldOf(4, 8, 8)
	w.nested(n, w.each[0])
	w.buffers(n, w.each[0])
	d, behind := w.devices[1], 7*n/8 // far from the contents that are kept on the way
	const lost = "behind another device"
	return []call{
		{line: "after another device", steps: constant(), bytes: constant(), calls: behind, play: func() { w.nested(behind, w.each[1]) }},
		{line: lost, steps: sorting(), bytes: sorting(), play: func() { d.Core(here()) }},
		{line: lost, about: "asked before", steps: constant(), bytes: none(), times: 64, play: func() { d.Core(here()) }},
		{
			line: other, about: "from where devices passed", steps: sorting(), bytes: sorting(),
			before: func() { w.nested(5*n/8, w.each[2]) },
			play:   func() { w.add(w.everywhere(fresh, 0, 64), w.each[2]) },
		},
		{line: buffering, steps: log(), bytes: log(), calls: n, play: func() { w.buffers(n, w.each[1]) }},
	}
}
