package large

import (
	"bufio"
	"fmt"
	"strings"
)

// base is where circular buffers begin, size how much L1 a core has, in bytes.
const (
	base = 103_712
	size = 1_499_136
)

// mesh is the id of the mesh; chips have those from 0 on.
const mesh = 4096

// A writer writes one capture.
type writer struct {
	Plan
	Graph   // what is not written yet
	to      *bufio.Writer
	written int64
	ops     int64
	live    [Live]allocation
}

// An allocation is a buffer in L1. The zero allocation is none.
type allocation struct {
	node    int64 // of its identity
	address int
	size    int // of one core
}

// drain writes the text formed so far.
func (w *writer) drain() {
	_, _ = w.to.Write(w.Bytes()) // Flush returns the error
	w.written += int64(w.Len())
	w.Reset()
}

// capture writes all of it.
func (w *writer) capture() {
	if w.Bare {
		w.graph(w.Size)
		w.WriteString("\n")
		return
	}
	w.Whole = true
	w.WriteString("{\n\"version\": 1,\n\"devices\": [")
	for chip := range w.Chips {
		if chip > 0 {
			w.WriteString(",\n")
		}
		fmt.Fprintf(&w.Graph, `{"address_at_first_l1_cb_buffer":%d,"arch":"wormhole_b0","device_id":%d,"num_x_compute_cores":8,"num_y_compute_cores":8,"worker_l1_size":%d}`, base, chip, size)
	}
	w.WriteString("],\n\"metadata\": {\"rank\":0,\"world_size\":1},\n\"graph\": ")
	w.graph(int64(float64(w.Size) * w.Share))
	if w.Share < 1 {
		w.WriteString(",\n\"buffer_pages\": ")
		w.pages()
	}
	w.WriteString("\n}\n")
}

// pages fills the file with pages of buffers.
func (w *writer) pages() {
	w.WriteString("[\n")
	for i := 0; w.written+int64(w.Len()) < w.Size; i++ {
		if i > 0 {
			w.WriteString(",\n")
		}
		address := base + 2048*(i%512)
		fmt.Fprintf(&w.Graph, `{"address":%d,"bank_id":%d,"buffer_type":1,"core_x":%d,"core_y":%d,"device_id":%d,"page_address":%d,"page_index":%d,"page_size":2048}`,
			address, i%64, i%8, i/8%8, i%w.Chips, address, i)
		w.drain()
	}
	w.WriteString("\n]")
}

// graph writes nodes until so many bytes are reached.
func (w *writer) graph(end int64) {
	w.WriteString("[\n")
	w.Node("capture_start", "")
	if !w.Bare { // a tensor without a buffer, which lists the chips of the mesh
		var chips []string
		for chip := range w.Chips {
			chips = append(chips, fmt.Sprintf(`{\"device_id\":%d,\"mesh_device_id\":%d}`, chip, mesh))
		}
		w.Node("tensor", `"device_tensors":"[%s]","tensor_id":1`, strings.Join(chips, ","))
	}
	for w.ops = 0; w.written < end; w.ops++ {
		w.operation()
		w.drain()
	}
	w.Node("capture_end", "")
	w.WriteString("\n]")
}

// unlessBare formats members that a bare capture lacks.
func (w *writer) unlessBare(members string, args ...any) string {
	if w.Bare {
		return ""
	}
	return fmt.Sprintf(members, args...)
}

// names returns the names of operations, in turn.
func names() [4]string {
	return [4]string{"MatmulDeviceOperation", "UnaryDeviceOperation", "BinaryNgDeviceOperation", "LayerNormDeviceOperation"}
}

// operation writes what one operation leaves in a capture.
func (w *writer) operation() {
	which := w.ops
	if w.Programs > 0 {
		which %= int64(w.Programs)
	}
	kinds := names()
	name := kinds[which%int64(len(kinds))]
	w.Node("function_start", `"inputs":"2","name":"%s"%s`, name, w.unlessBare(`,"program_cache_hit":false`))
	if w.Buffers != NoBuffers {
		w.buffer()
	}
	w.Node("circular_buffer_deallocate_all", "%s", w.unlessBare(`"device_id":%d`, mesh))
	w.program(int(which))
	if !w.Bare {
		for chip := range w.Chips {
			w.Node("program_execution", `"device_id":%d,"global_call_count":%d,"physical_device_id":%d,"runtime_id":%d`, mesh, w.ops, chip, w.ops)
		}
	}
	w.Node("function_end", `"name":"%s"`, name)
}

// program places the circular buffers of a program on every chip. Its number says its
// sizes, so that no two programs are equal: three sizes of 32 to 1,024 times 32 bytes, and
// the last one's multiple grows by one after 2^15 programs.
func (w *writer) program(which int) {
	sets := [3]string{"{[0-0 - 7-7]}", "{[0-0 - 7-3]}", "{[0-0 - 3-7], [4-0 - 4-3]}"}
	address := base
	for i, more := range [3]int{which % 32, which / 32 % 32, which / 1024} {
		bytes := 32 * (32 + more)
		// The narrow buffers lie above the wide one, where tt-metal would place them.
		for chip := range w.Chips {
			w.Node("circular_buffer_allocate", `"address":%d,"core_range_set":"%s",%s"globally_allocated":"0","size":%d`,
				address, sets[i], w.unlessBare(`"device_id":%d,`, chip), bytes)
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
		place, rest := w.params(b)
		w.Linked(fmt.Sprint(b.node), "buffer_deallocate", "%s%s", place, rest)
	}
	each := 32_768
	if w.Buffers == VaryBuffers {
		each = 32 * (1 + int(w.ops*7919%2047)) // 7919 and 2047 have no common factor
	}
	b := allocation{address: size - slot*(at+1) + slot - each, size: each}
	place, rest := w.params(b)
	b.node = w.Linked(fmt.Sprint(w.Nodes+1), "buffer", "%s", rest)
	w.Linked(fmt.Sprint(b.node), "buffer_allocate", "%s%s", place, rest)
	w.live[at] = b
}

// params describe a buffer: its place, and what belongs to its identity.
func (w *writer) params(b allocation) (place, rest string) {
	return fmt.Sprintf(`"address":%d,"max_size_per_bank":%d,`, b.address, b.size),
		fmt.Sprintf(`"buffer_type":1,%s"layout":"INTERLEAVED","num_cores":0,"page_size":32,"size":%d,"type":"L1"`, w.unlessBare(`"device_id":%d,`, mesh), 64*b.size)
}
