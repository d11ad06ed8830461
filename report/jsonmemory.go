package report

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

// What the report says of L1 beside circular buffers.

type jsonChecks struct {
	Runs     int64 `json:"runs"`
	Inferred int64 `json:"runs_inferred"`
	Failed   int64 `json:"runs_failed"`

	Answer   replay.Answer `json:"answer"`
	Untold   []replay.Code `json:"untold"`
	Tightest *jsonTightest `json:"tightest"`
}

// newChecks says what cbl1 check answers without a budget, of which nothing is accepted.
func newChecks(r *replay.Result) jsonChecks {
	j := r.Judge(replay.Terms{})
	return jsonChecks{
		Runs: r.Checks.Runs, Inferred: r.Checks.Inferred, Failed: r.Checks.Failed,
		Answer: j.Answer, Untold: append([]replay.Code{}, codesOf(j.Untold)...), Tightest: newTightest(r.Checks.Tightest),
	}
}

type jsonHits struct {
	Inferred int64 `json:"inferred"`
	Unknown  int64 `json:"unknown"`
}

type jsonLive struct {
	Buffers int64               `json:"buffers"`
	L1      uint64              `json:"l1_bytes"`
	L1Small uint64              `json:"l1_small_bytes"`
	DRAM    uint64              `json:"dram_bytes"`
	List    []replay.BufferInfo `json:"list"`
	More    int64               `json:"more"`
}

type jsonEarlier struct {
	L1    int64  `json:"l1_buffers"`
	Other int64  `json:"other_buffers"`
	Bytes uint64 `json:"l1_bytes"`
}

type jsonL1 struct {
	Device       *uint64           `json:"device"`
	Kind         replay.DeviceKind `json:"kind"`
	Chips        []uint64          `json:"chips"`
	Cols         int               `json:"cols"`
	Rows         int               `json:"rows"`
	Cores        int               `json:"cores"`
	CoresFrom    event.Source      `json:"cores_from"`
	Addresses    replay.Addresses  `json:"l1_addresses"`
	Unplaced     int64             `json:"l1_buffers_unplaced"`
	Assumed      int64             `json:"l1_buffers_assumed"`
	TrackedPeak  uint64            `json:"tracked_peak_bytes"`
	TrackedFinal uint64            `json:"tracked_final_bytes"`
	L1Peak       uint64            `json:"l1_peak_bytes"`
	L1Final      uint64            `json:"l1_final_bytes"`
	SmallPeak    uint64            `json:"l1_small_peak_bytes"`
	SmallFinal   uint64            `json:"l1_small_final_bytes"`
	DRAMPeak     uint64            `json:"dram_peak_bytes"`
	DRAMFinal    uint64            `json:"dram_final_bytes"`
	BuffersPeak  uint64            `json:"buffers_peak"`
	BuffersFinal uint64            `json:"buffers_final"`
	Backings     int64             `json:"backing_allocations"`
	Dispatched   *jsonDispatched   `json:"dispatched"`
	CorePeak     *replay.L1Peak    `json:"core_peak"`
}

type jsonDispatched struct {
	Peak       uint64 `json:"peak_bytes"`
	Final      uint64 `json:"final_bytes"`
	CorePeak   uint64 `json:"core_peak_bytes"`
	Executions int64  `json:"executions"`
	Unknown    int64  `json:"executions_unknown"`
}

func newLive(l replay.Live) jsonLive {
	return jsonLive{l.Buffers, l.L1, l.L1Small, l.DRAM, replay.List(l.List), l.More}
}

func newL1(r *replay.Result) []jsonL1 {
	out := []jsonL1{}
	for i := range r.L1 {
		out = append(out, newL1Row(r, &r.L1[i]))
	}
	return out
}

func newL1Row(r *replay.Result, d *replay.DeviceL1) jsonL1 {
	row := jsonL1{
		Device: optional(d.ID), Kind: d.Kind, Chips: append([]uint64{}, d.Chips...), Cols: d.Cols, Rows: d.Rows, Cores: d.NumCores, CoresFrom: d.CoresFrom,
		Addresses: d.Addresses, Unplaced: d.Unplaced, Assumed: d.Assumed,
		TrackedPeak: d.Total.Peak, TrackedFinal: d.Total.Final, L1Peak: d.L1.Peak, L1Final: d.L1.Final,
		SmallPeak: d.L1Small.Peak, SmallFinal: d.L1Small.Final, DRAMPeak: d.DRAM.Peak, DRAMFinal: d.DRAM.Final,
		BuffersPeak: d.Buffers.Peak, BuffersFinal: d.Buffers.Final, Backings: d.Backings, CorePeak: d.Peak.Document(r.SpecOf(d.ID)),
	}
	if x := d.Dispatched; x != nil {
		row.Dispatched = &jsonDispatched{x.Peak, x.Final, x.CorePeak, x.Executions, x.Unknown}
	}
	return row
}
