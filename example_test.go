package cbl1_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A matmul on a mesh of 32 devices, beside a tensor that is too large for it.
func Example() {
	fleet := device.NewFleet()
	mesh, err := fleet.AddMesh(0, 4, 8, l1.P150()) // 32 devices, ids 0 to 31
	check(err)
	cores := l1.Rect(0, 0, 7, 7)
	matmul, err := program.Place(1, "matmul", mesh.Spec(), // addresses by tt-metal's rule
		program.CB{Cores: cores, Size: 131072},
		program.CB{Cores: cores, Size: 524288})
	check(err)

	added, err := fleet.Enqueue(matmul, mesh.Set()) // register, check, dispatch: all or nothing
	check(err)
	fmt.Println(added.Len(), "devices,", mesh.Registered(), "bytes") // physical bytes: one atomic load

	tensor := fit.Buffer{ID: 1, Kind: fit.KindL1, Name: "large", Cores: mesh.Spec().Grid().Cores()}
	tensor, err = fleet.Place(tensor, 868352, mesh.Set()) // where tt-metal's allocator puts it
	check(err)
	fmt.Println("tensor at", tensor.Range)

	_, err = fleet.Enqueue(matmul, mesh.Set()) // refused: nothing has changed
	if verdict, ok := errors.AsType[fit.Verdict](err); ok {
		fmt.Println(verdict.Advice())
	}

	// Output:
	// 32 devices, 1342177280 bytes
	// tensor at [704512,1572864)
	// free or move L1 buffer 1 ("large"), or take 62,464 bytes off CB 1, which has 524,288
}

// check ends an example after an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// TestLibraryPage: docs/library.md shows the body of Example.
func TestLibraryPage(t *testing.T) {
	page, err := os.ReadFile("docs/library.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, block, ok := strings.Cut(string(page), "```go\n")
	require.True(t, ok)
	block, _, _ = strings.Cut(block, "```")
	_, body, _ := strings.Cut(string(source), "func Example() {\n")
	body, _, _ = strings.Cut(body, "\n\n\t// Output:")
	require.Equal(t, strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:]+"\n", block)
}
