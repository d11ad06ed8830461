package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Template is a file of any size. The size counts the devices or lines of a log or of saved lines,
// the devices or frees of a capture, and the rows of buffers of a database. Or a Template is the
// files of one run, and the size is their number.
type Template struct {
	Name string
	Size int // of a test: ten times a tenth of it is a fair comparison

	// Text returns the input of a size, the same bytes each time. Windows has the files of a run.
	Text    func(size int) []byte
	Windows func(size int) [][]byte

	CostLimit CostLimit // at its Size, for each verb
}

// Write writes the input of a size into a folder. It returns the arguments of the command after the
// verb, and the number of bytes.
func (in Template) Write(dir string, size int) (args []string, n int, err error) {
	if in.Windows == nil {
		text, name := in.Text(size), filepath.Join(dir, "input")
		return []string{name}, len(text), os.WriteFile(name, text, 0o600)
	}
	for i, text := range in.Windows(size) {
		n += len(text)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), text, 0o600); err != nil {
			return nil, n, err
		}
	}
	return []string{"--join", dir}, n, nil
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

// Args returns the arguments of the command for a verb, an input of a size and its own arguments.
func Args(verb string, size int, input []string) (args []string) {
	if !strings.Contains(verb, "FILE") {
		verb += " FILE"
	}
	for word := range strings.FieldsSeq(verb) {
		switch word {
		case "FILE":
			args = append(args, input...)
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

// Sources lists all inputs.
func Families() []Family {
	squares := []string{
		"report", "report --format json", "map", "map --format json", "peak", "peak --format json", "room", "stream", "diff FILE FILE", "map --at LAST", "explain --with FILE -",
		"export pprof -o -", "export pprof --at LAST -o -",
	}
	return []Family{
		{"log", Logs(), []string{"peak", "stream"}},
		{"square", Squares(), squares},
		{"page", Pages(), []string{"page -o - FILE"}},
		{"capture", Captures(), []string{"report"}},
		{"windows", Windows(), []string{"report"}},
		{"lines", Lines(), []string{"report"}},
		{"database", Databases(), []string{"report"}},
	}
}
