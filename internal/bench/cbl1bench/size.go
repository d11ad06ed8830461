package main

// sizes are how large the workloads are.
type sizes struct {
	sweep      []int // live programs
	sweepRatio int   // of sweep: the one that is compared with the baselines
	devices    int
	meshed     int // programs on the mesh
	cached     int // live programs of the cache that is full
	pairs      int // programs that leave it and come
	ranges     []int
	growing    []int // live programs
	strewn     []int // live programs at random addresses
	single     []int // live programs of one range
	hostile    int   // pairs of changes
	below      []int // pairs of changes
	swapped    []int // live programs
	many       []int // devices
	own        int   // devices with a program each
	marked     int   // devices with different marks
	refused    int   // buffers of each device
	fragments  int
	teeth      int
	leaving    int
	fleet      int // devices
	states     int
	dispatched []int // live programs; two of them take turns
	round      int   // programs that all take turns
	turns      int   // dispatches
	cold       int   // programs that are enqueued, each once
	buffers    []int // live
	batches    int   // of reads, for each goroutine that reads
	mega       int64 // bytes for each MB of the files that are read
}

// full returns the sizes that the goals are meant for. All of it takes five minutes on an idle
// machine.
func full() sizes {
	return sizes{
		sweep: []int{256, 4_096, 16_384}, sweepRatio: 4_096,
		devices: 32, meshed: 200,
		cached: 1_000, pairs: 5_000,
		ranges:  []int{1_000, 10_000, 100_000},
		growing: []int{50, 200, 800, 3_200}, strewn: []int{100, 500, 2_000}, single: []int{500, 5_000},
		hostile: 200, below: []int{50, 500}, swapped: []int{200, 4_000},
		many: []int{1, 100, 10_000}, own: 8_000, marked: 16_000, refused: 400,
		fragments: 500, teeth: 45_000, leaving: 4_096,
		fleet: 10_000, states: 50, batches: 400,
		dispatched: []int{2, 64, 4_096, 16_384}, round: 4_096, turns: 5_000,
		cold: 1_000, buffers: []int{0, 100, 1_000},
		mega: 1e6,
	}
}

// reduced is less of everything.
func reduced() sizes {
	return sizes{
		sweep: []int{128, 1_024, 4_096}, sweepRatio: 1_024,
		devices: 32, meshed: 50,
		cached: 500, pairs: 1_000,
		ranges:  []int{1_000, 3_000, 10_000},
		growing: []int{50, 200, 800}, strewn: []int{100, 500}, single: []int{500},
		hostile: 100, below: []int{10, 100}, swapped: []int{200},
		many: []int{1, 100, 1_000}, own: 500, marked: 500, refused: 50,
		fragments: 200, teeth: 10_000, leaving: 1_024,
		fleet: 2_000, states: 50, batches: 400,
		dispatched: []int{2, 64, 4_096}, round: 2_000, turns: 2_000,
		cold: 500, buffers: []int{0, 100, 300},
		mega: 1e5,
	}
}
