//go:build cbl1meets

package lookup

// With this tag every hash is 0: all sets of programs, classes, residues and heaps
// collide, and only comparisons separate them.
const everythingMeets = true
