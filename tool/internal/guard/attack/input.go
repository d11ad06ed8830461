package attack

import (
	"fmt"
	"strings"
)

// A Template is a file of any size. The size counts the devices or lines of a log or of saved lines,
// the devices or frees of a capture, and the rows of buffers of a database.
type Template struct {
	Name string
	Size int                   // of a test: ten times a tenth of it is a fair comparison
	Text func(size int) []byte // the input of a size, the same bytes each time

	CostLimit CostLimit // at its Size, for each verb
}

// A CostLimit bounds the cost of reading an input.
type CostLimit struct {
	Steps int64 // statements that run
	Heap  int64 // bytes, the most that ever are in use
}

const mib = 1 << 20

// A Family is inputs of one kind, and the verbs of the command that read them. A verb may have arguments: FILE
// stands for the input, LAST for one of the last lines of a square, and - for Messages.
type Family struct {
	Kind   string
	Inputs []Template
	Verbs  []string
}

// Args returns the arguments of the command for a verb and a file with the input of a size.
func Args(verb string, size int, file string) (args []string) {
	if !strings.Contains(verb, "FILE") {
		verb += " FILE"
	}
	for word := range strings.FieldsSeq(verb) {
		switch word {
		case "FILE":
			args = append(args, file)
		case "LAST":
			args = append(args, fmt.Sprint(2*size))
		default:
			args = append(args, word)
		}
	}
	return args
}

// Messages is a text for the verb explain: a program is in the way of a buffer, and a buffer has no place
// beside 24,000 bytes of others.
const Messages = `Statically allocated circular buffers in program 1 clash with L1 buffers on core range [(x=0,y=0) - (x=3,y=3)]. ` +
	"L1 buffer allocated at 200000 and static circular buffer region ends at 250000\n" +
	"Out of Memory: Not enough space to allocate 16384000 B L1 buffer across 64 banks, where each bank needs to store 256000 B, " +
	"but bank size is 1461248 B (allocated: 24000 B, free: 1437248 B, largest free block: 1348864 B)\n"

// Families lists all inputs.
func Families() []Family {
	squares := []string{
		"report", "report --format json", "map", "map --format json", "peak", "peak --format json", "room", "stream", "diff FILE FILE", "map --at LAST", "explain --with FILE -",
	}
	return []Family{
		{"log", Logs(), []string{"peak", "stream"}},
		{"square", Squares(), squares},
		{"page", Pages(), []string{"page -o - FILE"}},
		{"capture", Captures(), []string{"report"}},
		{"database", Databases(), []string{"report"}},
	}
}

// Pages lists event logs of which a page has more to show than there is room for.
func Pages() []Template {
	return []Template{
		{"live", 5_000, logOf(live), CostLimit{120_000_000, 96 * mib}},
		{"mesh", 1_500, logOf(mesh), CostLimit{45_000_000, 160 * mib}},
	}
}

// Failures is an event log of programs that all fail, for TestHammerCosts alone: a program is compared with all buffers,
// so that ten times the lines cost more than twelve times the steps.
func Failures() Template { return Template{"failures", 4_000, logOf(failures), CostLimit{}} }

// live has buffers that are never freed.
func live(t *text, n int) {
	t.mesh(1)
	t.buffers(n)
}

// mesh has a program of its own on each of some devices of a mesh of 128x128.
func mesh(t *text, n int) {
	t.line(`{"event":"mesh","first":0,"rows":128,"cols":128,"spec":{"board":"p150b"}}`)
	for i := range n {
		t.line(`{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - 7-7]","size":%d}]}`, i, 32+32*i)
		t.line(`{"event":"enqueue","program":%d,"devices":[%d]}`, i, i)
	}
}

// failures has circular buffers that overlap buffers, again and again.
func failures(t *text, n int) {
	t.mesh(1)
	for i := range n / 2 {
		t.line(`{"event":"allocate","buffer":%d,"kind":"l1","parts":[{"address":%d,"size":64,"cores":"[0-0 - 10-9]"}]}`, i, 300000+64*i)
		t.line(`{"event":"program","program":%d,"cbs":[{"cores":"[0-0 - 10-9]","address":%d,"size":200000}]}`, i, 200000+64*i)
		t.line(`{"event":"register","program":%d}`, i)
		t.line(`{"event":"dispatch","program":%d}`, i)
	}
}
