package program

import (
	"fmt"
	"strconv"

	"github.com/cbl1/cbl1/l1"
)

// A CBError says which field of which CB of a program cannot be built.
type CBError struct {
	Program ID
	Name    string // of the program, "" if it has none
	CB      int    // position in creation order
	Field   string // "Size", "Address", "Kind", "Alias", "Indices", "Range"
	Value   uint64 // of the field; for "Alias" and "Indices" the bits of an int, for "Range" 0
	Reason  string
	Err     error // for "Range" the *l1.RangeError, which has the values; else nil
}

func (e *CBError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: CB %d: %v", known(e.Program, e.Name), e.CB, e.Err)
	}
	value := strconv.FormatUint(e.Value, 10)
	if e.Field == "Alias" || e.Field == "Indices" {
		value = strconv.FormatInt(int64(e.Value), 10)
	}
	return fmt.Sprintf("%s: CB %d: %s %s: %s", known(e.Program, e.Name), e.CB, e.Field, value, e.Reason)
}

// Unwrap returns Err.
func (e *CBError) Unwrap() error { return e.Err }

// An OverflowError says that the bytes of a program, summed over its cores, do not
// fit in 2^63-1.
type OverflowError struct {
	Program ID
	Name    string // of the program, "" if it has none
	Kind    Kind
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("%s: %ss sum to more than 2^63-1 bytes over all cores", known(e.Program, e.Name), e.Kind)
}

// known returns what a program is called: "program 7", or "program 7 \"matmul\"". A long
// name is cut.
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

// A BuildError holds every complaint about a program, at least one: those about its CBs in
// their order, then those about its bases.
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
		bad := func(field string, value uint64, reason string) {
			errs = append(errs, &CBError{Program: b.id, Name: b.name, CB: i, Field: field, Value: value, Reason: reason})
		}
		if err := b.wrong[i]; err != nil {
			errs = append(errs, &CBError{Program: b.id, Name: b.name, CB: i, Field: "Range", Err: err})
		}
		if cb.Kind >= numKinds {
			bad("Kind", uint64(cb.Kind), "unknown")
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
				bad("Indices", uint64(index.Number), "negative index")
			}
		}
		if first := aliases[cb.Alias]; cb.Alias != 0 {
			switch {
			case cb.Kind != DataflowBuffer:
				bad("Alias", uint64(cb.Alias), "only dataflow buffers share an address")
			case first == nil:
				aliases[cb.Alias] = cb
			case first.Size != cb.Size:
				bad("Alias", uint64(cb.Alias), fmt.Sprintf("another member of the group has %d bytes, this one %d", first.Size, cb.Size))
			case first.Global != cb.Global || first.Fixed != cb.Fixed || cb.Fixed && first.Address != cb.Address:
				bad("Alias", uint64(cb.Alias), "another member of the group differs in Global, Fixed or Address")
			}
		}
		if kinds[CircularBuffer] && kinds[DataflowBuffer] && cb.Kind != Scratchpad {
			bad("Kind", uint64(cb.Kind), "a program has circular buffers or dataflow buffers, not both")
		}
	}
	return append(errs, b.checkBases(spec)...)
}
