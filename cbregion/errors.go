package cbregion

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/l1"
)

// ErrNotFound matches every *NotFoundError: the owner holds no such range.
var ErrNotFound = errors.New("no such range")

// A NotFoundError holds a range that could not be removed because its owner does not hold it.
type NotFoundError struct {
	Owner Owner
	Range l1.Range // bytes
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("owner %d does not hold %v", e.Owner, e.Range)
}

// Is reports whether target is ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }
