package answer

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
)

// TilePage is the size of a page that is assumed where a Tensor names none: a tile of 32 x 32
// numbers of the type bfloat16.
const TilePage = 2048

// A Tensor is one in L1 that is interleaved: its pages go to the banks in turn, and each core of
// the grid has one bank.
type Tensor struct {
	Bytes uint64 // of all pages; 0: there is no tensor
	Page  uint64 // bytes of a page; 0: TilePage
}

// PageSize returns the bytes of a page.
func (t Tensor) PageSize() uint64 {
	if t.Page == 0 {
		return TilePage
	}
	return t.Page
}

// Pages returns the number of pages.
func (t Tensor) Pages() uint64 { return divideUp(t.Bytes, t.PageSize()) }

// Check refuses a size that is not a whole number of pages: tt-metal allocates no such tensor.
func (t Tensor) Check() error {
	if t.Bytes%t.PageSize() == 0 {
		return nil
	}
	return fmt.Errorf("%s bytes are not a whole number of pages of %s bytes", l1.Bytes(t.Bytes).Exact(), l1.Bytes(t.PageSize()).Exact())
}

// PerCore returns the bytes on the core with the most pages, on a grid of some cores: each page
// takes a multiple of align. It is at most l1.MaxAddr, which is more than any L1 has.
func (t Tensor) PerCore(cores int, align uint64) uint64 {
	if cores <= 0 {
		return 0
	}
	pages, page := divideUp(t.Pages(), uint64(cores)), divideUp(t.PageSize(), max(align, 1))
	if pages > 0 && page > l1.MaxAddr/max(align, 1)/pages {
		return l1.MaxAddr
	}
	return pages * page * max(align, 1)
}

func divideUp(n, by uint64) uint64 {
	if n%by == 0 {
		return n / by
	}
	return n/by + 1
}
