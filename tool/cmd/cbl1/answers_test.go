package main

import (
	"fmt"
	"slices"
)

// The answers of the command in JSON, as a reader that knows nothing but their
// schemas takes them in. Fields that no law is about are left out.

type reportAnswer struct {
	Nodes uint64 `json:"nodes"`
	Basis struct {
		L1 *uint64 `json:"l1_size_bytes"`
	} `json:"basis"`
	Fullest *struct {
		Device string `json:"device"`
		Cores  uint64 `json:"cores"`
		Bytes  uint64 `json:"bytes"`
		Share  uint64 `json:"program_bytes"`
	} `json:"fullest"`
	Anomalies []struct {
		Code string `json:"code"`
	} `json:"anomalies"`
	Checks struct {
		Runs     uint64 `json:"runs"`
		Inferred uint64 `json:"runs_inferred"`
		Failed   uint64 `json:"runs_failed"`
	} `json:"checks"`
	L1      []l1Answer              `json:"l1"`
	Devices map[string]deviceAnswer `json:"devices"`
}

func (r *reportAnswer) has(code string) bool {
	return slices.ContainsFunc(r.Anomalies, func(a struct {
		Code string `json:"code"`
	},
	) bool {
		return a.Code == code
	})
}

// alike reports whether one size of L1 is that of all devices.
func (r *reportAnswer) alike() bool { return r.Basis.L1 != nil && !r.has("specs-differ") }

// judged reports whether what a core holds can be held against its L1: the report
// does not itself say that something is beyond.
func (r *reportAnswer) judged() bool {
	return r.alike() && !r.has("beyond-l1") && !r.has("buffer-beyond-l1")
}

type deviceAnswer struct {
	CBNodes   uint64 `json:"cb_nodes"`
	LocalCBs  uint64 `json:"local_cbs"`
	GlobalCBs uint64 `json:"global_cbs"`
	Cores     uint64 `json:"cores"`

	LogicalPeak   uint64 `json:"logical_peak_bytes"`
	ResidentPeak  uint64 `json:"resident_peak_bytes"`
	ResidentFinal uint64 `json:"resident_final_bytes"`
	CorePeak      uint64 `json:"core_peak_bytes"`
	HighestEnd    uint64 `json:"highest_end"`

	Registered        uint64 `json:"registered_union_bytes"`
	RegisteredCore    uint64 `json:"registered_core_peak_bytes"`
	RegisteredLogical uint64 `json:"registered_logical_bytes"`

	DataflowBuffers    uint64 `json:"dataflow_buffers"`
	DataflowLocal      uint64 `json:"dataflow_local"`
	DataflowBorrowed   uint64 `json:"dataflow_borrowed"`
	DataflowPeak       uint64 `json:"dataflow_resident_peak_bytes"`
	DataflowCore       uint64 `json:"dataflow_core_peak_bytes"`
	DataflowRegistered uint64 `json:"dataflow_registered_union_bytes"`
	DataflowRegCore    uint64 `json:"dataflow_registered_core_peak_bytes"`
	DataflowLogical    uint64 `json:"dataflow_registered_logical_bytes"`

	ScratchPeak       uint64 `json:"scratchpad_resident_peak_bytes"`
	ScratchCore       uint64 `json:"scratchpad_core_peak_bytes"`
	ScratchRegistered uint64 `json:"scratchpad_registered_union_bytes"`
	ScratchRegCore    uint64 `json:"scratchpad_registered_core_peak_bytes"`
	ScratchLogical    uint64 `json:"scratchpad_registered_logical_bytes"`

	ProgramsDetail []programAnswer `json:"programs_detail"`
	CoreGroups     []groupAnswer   `json:"core_groups"`
}

type programAnswer struct {
	First   uint64 `json:"first_counter"`
	Last    uint64 `json:"last_counter"`
	Cores   uint64 `json:"cores"`
	Logical uint64 `json:"logical_bytes"`
	Bytes   uint64 `json:"resident_bytes"`
	Core    uint64 `json:"core_max_bytes"`
}

type groupAnswer struct {
	Count      uint64      `json:"count"`
	Registered uint64      `json:"registered_bytes"`
	CorePeak   uint64      `json:"core_peak_bytes"`
	Regions    [][2]uint64 `json:"registered_regions"`
}

type l1Answer struct {
	Device       *uint64 `json:"device"`
	Cores        uint64  `json:"cores"`
	TrackedPeak  uint64  `json:"tracked_peak_bytes"`
	TrackedFinal uint64  `json:"tracked_final_bytes"`
	L1Peak       uint64  `json:"l1_peak_bytes"`
	L1Final      uint64  `json:"l1_final_bytes"`
	SmallPeak    uint64  `json:"l1_small_peak_bytes"`
	SmallFinal   uint64  `json:"l1_small_final_bytes"`
	DRAMPeak     uint64  `json:"dram_peak_bytes"`
	DRAMFinal    uint64  `json:"dram_final_bytes"`
	BuffersPeak  uint64  `json:"buffers_peak"`
	BuffersFinal uint64  `json:"buffers_final"`
	Dispatched   *struct {
		Peak       uint64 `json:"peak_bytes"`
		Final      uint64 `json:"final_bytes"`
		CorePeak   uint64 `json:"core_peak_bytes"`
		Executions uint64 `json:"executions"`
		Unknown    uint64 `json:"executions_unknown"`
	} `json:"dispatched"`
	CorePeak *momentAnswer `json:"core_peak"`
}

// name is the device's key in reportAnswer.Devices.
func (l *l1Answer) name() string {
	if l.Device == nil {
		return "none"
	}
	return fmt.Sprint(*l.Device)
}

type momentAnswer struct {
	Tracked     uint64            `json:"tracked_bytes"`
	WithKernels uint64            `json:"with_kernels_bytes"`
	Counter     uint64            `json:"counter"`
	Core        string            `json:"core"`
	Count       uint64            `json:"count"`
	Kinds       map[string]uint64 `json:"kinds"`
	Residents   []residentAnswer  `json:"residents"`
	LargestGap  []uint64          `json:"largest_gap"`
	HighestGap  []uint64          `json:"highest_gap"`
}

type residentAnswer struct {
	Kind  string `json:"kind"`
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
}

type checkAnswer struct {
	Nodes  uint64 `json:"nodes"`
	Answer string `json:"answer"`
	Untold []struct {
		Text string `json:"text"`
	} `json:"untold"`
	Basis struct {
		Usable *uint64 `json:"usable_bytes"`
		Base   uint64  `json:"cb_base"`
	} `json:"basis"`
	Runs     uint64 `json:"runs"`
	Inferred uint64 `json:"runs_inferred"`
	Failed   uint64 `json:"runs_failed"`
	Failures []struct {
		Program runAnswer `json:"program"`
		Counter uint64    `json:"counter"`
		Devices uint64    `json:"devices"`
		Times   uint64    `json:"times"`
		Verdict struct {
			Message  string     `json:"message"`
			Refusals []struct{} `json:"refusals"`
			Hybrid   []struct{} `json:"hybrid_refusals"`
			Clashes  []struct{} `json:"clashes"`
		} `json:"verdict"`
	} `json:"failures"`
	Tightest *struct {
		Program  runAnswer `json:"program"`
		Counter  uint64    `json:"counter"`
		Headroom struct {
			End  uint64 `json:"region_end"`
			Free uint64 `json:"free_bytes"`
			Gap  uint64 `json:"largest_gap_bytes"`
		} `json:"headroom"`
		Grow []struct {
			Bytes uint64 `json:"bytes"`
		} `json:"may_grow"`
	} `json:"tightest"`
}

type runAnswer struct {
	Counter uint64 `json:"counter"`
}

type peakAnswer struct {
	Nodes   uint64  `json:"nodes"`
	Fullest *uint64 `json:"fullest"`
	Devices []struct {
		Peak *momentAnswer `json:"peak"`
	} `json:"devices"`
}

type roomAnswer struct {
	Nodes   uint64       `json:"nodes"`
	Answer  string       `json:"answer"`
	Untold  []any        `json:"untold"`
	Runs    uint64       `json:"runs"`
	Size    uint64       `json:"size_bytes"`
	Room    *spaceAnswer `json:"room"`
	Devices []struct {
		Room   spaceAnswer   `json:"room"`
		Groups []spaceAnswer `json:"groups"`
	} `json:"devices"`
}

type spaceAnswer struct {
	Count uint64  `json:"count"`
	Bytes uint64  `json:"bytes"`
	Start *uint64 `json:"start"`
	End   *uint64 `json:"end"`
	Fits  *uint64 `json:"fits_at"`
}

type whoAnswer struct {
	Nodes   uint64 `json:"nodes"`
	Address uint64 `json:"address"`
	Held    []struct {
		Count      uint64           `json:"count"`
		Resident   []residentAnswer `json:"resident"`
		Registered []residentAnswer `json:"registered"`
	} `json:"held"`
}
