package shm_test

import (
	"fmt"
	"os"

	"github.com/cbl1/cbl1/tool/internal/live/shm"
)

// The region of a chip in a folder, and who finds it there.
func ExampleCreate() {
	folder, _ := os.MkdirTemp("", "")
	defer func() { _ = os.RemoveAll(folder) }()
	r, err := shm.Create(folder, 0x1234)
	fmt.Println(r != nil, err)
	all, err := shm.List(folder)
	fmt.Println(len(all), all[0].ASIC == 0x1234, err)
	// Output:
	// true <nil>
	// 1 true <nil>
}
