package report

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A Budget is how many bytes of a core may be taken: a number of bytes, or a share of
// what is usable. The zero Budget allows nothing.
type Budget struct {
	text  string
	bytes uint64
	share *big.Rat // of what is usable; nil = it is a number of bytes
}

// ParseBudget reads a budget like "1000000", "900 KiB" or "87.5%".
func ParseBudget(text string) (Budget, error) {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if !isPercent {
		n, err := l1.ParseBytes(text)
		return Budget{text: text, bytes: uint64(n)}, err
	}
	number = strings.TrimSpace(number)
	share, ok := new(big.Rat), len(number) <= 20 && strings.Trim(number, "0123456789.") == ""
	if ok {
		_, ok = share.SetString(number)
	}
	if !ok || share.Cmp(big.NewRat(100, 1)) > 0 {
		return Budget{}, errors.New(`want bytes like 1000000 or "900 KiB", or 0% to 100%`)
	}
	return Budget{text: text, share: share.Quo(share, big.NewRat(100, 1))}, nil
}

// String returns the text that the budget was read from.
func (b Budget) String() string { return b.text }

// of returns the budget in bytes of a core on which so many are usable, rounded down;
// ok is false for a share of nobody knows what.
func (b Budget) of(usable uint64) (bytes uint64, ok bool) {
	if b.share == nil {
		return b.bytes, true
	}
	if usable == 0 {
		return 0, false
	}
	whole := new(big.Rat).SetFrac(new(big.Int).SetUint64(usable), big.NewInt(1))
	whole.Mul(whole, b.share)
	return new(big.Int).Quo(whole.Num(), whole.Denom()).Uint64(), true
}

// says describes the budget: "80% of usable L1 1,461,248, which are 1,168,998 bytes".
func (b Budget) says(usable uint64) string {
	bytes, ok := b.of(usable)
	switch {
	case b.share == nil:
		return grouped(bytes) + " bytes"
	case !ok:
		return Escape(b.text) + " of usable L1, whose size is not known"
	}
	return fmt.Sprintf("%s bytes (%s of usable L1 %s)", grouped(bytes), Escape(strings.TrimSpace(b.text)), grouped(usable))
}

// usable returns the bytes of a core between the base of circular buffers and L1_SMALL,
// 0 if that is not known.
func usable(spec l1.Spec) uint64 {
	if spec.L1Size < spec.CBBase+spec.L1Small {
		return 0
	}
	return spec.L1Size - spec.L1Small - spec.CBBase
}
