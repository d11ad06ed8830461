package oracle

// Report holds all results of the oracle for one capture. The *.expected.json files have its JSON
// form.
type Report struct {
	Format             int                `json:"format"`
	Nodes              int                `json:"nodes"`
	Wrapper            *string            `json:"wrapper"` // nil for a bare array, else the key that held the nodes
	CountersSequential bool               `json:"counters_sequential"`
	Addresses          string             `json:"addresses"` // recorded, synthesised, mixed, none
	Layout             *Layout            `json:"layout"`    // nil if nothing had to be placed
	DeviceRule         string             `json:"device_rule"`
	MeshMembers        map[string][]int64 `json:"mesh_members"`
	Devices            map[string]*Device `json:"devices"`
	Upstream           Upstream           `json:"upstream"`
}

// Layout says with which figures CBs without address were placed.
type Layout struct {
	Arch  string `json:"arch"`
	Base  uint64 `json:"base"`
	Align uint64 `json:"align"`
}

// Device holds the figures of one device id as it stands on nodes of CBs, dataflow buffers or scratchpads.
type Device struct {
	CBNodes              int       `json:"cb_nodes"`
	LocalCBs             int       `json:"local_cbs"`
	GlobalCBs            int       `json:"global_cbs"`
	Programs             int       `json:"programs"`
	Cores                int       `json:"cores"`
	LogicalPeak          uint64    `json:"logical_peak_bytes"`
	LogicalSizesPeak     uint64    `json:"logical_sizes_peak_bytes"`
	ResidentPeak         uint64    `json:"resident_peak_bytes"`
	ResidentFinal        uint64    `json:"resident_final_bytes"`
	CorePeak             uint64    `json:"core_peak_bytes"`
	HighestEnd           uint64    `json:"highest_end"`
	UnattributedPeak     uint64    `json:"unattributed_peak_bytes"`
	RegisteredUnion      uint64    `json:"registered_union_bytes"`
	RegisteredCorePeak   uint64    `json:"registered_core_peak_bytes"`
	RegisteredLogical    uint64    `json:"registered_logical_bytes"`
	RegisteredGranular   uint64    `json:"registered_range_granular_bytes"`
	DataflowBuffers      int       `json:"dataflow_buffers"`
	DataflowLocal        int       `json:"dataflow_local"`
	DataflowBorrowed     int       `json:"dataflow_borrowed"`
	DataflowPeak         uint64    `json:"dataflow_resident_peak_bytes"`
	DataflowCorePeak     uint64    `json:"dataflow_core_peak_bytes"`
	DataflowRegistered   uint64    `json:"dataflow_registered_union_bytes"`
	Scratchpads          int       `json:"scratchpads"`
	ScratchpadPeak       uint64    `json:"scratchpad_resident_peak_bytes"`
	ScratchpadCorePeak   uint64    `json:"scratchpad_core_peak_bytes"`
	ScratchpadRegistered uint64    `json:"scratchpad_registered_union_bytes"`
	ProgramsDetail       []Program `json:"programs_detail"`
}

// Program is one run of CB nodes between two frees that reach the device.
type Program struct {
	FirstCounter int64  `json:"first_counter"`
	LastCounter  int64  `json:"last_counter"`
	LocalCBs     int    `json:"local_cbs"`
	GlobalCBs    int    `json:"global_cbs"`
	Cores        int    `json:"cores"`
	LogicalBytes uint64 `json:"logical_bytes"`
	Resident     uint64 `json:"resident_bytes"`
	CoreMax      uint64 `json:"core_max_bytes"`
	HighestEnd   uint64 `json:"highest_end"`
}

// Upstream holds ttnn's own per-core figures, wraps included. A figure is nil if the file lacks the data.
type Upstream struct {
	PeakCB         *uint64 `json:"peak_cb"`
	PeakL1         *uint64 `json:"peak_l1"`
	PeakDataflow   *uint64 `json:"peak_dataflow_buffer"`
	PeakScratchpad *uint64 `json:"peak_scratchpad"`
	PeakTotal      *uint64 `json:"peak_total"`
	Wrapped        bool    `json:"wrapped"`
}
