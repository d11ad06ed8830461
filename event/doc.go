// Package event is the stream of everything that happens on a fleet, whoever tells it.
package event
