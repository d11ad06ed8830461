// Package testkit has what tests of several packages need: inputs that are made, and
// answers that were written down.
//
// [Gzip] and [Zstd] pack a text; [Repeat] reads a pattern again and again, so that a huge
// input takes no memory. [Golden] compares an answer with a file, [Sections] the answers to the questions of one, [CloseObjects] makes a
// JSON schema strict. [Nightly] asks for the largest sizes. [Open] says what a test has [Opened], and that it closed it.
//
// No product code imports this package.
package testkit
