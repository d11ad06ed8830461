// Package corepeaks has the high-water marks of cores: [Marks] are the most bytes that each core of
// a device ever held. They are values, and consecutive ones share their equal parts.
package corepeaks
