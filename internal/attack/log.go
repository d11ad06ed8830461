package attack

import (
	"bytes"
	"fmt"
	"strings"
)

// A text is a log in the making.
type text struct{ bytes.Buffer }

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(t, format, args...)
	t.WriteByte('\n')
}

// mesh defines devices in one line, numbered from 0.
func (t *text) mesh(devices int) {
	t.line(`{"event":"mesh","first":0,"rows":1,"cols":%d,"spec":{"board":"p150b"}}`, devices)
}

// program defines a program that takes an address below all buffers.
func (t *text) program() {
	t.line(`{"event":"program","program":1,"name":"p1","cbs":[{"cores":"[0-0 - 3-3]","size":2048}]}`)
}

// buffers allocates so many buffers, each above the one before it, on all devices.
func (t *text) buffers(n int) {
	for i := range n {
		t.line(`{"event":"allocate","buffer":%d,"kind":"l1","parts":[{"address":%d,"size":32,"cores":"[0-0 - 7-7]"}]}`, i, 200000+32*i)
	}
}

const maxDevices = 1 << 16

// Logs lists the event logs.
func Logs() []Input {
	return []Input{
		{"cores", 250, 250, logOf(cores), Budget{1_300_000, 64 * mib}},
		{"dispatches", 100, 400, logOf(dispatches), Budget{230_000_000, 160 * mib}},
		{"buffers", 7_500, 30_000, logOf((*text).heap), Budget{96_000_000, 64 * mib}},
		{"core-by-core", 7_500, 30_000, logOf(coreByCore), Budget{150_000_000, 64 * mib}},
		{"lowest-first", 7_500, 30_000, logOf(lowestFirst), Budget{52_000_000, 64 * mib}},
		{"checks", 7_500, 30_000, logOf(checks), Budget{96_000_000, 64 * mib}},
		{"meshes", maxDevices / 8, maxDevices / 2, logOf(meshes), Budget{24_000_000, 64 * mib}},
		{"devices", maxDevices, maxDevices, logOf(devices), Budget{105_000_000, 96 * mib}},
		{"names", 750, 3_000, logOf(names), Budget{5_500_000, 64 * mib}},
		{"frees", 90_000, 350_000, logOf(frees), Budget{135_000_000, 160 * mib}},
	}
}

// logOf makes the log of a size.
func logOf(write func(t *text, size int)) func(size int) []byte {
	return func(size int) []byte {
		var t text
		t.line(`{"event":"log","version":1}`)
		write(&t, size)
		return t.Bytes()
	}
}

// cores has devices with as many cores as there may be, and one buffer on all of them.
func cores(t *text, devices int) {
	t.line(`{"event":"mesh","first":0,"rows":1,"cols":%d,"spec":{"arch":"blackhole","cols":255,"rows":255}}`, devices)
	t.line(`{"event":"allocate","buffer":1,"kind":"l1","parts":[{"address":1000000,"size":4096}]}`)
}

// dispatches runs one program again and again on as many devices as there may be.
func dispatches(t *text, n int) {
	t.mesh(maxDevices)
	t.program()
	t.line(`{"event":"register","program":1}`)
	for range n {
		t.line(`{"event":"dispatch","program":1}`)
	}
}

// heap has many buffers on one device.
func (t *text) heap(n int) {
	t.mesh(1)
	t.program()
	t.buffers(n)
	t.line(`{"event":"enqueue","program":1}`)
}

// coreByCore has many buffers on one device, each on another core than the one before it: the
// fullest core is another one now and then.
func coreByCore(t *text, n int) {
	t.mesh(1)
	t.program()
	for i := range n {
		t.line(`{"event":"allocate","buffer":%d,"kind":"l1","parts":[{"address":%d,"size":32,"cores":"%d-0"}]}`, i, 200000+32*i, i%3)
	}
	t.line(`{"event":"enqueue","program":1}`)
}

// lowestFirst frees many buffers, the lowest one first.
func lowestFirst(t *text, n int) {
	t.mesh(1)
	t.buffers(n / 2)
	for i := range n / 2 {
		t.line(`{"event":"free","buffer":%d}`, i)
	}
}

// checks asks beside many buffers.
func checks(t *text, n int) {
	t.heap(n)
	for range 20 {
		t.line(`{"query":"check","program":1}`)
	}
}

// meshes has many small meshes, and a buffer and a program on all of them.
func meshes(t *text, n int) {
	for i := range n {
		t.line(`{"event":"mesh","first":%d,"rows":1,"cols":2,"spec":{"board":"p150b"}}`, 2*i)
	}
	t.runs()
}

// devices has many devices without a mesh, and a buffer and a program on all of them.
func devices(t *text, n int) {
	for i := range n {
		t.line(`{"event":"device","device":%d,"spec":{"board":"p150b"}}`, i)
	}
	t.runs()
}

// runs has a buffer and a program on all devices.
func (t *text) runs() {
	t.buffers(1)
	t.program()
	t.line(`{"event":"enqueue","program":1}`)
}

// names refuses events inside operations of long names.
func names(t *text, n int) {
	t.mesh(1)
	for i := range 100 {
		t.line(`{"event":"op_start","name":"%d%s"}`, i, strings.Repeat("n", 10_000))
	}
	for range n {
		t.line(`{"event":"dispatch","program":1}`)
	}
}

// frees frees buffers that nobody has on as many devices as there may be.
func frees(t *text, n int) {
	t.mesh(maxDevices)
	for range n {
		t.line(`{"event":"free","buffer":1}`)
	}
}
