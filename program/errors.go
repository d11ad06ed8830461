package program

import (
	"fmt"
	"strconv"

	"github.com/cbl1/cbl1/l1"
)

// A CBError says which field of which CB of a program cannot be built.
type CBError struct {
	Program ID
	CB      int    // position in creation order
	Field   string // "Size", "Address", "Kind", "Alias", "Indices"
	Value   uint64 // of the field; for "Alias" and "Indices" the bits of an int
	Reason  string
}

func (e *CBError) Error() string {
	value := strconv.FormatUint(e.Value, 10)
	if e.Field == "Alias" || e.Field == "Indices" {
		value = strconv.FormatInt(int64(e.Value), 10)
	}
	return fmt.Sprintf("program %d: CB %d: %s %s: %s", e.Program, e.CB, e.Field, value, e.Reason)
}

// An OverflowError says that the bytes of a program, summed over its cores, do not
// fit in 2^63-1.
type OverflowError struct {
	Program ID
	Kind    Kind
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("program %d: %ss sum to more than 2^63-1 bytes over all cores", e.Program, e.Kind)
}

// A BuildError holds every complaint about a program, at least one, in the order
// of its CBs.
type BuildError struct {
	Program ID
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
			errs = append(errs, &CBError{b.id, i, field, value, reason})
		}
		if cb.Kind >= numKinds {
			bad("Kind", uint64(cb.Kind), "unknown")
			continue
		}
		kinds[cb.Kind] = true
		if cb.Size > l1.MaxAddr {
			bad("Size", cb.Size, "inverted range or beyond 2^63-1")
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
	return errs
}
