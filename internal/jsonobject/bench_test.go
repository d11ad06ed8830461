package jsonobject_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/internal/jsonobject"
)

// documents of about 8 MiB each.
func documents() map[string][]byte {
	node := `{"arguments": ["MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,shard_spec=std::nullopt)", "1"], ` +
		`"connections": [12, 14], "counter": 15, "input_tensors": [], "node_type": "buffer_allocate", "params": {"address": 1552384, ` +
		`"buffer_type": 1, "device_id": 1, "layout": "INTERLEAVED", "size": 2097152, "type": "L1"}, "stacking_level": 3}`
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(node), "    ", "    "); err != nil {
		panic(err)
	}
	list := func(element string) []byte {
		n := 8 << 20 / len(element)
		return []byte("[" + strings.Repeat(element+",", n) + element + "]")
	}
	page := `{"address":1552384,"bank_id":3,"buffer_type":1,"core_x":2,"core_y":1,"device_id":1,"page_address":1552384,"page_index":4,"page_size":2048}`
	return map[string][]byte{
		"nodes":   list(node),
		"pages":   list(page),
		"indent":  list(pretty.String()),
		"string":  []byte(`"` + strings.Repeat("x", 8<<20) + `"`),
		"escapes": []byte(`"` + strings.Repeat(`[{\"address\":5848704,\"device_id\":0}]`, 8<<20/38) + `"`),
		"numbers": list("1552384"),
	}
}

func BenchmarkScan(b *testing.B) {
	for name, doc := range documents() {
		b.Run("doc="+name+"/by=skip", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if err := document(bytes.NewReader(doc), 256<<10); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("doc="+name+"/by=capture", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				s := jsonobject.New(bytes.NewReader(doc), 256<<10)
				if doc[0] != '[' {
					if _, err := s.Capture(16 << 20); err != nil {
						b.Fatal(err)
					}
					continue
				}
				if err := s.Enter(); err != nil {
					b.Fatal(err)
				}
				for {
					more, err := s.More()
					if err != nil {
						b.Fatal(err)
					}
					if !more {
						break
					}
					if _, err := s.Capture(16 << 20); err != nil {
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
