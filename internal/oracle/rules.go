package oracle

// Rules select the points in which the oracle follows the later reading of tt-metal's sources. The
// zero value is the older reading; each field changes one point, and they can be combined. The
// numbers match the captures in capture/testdata/right.
type Rules struct {
	AsWritten    bool // 1: core ranges key the allocator as the file writes them; else they are merged first
	Ambiguous    bool // 2: a cache hit after several programs under one text judges all of them; else the last
	Residents    bool // 3: buffers from before the capture live where its lists and tensors say; else nowhere
	Grid         bool // 4: core ranges outside the compute grid of the file are refused
	NotShown     bool // 5: what ran and placed nothing is hidden, with its exceptions
	Workloads    bool // 6: several frees back to back announce several programs; else what follows is one
	Aborted      bool // 7: what an exception ended is no cache hit and was not dispatched
	Hybrid       bool // 8: a tensor allocated per core counts on its cores alone, one in range lockstep perhaps on others
	AddressAlone bool // 9: an L1 buffer with an address and no size takes part in tt-metal's test
	FreedAgain   bool // 10: a buffer of the capture that is freed twice is no buffer from before
}

// AllRules are the right answers.
func AllRules() Rules {
	return Rules{true, true, true, true, true, true, true, true, true, true}
}
