//go:build race

package fuzz_test

// raceEnabled: everything takes ten times as long, so the exhaustive tests do less.
const raceEnabled = true
