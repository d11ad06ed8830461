package watch_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A metric with the name of a field of a row has the value of that field. High-water marks have the names of peak.
func TestMetricsMeanWhatFiguresMean(t *testing.T) {
	var d answer.LiveDevice
	n := uint64(100)
	number(reflect.ValueOf(&d).Elem(), &n)
	d.Board, d.Fleet = "", ""
	text, err := json.Marshal(d)
	require.NoError(t, err)
	var row map[string]any
	require.NoError(t, json.Unmarshal(text, &row))
	for name, value := range row["peak"].(map[string]any) {
		row["peak_"+name] = value
	}
	now := watch.Snapshot{Devices: []answer.LiveDevice{d}}
	same := 0
	for _, m := range regexp.MustCompile(`(?m)^cbl1_device_(\w+)\{[^}]*\} (\d+)$`).FindAllStringSubmatch(string(now.AppendMetrics(nil, false)), -1) {
		if value, ok := row[m[1]].(float64); ok {
			same++
			require.Equal(t, fmt.Sprint(uint64(value)), m[2], m[1])
		}
	}
	require.Equal(t, 16, same)
}

// number gives each figure another value.
func number(v reflect.Value, n *uint64) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			number(field, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		number(v.Elem(), n)
	case reflect.Uint64:
		*n++
		v.SetUint(*n)
	case reflect.Int:
		*n++
		v.SetInt(int64(*n))
	}
}
