package magic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/magic"
)

func TestName(t *testing.T) {
	const printed = "output of an allocation server, which has no addresses; record with cbl1 serve --record"
	for start, want := range map[string]string{
		"":                          "empty input",
		"[]":                        "",
		" \r\n{":                    "",
		"\xef\xbb\xbf[":             "",
		" ":                         "",
		"nul":                       "",
		"12":                        "",
		"\x1f\x8b\x08":              "gzip data inside compressed data; unpack it",
		"\x28\xb5\x2f\xfd":          "zstd data inside compressed data; unpack it",
		"BZh9":                      "bzip2 data; unpack it",
		"\xfd7zXZ\x00":              "xz data; unpack it",
		"PK\x03\x04":                "a zip archive; unpack it",
		"PK\x05\x06":                "an empty zip archive",
		"version https://git-lfs.x": "a git LFS pointer, not the file; run git lfs pull",
		"[\x00":                     "UTF-16 text; save it as UTF-8",
		"\xff\xfe[\x00":             "UTF-16 text; save it as UTF-8",
		"<!DOCTYPE HTML>":           "an HTML page, not JSON",
		"\n<html lang=en>":          "an HTML page, not JSON",
		"Freed buffer 5 on device 0 (64 bytes)\n":                              printed,
		"Allocated 64000 bytes of L1 on device 1 (buffer_id=0x249f0)\n":        printed,
		"📊 Current Statistics:\n":                                              printed,
		"[CB_ALLOC] Device 0: +1 MB (Total: 1 MB)\n":                           printed,
		"12:00 ✓ [PID 4] Allocated\n":                                          printed,
		"device 0: CBs 65,536 bytes in sum, at most 65,536 of a core (peak 0)": printed,
		"[1, \"[CB_ALLOC] \"]":                                                 "",
		"<?xml version=\"1.0\"?>":                                              "XML or HTML, not JSON",
		"a\x00b":                                                               "binary data, not JSON",
		"✓ [CB_ALLOC] Device 0:":                                               printed,
		"x\n⚠ [PID 9] Dealloc":                                                 printed,
		"x ✓ [CB_ALLOC] Device 0:":                                             printed,
		"\x1b[31mred\x1b[0m\ttext\n":                                           "",
	} {
		require.Equal(t, want, magic.Name([]byte(start)), "%q", start)
	}
	require.Contains(t, magic.Name([]byte("SQLite format 3\x00")), "a SQLite database; ")
}
