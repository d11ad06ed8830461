// Package answer has the results of a replay, their documents and their texts. It follows no events.
//
// A [Result] has the figures of each device: registered and live programs, the contents of the whole L1, checks of
// enqueued programs, anomalies, and answers to the questions of replay.Options. [Result.Judge] judges it on [Terms]: a
// budget of bytes, and codes of accepted reasons. Untold reasons make the answer [CannotTell].
//
// A method of Result makes each document, the JSON of a verb of the command: [Result.Report], [Result.Check],
// [Result.Peak], [Result.Room], [Result.Who] and [Result.Map]. Their types have the tags of that JSON. Lists in a
// document are never null, and a [Name] is cut to 1,024 bytes there. The codes and their words stand in codes.go.
//
// What lies on a core at a peak is looked up on demand ([L1Peak.Composed], [DeviceL1.LaidGroups]): a [Past] keeps the
// moment, and a [Composition] names it.
//
// A Result is a value of its own, and belongs to one goroutine while it is composed.
//
// # Words
//
//   - code: the name of something odd or hidden; reason: a code that keeps an answer open;
//   - basis: the facts under the figures of a document;
//   - composition: what lies on a core, or on all cores of a device;
//   - laid: in its place on cores, like a group of cores with the same content;
//   - scarce: with little free on a device.
package answer
