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
func Logs() []Template {
	return []Template{
		{"cores", 250, logOf(cores), CostLimit{200_000, 8 * mib}},
		{"dispatches", 100, logOf(dispatches), CostLimit{110_000_000, 80 * mib}},
		{"buffers", 7_500, logOf((*text).heap), CostLimit{38_000_000, 40 * mib}},
		{"core-by-core", 7_500, logOf(coreByCore), CostLimit{42_000_000, 40 * mib}},
		{"lowest-first", 7_500, logOf(lowestFirst), CostLimit{24_000_000, 32 * mib}},
		{"checks", 7_500, logOf(checks), CostLimit{38_000_000, 40 * mib}},
		{"meshes", maxDevices / 8, logOf(meshes), CostLimit{24_000_000, 40 * mib}},
		{"devices", maxDevices, logOf(devices), CostLimit{112_000_000, 96 * mib}},
		{"diverged", 3_000, logOf(diverged), CostLimit{65_000_000, 64 * mib}},
		{"parted", 1_500, logOf(parted), CostLimit{36_000_000, 16 * mib}},
		{"names", 750, logOf(names), CostLimit{5_500_000, 64 * mib}},
		{"day", 20_000, logOf(day), CostLimit{150_000_000, 32 * mib}},
		{"frees", 90_000, logOf(frees), CostLimit{135_000_000, 80 * mib}},
	}
}

// Squares lists event logs with as many buffers as devices: a walk over all buffers of all devices
// is quadratic.
func Squares() []Template {
	return []Template{
		{"parted", 1_500, logOf(square), CostLimit{45_000_000, 160 * mib}},
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

// checks writes queries beside many buffers.
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

// diverged has something else on each device, one device after the other, in no order.
func diverged(t *text, n int) {
	const stride = 7_919 // a prime
	t.mesh(n)
	for k := range n {
		i := k * stride % n
		t.line(`{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - 7-7]","size":%d}]}`, i, 32+32*(i%(1<<14)))
		t.line(`{"event":"enqueue","program":%d,"devices":[%d]}`, i, i)
		t.line(`{"event":"allocate","buffer":%d,"kind":"l1","devices":[%d],"parts":[{"address":%d,"size":64,"cores":"[0-0 - 7-7]"}]}`, i, i, 1_400_000-64*(i%1024))
	}
}

// parted has buffers on many devices, and then a program on one device after the other.
func parted(t *text, n int) { t.parted(200, n) }

// square is parted with as many devices as buffers.
func square(t *text, n int) { t.parted(n, n) }

func (t *text) parted(devices, buffers int) {
	t.mesh(devices)
	t.program()
	t.buffers(buffers)
	for i := range devices {
		t.line(`{"event":"enqueue","program":1,"devices":[%d]}`, i)
	}
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

// day has programs that come and go under few ids, each of another size, name and time.
func day(t *text, n int) {
	const ids = 32
	t.mesh(4)
	for i := range n {
		if i >= ids {
			t.line(`{"event":"unregister","program":%d,"devices":[%d]}`, i%ids, i%4)
		}
		t.line(`{"event":"program","program":%d,"name":"step %d","cbs":[{"cores":"[0-0 - 7-7]","size":%d}]}`, i%ids, i, 32+32*(i%(1<<14)))
		t.line(`{"event":"register","program":%d,"devices":[%d],"t":%d.5}`, i%ids, i%4, i)
	}
}

// frees frees unknown buffers on the largest number of devices.
func frees(t *text, n int) {
	t.mesh(maxDevices)
	for range n {
		t.line(`{"event":"free","buffer":1}`)
	}
}
