package event_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

// What an event costs on its way in, and on its way out.
func BenchmarkLog(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"event=dispatch", `{"event":"dispatch","program":1,"devices":[0,1,2,3,4,5,6,7],"t":12345}`},
		{"event=program", `{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 7-7]","size":2048},{"cores":"[0-0 - 7-7]","size":4096,"indices":[{"index":1}]}]}`},
		{"event=allocate", `{"event":"allocate","buffer":1,"kind":"l1","parts":[{"address":1048576,"size":4096}]}`},
		{"event=run", `{"event":"run","node":17,"op":"ttnn::add","program":1,"on":[{"device":0,"first":1,"last":9,"cb_first":2,"cb_last":3}]}`},
		{"event=query", `{"query":"totals","device":3}`},
	} {
		b.Run("read/"+c.name, func(b *testing.B) {
			text := logHead + strings.Repeat(c.line+"\n", b.N)
			b.SetBytes(int64(len(c.line) + 1))
			b.ReportAllocs()
			b.ResetTimer()
			for _, err := range event.NewLog(strings.NewReader(text), "log").Events() {
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("write/"+c.name, func(b *testing.B) {
			events, err := readLog(b, strings.NewReader(logHead+c.line))
			require.NoError(b, err)
			w := event.NewWriter(io.Discard)
			b.SetBytes(int64(len(c.line) + 1))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Write(events[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
