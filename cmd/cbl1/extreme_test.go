package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A maker writes inputs of good form with figures that nobody has seen: sums wrap,
// buffers end beyond L1 or at 2^63, meshes are known late, what ends never began.
type maker struct {
	*rand.Rand
	wild int // one figure in so many is beyond reason
}

// extreme returns the capture or log that a seed stands for.
func extreme(seed uint64) (what string, input []byte) {
	m := maker{rand.New(rand.NewPCG(seed, 3)), []int{2, 5, 20, 1000}[seed/2%4]}
	if seed%2 == 0 {
		return fmt.Sprintf("made capture %d", seed), []byte(m.capture())
	}
	return fmt.Sprintf("made log %d", seed), []byte(m.log())
}

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

// bytes is a size.
func (m maker) bytes() string {
	if m.IntN(m.wild) == 0 {
		return m.one("0", "1", "1461248", "1572864", "1572865", "2147483648", "4294967295", "4294967296", "4611686018427387904",
			"9223372036854775807", "9223372036854775808", "18446744073709551615")
	}
	return m.one("32", "1024", "2048", "4096", "65536", "131072", "704512")
}

// address is a place.
func (m maker) address() string {
	if m.IntN(m.wild) == 0 {
		return m.one("0", "1", "111615", "1499135", "1572863", "1572864", "9223372036854710272", "9223372036854775807")
	}
	return m.one("103712", "111616", "115712", "200000", "868352", "1400000", "1433600", "1540096")
}

// cores is a set of cores, as tt-metal spells it.
func (m maker) cores() string {
	if m.IntN(m.wild) == 0 {
		return m.one("{}", "{[12-9 - 12-9]}", "{[0-0 - 31-31]}", "{[0-0 - 3-3], [2-2 - 5-5]}", "{[40-0 - 40-0]}")
	}
	return m.one("{[0-0 - 0-0]}", "{[0-0 - 1-1]}", "{[1-0 - 2-0]}", "{[0-0 - 7-6]}", "{[0-0 - 0-0], [1-1 - 3-3]}", "{[0-0 - 6-0], [0-1 - 2-1]}")
}

// capture makes a graph of operations.
func (m maker) capture() string {
	var nodes []string
	add := func(kind, params string) {
		connections := m.one("", "", fmt.Sprint(max(0, len(nodes)-1)), fmt.Sprint(m.IntN(20)))
		nodes = append(nodes, fmt.Sprintf(`{"counter":%d,"node_type":%q,"params":{%s},"connections":[%s]}`, len(nodes), kind, params, connections))
	}
	zero := m.IntN(3) == 0 // the addresses of programs are not recorded
	device := func() string {
		if m.IntN(12) == 0 {
			return `"other":1`
		}
		return `"device_id":` + m.one("0", "0", "0", "1", "2")
	}
	for op := range 1 + m.IntN(5) {
		name := fmt.Sprintf("ttnn.op%d", m.IntN(1+op))
		add("function_start", fmt.Sprintf(`"name":%q,"inputs":"1"%s`, name, m.one("", "", `,"program_cache_hit":true`, `,"program_cache_hit":false`)))
		for range m.IntN(7) {
			address := m.address()
			if zero {
				address = "0"
			}
			program := fmt.Sprintf(`"address":%s,"size":%s,"core_range_set":%q,%s`, address, m.bytes(), m.cores(), device())
			buffer := fmt.Sprintf(`"address":%s,"size":%s,"max_size_per_bank":%s,"num_cores":%s,"page_size":%s,"layout":%q,"type":%q,"buffer_type":1,%s`,
				m.one(m.address(), "0"), m.bytes(), m.bytes(), m.one("0", "1", "4", "56", "1000"), m.bytes(),
				m.one("INTERLEAVED", "HEIGHT_SHARDED", "BLOCK_SHARDED"), m.one("L1", "L1", "L1", "L1_SMALL", "DRAM"), device())
			switch m.IntN(10) {
			case 0, 1, 2, 3:
				add("circular_buffer_allocate", program+fmt.Sprintf(`,"globally_allocated":%q`, m.one("0", "0", "0", "1")))
			case 4:
				add("dataflow_buffer_allocate", program+fmt.Sprintf(`,"borrows_memory":%q`, m.one("0", "1")))
			case 5:
				add("scratchpad_allocate", program)
			case 6:
				add("buffer_allocate", buffer)
			case 7:
				add("buffer_deallocate", buffer)
			case 8:
				add("circular_buffer_deallocate_all", device())
			case 9:
				add("program_execution", device())
			}
		}
		if m.IntN(20) > 0 {
			add("function_end", fmt.Sprintf(`"name":%q`, name))
		}
	}
	return "[" + strings.Join(nodes, ",\n") + "]\n"
}

// log makes an event log.
func (m maker) log() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say(`{"event":"log","version":1}`)
	for device := range 1 + m.IntN(3) {
		spec := fmt.Sprintf(`"board":%q`, m.one("n150", "p150b"))
		if m.IntN(m.wild) == 0 {
			spec = fmt.Sprintf(`"arch":"wormhole","l1_size":%s,"cb_base":%s,"l1_small":%s`, m.bytes(), m.bytes(), m.bytes())
		}
		say(`{"event":"device","device":%d,"spec":{%s}}`, device, spec)
	}
	on := func() string {
		return m.one("", `,"devices":[0]`, `,"devices":[0]`, `,"devices":[0,1]`, `,"devices":[2]`)
	}
	n := func() int { return m.IntN(4) }
	for range 4 + m.IntN(25) {
		switch m.IntN(14) {
		case 0, 1, 2:
			m.program(&b, n())
		case 3:
			say(`{"event":"register","program":%d%s}`, n(), on())
		case 4, 5, 6:
			say(`{"event":"enqueue","program":%d%s}`, n(), on())
		case 7:
			say(`{"event":%q,"program":%d%s}`, m.one("dispatch", "unregister", "evict"), n(), on())
		case 8:
			say(`{"event":"replace","program":%d,"with":%d}`, n(), n())
		case 9, 10:
			say(`{"event":"allocate","buffer":%d,"kind":%q,"parts":[{"address":%s,"size":%s,"cores":%q},{"address":%s,"size":%s}]%s}`, n(),
				m.one("l1", "l1", "l1_small", "global_cb", "kernel", "reserved", "service"), m.address(), m.bytes(), m.cores(), m.address(), m.bytes(), on())
		case 11:
			say(`{"event":"allocate","buffer":%d,"kind":%q,"size":%s%s}`, 4+n(), m.one("dram", "trace", "system"), m.bytes(), on())
		case 12:
			say(`{"event":"free","buffer":%d%s}`, m.IntN(8), on())
		case 13:
			say(`{"event":%q%s}`, m.one("reset_peaks", "remove"), on())
		}
	}
	return b.String()
}

// program defines a program of some buffers.
func (m maker) program(b *strings.Builder, id int) {
	var cbs []string
	for range m.IntN(4) {
		cb := fmt.Sprintf(`"cores":%q,"size":%s`, m.cores(), m.bytes())
		switch m.IntN(5) {
		case 0:
			cb += `,"address":` + m.address()
		case 1:
			cb += fmt.Sprintf(`,"kind":%q`, m.one("dataflow", "scratchpad", "cb"))
		case 2:
			cb += `,"global":true,"address":` + m.address()
		}
		cbs = append(cbs, "{"+cb+"}")
	}
	fmt.Fprintf(b, `{"event":"program","program":%d,"name":"p%d","cbs":[%s]}`+"\n", id, id, strings.Join(cbs, ","))
}

// TestHammerExtremes holds the laws against made inputs.
func TestHammerExtremes(t *testing.T) {
	var c tally
	const parts = 4
	t.Run("seeds", func(t *testing.T) {
		for part := range uint64(parts) {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < uint64(dose().made); seed += parts {
					what, input := extreme(seed)
					c.add(t, what, input, inspect(input))
				}
			})
		}
	})
	t.Log(&c)
	require.Less(t, c.codes[exitUsage], c.inputs/2, "most of what is made can be read")
	for _, code := range []int{exitOK, exitNo, exitTell} {
		require.Greater(t, c.codes[code], c.inputs/50, "check hardly gives exit code %d", code)
	}
}
