package attack

// An Input is a file in any size: of a log or of saved lines, the number of its devices or lines; of a
// capture, that of its devices; of a database, that of its rows of buffers.
type Input struct {
	Name string
	Size int   // of a test: ten times a tenth of it is a fair comparison
	Aims []Aim // of make bench

	// Text returns the input of a size, the same bytes each time.
	Text func(size int) []byte

	Budget Budget // at its Size, for each verb
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
		{"capture", Captures(), []string{"report"}},
		{"lines", Lines(), []string{"report"}},
		{"database", Databases(), []string{"report"}},
	}
}
