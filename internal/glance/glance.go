// Package glance has the device queries that packages of this module make after every event. Users
// do not need them.
package glance

import "github.com/cbl1/cbl1/l1"

// A DeviceGlance is the result of device.Device.Glance. Each method answers for the moment of its call.
type DeviceGlance interface {
	// Fullest returns the cores that hold Totals.TrackedCore bytes: none if nothing does.
	// Cost: O(classes of equal cores), whatever lies there.
	Fullest() l1.CoreSet

	// Overlap returns the bytes of L1 that several buffers hold, once for each but the first, summed over
	// cores. Cost: O(1).
	Overlap() uint64

	// FullestIn returns the most tracked bytes that a core holds in a range of addresses, and the cores that
	// hold as many: of the given cores, or of all if there are none. Cost: as Fullest.
	FullestIn(within l1.Range, cores l1.CoreSet) (bytes uint64, on l1.CoreSet)

	// LeastHeadroom returns the least Free of Fleet.Headroom over all registered programs on a core
	// of the device. ok is false if no byte is registered. Cost: O(classes of cores) where all
	// buffers lie above all programs.
	LeastHeadroom() (free uint64, ok bool)
}

// A ContentID is the result of device.DeviceSnapshot.Glance: one number for devices of a snapshot with
// the same contents and peaks on the same cores. Different devices have different numbers; equal
// ones may, too.
type ContentID int
