package attack

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/tool/internal/guard/large"
)

// Captures lists the graph captures.
func Captures() []Template {
	return []Template{
		{"far-cores", 2_000, graphOf(farCores), CostLimit{10_000_000, 32 * mib}},
		{"far-cores-differ", 2_000, graphOf(farCoresDiffer), CostLimit{29_000_000, 40 * mib}},
		{"ids", 3_000, graphOf(ids), CostLimit{56_000_000, 32 * mib}},
		{"ids-of-meshes", 3_000, graphOf(idsOfMeshes), CostLimit{33_000_000, 32 * mib}},
		{"ids-that-differ", 3_000, graphOf(idsThatDiffer), CostLimit{57_000_000, 64 * mib}},
		{"buffers-without-address", 3_000, graphOf(withoutAddress), CostLimit{40_000_000, 48 * mib}},
		{"earlier-buffers", 3_000, graphOf(earlier), CostLimit{66_000_000, 48 * mib}},
		{"lists", 3_000, reportOf(lists), CostLimit{66_000_000, 48 * mib}},
		{"stray-frees", 3_000, reportOf(strayFrees), CostLimit{95_000_000, 48 * mib}},
		{"stray-frees-beside-what-lives", 3_000, graphOf(openLives), CostLimit{27_000_000, 48 * mib}},
		{"run-that-grows", 3_000, graphOf(runThatGrows), CostLimit{40_000_000, 48 * mib}},
		{"stray-frees-of-all", 3_000, graphOf(freesOfAll), CostLimit{44_000_000, 48 * mib}},
	}
}

// graphOf makes the capture of a number of devices.
func graphOf(write func(g *graph, devices int)) func(devices int) []byte {
	return func(devices int) []byte {
		var g graph
		g.Node("capture_start", "")
		write(&g, devices)
		g.Node("capture_end", "")
		return fmt.Appendf(nil, "[%s]\n", &g.Graph)
	}
}

// reportOf makes a report, which is a capture that may list buffers.
func reportOf(write func(g *graph, size int)) func(size int) []byte {
	return func(size int) []byte {
		var g graph
		write(&g, size)
		return fmt.Appendf(nil, `{"graph":[%s],"per_operation_buffers":{%s}}`, &g.Graph, strings.Join(g.lists, ","))
	}
}

// A graph is the nodes of a capture in the making.
type graph struct {
	large.Graph
	lists []string // of buffers, one for each operation
}

// list lists one buffer at the operation whose function began at the last node.
func (g *graph) list(device, address int) {
	g.lists = append(g.lists, fmt.Sprintf(`"%d":[{"device_id":%d,"address":%d,"max_size_per_bank":64,"buffer_type":1}]`, g.Nodes-1, device, address))
}

func (g *graph) cb(device, size int, cores string) {
	g.Node("circular_buffer_allocate", `"address":"111616","size":"%d","core_range_set":%q,"globally_allocated":"0","device_id":"%d"`, size, cores, device)
}

func (g *graph) free(device int) {
	g.Node("circular_buffer_deallocate_all", `"device_id":"%d"`, device)
}

func (g *graph) buffer(event string, device, address int) {
	g.Node("buffer_"+event, `"address":"%d","size":"4096","max_size_per_bank":"64","type":"L1","device_id":"%d"`, address, device)
}

const (
	allCores = "{[0-0 - 254-254]}" // as many as a capture can name
	fewCores = "{[0-0 - 7-7]}"
)

// farCores has one circular buffer on each device, the same on all cores.
func farCores(g *graph, devices int) {
	for d := range devices {
		g.cb(d, 1024, allCores)
	}
}

// farCoresDiffer has circular buffers on all cores that come and go, on each device of
// another size.
func farCoresDiffer(g *graph, devices int) {
	for d := range devices {
		g.cb(d, 1024+32*d, allCores)
		g.free(d)
	}
}

// ids has the same on each device, for itself.
func ids(g *graph, devices int) {
	for d := range devices {
		g.buffer("allocate", d, 1_000_000)
		g.cb(d, 1024, fewCores)
		g.free(d)
		g.buffer("deallocate", d, 1_000_000)
	}
}

// runThatGrows has one run of a circular buffer more in each operation, beside another buffer.
func runThatGrows(g *graph, operations int) {
	for i := range operations {
		g.buffer("allocate", 0, 1_000_000-64*(i%8_000))
		g.cb(0, 1024, fewCores)
		g.buffer("deallocate", 0, 1_000_000-64*(i%8_000))
	}
}

// idsOfMeshes has a mesh for each device, whose free comes last.
func idsOfMeshes(g *graph, devices int) {
	const mesh = 1 << 20
	for d := range devices {
		g.Node("tensor", `"device_tensors":"[{\"device_id\":%d,\"mesh_device_id\":%d}]"`, d, mesh+d)
	}
	for d := range devices {
		g.cb(d, 1024, fewCores)
	}
	for d := range devices {
		g.free(mesh + d)
	}
}

// idsThatDiffer has something else on each device, beside a free of all.
func idsThatDiffer(g *graph, devices int) {
	for d := range devices {
		g.cb(d, 32+32*(d%(1<<14)), fewCores)
		g.buffer("allocate", d, 1_400_000-64*(d%1024))
		g.Node("circular_buffer_deallocate_all", "")
	}
}

// withoutAddress has a buffer on each device that the reader has to find a place for.
func withoutAddress(g *graph, devices int) {
	for d := range devices {
		g.buffer("allocate", d, 0)
		g.cb(d, 1024, fewCores)
	}
}

// earlier frees a buffer on each device that the capture did not allocate, all at one address.
func earlier(g *graph, devices int) {
	for d := range devices {
		g.cb(d, 1024, fewCores)
		g.buffer("deallocate", d, 1_000_000)
	}
}

// lists has an operation for each device that lists a buffer there. Every second one has made it.
func lists(g *graph, devices int) {
	for d := range devices {
		g.Node("function_start", `"name":"f"`)
		g.list(d, 1_000_000)
		if d%2 == 0 {
			g.buffer("allocate", d, 1_000_000)
			g.buffer("deallocate", d, 1_000_000)
		}
		g.free(d)
		g.cb(d, 1024, fewCores)
		g.Node("function_end", `"name":"f"`)
	}
}

// strayFrees allocates and frees one address again and again, and then frees it as often without an
// allocation.
func strayFrees(g *graph, n int) {
	for range n {
		g.buffer("allocate", 0, 1_000_000)
		g.buffer("deallocate", 0, 1_000_000)
	}
	for range n {
		g.buffer("deallocate", 0, 1_000_000)
	}
}

// openLives has buffers that live at one address, and frees of others there.
func openLives(g *graph, n int) {
	for range n {
		g.buffer("allocate", 0, 1_000_000)
	}
	for range n {
		g.Linked(fmt.Sprint(10*n), "buffer_deallocate", `"address":"1000000","type":"L1","device_id":"0"`)
	}
}

// freesOfAll frees one address on one device after the other, and between them without a device.
func freesOfAll(g *graph, devices int) {
	g.cb(0, 1024, fewCores)
	for d := range devices {
		g.buffer("deallocate", d, 1_000_000)
		g.Node("buffer_deallocate", `"address":"1000000","type":"L1"`)
	}
}
