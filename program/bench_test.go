package program_test

import (
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func BenchmarkBuild(b *testing.B) {
	shapes := []string{"{[0-0 - 12-9]}", "{[0-0 - 6-9], [8-0 - 12-4]}", "{[0-0 - 0-9]}"}
	for _, bench := range []struct {
		name string
		cbs  []program.CB
	}{
		{"cbs=4/shapes=1", times(4, cb("{[0-0 - 12-9]}", 4096))},
		{"cbs=16/shapes=3", func() (cbs []program.CB) {
			for i := range 16 {
				cbs = append(cbs, cb(shapes[i%len(shapes)], uint64(2048*(1+i%4))))
			}
			return cbs
		}()},
	} {
		b.Run(bench.name, func(b *testing.B) {
			builder, spec := builder(bench.cbs...), l1.P150()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := builder.Build(spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
