package capture

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkReader reads a list of nodes like those of conv2d, and a report whose
// graph is one per cent of it. make bench reads whole captures.
func BenchmarkReader(b *testing.B) {
	graph := longGraph(8 << 20)
	pages := `"buffer_pages": [` + strings.Repeat(`{"device_id":0,"address":1552384,"core_y":1,"core_x":2,"bank_id":3,"page_index":4,`+
		`"page_address":1552384,"page_size":2048,"buffer_type":1},`, 8<<20/140) + `{}]`
	report := `{"version": 1, ` + pages + `, "graph": ` + string(longGraph(80<<10)) + `}`
	docs := map[string][]byte{"graph": graph, "report": []byte(report)}
	for name, doc := range docs {
		b.Run("doc="+name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range NewReader(bytes.NewReader(doc), "bench").nodes() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
