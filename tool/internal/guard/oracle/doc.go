// Package oracle recomputes, byte by byte, the facts of a ttnn graph capture about circular buffers
// (CBs). Tests compare the product with it; no product code may import it.
//
// # Model
//
// Every core is a set of byte positions. A CB of size s at address a puts the positions a..a+s-1
// into the set of each of its cores. Nothing is carried from one moment to the next: after each CB
// node the sets of the device are emptied and filled again from the live CBs. Reading, core range
// text and mesh membership are written here a second time on purpose. Package fuzz/model places
// the buffers, judges programs and finds room. Of the product that computes, package program alone
// is imported: it holds buffers that have their addresses, and places none.
//
// L1 plays the nodes in order and judges each enqueued program on each device: whether it fits, and
// the obstacles (Verdict). Hidden facts of the capture have codes (L1Results.Hidden), and Answer is
// the answer of check.
//
// # Choices
//
// The oracle makes these choices, which the format of captures leaves open:
//
//   - Program with addresses: some of its local CBs have address 0, others not ("mixed" inside one program). The
//     recorded ones are marked first, in creation order, then the zero ones are placed by tt-metal's rule on top. The same goes
//     for its dataflow buffers and then for its scratchpads.
//   - A CB of size 0 covers no byte and has no end, but its cores count as cores of the device.
//   - A CB with an empty core range set is a CB node of its program, but has no cores and no bytes.
//   - Dataflow buffers and scratchpads live and die with the CBs of their device.
//   - The allocator entries of all dataflow buffers and scratchpads of a program exist before the first of them is placed, like
//     the entries of its CBs.
//   - A free with an id does not reach nodes without id (device "none"); a free without id reaches everything.
//   - The first entry of "devices" that has the field decides base and architecture for the whole file.
//   - Programs of one workload run one after the other: where the second begins, the CBs of the first end.
//   - A list of buffers covers the whole time of its operation: an allocation of the capture in it explains a row.
//   - A list ends a buffer only if it has another row of the same device.
//   - A free with an address, of a buffer that the capture did not allocate, gives its address from the start on, and its
//     size where nothing else gives one.
//   - A sharded tensor from before the capture holds its buffer's size divided by its cores, if that is whole; an interleaved one
//     stands in tt-metal's test and holds nothing.
//   - Buffers from before the capture that appear at one moment are ordered: first buffers of lists by device and address, then
//     of tensors by node, then of frees by address.
//   - A number that is a mesh and a chip has no figures of its own as a mesh: its chips have them.
//   - The one chip that a file lists makes meshes of all other ids. It does not make frees of its own id ends of programs.
//   - A free of CBs without id reaches all devices, also where one chip is listed.
//   - A hit behind more frees than the run of its ordinal had goes on with the next ordinals.
//   - A global CB in no known buffer proves one from before the capture; one in an unsized buffer shows how long that is at least.
//   - Behind an allocation without a known place nothing proves a buffer from before.
//   - Two buffers from before the capture that start at one address are one, with several witnesses.
//   - The effects of an exception behind its free are not shown, unless the capture is a plan.
//   - A run outside the grid takes no part in registration, nor in the contents of L1.
//
// # Limits
//
// Malformed input is the business of the product's reader. The oracle returns an error where it cannot go on, and is
// lenient elsewhere. Addresses end at 64 MiB, coordinates at 255. Cost is O(CB nodes x cores x L1 size): meant for
// fixtures, not for gigabytes.
package oracle
