package answer

import (
	"errors"
	"math/big"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A Budget is the bytes of usable L1 of a core that may be taken: a number, or a share. The zero Budget allows
// nothing.
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

// IsShare reports whether the budget is a share of usable L1, not a number of bytes.
func (b Budget) IsShare() bool { return b.share != nil }

// Of returns the budget in bytes of a core on which so many are usable, rounded down. A
// share of an L1 whose size is not known is no number: ok is false.
func (b Budget) Of(usable uint64) (bytes uint64, ok bool) {
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
