package residue

import "github.com/cbl1/cbl1/device/internal/lookup"

// A recall says whether it pays to remember residues. Devices that do the same, and programs that
// take turns, come to residues that were there before; programs in random order hardly ever do.
// What is left then is kept for nobody but the devices that have it.
//
//	off     from when 16 more residues were new than were met
//	on      from when as many more were met, of those that came by last
type recall struct {
	off  bool
	vain int      // how many more were new than met lately, 0..patience
	seen []uint32 // of the hashes that came by since it was off for the first time, by their rest
}

const (
	patience   = 16
	remembered = 2048 // hashes
)

// note takes down whether a residue was met.
func (m *recall) note(met bool) {
	switch {
	case met && m.vain > 0:
		m.vain--
	case !met && m.vain < patience:
		m.vain++
	}
	switch m.vain {
	case 0:
		m.off = false
	case patience:
		m.off = true
	}
}

// came reports whether a residue with the hash came by before, which may be wrong.
func (m *recall) came(h lookup.Hash) bool {
	if !m.off && m.seen == nil {
		return false
	}
	if m.seen == nil {
		m.seen = make([]uint32, remembered)
	}
	at, rest := &m.seen[h%remembered], uint32(h>>32)
	before := *at
	*at = rest
	return before == rest
}
