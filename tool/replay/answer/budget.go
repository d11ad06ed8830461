package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// An OpBudget is how many bytes of a core the circular buffers of one program of an operation
// may take.
type OpBudget struct {
	Op   string // a pattern, as Filter.HasOp matches it
	Line int    // of the file that has it, from 1
	Budget
}

// A BudgetError is a line of a file of budgets that cannot be read.
type BudgetError struct {
	File string
	Line int
	Err  error
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%s:%d: %v", shown.Path(e.File, 100), e.Line, e.Err)
}

// Unwrap returns why.
func (e *BudgetError) Unwrap() error { return e.Err }

// Limits of a file of budgets. A pattern with a * is compared with each operation.
const (
	maxBudgetFile  = 1 << 20 // bytes
	maxBudgetStars = 100
)

// ParseBudgets reads a file of budgets, one a line: of a core, and of the programs of
// operations. Empty lines and lines that begin with # are skipped. The name of the file is for
// errors, which are each a *BudgetError. tool/docs/check.md describes the format.
//
//	core = 90%
//	op ttnn.matmul = 300 KiB
func ParseBudgets(file string, text []byte) (core *Budget, ops []OpBudget, err error) {
	if len(text) > maxBudgetFile {
		return nil, nil, &BudgetError{file, 1, fmt.Errorf("%d bytes are too many for a file of budgets", len(text))}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	number, stars, known := 0, 0, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		op, budget, err := parseBudgetLine(line)
		switch {
		case err != nil:
		case op == "" && core != nil:
			err = errors.New("the budget of a core is there already")
		case op == "":
			core = &budget
		case known[op]:
			err = fmt.Errorf("op %s has a budget already", shown.Name(op, 60))
		default:
			known[op], ops = true, append(ops, OpBudget{op, number, budget})
			if stars += strings.Count(op, "*"); stars > maxBudgetStars {
				err = fmt.Errorf("op %s: a file of budgets has at most %d *", shown.Name(op, 60), maxBudgetStars)
			}
		}
		if err != nil {
			return nil, nil, &BudgetError{file, number, err}
		}
	}
	return core, ops, nil
}

// parseBudgetLine reads one line; op is "" if it is about a core.
func parseBudgetLine(line string) (op string, b Budget, err error) {
	i := strings.LastIndexByte(line, '=') // a name may have one
	if i < 0 {
		return "", b, fmt.Errorf(`want "core = BUDGET" or "op NAME = BUDGET", not %q`, shown.Name(line, 40))
	}
	subject, value := strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:])
	if subject != "core" {
		name, ok := strings.CutPrefix(subject, "op ")
		if op = strings.TrimSpace(name); !ok || op == "" {
			return "", b, fmt.Errorf(`want "core = BUDGET" or "op NAME = BUDGET", not %q`, shown.Name(line, 40))
		}
	}
	b, err = ParseBudget(value)
	return op, b, err
}

// An OpJudgement is how the programs of an operation keep to a budget.
type OpJudgement struct {
	Op       Name              `json:"op"`
	Line     int               `json:"line"`
	Budget   Budget            `json:"-"`
	Text     string            `json:"text"`          // of the Budget
	Limit    event.Opt[uint64] `json:"bytes"`         // of a core; absent: a share of an L1 whose size is not known
	Programs int64             `json:"programs"`      // of the operation, on each device; 0: the line names nothing that ran
	Over     int64             `json:"programs_over"` // programs that take more
	Worst    *ProgramExcess    `json:"worst"`         // the first of equals; nil if none takes more
}

// A ProgramExcess is a program with circular buffers that take more of a core than a budget.
type ProgramExcess struct {
	Device event.Opt[uint64] `json:"device"`
	Op     Name              `json:"op"`
	First  uint64            `json:"counter"`
	T      json.Number       `json:"-"` // of that event of a log; see L1Peak.T
	Core   uint64            `json:"core_max_bytes"`
	Over   uint64            `json:"over_bytes"`
}

// judgeOps judges the programs of a Result by the budgets of their operations.
func (r *Result) judgeOps(budgets []OpBudget) (out []OpJudgement) {
	for _, b := range budgets {
		j := OpJudgement{Op: Name(b.Op), Line: b.Line, Budget: b.Budget, Text: b.String()}
		if limit, ok := b.Of(r.Spec.UsableBytes()); ok && !(r.Uneven && b.IsShare()) {
			j.Limit = event.Some(limit)
		}
		out = append(out, j)
	}
	naming := newOpIndex(budgets)
	for i := range r.Devices {
		for _, p := range r.Devices[i].ProgramsDetail.All() {
			if !r.Only.HasOp(p.Op) {
				continue
			}
			for _, b := range naming.of(string(p.Op)) {
				out[b].judge(p, &r.Devices[i])
			}
		}
	}
	return out
}

// judge counts a program of the operation.
func (j *OpJudgement) judge(p ProgramDetail, on *Device) {
	j.Programs++
	if !j.Limit.OK || p.Core <= j.Limit.V {
		return
	}
	if j.Over++; j.Worst == nil || p.Core > j.Worst.Core {
		j.Worst = &ProgramExcess{on.ID, p.Op, p.First, p.T, p.Core, p.Core - j.Limit.V}
	}
}

// An opIndex finds the budgets that name an operation: those without a * by their text.
type opIndex struct {
	budgets []OpBudget
	plain   map[string][]int // positions of budgets by the text of their pattern
	starred []int
	known   map[string][]int // by operation
}

func newOpIndex(budgets []OpBudget) *opIndex {
	x := &opIndex{budgets: budgets, plain: map[string][]int{}, known: map[string][]int{}}
	for i, b := range budgets {
		if strings.Contains(b.Op, "*") {
			x.starred = append(x.starred, i)
		} else {
			x.plain[b.Op] = append(x.plain[b.Op], i)
		}
	}
	return x
}

// of returns the positions of the budgets that match an operation. Cost: O(len(op) x
// patterns with a *) for an operation that is new, O(1) for one that is known.
func (x *opIndex) of(op string) []int {
	if out, ok := x.known[op]; ok || len(x.budgets) == 0 {
		return out
	}
	out := slices.Clone(x.plain[op])
	for name := range strings.SplitSeq(op, between) {
		out = append(out, x.plain[name]...)
	}
	for _, i := range x.starred {
		if OpMatches(x.budgets[i].Op, op) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	x.known[op] = slices.Compact(out)
	return x.known[op]
}

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
