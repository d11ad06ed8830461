package jsonobject_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/jsonobject"
)

func ExampleReader() {
	var r jsonobject.Reader
	o := r.Read([]byte(`{"name":"matmul","cbs":[{"size":64},{"size":-1}]}`))
	name, _ := o.Text("name")
	var sizes []uint64
	for cb := range o.Objects("cbs") {
		sizes = append(sizes, cb.Need("size", jsonobject.MaxL1))
	}
	fmt.Println(name, sizes)
	fmt.Println(r.Err())
	// Output:
	// matmul [64 0]
	// cbs[1].size: -1 is negative
}

// All queries of an object.
func TestObject(t *testing.T) {
	var r jsonobject.Reader
	o := r.Read([]byte(` { "n" : 4.096e3, "text":"a\u00e4", "id":18446744073709551615, "yes":"1", "no":false, "nil":null,
		"ids":[1,18446744073709551615,"7"], "list":[1,2], "texts":["a","\""], "lists":[1,[2, "3"],[4]], "\u0073pec":{"deep":{"x":5}}, "rows":[{"x":1},{"x":2}], "n":4096, "n":4096.0 } `))
	n, ok := o.Number("n", 4096)
	require.True(t, ok)
	require.EqualValues(t, 4096, n)
	require.True(t, r.Twice())
	text, ok := o.Text("text")
	require.True(t, ok)
	require.Equal(t, "aä", text)
	require.EqualValues(t, ^uint64(0), o.Need("id", ^uint64(0)))
	yes, ok := o.Flag("yes")
	require.True(t, yes && ok)
	no, ok := o.Flag("no")
	require.True(t, !no && ok)
	require.False(t, o.Has("nil"))
	require.False(t, o.Has("absent"))
	ids, ok := jsonobject.IDs[uint64](o, "ids")
	require.True(t, ok)
	require.Equal(t, []uint64{1, ^uint64(0), 7}, ids)
	lists, ok := jsonobject.IDLists[uint64](o, "lists")
	require.True(t, ok)
	require.Equal(t, [][]uint64{{1}, {2, 3}, {4}}, lists)
	list, ok := o.Numbers("list")
	require.True(t, ok)
	require.Equal(t, []uint64{1, 2}, list)
	texts, ok := o.Texts("texts")
	require.True(t, ok)
	require.Equal(t, []string{"a", `"`}, texts)
	spec, ok := o.Object("spec")
	require.True(t, ok)
	deep, ok := spec.Object("deep")
	require.True(t, ok)
	require.Equal(t, "spec.deep.x", deep.Path("x"))
	require.EqualValues(t, 5, deep.Need("x", 5))
	var rows []uint64
	for row := range o.Objects("rows") {
		rows = append(rows, row.Need("x", 2))
	}
	require.Equal(t, []uint64{1, 2}, rows)
	for range o.Objects("absent") {
		t.Fatal("no such list")
	}
	require.Nil(t, r.Err())
	require.EqualValues(t, 4096, o.Need("n", 4096), "the root outlives what was read below it")
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ask        func(jsonobject.Object)
	}{
		{`{}`, "n: missing", func(o jsonobject.Object) { o.Need("n", 1) }},
		{`{"n":null}`, "n: missing", func(o jsonobject.Object) { o.Need("n", ^uint64(0)) }},
		{`{"n":2}`, "n: 2 is above 1", func(o jsonobject.Object) { o.Need("n", 1) }},
		{`{"n":4294967296}`, "n: 4294967296 is above 2^32-1, the largest L1 address", func(o jsonobject.Object) { o.Need("n", jsonobject.MaxL1) }},
		{`{"n":2147483648}`, "n: 2147483648 is above 2^31-1", func(o jsonobject.Object) { o.Need("n", jsonobject.MaxInt) }},
		{`{"n":9223372036854775808}`, "n: 9223372036854775808 is above 2^63-1", func(o jsonobject.Object) { o.Need("n", jsonobject.MaxWhole) }},
		{`{"n":18446744073709551616}`, "n: 18446744073709551616 is above 2^63-1", func(o jsonobject.Object) { o.Need("n", ^uint64(0)) }},
		{`{"n":-1,"m":1.5}`, "m: 1.5 is not a whole number", func(o jsonobject.Object) { o.Need("m", 1); o.Need("n", 1) }},
		{`{"n":[]}`, "n: [] is not a string", func(o jsonobject.Object) { o.Text("n") }},
		{`{"n":2}`, "n: 2 is not a flag: 0, 1, true or false", func(o jsonobject.Object) { o.Flag("n") }},
		{`{"n":["a",2]}`, "n: 2 is not a string", func(o jsonobject.Object) { o.Texts("n") }},
		{`{"n":2}`, "n: 2 is not an object", func(o jsonobject.Object) { o.Object("n") }},
		{`{"n":2}`, "n: 2 is not an array", func(o jsonobject.Object) { jsonobject.IDs[uint64](o, "n") }},
		{`{"n":2}`, "n: 2 is not an array", func(o jsonobject.Object) { jsonobject.IDLists[uint64](o, "n") }},
		{`{"n":[1,[2,-2,3]]}`, "n: [2,-2,3] is negative", func(o jsonobject.Object) { jsonobject.IDLists[uint64](o, "n") }},
		{`{"n":[1,[]]}`, "n: [] is empty", func(o jsonobject.Object) { jsonobject.IDLists[uint64](o, "n") }},
		{`{"n":[[[1]]]}`, "n: [[1]] is not a number", func(o jsonobject.Object) { jsonobject.IDLists[uint64](o, "n") }},
		{`{"n":[1,-2]}`, "n: -2 is negative", func(o jsonobject.Object) { jsonobject.IDs[uint64](o, "n") }},
		{`{"n":2}`, "n: 2 is not an array", func(o jsonobject.Object) {
			for range o.Objects("n") {
			}
		}},
		{`{"n":[{},3]}`, "n[1]: 3 is not an object", func(o jsonobject.Object) {
			for range o.Objects("n") {
			}
		}},
		{`{"a":[{},{"b":[{"c":{"d":true}}]}]}`, "a[1].b[0].c.d: true is not a number", func(o jsonobject.Object) {
			for a := range o.Objects("a") {
				for b := range a.Objects("b") {
					c, _ := b.Object("c")
					c.Need("d", 1)
				}
			}
		}},
		{`{"n":1,"n":1.0,"n":2}`, "n: 2 is the second value of this key, and not equal to the first", func(o jsonobject.Object) { o.Get("n") }},
		{`[]`, "[] is not an object", func(jsonobject.Object) {}},
	} {
		var r jsonobject.Reader
		c.ask(r.Read([]byte(c.text)))
		require.EqualError(t, r.Err(), c.want, "%s", c.text)
		r.Read([]byte(`{}`))
		require.Nil(t, r.Err(), "an error belongs to its text")
	}
	var r jsonobject.Reader
	r.Read([]byte(`3`))
	require.ErrorIs(t, r.Err(), jsonobject.ErrNoObject)
	cause := errors.New("cause")
	r.Read([]byte(`{"n":1}`)).Fail("n", "is odd", cause)
	require.ErrorIs(t, r.Err(), cause)
	require.EqualValues(t, 5, r.Err().Offset)
}

// An object agrees with encoding/json.
func TestObjectIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "names")
		given := map[string]any{}
		for _, name := range names {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				given[name] = rapid.String().Draw(t, "text")
			case 1:
				given[name] = rapid.Uint64Range(0, jsonobject.MaxWhole).Draw(t, "number")
			case 2:
				given[name] = rapid.Bool().Draw(t, "flag")
			}
		}
		text, err := json.MarshalIndent(given, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		require.NoError(t, err)
		var r jsonobject.Reader
		o := r.Read(text)
		for name, want := range given {
			switch want := want.(type) {
			case string:
				have, ok := o.Text(name)
				require.True(t, ok)
				require.Equal(t, want, have)
			case uint64:
				require.Equal(t, want, o.Need(name, jsonobject.MaxWhole))
			case bool:
				have, ok := o.Flag(name)
				require.True(t, ok)
				require.Equal(t, want, have)
			}
		}
		require.Nil(t, r.Err())
		require.False(t, r.Twice())
	})
}

// Reading on does not cost memory, and a hostile text leaves none behind.
func TestReaderKeepsLittle(t *testing.T) {
	var r jsonobject.Reader
	text := []byte(`{"cbs":[` + strings.Repeat(`{"size":1},`, 99) + `{"size":1}],"x":{"y":1}}`)
	read := func() {
		for cb := range r.Read(text).Objects("cbs") {
			cb.Need("size", 1)
		}
	}
	read()
	require.Zero(t, testing.AllocsPerRun(100, read))

	long := []byte(`{"n":[` + strings.Repeat(" ", 1<<20) + `]` + strings.Repeat(`,"n":[]`, 1<<17) + `}`)
	r.Read(long).Get("n") // would take minutes if each value were compared with the first
	require.Nil(t, r.Err())
	require.True(t, r.Twice())
	require.Zero(t, testing.AllocsPerRun(100, read))
}

// FuzzReader runs any query on any JSON: no panic, and the text of an error stands at the place that
// the error names.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"a":1,"a":1,"b":[{"a":"x"},{"a":null}],"c":{"a":[1,2]}}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"\u0061":"\ud800","a":"\ufffd"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		var r jsonobject.Reader
		for _, name := range []string{"a", "b", "c"} {
			for _, ask := range []func(jsonobject.Object){
				func(o jsonobject.Object) { o.Need(name, 7) },
				func(o jsonobject.Object) { o.Need(name, ^uint64(0)) },
				func(o jsonobject.Object) { jsonobject.IDs[uint64](o, name) },
				func(o jsonobject.Object) { jsonobject.IDLists[uint64](o, name) },
				func(o jsonobject.Object) { o.Texts(name) },
				func(o jsonobject.Object) { o.Text(name) },
				func(o jsonobject.Object) { o.Flag(name) },
				func(o jsonobject.Object) {
					for in := range o.Objects(name) {
						in.Need(name, 7)
						in.Object(name)
					}
				},
			} {
				ask(r.Read(data))
				if err := r.Err(); err != nil {
					require.True(t, bytes.HasPrefix(data[err.Offset:], err.Value))
					require.NotEmpty(t, err.Reason)
				}
			}
		}
	})
}
