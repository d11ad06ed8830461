package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
)

// Every flag that takes a number takes it as the command prints it.
func TestNumbersAsPrinted(t *testing.T) {
	for text, want := range map[string]uint64{
		"111616": 111616, "111,616": 111616, "0x1b400": 111616, "0X1B400": 111616, "109KiB": 111616, "109 KiB": 111616, "109K": 111616,
		"1,572,864": 1572864, "1,572,864 B": 1572864, "1.5M": 1572864, "0": 0, " 7 ": 7, "1,024 KiB": 1 << 20, "4KB": 4000, "900 kB": 900_000, "1.5 MB": 1_500_000,
	} {
		n, err := parseAddress(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
		size, err := parseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, size, text)
		above, err := parseBytes(text)
		require.Equal(t, want == 0, err != nil, text)
		require.Equal(t, want, above, text)
		budget, err := parseBudget(text)
		require.NoError(t, err, text)
		have, ok := budget.Of(0)
		require.True(t, ok)
		require.Equal(t, want, have, text)
	}
	for _, text := range []string{"", "1,00", "1,0000", ",100", "1,000,00", "0x", "0xg", "12 mB", "1,5 KiB", "-1", "1e3", "one"} {
		_, err := parseAddress(text)
		require.Error(t, err, text)
	}
	id, err := parseWhole("1,000")
	require.NoError(t, err)
	require.EqualValues(t, 1000, id)
	_, err = parseWhole("1.5")
	require.Error(t, err)
}

// Every flag of every verb that takes bytes or a number is one of those above.
func TestNumberFlagsAreTheSame(t *testing.T) {
	for _, verb := range newRoot(streams{}).Commands() {
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "int", "uint", "int64", "uint64":
				t.Errorf("%s --%s reads numbers for itself", verb.Name(), f.Name)
			}
		})
	}
}

func TestArchitecturesAsCapturesSpellThem(t *testing.T) {
	for text, want := range map[string]l1.Arch{
		"blackhole": l1.Blackhole, "Blackhole": l1.Blackhole, "wormhole": l1.Wormhole, "wormhole_b0": l1.Wormhole, "Wormhole_B0": l1.Wormhole,
		"WORMHOLE_B0": l1.Wormhole, "ARCH.BLACKHOLE": l1.Blackhole, "Arch.WORMHOLE_B0": l1.Wormhole, "tt::ARCH::GRAYSKULL": l1.Grayskull,
		"Arch.QUASAR": l1.Quasar,
	} {
		arch, err := parseArch(text)
		require.NoError(t, err, text)
		require.Equal(t, want, arch, text)
	}
	_, err := parseArch("Arch.OTHER")
	require.ErrorContains(t, err, "Arch.OTHER")
}
