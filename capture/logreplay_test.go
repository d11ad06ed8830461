package capture_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fuzz/gen"
)

func replayLog(t *testing.T, text string, opt capture.Options) *capture.Result {
	t.Helper()
	r, err := capture.Replay(capture.NewReader(strings.NewReader(text), "log.jsonl"), opt)
	require.NoError(t, err)
	return r
}

// The worked examples of the conformance log, as a Result has them: registered is what
// all programs ever registered take, alive those of one moment.
func TestReplayOfLog(t *testing.T) {
	r, err := capture.Input{Path: "testdata/log/conformance.jsonl"}.Replay(capture.Options{})
	require.NoError(t, err)
	rows := map[uint64]capture.Device{}
	for _, d := range r.Devices {
		require.Equal(t, capture.KindChip, d.Kind)
		rows[d.ID.V] = d
	}
	h := rows[0] // example H, three programs
	require.EqualValues(t, 16384, h.Registered)
	require.EqualValues(t, 8192+8192+12288, h.RegisteredLogical)
	require.EqualValues(t, 16384, h.ResidentPeak)
	require.EqualValues(t, 8192+8192+12288, h.LogicalPeak)
	require.EqualValues(t, 6144, h.CorePeak)
	require.Zero(t, h.ResidentFinal)
	require.EqualValues(t, 3, h.Programs)
	require.Equal(t, "example H > P1", h.ProgramsDetail[0].Op)

	on := map[uint64]capture.DeviceL1{}
	for _, row := range r.L1 {
		on[row.ID.V] = row
	}
	require.Len(t, on, len(rows))
	require.EqualValues(t, 2097152, on[5].Dispatched.Peak) // 4.2, scenario 4
	require.EqualValues(t, 32768, on[5].Dispatched.CorePeak)
	peak := on[9].Peak
	require.EqualValues(t, 1253376, peak.Bytes)
	require.Equal(t, "0-0", peak.Core.String())
	require.Equal(t, []capture.KindBytes{{Kind: device.KindCB, Bytes: 1048576}, {Kind: device.KindL1, Bytes: 204800}}, peak.Kinds)
	require.EqualValues(t, capture.HighLow{Peak: 2226176, Final: 2226176}, on[9].Total)
	require.EqualValues(t, 1540096, on[10].Peak.Residents[1].Range.Start)
	require.EqualValues(t, capture.HighLow{Peak: 65536}, on[101].DRAM)

	require.EqualValues(t, 2, r.Checks.Failed) // the same program, before and after it fitted
	require.Contains(t, r.Checks.List[0].Verdict.String(), "in program 2282 clash with L1 buffers on core range [0-0 - 10-9]. L1 buffer allocated at 1563072")
	require.EqualValues(t, 2, r.Checks.List[0].Times)

	codes := map[capture.Code]int64{}
	for _, a := range r.Anomalies {
		codes[a.Code] = a.Count
	}
	require.EqualValues(t, 1, codes[capture.CodeDuplicateKey])
	require.EqualValues(t, 1, codes[capture.CodeUnknownType])
	require.EqualValues(t, 2, codes[capture.CodeFreeUnknown])
	require.EqualValues(t, 1, codes[capture.CodeEndWithoutStart])
	require.Positive(t, codes[capture.CodeEventRefused])
	require.Equal(t, []capture.Code{capture.CodeEventRefused}, r.Untold())
}

// What holds a byte, after any line; the header is number 0.
func TestReplayOfLogAsks(t *testing.T) {
	demo, err := os.ReadFile("../examples/events.jsonl")
	require.NoError(t, err)
	for _, c := range []struct {
		at      capture.Opt[uint64]
		address uint64
		want    []string
	}{
		{capture.Opt[uint64]{}, 704512, []string{"CB 1"}},
		{capture.Opt[uint64]{V: 3, OK: true}, 704512, nil},
		{capture.Opt[uint64]{V: 7, OK: true}, 704512, []string{"CB 1", `a "large" tensor`, `a "large" tensor`}},
		{capture.Opt[uint64]{V: 10, OK: true}, 704512, []string{"CB 1", `a "large" tensor`, `a "large" tensor`}},
		{capture.Opt[uint64]{V: 12, OK: true}, 704512, []string{"CB 1"}},
	} {
		r := replayLog(t, string(demo), capture.Options{Ask: &capture.Question{Address: c.address, At: c.at}})
		var have []string
		for _, h := range r.Held {
			for _, held := range h.Resident {
				if held.Buffer != nil {
					have = append(have, held.Buffer.Op)
				} else {
					have = append(have, "CB "+string(rune('0'+held.CB)))
				}
			}
		}
		require.Equal(t, c.want, have, "at %v", c.at)
	}
}

// A torn line, and a compressed log.
func TestReplayOfLogTorn(t *testing.T) {
	text := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n" + `{"event":"dis`
	r, err := capture.Replay(capture.NewReader(bytes.NewReader(gzipped(t, strings.NewReader(text))), "log"), capture.Options{})
	require.NoError(t, err)
	require.Equal(t, "n150", r.Spec.Name)
	require.Equal(t, []capture.AnomalyCount{
		{Code: capture.CodeNoCBs, Count: 1, First: -1},
		{Code: capture.CodeTornLine, Count: 1, First: 2, Detail: "line 3: torn: the last line is cut"},
	}, r.Anomalies)
	_, err = capture.Replay(capture.NewReader(strings.NewReader(logHead+"{\n"), "log"), capture.Options{})
	require.True(t, isInputError(err))
	checkError(t, err)
}

// Whatever happens in a fleet: the peaks of the Result are the largest values that
// any event left, found by asking after each.
func TestReplayOfLogPeaks(t *testing.T) {
	ops := []gen.Op{
		gen.AddDevice, gen.AddMesh, gen.Remove, gen.Register, gen.Register, gen.Register, gen.Unregister, gen.UnregisterAll, gen.Replace,
		gen.ResetPeaks, gen.Dispatch, gen.Dispatch, gen.Dispatch, gen.Evict, gen.BeginTrace, gen.Record, gen.Record, gen.EndTrace, gen.Replay,
		gen.Allocate, gen.Allocate, gen.Allocate, gen.Free, gen.Free, gen.Enqueue, gen.Enqueue,
	}
	type peaks struct{ alive, final, core, logical, tracked, l1, dispatched, onCore uint64 }
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		w := capture.NewLogWriter(&log)
		fleet := device.NewFleet()
		fleet.Observe(w.Observe)
		for _, m := range gen.History(60, ops...).Draw(t, "history") {
			_, _ = m.Play(mover{fleet})
		}
		require.NoError(t, w.Err())
		r, err := capture.Replay(capture.NewReader(bytes.NewReader(log.Bytes()), "log"), capture.Options{})
		if err != nil { // sums over everything that was ever registered may be too large
			require.ErrorContains(t, err, "2^63-1")
			return
		}

		var s capture.Session
		want := map[uint64]*peaks{}
		for e, err := range capture.NewLog(bytes.NewReader(log.Bytes()), "log").Events() {
			require.NoError(t, err)
			if err := s.Apply(e); !errors.As(err, new(*device.FitError)) { // refused, as it was
				require.NoError(t, err)
			}
			for _, p := range want {
				p.final = 0
			}
			for d := range s.Fleet().Devices() {
				p := want[uint64(d.ID())]
				if p == nil {
					p = &peaks{}
					want[uint64(d.ID())] = p
				}
				now := d.Totals()
				p.final = now.Registered
				p.alive, p.core, p.logical = max(p.alive, now.Registered), max(p.core, now.Core), max(p.logical, now.Logical)
				p.tracked, p.l1, p.dispatched = max(p.tracked, now.Tracked), max(p.l1, now.Buffers.L1), max(p.dispatched, now.Resident)
				for g := range d.UsageGroups(device.BasisResident) {
					p.onCore = max(p.onCore, g.Usage.Tracked)
				}
			}
		}
		have := map[uint64]*peaks{}
		for i, d := range r.Devices {
			on := r.L1[i]
			require.Equal(t, d.ID, on.ID)
			p := &peaks{alive: d.ResidentPeak, final: d.ResidentFinal, core: d.CorePeak, logical: d.LogicalPeak, tracked: on.Total.Peak, l1: on.L1.Peak}
			if on.Dispatched != nil {
				p.dispatched = on.Dispatched.Peak
			}
			if on.Peak != nil {
				p.onCore = on.Peak.Bytes
			}
			have[d.ID.V] = p
		}
		require.Equal(t, want, have, "%s", log.String())
	})
}

// Ids of logs go up to 2^64-1. What is live at the end goes by id among equals, and the
// difference of two ids fits in no int.
func TestLiveOfLogGoesByID(t *testing.T) {
	const ids = "18446744073709551615 3 9223372036854775808 4294967297 4"
	text := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n"
	for id := range strings.FieldsSeq(ids) {
		text += `{"event":"allocate","buffer":` + id + `,"kind":"l1","parts":[{"address":1048576,"size":64}],"name":"` + id + `"}` + "\n"
	}
	var got []string
	for _, b := range replayLog(t, text, capture.Options{}).Live.List {
		got = append(got, b.Op)
	}
	require.Equal(t, strings.Fields("3 4 4294967297 9223372036854775808 18446744073709551615"), got)
}
