package attack

import (
	"regexp"
	"strconv"
)

// HeapTold returns the largest heap in use at a garbage collection, in bytes, from the output of a
// process with GODEBUG=gctrace=1; 0 if it collected none.
func HeapTold(trace string) (most int64) {
	for _, match := range regexp.MustCompile(`\d+->(\d+)->\d+ MB`).FindAllStringSubmatch(trace, -1) {
		if n, err := strconv.ParseInt(match[1], 10, 64); err == nil {
			most = max(most, n*mib)
		}
	}
	return most
}
