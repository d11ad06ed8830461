package attack

// Pages lists event logs of which a page has more to show than there is room for.
func Pages() []Template {
	return []Template{
		{"live", 5_000, logOf(live), CostLimit{120_000_000, 96 * mib}},
		{"mesh", 1_500, logOf(mesh), CostLimit{45_000_000, 160 * mib}},
	}
}

// Failures is an event log of programs that all fail, for TestHammerCosts alone: a program is compared with all buffers,
// so that ten times the lines cost more than twelve times the steps.
func Failures() Template { return Template{"failures", 4_000, logOf(failures), CostLimit{}} }

// live has buffers that are never freed.
func live(t *text, n int) {
	t.mesh(1)
	t.buffers(n)
}

// mesh has a program of its own on each of some devices of a mesh of 128x128.
func mesh(t *text, n int) {
	t.line(`{"event":"mesh","first":0,"rows":128,"cols":128,"spec":{"board":"p150b"}}`)
	for i := range n {
		t.line(`{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - 7-7]","size":%d}]}`, i, 32+32*i)
		t.line(`{"event":"enqueue","program":%d,"devices":[%d]}`, i, i)
	}
}

// failures has circular buffers that overlap buffers, again and again.
func failures(t *text, n int) {
	t.mesh(1)
	for i := range n / 2 {
		t.line(`{"event":"allocate","buffer":%d,"kind":"l1","parts":[{"address":%d,"size":64,"cores":"[0-0 - 10-9]"}]}`, i, 300000+64*i)
		t.line(`{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - 10-9]","address":%d,"size":200000}]}`, i, 200000+64*i)
		t.line(`{"event":"register","program":%d}`, i)
		t.line(`{"event":"dispatch","program":%d}`, i)
	}
}
