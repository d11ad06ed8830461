//go:build race

package attack_test

// raceEnabled: the race detector sees nothing of a command that another process runs.
const raceEnabled = true
