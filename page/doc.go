// Package page writes one HTML file about some captures or logs, and what differs from
// another run: a page to look at, to mail and to print. It computes no figure.
//
// # Model
//
// [Write] takes Results of replay and a Diff of compare. What the page says in words is text of
// package report; what it draws and lists is report's overview, packed into a data block:
//
//	Result, Diff ──> report.OverviewJSON ──> pack ──> data block ──> page.js ──> DOM
//	            └──> report.Check, Text, DiffText ──────────────> text of the page
//
// # Invariants
//
// The file needs no network: its policy allows the style and the script that are in it, by their
// hashes, and nothing else. Names from a file are text. They are escaped in HTML; the script makes
// text nodes of those in the data block, and shows what cannot be seen. The same Results make the
// same bytes, of which there are at most [MaxBytes] unless the texts alone are more.
//
// # Cost
//
// What the overview costs; twice that for each halving of lists that are too long.
//
// # Concurrency
//
// Write stands alone; Results are only read.
package page
