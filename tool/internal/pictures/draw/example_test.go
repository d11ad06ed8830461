package draw_test

import (
	"bytes"
	"fmt"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

// What lies on a core, as text.
func ExampleColumn() {
	var out bytes.Buffer
	draw.Column{Name: "core 0-0", Base: 0, End: 4096, Blocks: []draw.Block{
		{Name: "CB 0", Range: l1.Range{Start: 0, End: 2048}},
		{Name: "weights", Range: l1.Range{Start: 3072, End: 4096}, Fill: draw.FillBuffer},
	}}.Text(&out, draw.Style{ASCII: true, Columns: 60})
	fmt.Println(bytes.Contains(out.Bytes(), []byte("CB 0")), bytes.Contains(out.Bytes(), []byte("weights")))
	// Output: true true
}
