package replay

// A ProgramDetail x.
type ProgramDetail struct {
	LocalCBs, GlobalCBs, Cores       int
	Logical, Bytes, Core, HighestEnd uint64
	Overlapping                      bool
}
