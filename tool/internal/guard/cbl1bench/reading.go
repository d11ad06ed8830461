package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"

	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/guard/large"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// read reads a capture as the command does, and returns the ns, and the costs of reading once.
func read(c large.Plan, rounds int) (ns float64, x costs, err error) {
	var text bytes.Buffer
	made, err := c.Write(&text)
	if err != nil {
		return 0, x, err
	}
	ns = math.Inf(1)
	for range rounds {
		base := liveHeap()
		var r *answer.Result
		x.allocations = mallocs(func() {
			ns = min(ns, float64(processor(func() {
				in := capture.NewReader(bytes.NewReader(text.Bytes()), "large")
				r, err = replay.Run("large", in.Events(capture.Options{}), replay.Options{})
			})))
		})
		if err != nil {
			return 0, x, err
		}
		if r.Nodes != made.Nodes || r.Checks.Runs < made.Ops || r.Checks.Failed > 0 {
			return 0, x, fmt.Errorf("%d nodes and %d runs of which %d fail; %d nodes and %d operations were written",
				r.Nodes, r.Checks.Runs, r.Checks.Failed, made.Nodes, made.Ops)
		}
		x.heap = max(liveHeap()-base, 0)
		runtime.KeepAlive(r)
	}
	x.longest = ns
	return ns, x, nil
}
