package graph

import (
	"bytes"

	"github.com/cbl1/cbl1/l1"
)

// The numbers of texts and sets that are kept. When there are more, which no real
// capture has shown, the decoder forgets all and starts again.
const (
	maxTexts    = 4096
	maxTextSize = 128 // bytes
	maxCores    = 1024
)

// coreSets remembers what core range sets were parsed to, by their text.
type coreSets map[string]l1.CoreRangeSet

func (s coreSets) keep(raw []byte, set l1.CoreRangeSet) {
	if len(raw) > 8*maxTextSize {
		return
	}
	if len(s) == maxCores {
		clear(s)
	}
	s[string(raw)] = set
}

// shardGrid reads the cores of a sharded tensor out of its memory_config. That is
// text which C++ prints for people: braces are missing in places, and it looks
// different in every release. What cannot be read is not known, the empty set.
//
//	...,shard_spec=ShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":10,"y":8}, {"start":...}], shape=...
//	...,shard_spec=ShardSpec{grid={[0-0 - 7-7]}, shape=...
func (s coreSets) shardGrid(raw []byte) (set l1.CoreRangeSet) {
	for _, start := range []string{"ShardSpec{grid=", `\"grid\":`, `"grid":`} {
		_, text, ok := bytes.Cut(raw, []byte(start))
		if text = bytes.TrimLeft(text, `\"`); !ok || len(text) == 0 {
			continue
		}
		end := bytes.IndexByte(text, ']')
		if text[0] == '{' {
			end = bytes.IndexByte(text, '}')
		}
		if end < 0 {
			return set
		}
		text = text[:end+1]
		if set, ok := s[string(text)]; ok {
			return set
		}
		set = readGrid(text)
		s.keep(text, set)
		return set
	}
	return set
}

// readGrid reads a list of rectangles: as JSON, in which only the numbers behind x and
// y are read, or in one of the two spellings of core range sets.
func readGrid(text []byte) (set l1.CoreRangeSet) {
	if text[0] == '{' {
		set, _ = l1.ParseCoreRangeSet(string(text))
		return set
	}
	var ranges []l1.CoreRange
	var numbers []uint8
	axis := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case (c == 'x' || c == 'y') && i > 0 && text[i-1] == '"' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			axis = c
		case '0' <= c && c <= '9':
			n := 0
			for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
				n = min(n*10+int(text[i]-'0'), 256)
			}
			i--
			if axis == 0 { // of another field
				continue
			}
			if axis != "xyxy"[len(numbers)] {
				return set
			}
			axis = 0
			if n > 255 {
				return set
			}
			if numbers = append(numbers, uint8(n)); len(numbers) == 4 {
				ranges = append(ranges, l1.CoreRange{Start: l1.Core{X: numbers[0], Y: numbers[1]}, End: l1.Core{X: numbers[2], Y: numbers[3]}})
				numbers = numbers[:0]
			}
		}
	}
	if len(numbers) > 0 {
		return set
	}
	set, _ = l1.NewCoreRangeSet(ranges...)
	return set
}
