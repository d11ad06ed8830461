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

// log makes an event log. Most of its events make sense: devices are there, programs
// are defined, what is freed was allocated.
func (m maker) log() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say(`{"event":"log","version":1}`)
	devices := 1 + m.IntN(3)
	for device := range devices {
		spec := fmt.Sprintf(`"board":%q`, []string{"n150", "p150b"}[device/2]) // a program is of one spec
		if m.IntN(m.wild) == 0 {
			spec = fmt.Sprintf(`"arch":"wormhole","l1_size":%s,"cb_base":%s,"l1_small":%s`, m.bytes(), m.bytes(), m.bytes())
		}
		say(`{"event":"device","device":%d,"spec":{%s}}`, device, spec)
	}
	for id := range 4 {
		m.program(&b, id)
	}
	on := func() string {
		if m.IntN(4*m.wild) == 0 {
			return m.one("", `,"devices":[]`, `,"devices":[0,0]`, `,"devices":[7]`)
		}
		return m.one(`,"devices":[0]`, fmt.Sprintf(`,"devices":[%d]`, m.IntN(min(2, devices))))
	}
	next, live := 0, []int{}
	for range 4 + m.IntN(25) {
		n := m.IntN(4)
		switch m.IntN(20) {
		case 0, 1:
			m.program(&b, n)
		case 2, 3:
			say(`{"event":"register","program":%d%s}`, n, on())
		case 4, 5, 6, 7:
			say(`{"event":"enqueue","program":%d%s}`, n, on())
		case 8:
			say(`{"event":%q,"program":%d%s}`, m.one("dispatch", "evict"), n, on())
		case 9:
			where := on()
			say(`{"event":"register","program":%d%s}`, n, where)
			say(`{"event":"unregister","program":%d%s}`, n, where)
		case 10:
			say(`{"event":"register","program":%d%s}`, n, on())
			say(`{"event":"replace","program":%d,"with":%s}`, n, m.one(fmt.Sprint(n), fmt.Sprint(m.IntN(4))))
		case 11, 12, 13:
			live = append(live, next)
			say(`{"event":"allocate","buffer":%d,"kind":%q,"parts":[{"address":%s,"size":%s,"cores":%q}]%s}`, next,
				m.one("l1", "l1", "l1", "l1_small", "global_cb", "kernel", "reserved", "service"), m.address(), m.bytes(), m.cores(), on())
			next++
		case 14:
			live = append(live, next)
			say(`{"event":"allocate","buffer":%d,"kind":%q,"size":%s%s}`, next, m.one("dram", "trace", "system"), m.bytes(), on())
			next++
		case 15:
			if k := len(live) - 1; k >= 0 {
				i := m.IntN(k + 1)
				say(`{"event":"free","buffer":%d}`, live[i])
				live[i], live = live[k], live[:k]
			}
		case 16:
			say(`{"event":%q,"devices":[%d]}`, m.one("reset_peaks", "reset_peaks", "reset_peaks", "remove"), m.IntN(devices))
		case 17:
			say(`{"query":%q,"device":%d}`, m.one("totals", "usage"), m.IntN(devices))
		case 18:
			say(`{"query":%q,"device":%d,"core":%q,"address":%s}`, m.one("core", "who"), m.IntN(devices), m.one("0-0", "1-1", "7-6"), m.address())
		case 19:
			say(`{"query":%q,"program":%d,"cb":0%s}`, m.one("check", "headroom"), n, on())
			mode := m.one("lockstep", "per_core", "range_lockstep")
			say(`{"query":"place","buffer":%d,"kind":%q,"mode":%q,"size":%s,"cores":%q%s}`, next, m.one("l1", "l1_small", "global_cb", "dram"), mode, m.bytes(), m.cores(), on())
			say(`{"query":"check","buffer":%d,"mode":%q,"parts":[{"address":%s,"size":%s,"cores":%q}]%s}`, next, mode, m.address(), m.bytes(), m.cores(), on())
			say(`{"query":"room","mode":%q,"cores":%q%s}`, mode, m.cores(), on())
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
			cb += `,"global":true`
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
					in := inspect(input)
					if seed%2 == 1 {
						in.ask(input, []string{"stream"})
					}
					c.add(t, what, input, in)
				}
			})
		}
	})
	t.Log(&c)
	require.Less(t, c.codes[exitUsage], c.inputs/2, "most of what is made can be read")
	for _, code := range []int{exitOK, exitNo, exitTell} {
		require.Greater(t, c.codes[code], c.inputs/100, "check hardly gives exit code %d", code)
	}
}

// TestIDsUpTo2To64: ids of a log are any number of 64 bits, and all laws hold of them.
func TestIDsUpTo2To64(t *testing.T) {
	const ids = `{"event":"log","version":1}
{"event":"device","device":18446744073709551615,"spec":{"board":"n150"}}
{"event":"device","device":9223372036854775808,"spec":{"board":"n150"}}
{"event":"program","program":18446744073709551615,"cbs":[{"cores":"0-0","size":100000}]}
{"event":"allocate","buffer":18446744073709551615,"kind":"l1","devices":[9223372036854775808],"parts":[{"cores":"0-0","address":200000,"size":64}]}
{"event":"enqueue","program":18446744073709551615,"devices":[18446744073709551615]}
{"event":"enqueue","program":18446744073709551615}
{"query":"who","device":18446744073709551615,"core":"0-0","address":103712}
{"query":"core","device":18446744073709551615,"core":"0-0"}
{"query":"who","device":9223372036854775808,"core":"0-0","address":200000}
{"query":"headroom","program":18446744073709551615}
`
	in := inspect([]byte(ids))
	in.ask([]byte(ids), []string{"stream"})
	require.Empty(t, in.list)
	require.Equal(t, exitNo, in.check.code)
	require.Contains(t, in.check.out, `"device":9223372036854775808`)
	require.Contains(t, in.report.out, `"device":18446744073709551615`)
}
