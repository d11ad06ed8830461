package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	words := []string{"check", "convert", "explain", "help", "peak", "report", "room", "stream", "who"}
	for written, want := range map[string]string{
		"chek": "check", "hceck": "check", "CHECK": "check", "chekc": "check", "conver": "convert", "ocnvetr": "convert",
		"pek": "peak", "rep": "report", "wh": "who", "hwo": "who",
		"": "", "x": "", "run": "", "c": "", "speak": "peak", "checkpoint": "", "check": "check",
		strings.Repeat("check", 100): "",
	} {
		require.Equal(t, want, nearest(written, words), "%q", written)
	}
}

// TestSlips holds slips against a definition that tries everything.
func TestSlips(t *testing.T) {
	var naive func(a, b string) int
	naive = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		n := min(naive(a[1:], b), naive(a, b[1:])) + 1
		wrong := 1
		if a[0] == b[0] {
			wrong = 0
		}
		n = min(n, naive(a[1:], b[1:])+wrong)
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			n = min(n, naive(a[2:], b[2:])+1)
		}
		return n
	}
	word := rapid.StringMatching("[abc]{0,5}")
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		require.Equal(t, naive(a, b), slips(a, b))
	})
}
