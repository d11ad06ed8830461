package attack

// Lines lists outputs of an allocation server.
func Lines() []Template {
	return []Template{
		{"sizes", 20_000, linesOf(sizes), CostLimit{50_000_000, 64 * mib}},
		{"references", 5_000, linesOf(references), CostLimit{12_000_000, 32 * mib}},
		{"deaths", 10_000, linesOf(deaths), CostLimit{26_000_000, 32 * mib}},
		{"nothing-else-lives", 10_000, linesOf(nothingElse), CostLimit{45_000_000, 32 * mib}},
		{"named-devices", 5_000, linesOf(namedDevices), CostLimit{22_000_000, 72 * mib}},
	}
}

// linesOf makes the lines of a size.
func linesOf(write func(t *text, size int)) func(size int) []byte {
	return func(size int) []byte {
		var t text
		write(&t, size)
		return t.Bytes()
	}
}

// sizes writes circular buffers of many sizes; the last one goes first.
func sizes(t *text, n int) {
	for i := range n / 2 {
		t.line("✓ [CB_ALLOC] Device %d: +%g MB (Total: 1 MB)", i%200, float64(1+i%900)/1024)
	}
	for i := n/2 - 1; i >= 0; i-- {
		t.line("✗ [CB_FREE] Device %d: -%g MB (Total: 1 MB)", i%200, float64(1+i%900)/1024)
	}
}

// references has a buffer that is allocated again and again, and freed.
func references(t *text, n int) {
	for i := range n / 2 {
		t.line("✓ [PID 7] Allocated 64 bytes of L1 on device 0 (buffer_id=0x1000, ref_count=%d)", i+1)
	}
	for i := n / 4; i > 0; i-- {
		t.line("✗ [PID 7] Freed buffer 0x1000 on device 0 (64 bytes, ref_count=%d remaining)", n/4+i)
	}
	t.line("✗ [PID 7] Freed buffer 0x1000 on device 0 (64 bytes, FINAL)")
}

// deaths writes processes that die; each had one kernel.
func deaths(t *text, n int) {
	for i := range n {
		t.line("✓ [KERNEL_LOAD] Fabric kernel on Device %d: +0.5 MB (Total: 0.5 MB)", i%256)
		t.line("   PID %d is dead, removing its buffers...", i+1)
		t.line("   ✓ Removed 1 kernels (0.5 MB) from PID %d", i+1)
	}
}

// nothingElse writes totals that show again and again that nothing else lives.
func nothingElse(t *text, n int) {
	for i := range n {
		t.line("✓ [CB_ALLOC] Device 0: +%g MB (Total: %g MB)", float64(1+i%900)/1024, float64(1+i%900)/1024)
	}
}

// namedDevices has a circular buffer on each device.
func namedDevices(t *text, n int) {
	for i := range n {
		t.line("✓ [CB_ALLOC] Device %d: +1 MB (Total: 1 MB)", i)
	}
}
