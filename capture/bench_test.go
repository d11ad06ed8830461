package capture

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkReader reads a list of nodes like those of conv2d, and a report whose
// graph is one per cent of it, with encoding/json's Decoder beside.
func BenchmarkReader(b *testing.B) {
	graph := longGraph(8 << 20)
	pages := `"buffer_pages": [` + strings.Repeat(`{"device_id":0,"address":1552384,"core_y":1,"core_x":2,"bank_id":3,"page_index":4,`+
		`"page_address":1552384,"page_size":2048,"buffer_type":1},`, 8<<20/140) + `{}]`
	report := `{"version": 1, ` + pages + `, "graph": ` + string(longGraph(80<<10)) + `}`
	docs := map[string][]byte{"graph": graph, "report": []byte(report)}
	for name, doc := range docs {
		b.Run("doc="+name+"/by=reader", func(b *testing.B) {
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
		b.Run("doc="+name+"/by=encoding_json", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.NewDecoder(bytes.NewReader(doc)).Decode(&v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTraces reads the sample captures.
func BenchmarkTraces(b *testing.B) {
	for _, name := range []string{"conv2d", "matmul_normal_mode", "visualizer_concat_2024"} {
		doc, err := os.ReadFile(filepath.Join(traces, name+".json"))
		if err != nil {
			b.Skipf("the sample captures are not here: %v", err)
		}
		b.Run("trace="+name, func(b *testing.B) {
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
