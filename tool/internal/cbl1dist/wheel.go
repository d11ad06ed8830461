package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// platforms are the tags of a system in the name of a wheel. Binaries for Linux are static: any C library will do. Go 1.26
// needs macOS 12.
func (s system) platforms() []string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[s.arch]
	switch s.os {
	case "linux":
		return []string{"manylinux2014_" + arch, "musllinux_1_1_" + arch}
	case "darwin":
		return []string{"macosx_12_0_" + strings.ReplaceAll(arch, "aarch64", "arm64")}
	}
	return []string{"win_" + s.arch}
}

// pep440 returns the version as Python spells it: 0.1.0-dev is 0.1.0.dev0.
func (r release) pep440() string { return strings.Replace(r.version, "-dev", ".dev0", 1) }

// wheel returns a wheel for a system, and its name: the Python package with a binary beside the scripts.
func (r release) wheel(s system, binary []byte) (name string, text []byte, err error) {
	version, tags := r.pep440(), s.platforms()
	info := "cbl1-" + version + ".dist-info/"
	about := "Wheel-Version: 1.0\nGenerator: cbl1dist\nRoot-Is-Purelib: false\nTag: py3-none-" +
		strings.Join(tags, "\nTag: py3-none-") + "\n"
	files := []file{
		{"cbl1-" + version + ".data/scripts/cbl1" + filepath.Ext(s.binary()), 0o755, binary},
		{info + "METADATA", 0o644, fmt.Appendf(nil, `Metadata-Version: 2.1
Name: cbl1
Version: %s
Summary: L1 circular buffers of Tenstorrent devices
Home-page: https://github.com/cbl1/cbl1
License: Apache-2.0
Requires-Python: >=3.10
`, version)},
		{info + "WHEEL", 0o644, []byte(about)},
		{info + "entry_points.txt", 0o644, []byte("[pytest11]\ncbl1 = cbl1.pytest_plugin\n")},
	}
	files = append(files, file{"cbl1/py.typed", 0o644, nil})
	sources, err := filepath.Glob("tool/python/cbl1/*.py*")
	if err == nil && len(sources) == 0 {
		err = fmt.Errorf("no Python package in tool/python/cbl1")
	}
	for _, name := range sources {
		source, err := os.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{"cbl1/" + filepath.Base(name), 0o644, source})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	files = append(files, file{info + "RECORD", 0o644, []byte(record.String() + info + "RECORD,,\n")})
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(os.FileMode(f.mode)) // pip drops the x bit of a file that is none of Unix
		to, err := w.CreateHeader(h)
		if err != nil {
			return "", nil, err
		}
		if _, err := to.Write(f.text); err != nil {
			return "", nil, err
		}
	}
	if err == nil {
		err = w.Close()
	}
	return fmt.Sprintf("cbl1-%s-py3-none-%s.whl", version, strings.Join(tags, ".")), out.Bytes(), err
}
