package clash_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// What a capture says of free bytes is about another run only if the message has both numbers: what
// was free, and the largest block.
func TestSpaceOfShortMessages(t *testing.T) {
	const (
		needs   = "Out of Memory: Not enough space to allocate 640 B L1 buffer across 2 banks, where each bank needs to store 320 B"
		deps    = "Out of Memory: Not enough space after considering dependencies to allocate 640 B L1 across 2 banks (320 B per bank)"
		several = "; the message counts the buffers of one allocator of several: no moment can be compared with it"
		unsaid  = "; the message does not say how much was free and how large a block: no moment can be compared with it"
		another = "; no moment that was looked at is like the message: it is about another run"
	)
	for text, want := range map[string]string{
		needs: unsaid,
		needs + ", but bank size is 1000 B (allocated: 400 B, free: 600 B)":                            unsaid,
		needs + ", but bank size is 1000 B (allocated: 400 B, free: 600 B, largest free block: 250 B)": another,
		deps + ", bank size is 1000 B (allocated: 400 B, free: 600 B, largest free block: 250 B)":      several,
		deps + ", bank size is 1000 B (allocated: 0 B, free: 1000 B, largest free block: 1000 B)":      ", as the message says",
		needs + ", but bank size is 1000 B (allocated: 0 B, free: 1000 B, largest free block: 1000 B)": ", as the message says",
		needs + ", but bank size is 900 B (allocated: 0 B, free: 900 B, largest free block: 900 B)":    ", of 1,000; the bank of the message has another size: another chip, base or l1_small_size",
	} {
		found := read(t, text)
		c := clash.Compare(found, l1.Spec{})
		c.AddBank(clash.Bank{Run: clash.ProgramRun{Capture: "a.json"}, Usable: l1.Range{Start: 1000, End: 2000}})
		e := clash.Explain(found.Messages[0], l1.Spec{})
		e.Add(c.Matches()[0])
		require.Equal(t, clash.Note{
			Label: "free", Text: "at the end of a.json: 1,000 bytes free of each bank, the largest block 1,000 at 1,000..2,000" + want,
		}, e.Notes[len(e.Notes)-1], text)
	}
}
