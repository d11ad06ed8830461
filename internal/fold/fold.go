// Package fold puts equal rows together.
package fold

// At returns the row of a key: a zero one at the end of the rows if there is none. at has the positions of the rows,
// and belongs to them alone. The result is valid until the next call. Cost: O(1).
func At[K comparable, T any](at map[K]int, rows *[]T, key K) *T {
	i, ok := at[key]
	if !ok {
		i = len(*rows)
		at[key], *rows = i, append(*rows, *new(T))
	}
	return &(*rows)[i]
}
