// Package version keeps values that became each other step by step: the programs that are
// registered on devices, the buffers that live there. A value is dear, a step is cheap, and few
// devices are at the newest one.
//
// One [Version] has the content, and the versions that it was before lean on it
// (H. Baker, Shallow binding makes functional arrays fast, 1991):
//
//	V0 --+P1--> V1 --+P2--> V2     V2 has the content; V1 and V0 have none.
//	31 devices  none        one    V1 is V2 without P2, V0 is V1 without P1.
//
// Each version keeps the step to the version that it became. Devices that follow take the same
// step: they compare no hash, and nothing is worked out again. A [Store] finds versions by their
// hashes where no [Step] leads. An [Editor] says how contents are copied and changed. A user may keep a
// content at each version with devices: see [Store.Pass].
//
// # Words
//
//   - version: a value that does not change;
//   - step: one thing off, and another one on;
//   - editor: copies and changes contents.
package version
