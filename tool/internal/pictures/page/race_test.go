//go:build race

package page_test

// raceEnabled: everything takes ten times as long, and a page is made by one goroutine.
const raceEnabled = true
