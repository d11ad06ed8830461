package clash_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata; review the diff")

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		input, name string
		given       l1.Spec
	}{
		{"all_kinds.txt", "all_kinds", l1.Spec{}},
		{"numbers.txt", "numbers", l1.Spec{}},
		{"numbers.txt", "numbers_n150", l1.N150()},
		{"numbers.txt", "numbers_base", l1.Spec{CBBase: 103_424}},
		{"torn.log", "torn", l1.Spec{}},
		{"retold.txt", "retold", l1.Spec{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			input, err := os.ReadFile(filepath.Join("testdata", c.input))
			require.NoError(t, err)
			found := read(t, string(input))
			for _, m := range found.Messages {
				requireSound(t, clash.Explain(m, c.given))
			}

			doc, err := json.MarshalIndent(clash.NewDocument(found, c.given), "", " ")
			require.NoError(t, err)
			testkit.Golden(t, *update, filepath.Join("testdata", c.name+".json"), string(doc)+"\n")
		})
	}
}
