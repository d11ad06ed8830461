package l1

// The boards below are starting points: the base address changes between releases (three values are
// known for Blackhole, two for Wormhole), the grid with harvesting and with where dispatch runs.
// Copy one and set the fields that differ:
//
//	spec := l1.P150()
//	spec.Cols = 11 // two columns harvested

// ArchSpec returns the fields that all boards of an architecture share, with an unknown grid. The
// L1 sizes, alignments and index counts are tt-metal's; the base is the latest one seen (Wormhole
// 103,712; Blackhole 111,616). The base of Quasar is not known: its CBBase is 0, and its alignment is
// assumed. An unknown architecture gives the zero Spec.
func ArchSpec(arch Arch) Spec {
	switch arch {
	case Grayskull:
		return Spec{Name: "grayskull", Arch: arch, L1Size: 1 << 20, CBBase: 103_712, CBAlign: 32, L1Align: 16, CBIndices: 32}
	case Wormhole:
		return Spec{Name: "wormhole", Arch: arch, L1Size: 1464 << 10, CBBase: 103_712, CBAlign: 32, L1Align: 16, CBIndices: 32}
	case Blackhole:
		return Spec{Name: "blackhole", Arch: arch, L1Size: 1536 << 10, CBBase: 111_616, CBAlign: 64, L1Align: 16, CBIndices: 64}
	case Quasar:
		return Spec{Name: "quasar", Arch: arch, L1Size: 4 << 20, CBAlign: 64, L1Align: 16}
	}
	return Spec{}
}

func board(name string, arch Arch, cols, rows int) Spec {
	s := ArchSpec(arch)
	s.Name, s.Cols, s.Rows = name, cols, rows
	return s
}

// N150 is one Wormhole chip with a grid of 8x8.
func N150() Spec { return board("n150", Wormhole, 8, 8) }

// N300 is one of the two Wormhole chips of an n300 with dispatch on Tensix cores,
// 8x7. With dispatch on Ethernet cores the grid is 8x8.
func N300() Spec { return board("n300", Wormhole, 8, 7) }

// Galaxy is one of the 32 Wormhole chips of a Galaxy with dispatch on Ethernet
// cores, 8x10.
func Galaxy() Spec { return board("galaxy", Wormhole, 8, 10) }

// P100 is a Blackhole part with 120 cores, 11x10 beside a column for dispatch.
func P100() Spec { return board("p100", Blackhole, 11, 10) }

// P150 is a Blackhole part without harvesting, 13x10 beside a column for dispatch.
func P150() Spec { return board("p150", Blackhole, 13, 10) }

// P150b is a Blackhole part with two columns harvested, 11x10.
func P150b() Spec { return board("p150b", Blackhole, 11, 10) }

// E150 is a Grayskull chip, 12x9. Its L1 size is not verified.
func E150() Spec { return board("e150", Grayskull, 12, 9) }

// E75 is a Grayskull chip, 11x8. Its L1 size is not verified.
func E75() Spec { return board("e75", Grayskull, 11, 8) }

// QuasarBoard is a Quasar chip, 8x4. Its base is not known: set CBBase.
func QuasarBoard() Spec { return board("quasar", Quasar, 8, 4) }

// QSR3A2 is a Quasar chip, 8x12. Its base is not known: set CBBase.
func QSR3A2() Spec { return board("qsr3a2", Quasar, 8, 12) }

// Board returns the ready-made board with a name, as "n150".
func Board(name string) (s Spec, ok bool) {
	for _, s := range Boards() {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// Boards returns the ready-made boards in the order of this file. A capture without a grid gets the
// largest one of its architecture.
func Boards() []Spec {
	return []Spec{N150(), N300(), Galaxy(), P100(), P150(), P150b(), E150(), E75(), QuasarBoard(), QSR3A2()}
}
