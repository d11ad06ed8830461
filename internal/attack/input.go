package attack

import (
	"fmt"
	"os"
	"path/filepath"
)

// An Input is a file in any size: of a log or of saved lines, the number of its devices or lines; of a
// capture, that of its devices or frees; of a database, that of its rows of buffers. Or it is the files of
// one run, and the size their number.
type Input struct {
	Name string
	Size int   // of a test: ten times a tenth of it is a fair comparison
	Aims []Aim // of make bench

	// Text returns the input of a size, the same bytes each time. Windows has the files of a run.
	Text    func(size int) []byte
	Windows func(size int) [][]byte

	Budget Budget // at its Size, for each verb
}

// Write writes the input of a size into a folder. It returns what the command is to be given after the verb,
// and the number of bytes.
func (in Input) Write(dir string, size int) (args []string, n int, err error) {
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

// An Aim is what the command may take for an input of a size. It is printed, not tested:
// seconds depend on the machine.
type Aim struct {
	Size    int
	Seconds float64 // of all processors; 0 = nobody asked
	Heap    int64   // bytes, as in a Budget; 0 = nobody asked
}

// A Budget is what reading an input may cost at most.
type Budget struct {
	Steps int64 // statements that run
	Heap  int64 // bytes, the most that ever are in use
}

const mib = 1 << 20

// A Source is inputs of one kind, and the verbs of the command that read them.
type Source struct {
	Kind   string
	Inputs []Input
	Verbs  []string
}

// Sources lists all inputs.
func Sources() []Source {
	return []Source{
		{"log", Logs(), []string{"peak", "stream"}},
		{"square", Squares(), []string{"report", "map", "peak", "room", "stream"}},
		{"capture", Captures(), []string{"report"}},
		{"windows", Windows(), []string{"report"}},
		{"lines", Lines(), []string{"report"}},
		{"database", Databases(), []string{"report"}},
	}
}
