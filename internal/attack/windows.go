package attack

// Windows lists the runs in many files.
func Windows() []Template {
	return []Template{
		{"listed", 1_000, nil, windowsOf(listed), CostLimit{54_000_000, 48 * mib}},
		{"listed-and-made", 1_000, nil, windowsOf(listedAndMade), CostLimit{54_000_000, 48 * mib}},
		{"listed-since-the-first", 1_000, nil, windowsOf(listedSince), CostLimit{31_000_000, 48 * mib}},
		{"tensors", 1_000, nil, windowsOf(tensors), CostLimit{109_000_000, 48 * mib}},
	}
}

// windowsOf makes the reports of a run.
func windowsOf(write func(g *graph, window int)) func(windows int) [][]byte {
	return func(windows int) (all [][]byte) {
		for i := range windows {
			var g graph
			for range 2 {
				g.Node("function_start", `"name":"f"`)
				write(&g, i)
				g.cb(0, 1024, fewCores)
				g.free(0)
				g.Node("function_end", `"name":"f"`)
			}
			all = append(all, g.report())
		}
		return all
	}
}

// listed has windows that list a buffer of one device, and then one of another device.
func listed(g *graph, _ int) { g.list(len(g.lists), 1_000_000) }

// listedAndMade has windows that list a buffer which they have made.
func listedAndMade(g *graph, _ int) {
	g.list(0, 1_000_000)
	g.buffer("allocate", 0, 1_000_000)
	g.buffer("deallocate", 0, 1_000_000)
}

// listedSince has windows that list a buffer of the first one.
func listedSince(g *graph, window int) {
	g.list(0, 1_000_000)
	if window == 0 && len(g.lists) == 1 {
		g.buffer("allocate", 0, 1_000_000)
	}
}

// tensors has windows with a tensor of a buffer, and another buffer at its place.
func tensors(g *graph, _ int) {
	g.Node("tensor", `"address":"1000000","buffer_type":"1","device_id":"0"`)
	g.buffer("allocate", 0, 1_000_000)
	g.buffer("deallocate", 0, 1_000_000)
}
