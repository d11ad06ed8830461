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

// Number returns the number of a key: the next one from 0 if it is new. Cost: O(1).
func Number[K comparable](numbers map[K]int, key K) (n int, fresh bool) {
	n, known := numbers[key]
	if !known {
		n = len(numbers)
		numbers[key] = n
	}
	return n, !known
}
