package attack

import (
	"regexp"
	"strconv"
)

// HeapTold returns the most that was in use when garbage was collected, in bytes, as a
// process told it that ran with GODEBUG=gctrace=1; 0 if it collected none.
func HeapTold(trace string) (most int64) {
	for _, match := range regexp.MustCompile(`\d+->(\d+)->\d+ MB`).FindAllStringSubmatch(trace, -1) {
		if n, err := strconv.ParseInt(match[1], 10, 64); err == nil {
			most = max(most, n*mib)
		}
	}
	return most
}
