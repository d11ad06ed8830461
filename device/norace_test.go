//go:build !race

package device

// slower divides the size of scale tests.
const slower = 1
