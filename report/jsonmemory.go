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

	Answer   replay.Answer    `json:"answer"`
	Untold   []replay.Code    `json:"untold"`
	Tightest *replay.Tightest `json:"tightest"`
}

// newChecks says what cbl1 check answers without a budget, of which nothing is accepted.
func newChecks(r *replay.Result) jsonChecks {
	j := r.Judge(replay.Terms{})
	return jsonChecks{
		Runs: r.Checks.Runs, Inferred: r.Checks.Inferred, Failed: r.Checks.Failed,
		Answer: j.Answer, Untold: append([]replay.Code{}, codesOf(j.Untold)...), Tightest: r.Checks.Tightest.Document(),
	}
}

type jsonL1 struct {
	Device       *uint64            `json:"device"`
	Kind         replay.DeviceKind  `json:"kind"`
	Chips        []uint64           `json:"chips"`
	Cols         int                `json:"cols"`
	Rows         int                `json:"rows"`
	Cores        int                `json:"cores"`
	CoresFrom    event.Source       `json:"cores_from"`
	Addresses    replay.Addresses   `json:"l1_addresses"`
	Unplaced     int64              `json:"l1_buffers_unplaced"`
	Assumed      int64              `json:"l1_buffers_assumed"`
	TrackedPeak  uint64             `json:"tracked_peak_bytes"`
	TrackedFinal uint64             `json:"tracked_final_bytes"`
	L1Peak       uint64             `json:"l1_peak_bytes"`
	L1Final      uint64             `json:"l1_final_bytes"`
	SmallPeak    uint64             `json:"l1_small_peak_bytes"`
	SmallFinal   uint64             `json:"l1_small_final_bytes"`
	DRAMPeak     uint64             `json:"dram_peak_bytes"`
	DRAMFinal    uint64             `json:"dram_final_bytes"`
	BuffersPeak  uint64             `json:"buffers_peak"`
	BuffersFinal uint64             `json:"buffers_final"`
	Backings     int64              `json:"backing_allocations"`
	Dispatched   *replay.Dispatched `json:"dispatched"`
	CorePeak     *replay.L1Peak     `json:"core_peak"`
}

func newL1(r *replay.Result) []jsonL1 {
	out := []jsonL1{}
	for i := range r.L1 {
		out = append(out, newL1Row(r, &r.L1[i]))
	}
	return out
}

func newL1Row(r *replay.Result, d *replay.DeviceL1) jsonL1 {
	return jsonL1{
		Device: optional(d.ID), Kind: d.Kind, Chips: append([]uint64{}, d.Chips...), Cols: d.Cols, Rows: d.Rows, Cores: d.NumCores, CoresFrom: d.CoresFrom,
		Addresses: d.Addresses, Unplaced: d.Unplaced, Assumed: d.Assumed,
		TrackedPeak: d.Total.Peak, TrackedFinal: d.Total.Final, L1Peak: d.L1.Peak, L1Final: d.L1.Final,
		SmallPeak: d.L1Small.Peak, SmallFinal: d.L1Small.Final, DRAMPeak: d.DRAM.Peak, DRAMFinal: d.DRAM.Final,
		BuffersPeak: d.Buffers.Peak, BuffersFinal: d.Buffers.Final, Backings: d.Backings, Dispatched: d.Dispatched,
		CorePeak: d.Peak.Document(r.SpecOf(d.ID)),
	}
}
