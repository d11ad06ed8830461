//go:build race

package device

// slower divides the size of scale tests: the race detector takes ten times as long.
const slower = 16
