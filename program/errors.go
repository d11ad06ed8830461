package program

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/cbl1/cbl1/l1"
)

// An Error names a field of a program that cannot be built.
type Error struct {
	Program ID
	Name    string // of the program, "" if it has none
	Part    string // "CB", "base"; "" for the whole program
	At      int    // of the part: position in the order given
	Field   string // "Size", "Address", "Kind", "Alias", "Indices", "Range", "Cores", "Bases"
	Value   string // of the field; "" where Err has it
	Err     error  // why; for "Range" an *l1.RangeError
}

func (e *Error) Error() string {
	about := known(e.Program, e.Name)
	if e.Part != "" {
		about = fmt.Sprintf("%s: %s %d", about, e.Part, e.At)
	}
	if e.Value != "" {
		about = fmt.Sprintf("%s: %s %s", about, e.Field, e.Value)
	}
	return fmt.Sprintf("%s: %v", about, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// known returns the name of a program: "program 7", or "program 7 \"matmul\"". A long name is cut.
func known(id ID, name string) string {
	const most = 32 // bytes, which may be four times as many when quoted
	switch {
	case name == "":
		return fmt.Sprintf("program %d", id)
	case len(name) > most:
		return fmt.Sprintf("program %d %s...", id, strconv.QuoteToASCII(name[:most]))
	}
	return fmt.Sprintf("program %d %s", id, strconv.QuoteToASCII(name))
}

// A BuildError holds every complaint about a program, at least one: first about its CBs in their
// order, then about its bases.
type BuildError struct {
	Program ID
	Name    string // of the program, "" if it has none
	Errs    []error
}

// Error names the first complaint and the number of others.
func (e *BuildError) Error() string {
	if len(e.Errs) == 1 {
		return e.Errs[0].Error()
	}
	return fmt.Sprintf("%v (+%d more)", e.Errs[0], len(e.Errs)-1)
}

// Unwrap gives errors.Is and errors.As all complaints.
func (e *BuildError) Unwrap() []error { return e.Errs }

// check returns the complaints about the CBs as stated.
func (b *Builder) check(spec l1.Spec) []error {
	var errs []error
	if err := spec.Check(); err != nil {
		errs = append(errs, err)
	}
	var kinds [numKinds]bool
	aliases := map[int]*CB{} // alias group -> its first member
	for i := range b.cbs {
		cb := &b.cbs[i]
		bad := func(field string, value any, reason string) {
			errs = append(errs, &Error{b.id, b.name, "CB", i, field, fmt.Sprint(value), errors.New(reason)})
		}
		if err := b.wrong[i]; err != nil {
			errs = append(errs, &Error{b.id, b.name, "CB", i, "Range", "", err})
		}
		if cb.Kind >= numKinds {
			bad("Kind", uint8(cb.Kind), "unknown")
			continue
		}
		kinds[cb.Kind] = true
		if cb.Size > l1.MaxAddr {
			bad("Size", cb.Size, "beyond 2^63-1")
		} else if cb.Fixed && cb.Address > l1.MaxAddr-cb.Size {
			bad("Address", cb.Address, "ends beyond 2^63-1")
		}
		for _, index := range cb.Indices {
			if index.Number < 0 {
				bad("Indices", index.Number, "negative index")
			}
		}
		if first := aliases[cb.Alias]; cb.Alias != 0 {
			switch {
			case cb.Kind != DataflowBuffer:
				bad("Alias", cb.Alias, "only dataflow buffers share an address")
			case first == nil:
				aliases[cb.Alias] = cb
			case first.Size != cb.Size:
				bad("Alias", cb.Alias, fmt.Sprintf("another member of the group has %d bytes, this one %d", first.Size, cb.Size))
			case first.Global != cb.Global || first.Fixed != cb.Fixed || cb.Fixed && first.Address != cb.Address:
				bad("Alias", cb.Alias, "another member of the group differs in Global, Fixed or Address")
			}
		}
		if kinds[CircularBuffer] && kinds[DataflowBuffer] && cb.Kind != Scratchpad {
			bad("Kind", uint8(cb.Kind), "a program has circular buffers or dataflow buffers, not both")
		}
	}
	return append(errs, b.checkBases(spec)...)
}
