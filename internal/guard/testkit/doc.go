// Package testkit helps the tests of several packages: it makes inputs, and compares answers with
// files.
//
// [Gzip] and [Zstd] pack a text; [Repeat] reads a pattern again and again, so that a huge input
// takes no memory. [EventLog] writes an event log of events in short. [Golden] compares an answer with
// a file, [Sections] the answers to the questions of one, which [Brief] writes for people.
// [CloseObjects] makes a JSON schema strict. [Nightly] selects the largest sizes. [Open]
// counts open files and goroutines ([OpenCounts]), so that a test can prove that it closed them.
//
// No product code imports this package.
package testkit
