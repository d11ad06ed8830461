package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/cbl1/cbl1/internal/oracle"
	"github.com/cbl1/cbl1/internal/oracle/fixture"
)

func TestZZ(t *testing.T) {
	file := os.Getenv("ZZ")
	if file == "" {
		t.Skip()
	}
	data, _ := os.ReadFile(file)
	opts := oracle.Options{
		Arch: "blackhole", Base: fixture.RandomBase, Align: fixture.RandomAlign, L1Size: fixture.RandomL1, NoInfer: os.Getenv("NOINFER") != "", Rules: oracle.AllRules(),
	}
	want, err := oracle.L1(data, opts)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ORACLE", want.Answer(), want.Hidden, "ambiguous", want.Ambiguous)
	for _, v := range want.Verdicts {
		fmt.Printf("  %s at %d op %s inf %v cand %d fits %v untold %v %v\n", v.Device, v.At, v.Op, v.Inferred, v.Candidates, v.Fits, v.Untold, v.Refusals)
	}
	args := []string{"--arch", "blackhole", "--base", strconv.Itoa(fixture.RandomBase),
		"--align", strconv.Itoa(fixture.RandomAlign), "--max-l1", strconv.Itoa(fixture.RandomL1)}
	if opts.NoInfer {
		args = append(args, "--no-infer")
	}
	for _, verb := range []string{"check", "convert"} {
		code, out, stderr := call("", append(append([]string{verb}, args...), file)...)
		fmt.Println(code, out, stderr)
	}
}
