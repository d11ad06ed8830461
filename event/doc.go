// Package event is the stream of everything that happens on a fleet, whoever tells it.
//
// An [Event] is one thing that happened, as a value: its [Kind] says what, and which
// fields it has. Sources tell events in the order in which they count; whoever
// replays them keeps the figures. Values that may be absent are an [Opt].
//
// Events belong to whoever receives them. Nothing here starts a goroutine.
package event
