// Package corepeaks has the high-water marks of cores: [Peaks] are the most bytes that each
// core of a device ever held. They are values, and those that follow each other share what is
// equal in them.
package corepeaks
