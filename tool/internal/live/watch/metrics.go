package watch

import (
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A gauge is a figure of each device or process as a metric; nil if it is not known. A name that is a field of the JSON
// rows too means the same there.
type gauge[T any] struct {
	name, help string
	of         func(*T) *uint64
}

func gauges() []gauge[answer.LiveDevice] {
	flag := func(on bool) *uint64 {
		n := uint64(0)
		if on {
			n = 1
		}
		return &n
	}
	known := func(n uint64) *uint64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return []gauge[answer.LiveDevice]{
		{"cores", "Cores of the device.", func(d *answer.LiveDevice) *uint64 { return known(uint64(d.Cores)) }},
		{"usable_core_bytes", "Usable L1 of one core.", func(d *answer.LiveDevice) *uint64 { return known(d.Usable) }},
		{"registered_bytes", "Union of the registered circular buffers on each core, summed over cores.", func(d *answer.LiveDevice) *uint64 { return d.Registered }},
		{"registered_core_peak_bytes", "Union of the registered circular buffers on the fullest core.", func(d *answer.LiveDevice) *uint64 { return d.Core }},
		{"peak_registered_core_peak_bytes", "High-water mark of registered_core_peak_bytes.", func(d *answer.LiveDevice) *uint64 {
			if d.Peak == nil {
				return nil
			}
			return &d.Peak.Core
		}},
		{"dispatched_bytes", "Circular buffers that the last dispatches left, summed over cores.", func(d *answer.LiveDevice) *uint64 { return d.Dispatched }},
		{"tracked_bytes", "Everything in L1 but kernels, each byte once, summed over cores.", func(d *answer.LiveDevice) *uint64 { return d.Tracked }},
		{"tracked_core_peak_bytes", "Everything in L1 but kernels on the fullest core.", func(d *answer.LiveDevice) *uint64 { return d.TrackedCore }},
		{"below_l1_small_core_peak_bytes", "tracked_core_peak_bytes below L1_SMALL, in usable L1.", func(d *answer.LiveDevice) *uint64 { return d.Below }},
		{"headroom_bytes", "Bytes between circular buffers and what lies above, on the core with the fewest.", func(d *answer.LiveDevice) *uint64 { return d.Headroom }},
		{"cb_logical_bytes", "Sum of the sizes of circular buffers times their cores.", func(d *answer.LiveDevice) *uint64 { return d.Logical }},
		{"cb_sum_bytes", "Sum of the sizes of circular buffers as the allocation protocol counts.", func(d *answer.LiveDevice) *uint64 { return d.Sum }},
		{"l1_buffer_bytes", "L1 buffers, over all banks.", func(d *answer.LiveDevice) *uint64 { return &d.L1 }},
		{"l1_small_buffer_bytes", "L1_SMALL buffers, over all banks.", func(d *answer.LiveDevice) *uint64 { return &d.L1Small }},
		{"dram_buffer_bytes", "DRAM buffers.", func(d *answer.LiveDevice) *uint64 { return &d.DRAM }},
		{"dram_size_bytes", "DRAM that the device has.", func(d *answer.LiveDevice) *uint64 { return d.DRAMSize }},
		{"trace_buffer_bytes", "TRACE buffers.", func(d *answer.LiveDevice) *uint64 { return &d.Trace }},
		{"kernel_bytes", "Kernels.", func(d *answer.LiveDevice) *uint64 { return d.Kernels }},
		{"bound", "1 if circular buffers count as if each were on every core.", func(d *answer.LiveDevice) *uint64 { return flag(d.Bound) }},
		{"incomplete", "1 if a client that may have more on the device was lost, or something is hidden.", func(d *answer.LiveDevice) *uint64 { return flag(d.Incomplete) }},
	}
}

// processGauges are the figures of a process.
func processGauges() []gauge[Process] {
	return []gauge[Process]{
		{"cb_bytes", "Sum of the sizes of the process's circular buffers.", func(p *Process) *uint64 { return &p.CB }},
		{"l1_buffer_bytes", "L1 buffers of the process.", func(p *Process) *uint64 { return &p.L1 }},
		{"l1_small_buffer_bytes", "L1_SMALL buffers of the process.", func(p *Process) *uint64 { return &p.L1Small }},
		{"dram_buffer_bytes", "DRAM buffers of the process.", func(p *Process) *uint64 { return &p.DRAM }},
		{"trace_buffer_bytes", "TRACE buffers of the process.", func(p *Process) *uint64 { return &p.Trace }},
		{"kernel_bytes", "Kernels of the process.", func(p *Process) *uint64 { return &p.Kernels }},
	}
}

// appendGauges appends the gauges of all rows.
func appendGauges[T any](b []byte, prefix string, gauges []gauge[T], rows []T, labels func(*T) []string) []byte {
	for _, g := range gauges {
		headed := false
		for i := range rows {
			n := g.of(&rows[i])
			if n == nil {
				continue
			}
			if !headed {
				b, headed = head(b, prefix+g.name, g.help, "gauge"), true
			}
			b = series(b, prefix+g.name, *n, labels(&rows[i])...)
		}
	}
	return b
}

// AppendMetrics appends a Snapshot in the text format of Prometheus 0.0.4: a dozen gauges for each
// device, and some for each process if processes is set. A device or process that is gone has no
// series.
func (s *Snapshot) AppendMetrics(b []byte, processes bool) []byte {
	b = appendGauges(b, "cbl1_device_", gauges(), s.Devices, func(d *answer.LiveDevice) []string {
		return []string{"fleet", d.Fleet, "device", strconv.FormatUint(d.Device, 10), "board", d.Board}
	})
	if processes {
		b = appendGauges(b, "cbl1_process_", processGauges(), s.Processes, func(p *Process) []string {
			on := ""
			if p.Device != nil {
				on = strconv.FormatUint(*p.Device, 10)
			}
			return []string{"pid", strconv.Itoa(int(p.PID)), "process", p.Name, "device", on}
		})
	}
	b = single(b, "cbl1_devices_left", "Devices of fleets that have no series: there are too many.", "gauge", int64(s.Left))
	b = head(b, "cbl1_odd_total", "How often something was odd or refused, by code.", "counter")
	for _, o := range s.Odd {
		b = series(b, "cbl1_odd_total", uint64(o.Count), "fleet", o.Fleet, "code", o.Code)
	}
	b = single(b, "cbl1_leaked_total", "What processes had when they died.", "counter", s.Leaked)
	if s.Server == nil {
		return b
	}
	for _, c := range [...]struct {
		name, help string
		n          int64
	}{
		{"clients", "Connections of clients.", s.Server.Clients},
		{"records", "Records of clients.", s.Server.Records},
		{"refused", "Connections for which there was no room.", s.Server.Refused},
		{"closed", "Clients that were closed, for what they sent or did.", s.Server.Closed},
		{"not_recorded", "Events that no log has, since it could not be written.", s.Server.NotRecorded},
		{"unprinted", "Lines that were not printed.", s.Server.Unprinted},
	} {
		b = single(b, "cbl1_server_"+c.name+"_total", c.help, "counter", c.n)
	}
	return b
}

func head(b []byte, name, help, kind string) []byte {
	b = append(b, "# HELP "+name+" "+help+"\n"...)
	return append(b, "# TYPE "+name+" "+kind+"\n"...)
}

// single appends a metric without labels.
func single(b []byte, name, help, kind string, n int64) []byte {
	return series(head(b, name, help, kind), name, uint64(n))
}

// series appends one sample. A label without a value is left out.
func series(b []byte, name string, n uint64, labels ...string) []byte {
	b = append(b, name...)
	var pairs []byte
	for i := 0; i < len(labels); i += 2 {
		if labels[i+1] == "" {
			continue
		}
		if len(pairs) > 0 {
			pairs = append(pairs, ',')
		}
		pairs = append(append(pairs, labels[i]+`="`...), escaped(labels[i+1])...)
		pairs = append(pairs, '"')
	}
	if len(pairs) > 0 {
		b = append(append(append(b, '{'), pairs...), '}')
	}
	return append(strconv.AppendUint(append(b, ' '), n, 10), '\n')
}

// escaped returns the value of a label. A control character, a sign that turns the direction of
// writing, or a byte that is no text stands there as its escape of a Go string (shown.Visible). A
// backslash is doubled before, so that different names have different labels.
func escaped(value string) string {
	value = shown.Visible(strings.ReplaceAll(value, `\`, `\\`))
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
}
