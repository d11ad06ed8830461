// Package oracle recomputes, byte by byte, what a ttnn graph capture says about circular buffers (CBs).
// It exists to be compared with in tests; no product code may import it.
//
// # Model
//
// Every core is a set of byte positions. A CB of size s at address a puts the positions a..a+s-1 into the set of each
// of its cores. Nothing is carried from one moment to the next: after each CB node the sets of the device are
// emptied and filled again from the CBs that are alive. Reading, core range text, mesh membership and placement are written
// here a second time on purpose; the package imports the standard library alone, so an error in the product's
// reader or engine cannot hide in it.
//
// L1 plays the nodes in order and says of each program that was enqueued whether it fits, on each device, and what is in its way (Verdict);
// what the capture hides has codes (Memory.Hidden), and Answer is what check would say.
//
// # Rules
//
// Options.Rules turns on the right answers 1 to 10, each alone. The zero value reads captures as they were read before.
// TestRightAnswers holds AllRules against answers that were worked out by hand (capture/testdata/right), and TestEachRuleMatters shows
// that none of them is idle.
//
// # Choices
//
// Where README.md of the sample captures and the design page say nothing, the oracle does this:
//
//   - Program with addresses: some of its local CBs have address 0, others not ("mixed" inside one program). The
//     recorded ones are marked first, in creation order, then the zero ones are placed by tt-metal's rule on top. The same goes
//     for its dataflow buffers and then for its scratchpads.
//   - A CB of size 0 covers no byte and has no end, but its cores count as cores of the device.
//   - A CB with an empty core range set is a CB node (it counts in cb_nodes, local_cbs and decides like any other whether its
//     program has addresses), but has no cores, no logical bytes and no end.
//   - Dataflow buffers and scratchpads live and die with the CBs of their device. A device that has only them is
//     listed too, with cb_nodes 0; they make no program of their own.
//   - The allocator entries of all dataflow buffers and scratchpads of a program exist before the first of them is placed, as those
//     of its CBs do.
//   - The word in "addresses" speaks of CBs only; "layout" is given when anything at all was placed by the rule.
//   - A free with an id does not reach nodes without id (device "none"); a free without id reaches everything.
//   - The first entry of "devices" that has the field decides base and architecture for the whole file.
//   - Programs of one workload run one after the other: where the second begins, the CBs of the first end.
//   - A list of buffers speaks of the whole time of its operation: what the capture allocates in it explains a row.
//   - A list ends a buffer only if it has another row of the same device.
//   - A free with an address, of a buffer that the capture did not allocate, says where that lay from the start on.
//   - A sharded tensor from before the capture holds its buffer's size divided by its cores, if that is whole; an interleaved one
//     stands in tt-metal's test and holds nothing.
//   - Buffers from before that are there from one moment on come one after the other: those of lists by device and address, those of
//     tensors by node, those of frees by address.
//   - What an exception ended behind its free is not shown, unless the capture is a plan.
//   - A run outside the grid has no part in what is registered, and none in what lies there.
//
// # Limits
//
// Malformed input is the business of the product's reader. The oracle returns an error where it cannot go on, and is
// lenient elsewhere. Addresses end at 64 MiB, coordinates at 255. Cost is O(CB nodes x cores x L1 size): meant for
// fixtures, not for gigabytes.
package oracle

//go:generate go test . -run Fixtures$ -update
