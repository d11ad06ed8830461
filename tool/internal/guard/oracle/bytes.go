package oracle

import (
	"errors"
	"slices"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
)

// errTooFar guards the machine that runs the tests, not the file format.
var errTooFar = errors.New("oracle: address beyond 64 MiB")

const farthest = 64 << 20

// count returns the number of bytes in any of some ranges. Ranges that end too far do not count: they are an error.
func count(ranges []l1.Range) (n uint64, err error) {
	near := slices.DeleteFunc(slices.Clone(ranges), func(r l1.Range) bool { return r.End > farthest })
	if len(near) < len(ranges) {
		err = errTooFar
	}
	return model.Union(near...), err
}
