package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// unit is a unit of systemd for cbl1 serve.
//
//go:embed cbl1.service
var unit string

// formula is the text of a formula of Homebrew, which calls systems and architectures by its own names.
//
//go:embed cbl1.rb.tmpl
var formula string

// formulaOf returns a formula of Homebrew for the binaries of systems that have it.
func (r release) formulaOf(binaries []string) ([]byte, error) {
	type binary struct{ OS, Arch, Name, Sum string }
	var all []binary
	for i, s := range systems() {
		system := map[string]string{"linux": "linux", "darwin": "macos"}[s.os]
		if system == "" {
			continue
		}
		content, err := os.ReadFile(binaries[i])
		if err != nil {
			return nil, err
		}
		arch := map[string]string{"amd64": "intel", "arm64": "arm"}[s.arch]
		all = append(all, binary{system, arch, filepath.Base(binaries[i]), fmt.Sprintf("%x", sha256.Sum256(content))})
	}
	text, err := template.New("").Parse(formula)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = text.Execute(&out, map[string]any{"Version": r.version, "Binaries": all})
	return out.Bytes(), err
}
