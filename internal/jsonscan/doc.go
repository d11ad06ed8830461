// Package jsonscan reads JSON as a stream: strictly, and in memory that does not
// grow with the input.
//
// # Model
//
// A [Scanner] stands before a value. The caller looks at its kind and then either
// skips it, captures its bytes, enters it (arrays and objects) or reads its decoded
// text (strings). Skipping and capturing are the same code, so that what is thrown
// away is checked as strictly as what is kept.
//
// # Invariants
//
// What is accepted is RFC 8259 with three remarks: a byte order mark may come
// first, bytes inside strings need not be UTF-8, and arrays and objects nest at
// most [MaxDepth] deep. Apart from the mark and the depth that is exactly what
// encoding/json.Valid accepts. Nothing is recursive.
//
// # Cost
//
// One buffer of the size given to [New]; it grows only while a value is captured,
// at most to the limit of that capture, and shrinks again. Tokens are looked at eight
// bytes at a time.
//
// # Concurrency
//
// A Scanner belongs to one goroutine.
package jsonscan
