package event

// Why a buffer in L1 has no Parts: the values of Event.Unplaced.
const (
	UnplacedEarlier = "before the capture"       // it was allocated before the source began
	UnplacedSize    = "size per core not known"  // the source gives its size in all banks alone
	UnplacedBeyond  = "beyond any L1"            // its address and size end above 2^32-1
	UnplacedHidden  = "address not recorded"     // it has no address, and others have
	UnplacedFull    = "no gap"                   // it has no address, and nowhere is room
	UnplacedSmall   = "L1_SMALL without a place" // it has no address, and the place of L1_SMALL is unknown
)
