// Package page writes one HTML file about some captures or logs, and what differs from
// another run: a page to view, to mail and to print. It computes no figure.
//
// # Model
//
// [Write] takes Results of package answer and a Document of tool/replay/diff. Package render writes the texts of the page, and has
// the pictures and lists as one overview, packed into a data block:
//
//	Result, diff.Document ──> render.Overview ──> pack ──> data block ──> page.js ──> DOM
//	                     └──> render.Check, Report, Diff ───────────────> text of the page
//
// # Invariants
//
// The file needs no network: its policy allows only its own style and script, by their hashes.
// Names from a file are text. They are escaped in HTML. The script makes text nodes of names in
// the data block, and shows invisible characters. The same Results make the same bytes. A page
// has at most [MaxBytes] unless the texts alone are longer.
//
// # Cost
//
// The cost of the overview. Lists are halved until they have about as many rows as a page has room for, before
// anything is packed: packing a list costs more than all else.
//
// # Concurrency
//
// Write stands alone; Results are only read.
package page
