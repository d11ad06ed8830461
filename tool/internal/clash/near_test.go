package clash_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// hammer makes the test below read everything; make hammer sets it.
var hammer = flag.Bool("hammer", false, "TestHammerNearMisses: 100 MB")

// every has a message of each wording, up to its last word that must be there.
func every() []string {
	const space = "Not enough space to allocate 26542080 B L1"
	return []string{
		grow, meet, strings.Replace(meet, " on core range [0-0 - 7-6]", "", 1), strings.Replace(grow, " which is", "", 1),
		strings.Replace(meet, " and static circular buffer region ends at", ", CB region ends", 1),
		"Circular buffers on service-core range [0-9 - 1-9] in program 6 clash with ServiceCoreManager-allocated L1 (lowest service allocation at 20, CB region ends at 30)",
		"Circular buffer core range [0-0 - 8-7] in program 6 exceeds device compute grid (8x7)",
		"Local buffer address 10 has to append to last L1 region [5, 12) or be at a higher address",
		"Invalid circular buffer index: Cannot add circular buffer at index 31, another circular buffer already exists",
		"Cannot set circular buffer size to 20. This is larger than the associated dynamically allocated L1 buffer bank size of 10 B",
		"Circular buffer size 20 B exceeds allocated L1 buffer bank size of 10 B", "Circular buffer size 20 B exceeds allocated L1 buffer size of 10 B",
		"Total circular buffer size 20 B must be divisible by page size 3 B",
		space, "Not enough space after considering dependencies to allocate 73728 B L1",
		"Program size (79760) too large for kernel config buffer (70656)",
		"Creating trace buffers of size 60825600B on MeshDevice 0, but only 50000000B is allocated for trace region",
		"Allocating device buffers is unsafe due to the existence of an active trace",
		"Allocating device buffers is potentially unsafe due to the existence of an active trace",
		"Persistent L1 arena is out of memory: cannot place 4096 bytes aligned to 64 on cores {[0-0 - 7-7]} in [103712, 1499136)",
		"Cannot allocate persistent L1 on core 3-4 after program-local L1 placement",
		"Out of Memory: Cannot allocate at an address below 103712. Allocation at 98304",
		"Cannot create DFB 32: WH/BH supports at most 32 dataflow buffers",
		"Buffer index (64) exceeds max number of circular buffers per core (32)",
		"required L1 memory usage 4843520 exceeds memory capacity 1395424",
	}
}

// nearMiss changes a message so that it is none: a letter of its words, a number, or its end.
func nearMiss(r *rand.Rand, text string) string {
	at := r.IntN(len(text))
	switch r.IntN(5) {
	case 0: // the words stop before the last one, or the last number
		last := strings.LastIndexByte(strings.TrimSuffix(text, " B"), ' ') + 1
		return text[:at*last/len(text)]
	case 1: // the source of tt-metal, without figures
		for _, digit := range "0123456789" {
			text = strings.ReplaceAll(text, string(digit), "{}")
		}
		return strings.Replace(text, " B", "B", 1) + "x"
	case 2:
		return strings.ToUpper(text)
	}
	for c := text[at]; !('a' <= c && c <= 'z') || c == 'x' || c == 'y' || strings.HasPrefix(text[at:], "ow to"); c = text[at] {
		at = r.IntN(len(text)) // "grew to" is what people say, too
	}
	return text[:at] + string(rune('a'+(text[at]-'a'+1+byte(r.IntN(24)))%26)) + text[at+1:]
}

// noise writes about n bytes: output of go test -v, logs like those of tt-metal, and near misses.
func noise(w *bytes.Buffer, r *rand.Rand, n int) {
	pick := func(lines ...string) string { return lines[r.IntN(len(lines))] }
	for w.Len() < n {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(w, pick("=== RUN   Test%d/grow_to_%d_B\n", "--- PASS: Test%d (0.%ds)\n", "    scan_test.go:%d: L1 buffer allocated at %d\n", "PASS %d ... %d\n"), r.IntN(1e6), r.IntN(1e7))
		case 1:
			fmt.Fprintf(w, pick("2026-01-02 03:04:05.%03d | info | Metal | AI CLK for device %d is: 1000 MHz (device.cpp:12)\n",
				"| debug | Always | Allocating %d B buffer at %d\n", "Out of Memory: %d of %d\n", "Program cache: %d entries, size (%d)\n",
				"Circular buffers of program %d end at %d B ... done\n", "Statically allocated %d B, L1 buffer allocated at %d\n"), r.IntN(1e3), r.IntN(1e7))
		default:
			all := every()
			fmt.Fprintf(w, "%s%s\n", pick("", "E   ", "TT_THROW: ", "(EngineCore pid=2) "), nearMiss(r, all[r.IntN(len(all))]))
		}
	}
}

// TestHammerNearMisses finds nothing where nothing is, and each message behind it.
func TestHammerNearMisses(t *testing.T) {
	const seed = 18
	blocks := 2
	if *hammer {
		blocks = 100
	}
	found, read := 0, int64(0)
	for block := range blocks {
		var b bytes.Buffer
		noise(&b, rand.New(rand.NewPCG(seed, uint64(block))), 1_000_000)
		read += int64(b.Len())
		text := bytes.Clone(b.Bytes())
		b.WriteString(" | " + strings.Join(every(), " |\n | "))
		want := len(every())
		for m, err := range clash.Scan(&b) {
			require.NoError(t, err)
			if want--; want < 0 || m.Line <= int64(bytes.Count(text, []byte("\n"))) {
				found++
				t.Errorf("seed %d, block %d, line %d: %s", seed, block, m.Line, m.Text)
			}
		}
		require.Zero(t, want, "the messages behind the noise")
	}
	t.Logf("seed %d: %d bytes, %d messages in them", seed, read, found)
}

// Dots in place of any words, or at any end, hide figures and change none.
func TestDotsHideAndChangeNothing(t *testing.T) {
	for _, text := range every() {
		whole := read(t, text).Messages
		require.Len(t, whole, 1, text)
		words := strings.Split(text, " ")
		for i := 1; i < len(words); i++ {
			for j := i; j <= len(words); j++ {
				requireFromWhole(t, whole[0], strings.Join(words[:i], " ")+" ... "+strings.Join(words[j:], " "))
			}
		}
		for n := 1; n < len(text); n++ {
			requireFromWhole(t, whole[0], text[:n]+[]string{"...", "\u2026"}[n%2])
		}
	}
}

// requireFromWhole requires that a shortened text has the figures of the whole message only.
func requireFromWhole(t *testing.T, whole clash.Message, text string) {
	t.Helper()
	found, err := clash.Read(strings.NewReader(text))
	require.NoError(t, err)
	for _, m := range found.Messages {
		require.Equal(t, whole.Kind, m.Kind, text)
		for name, n := range m.Numbers {
			require.True(t, n == whole.Numbers[name] || n == 0, "%s: %d, in the whole message %d: %s", name, n, whole.Numbers[name], text)
		}
		requireSound(t, clash.Explain(m, l1.Spec{}))
		require.NotPanics(t, func() { _ = clash.NewDocument(found, l1.Spec{}) })
	}
}
