package clash

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each condition and each field of the words is known, and each block is named.
func TestWords(t *testing.T) {
	var e MessageRow
	tellers := []filler{e.facts(chip{}), e.changes(nil), Match{}.facts(Message{})}
	conditions := []string{ // that a message makes, by its kind, its memory and the limit that is exceeded
		string(Grow), string(Clash), string(ServiceClash), string(Grid), string(Append), string(IndexReuse),
		string(BackingBuffer), string(PageSize), string(KernelConfig), string(TraceRegion),
		string(AddressLimit), string(Slots), string(Compiler), "L1", "DRAM", "ACTIVE_ETH",
		"is:bank-size", "is:free", "is:largest-free-block", "is:placeable", "is:largest-placeable-block",
	}
	fields := map[string]bool{"length": true}
	for _, f := range forms() {
		for _, p := range f.parts {
			for _, tokens := range p.later {
				for _, one := range tokens {
					fields[one.field] = true
				}
			}
		}
	}
	isNumber := func(name string) bool {
		return fields[name] || slices.ContainsFunc(tellers, func(t filler) bool { _, ok := t.number(name); return ok })
	}
	blocks := map[string]bool{} // whether a text names it
	for _, name := range regexp.MustCompile(`(?m)^@(.*)$`).FindAllStringSubmatch(words, -1) {
		blocks[name[1]] = false
	}
	field := regexp.MustCompile(`[{]([^}#+%]*)[#+%]?[^}]*[}]`)
	for block := range blocks {
		label := ""
		for r := range rowsOf(block) {
			if r.label != "" {
				label = r.label
			}
			for _, name := range r.when {
				name = strings.TrimSuffix(strings.TrimPrefix(name, "!"), "?")
				known := slices.ContainsFunc(tellers, func(t filler) bool { _, ok := t.holds[name]; return ok })
				require.True(t, known || isNumber(name) || slices.Contains(conditions, name), "%s: condition %s", block, name)
			}
			for _, f := range field.FindAllStringSubmatch(r.text, -1) {
				_, isBlock := blocks[f[1]]
				isText := slices.ContainsFunc(tellers, func(t filler) bool { _, ok := t.texts[f[1]]; return ok })
				require.True(t, isNumber(f[1]) || isText || isBlock, "%s: field %s", block, f[1])
				if isBlock {
					blocks[f[1]] = true
				}
			}
		}
		blocks[block] = blocks[block] || label != "" && label != "-" // a block of notes
	}
	for block, named := range blocks {
		require.True(t, named, "block %s", block)
	}
}
