package page_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/diff"
)

// The pictures of the tour: make shots writes them to tool/docs/tour.
func TestTour(t *testing.T) {
	if shots() == "" {
		t.Skip("needs -shots DIR: it makes pictures to look at")
	}
	b := newBrowser(t)
	demo, now, old := read(t, "../../../../examples/cached_ops.json"), read(t, "../../../../examples/events.jsonl"), read(t, "../../../docs/tour/smaller.jsonl")
	b.open(saved(t, written(t, nil, demo)), 1200, 900)
	b.part("page", "header", "#cores figure")
	b.part("time", "#time", "#time")
	d := diff.Compare([]*diff.Run{diff.Of(old)}, []*diff.Run{diff.Of(now)}, diff.Terms{})
	b.open(saved(t, written(t, d, now)), 1200, 900)
	b.part("changed", "#changed", "#changed")
	b.quiet("tour")
}

// part writes a picture of what lies from the top of one element to the end of another.
func (b *browser) part(name, from, to string) {
	b.t.Helper()
	const edge = 24
	y, _ := b.eval(`document.querySelector("` + from + `").getBoundingClientRect().top + scrollY`).(float64)
	end, _ := b.eval(`document.querySelector("` + to + `").getBoundingClientRect().bottom + scrollY`).(float64)
	var picture struct{ Data string }
	b.call("Page.captureScreenshot", object{
		"format": "png", "captureBeyondViewport": true,
		"clip": object{"x": 0, "y": max(0, y-edge), "width": 1200, "height": end - y + 2*edge, "scale": 0.75},
	}, &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(shots(), name+".png"), small(b.t, data), 0o600))
}

// small returns the same picture in fewer bytes.
func small(t *testing.T, data []byte) []byte {
	t.Helper()
	from, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, from))
	return out.Bytes()
}

// The tour shows each of its pictures, and none is large.
func TestTourShowsPictures(t *testing.T) {
	tour, err := os.ReadFile("../../../docs/tour.md")
	require.NoError(t, err)
	pictures, err := filepath.Glob("../../../docs/tour/*.png")
	require.NoError(t, err)
	require.Len(t, pictures, 3)
	for _, path := range pictures {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(150_000), path)
		require.Contains(t, string(tour), "](tour/"+filepath.Base(path)+")")
	}
}
