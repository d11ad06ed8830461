package clash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/tool/internal/clash"
)

// BenchmarkRead reads 4 MiB of different texts: bytes per second should be the
// same for all, within a factor of a few.
func BenchmarkRead(b *testing.B) {
	for name, unit := range map[string]string{
		"log":     "2026-01-02 03:04:05.678 | info | Metal | Starting devices in cluster Tensix Ethernet (metal.cpp:12)\n",
		"letters": "SCLIT",
		"nearly":  "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1 B which is beyond max L1\n",
		"cores":   "Statically allocated circular buffers on core range {" + strings.Repeat("[0-0 - 7-7], ", 700) + "\n",
		"digits":  "Total circular buffer size " + strings.Repeat("1\n", 5000),
		"prefix":  strings.Repeat("x ", 250) + grow[:20] + "\n" + strings.Repeat("x ", 250),
		"breaks":  strings.ReplaceAll(grow[:len(grow)-12], "", "\n"),
		"found":   meet + "\n",
	} {
		text := strings.Repeat(unit, 4<<20/len(unit))
		b.Run(fmt.Sprintf("text=%s", name), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := clash.Read(strings.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
