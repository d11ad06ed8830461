// Package glance says what a device tells the packages of this module, which ask after every event. Others do not
// need it.
package glance

import "github.com/cbl1/cbl1/l1"

// A Device is what device.Device.Glance returns. It is about the device as it is when a method is called.
type Device interface {
	// Fullest returns the cores that hold Totals.TrackedCore bytes: none if nothing does.
	// Cost: O(classes of equal cores), whatever lies there.
	Fullest() l1.CoreSet

	// LeastHeadroom returns the least Free that Fleet.Headroom says of all registered programs
	// on a core of the device. ok is false if no byte is registered.
	// Cost: O(classes of cores) where all buffers lie above all programs.
	LeastHeadroom() (free uint64, ok bool)
}

// A Held is what device.DeviceSnapshot.Glance returns: one number for the devices of a snapshot that held the same,
// on the same cores, now and at most. Other devices have other numbers, and so may equal ones.
type Held int
