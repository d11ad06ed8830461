package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// Codes returns all codes of anomalies, and of reasons why nobody can tell, by name.
func Codes() []replay.Code {
	out := []replay.Code{
		replay.CodeEarlierUsed, replay.CodeEarlierFreed, replay.CodeBuffersApart, replay.CodeL1Unknown, replay.CodeChipAssumed,
		replay.CodeBudgetUnknown, replay.CodeBanksUnknown, replay.CodeNothingRan,
	}
	for _, w := range anomalyWords() {
		out = append(out, w.code)
	}
	slices.Sort(out)
	return out
}

// reasonText says why nobody can tell that everything fits.
func reasonText(r *replay.Result, why replay.Reason) string {
	if text, ok := roomReason(r, why); ok {
		return text
	}
	switch why.Code {
	case replay.CodeEarlierUsed:
		return fmt.Sprintf("%s from before the %s, with %s bytes over all cores: not counted, because nothing says where they lie",
			shown.Plural(r.Earlier.L1, "L1 buffer"), source(r), grouped(r.Earlier.Bytes))
	case replay.CodeEarlierFreed:
		return fmt.Sprintf("%s of L1 buffers from before the %s: until then they lay in L1, and are not counted", shown.Plural(r.Earlier.Freed, "free"), source(r))
	case replay.CodeBuffersApart:
		return fmt.Sprintf("L1 buffers of device %d, which runs nothing: if it is a mesh of the devices that do, they are in L1 there; nothing in the %s says so",
			why.Device, source(r))
	case replay.CodeL1Unknown:
		return "the size of L1 is not known, or the base of circular buffers does not lie in it: nobody can say what ends beyond it"
	case replay.CodeChipAssumed:
		return assumedText(r)
	case replay.CodeBudgetUnknown:
		return "the budget is a share of usable L1, whose size is not known or not the same everywhere: give the budget in bytes"
	case replay.CodeBanksUnknown:
		return "the grid of a device is not known, or leads to other bytes than that of another: --size takes the bytes of each core as well"
	case replay.CodeNothingRan:
		return nothingRan(r)
	case replay.CodeNoNodes:
		return fmt.Sprintf("the %s has no %ss", source(r), nodeWord(r))
	case replay.CodeNoCBs:
		if r.Log {
			return "no program of the log was registered"
		}
		return "the capture places no circular buffer, dataflow buffer or scratchpad"
	}
	return codeText(r, why.Code)
}

func nothingRan(r *replay.Result) string {
	switch n := registered(r); n {
	case 0:
	case 1:
		return "the registered program is not known to have run" + onlyText(r.Only)
	default:
		return fmt.Sprintf("none of %s is known to have run%s", shown.Plural(n, "registered program"), onlyText(r.Only))
	}
	return "no program is known to have run" + onlyText(r.Only)
}

// unseenNotes names L1 buffers that are in nobody's way only because nothing says where
// they lie, or whose they are.
func unseenNotes(r *replay.Result) (notes []note) {
	for _, why := range r.Unseen() {
		notes = append(notes, note{"unseen", reasonText(r, why)})
	}
	return notes
}

// codeText says what an anomaly of the Result means.
func codeText(r *replay.Result, code replay.Code) string {
	for _, a := range r.Anomalies {
		if a.Code != code {
			continue
		}
		for _, w := range anomalyWords() {
			if w.code == code && w.means != "" {
				return anomalyText(r, a, w)
			}
		}
	}
	return shown.Start(string(code), 60)
}

// assumedText says that circular buffers fit on the chip that is assumed alone.
func assumedText(r *replay.Result) string {
	other, end := l1.ArchSpec(l1.Wormhole), uint64(0)
	for _, d := range r.Devices {
		end = max(end, d.HighestEnd)
	}
	return fmt.Sprintf("%s is assumed: circular buffers end at %s, beyond the L1 of a %s, which ends at %s: --arch names the chip",
		r.Spec.Arch, grouped(end), other.Arch, grouped(other.L1Size))
}

// budgetText describes a budget: "80% of usable L1 1,461,248, which are 1,168,998 bytes".
func budgetText(b replay.Budget, usable uint64) string {
	bytes, ok := b.Of(usable)
	switch {
	case !b.IsShare():
		return grouped(bytes) + " bytes"
	case !ok:
		return shown.Visible(b.String()) + " of usable L1, whose size is not known"
	}
	return fmt.Sprintf("%s bytes (%s of usable L1 %s)", grouped(bytes), shown.Visible(strings.TrimSpace(b.String())), grouped(usable))
}

// registered returns how many programs a log has registered.
func registered(r *replay.Result) (n int64) {
	for i := range r.Devices {
		if r.Log {
			n += r.Devices[i].Programs
		}
	}
	return n
}
