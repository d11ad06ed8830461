package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// plain returns a number as l1.ParseBytes reads it. It accepts the forms that the command
// prints: 111,616, 0x1b400, 108KiB and 32K. Other text is returned unchanged.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if digits, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		if n, err := strconv.ParseUint(digits, 16, 63); err == nil {
			return strconv.FormatUint(n, 10)
		}
		return s
	}
	if regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+([^0-9,.]|$)`).MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	if regexp.MustCompile(`^[0-9.]+ *[KMG]$`).MatchString(s) {
		s += "iB"
	}
	return s
}

// parseWhole reads a number that is no number of bytes, like an id.
func parseWhole(s string) (uint64, error) {
	n, err := strconv.ParseUint(plain(s), 10, 63)
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	return n, nil
}

// parseAddress reads an address.
func parseAddress(s string) (uint64, error) {
	n, err := l1.ParseBytes(plain(s))
	if err != nil {
		return 0, fmt.Errorf("%.40q is no address: want bytes, like 111616, 0x1b400 or 109KiB", s)
	}
	return uint64(n), nil
}

// parseArch reads an architecture in any spelling of captures and of tt-metal:
// "blackhole", "wormhole_b0", "WORMHOLE_B0", "ARCH.BLACKHOLE", "tt::ARCH::GRAYSKULL".
func parseArch(s string) (l1.Arch, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	if i := strings.LastIndexAny(name, ".:"); i >= 0 {
		name = name[i+1:]
	}
	for _, revision := range []string{"_a0", "_b0"} {
		name = strings.TrimSuffix(name, revision)
	}
	arch, err := l1.ParseArch(name)
	if err != nil {
		_, err = l1.ParseArch(s) // which shows what was written
	}
	return arch, err
}
