package replay

import (
	"hash/maphash"
	"math/bits"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A sum128 is a sum of hashes, in any order.
type sum128 struct{ hi, lo uint64 }

func (s sum128) pair() [2]uint64 { return [2]uint64{s.hi, s.lo} }

func (s sum128) plus(o sum128) sum128 {
	lo, carry := bits.Add64(s.lo, o.lo, 0)
	hi, _ := bits.Add64(s.hi, o.hi, carry)
	return sum128{hi, lo}
}

func (s sum128) minus(o sum128) sum128 {
	lo, borrow := bits.Sub64(s.lo, o.lo, 0)
	hi, _ := bits.Sub64(s.hi, o.hi, borrow)
	return sum128{hi, lo}
}

// A naming gives numbers of 128 bits to what lives on devices. They are taken as names.
type naming struct {
	seeds [2]maphash.Seed
	spelt spelling
	last  struct { // the run that was named last
		of   runName
		name sum128
	}
}

func newNaming() naming {
	return naming{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// A runName is equal for runs of a program that differ in their nodes alone.
type runName struct {
	program  *program.Program
	op       answer.Name
	inferred bool
}

// A lastRun is the last run of a program on a device.
type lastRun struct {
	answer.ProgramRun
	name sum128 // of the program and what ran it, whichever node that was
}

// run names a run of a program.
func (n *naming) run(p *program.Program, run answer.ProgramRun) lastRun {
	if of := (runName{p, run.Op, run.Inferred}); n.last.of != of {
		n.last.of, n.last.name = of, nameOf(n, of)
	}
	return lastRun{run, n.last.name}
}

// nameOf returns the name of a value.
func nameOf[T comparable](n *naming, of T) sum128 {
	return sum128{maphash.Comparable(n.seeds[0], of), maphash.Comparable(n.seeds[1], of)}
}

// A spelling is the last set of cores that was hashed, and its text: buffers come in
// rows on the same cores.
type spelling struct {
	cores l1.CoreSet
	text  []byte
}

// of returns a text for a set. No other set has it, and none is the beginning of another.
// It is valid until the next call.
func (s *spelling) of(cores l1.CoreSet) []byte {
	if s.text != nil && s.cores.Equal(cores) {
		return s.text
	}
	s.cores, s.text = cores, s.text[:0]
	for r := range cores.Ranges().All() {
		s.text = append(s.text, r.Start.X, r.Start.Y, r.End.X, r.End.Y)
	}
	s.text = append(s.text, 0xff, 0, 0, 0) // no rectangle: it would end before it starts
	return s.text
}
