// Package packed reads inputs that may be compressed with gzip or zstd.
//
// # Model
//
// [Open] reads the first bytes of an input, never a name, and returns its content. [Peek] reads the
// first bytes of any input without consuming them, as many as its caller needs.
//
// # Guarantees
//
// Data that is cut or corrupt is an error in words, and so is data that expands more than
// 1000:1 after 64 MiB ([ErrExpands]) or that needs more than 32 MiB of memory.
//
// # Cost and concurrency
//
// A gzip decoder holds 64 KiB, a zstd decoder its window. No goroutine is started. An
// [Stream] belongs to one goroutine.
package packed
