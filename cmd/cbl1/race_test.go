//go:build race

package main

// raceEnabled: everything takes ten times as long, so tests of the same kind do fewer.
const raceEnabled = true
