package large

// names returns the names of operations, in turn.
func names() [4]string {
	return [4]string{"MatmulDeviceOperation", "UnaryDeviceOperation", "BinaryNgDeviceOperation", "LayerNormDeviceOperation"}
}

// cores returns the cores of circular buffers, in turn.
func cores() [3]string {
	return [3]string{"{[0-0 - 7-7]}", "{[0-0 - 7-3]}", "{[0-0 - 3-7], [4-0 - 4-3]}"}
}

// coresOld are the same in the dialect of 2024.
func coresOld() [3]string {
	return [3]string{"{[(x=0,y=0) - (x=7,y=7)]}", "{[(x=0,y=0) - (x=7,y=3)]}", "{[(x=0,y=0) - (x=3,y=7)], [(x=4,y=0) - (x=4,y=3)]}"}
}

// operation writes what one operation leaves in a capture.
func (w *writer) operation() {
	which := w.ops
	if w.Programs > 0 {
		which %= int64(w.Programs)
	}
	kinds := names()
	name := kinds[which%int64(len(kinds))]
	w.node("function_start", nil, text("inputs", "2"), text("name", name), param{"program_cache_hit", "false"})
	if w.Buffers != NoBuffers {
		w.buffer()
	}
	w.node("circular_buffer_deallocate_all", nil, number("device_id", mesh))
	w.program(int(which))
	if w.Dialect != Strings {
		for chip := range w.Chips {
			w.node("program_execution", nil, number("device_id", mesh), number("global_call_count", int(w.ops)),
				number("physical_device_id", chip), number("runtime_id", int(w.ops)))
		}
	}
	w.node("function_end", nil, text("name", name))
}

// program places the circular buffers of a program on every chip. Its number says its
// sizes, so that no two programs are equal: three sizes of 32 to 1,024 times 32 bytes, and
// the last one's multiple grows by one after 2^15 programs.
func (w *writer) program(which int) {
	sets := cores()
	if w.Dialect == Strings {
		sets = coresOld()
	}
	address := base
	for i, more := range [3]int{which % 32, which / 32 % 32, which / 1024} {
		bytes := 32 * (32 + more)
		// The narrow buffers lie above the wide one, where tt-metal would place them.
		for chip := range w.Chips {
			w.node("circular_buffer_allocate", nil, number("address", address), text("core_range_set", sets[i]),
				number("device_id", chip), text("globally_allocated", "0"), number("size", bytes))
		}
		address += bytes
	}
}

// slot is how many bytes of a core a buffer has for itself. They lie at the top of L1.
const slot = 65_536

// buffer frees the oldest buffer and allocates one in its slot.
func (w *writer) buffer() {
	at := int(w.ops % Live)
	if b := w.live[at]; b != (allocation{}) {
		w.node("buffer_deallocate", []int64{b.node}, w.params(b)...)
	}
	each := 32_768
	if w.Buffers == VaryBuffers {
		each = 32 * (1 + int(w.ops*7919%2047)) // 7919 and 2047 have no common factor
	}
	b := allocation{address: size - slot*(at+1) + slot - each, size: each}
	params := w.params(b)
	b.node = w.node("buffer", []int64{w.nodes + 1}, params[2:]...)
	w.node("buffer_allocate", []int64{b.node}, params...)
	w.live[at] = b
}

// params describe a buffer; the first two do not belong to its identity.
func (w *writer) params(b allocation) []param {
	return []param{
		number("address", b.address), number("max_size_per_bank", b.size), number("buffer_type", 1), number("device_id", mesh),
		text("layout", "INTERLEAVED"), number("num_cores", 0), number("page_size", 32), number("size", 64*b.size), text("type", "L1"),
	}
}
