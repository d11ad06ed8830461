package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// TestFew compares all that a ledger and a recording say of a few records: testdata/few.txt has a section for each, and
// behind > effects, lines, events, and the lots and totals at the end.
//
//	OWNER TYPE DEVICE ID [SIZE [KIND]]   a record, whose type is spelled as the protocol does
//	OWNER dies
//	mesh ID CHIP...                      a declaration
//	board ID NAME
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		s := story{ledger: wire.NewLedger()}
		for _, line := range asked {
			f := append(strings.Fields(line), "0", "0", "0")
			var owner wire.Client
			var r wire.Record
			switch f[0] {
			case "mesh":
				d := wire.DeclaredDevice{ID: int32(fewNumber(t, f[1]))}
				for _, chip := range f[2 : len(f)-3] {
					d.Chips = append(d.Chips, int32(fewNumber(t, chip)))
				}
				s.ledger.Declare(d.ID, d.Chips...)
				s.events(t, s.teller.Declare(d)...)
				continue
			case "board":
				spec, ok := l1.Board(f[2])
				require.True(t, ok)
				s.events(t, s.teller.Declare(wire.DeclaredDevice{ID: int32(fewNumber(t, f[1])), Spec: spec})...)
				continue
			}
			owner = wire.Client(fewNumber(t, f[0]))
			for r.Type = wire.TypeDumpKernels; r.Type > 0 && r.Type.String() != f[1]; r.Type-- {
			}
			require.Equal(t, f[1] == "dies", r.Type == 0, line)
			if r.Type > 0 {
				r.Device, r.ID, r.Size, r.Kind = int32(fewNumber(t, f[2])), fewNumber(t, f[3]), fewNumber(t, f[4]), uint8(fewNumber(t, f[5]))
			}
			s.tell(t, step{owner, r})
		}
		s.end()
		for _, id := range s.ledger.Devices() {
			fmt.Fprintf(&s.out, "on device %d: %s\n", id, totalsText(s.ledger.On(id), [4]uint64{}))
		}
		return strings.Split(strings.TrimSpace(s.out.String()), "\n")
	})
}

func fewNumber(t *testing.T, text string) (n uint64) {
	t.Helper()
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err, text)
	return n
}
