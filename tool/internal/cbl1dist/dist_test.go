package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

func toy() release { return release{"0.1.0", "0123456789ab", time.Unix(1_795_629_052, 0).UTC()} }

func files() []file {
	return []file{{"usr/bin/cbl1", 0o755, []byte("binary")}, {"usr/share/doc/cbl1/copyright", 0o644, []byte("odd")}}
}

// members reads an ar archive.
func members(t *testing.T, text []byte) map[string][]byte {
	text, ok := bytes.CutPrefix(text, []byte("!<arch>\n"))
	require.True(t, ok)
	out := map[string][]byte{}
	for len(text) > 0 {
		head := string(text[:60])
		require.Equal(t, "`\n", head[58:])
		size, err := strconv.Atoi(strings.TrimSpace(head[48:58]))
		require.NoError(t, err)
		out[strings.TrimSpace(head[:16])] = text[60 : 60+size]
		text = text[60+size+size%2:]
	}
	return out
}

// listed reads a compressed tar archive: names with modes, and texts.
func listed(t *testing.T, text []byte) (names []string, texts map[string]string) {
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	require.NoError(t, err)
	texts = map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, texts
		}
		require.NoError(t, err)
		require.Equal(t, toy().time, h.ModTime.UTC())
		require.Zero(t, h.Uid)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		names = append(names, h.FileInfo().Mode().String()+" "+h.Name)
		texts[h.Name] = string(body)
	}
}

func TestDeb(t *testing.T) {
	deb, err := toy().deb("amd64", files())
	require.NoError(t, err)
	parts := members(t, deb)
	require.Len(t, parts, 3)
	require.Equal(t, "2.0\n", string(parts["debian-binary"]))
	_, control := listed(t, parts["control.tar.gz"])
	require.Contains(t, control["./control"], "Package: cbl1\nVersion: 0.1.0\nArchitecture: amd64\n")
	names, texts := listed(t, parts["data.tar.gz"])
	require.Equal(t, []string{
		"drwxr-xr-x ./usr/", "drwxr-xr-x ./usr/bin/", "-rwxr-xr-x ./usr/bin/cbl1",
		"drwxr-xr-x ./usr/share/", "drwxr-xr-x ./usr/share/doc/", "drwxr-xr-x ./usr/share/doc/cbl1/", "-rw-r--r-- ./usr/share/doc/cbl1/copyright",
	}, names)
	require.Equal(t, "binary", texts["./usr/bin/cbl1"])

	again, err := toy().deb("amd64", files())
	require.NoError(t, err)
	require.Equal(t, deb, again)

	unreleased := toy()
	unreleased.version = "0.1.0-dev"
	deb, err = unreleased.deb("amd64", nil)
	require.NoError(t, err)
	_, control = listed(t, members(t, deb)["control.tar.gz"])
	require.Contains(t, control["./control"], "Version: 0.1.0~dev\n", "which comes before 0.1.0")
}

// The tool of Debian reads what we write.
func TestDebIsReadByDpkg(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip("needs dpkg-deb (package dpkg): it reads the Debian package as a user's machine does")
	}
	deb, err := toy().deb("arm64", files())
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "cbl1.deb")
	require.NoError(t, os.WriteFile(name, deb, 0o666))
	out, err := exec.Command(dpkg, "--field", name, "Package", "Version", "Architecture").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "Package: cbl1\nVersion: 0.1.0\nArchitecture: arm64\n", string(out))
	out, err = exec.Command(dpkg, "--contents", name).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "-rwxr-xr-x root/root")
}

const help = `Say whether all fits. It is
exact - always.

The exit code is 0.

Usage:
  cbl1 check FILE ... [flags]

Examples:
  cbl1 check run.json
  .hidden

Available Commands:
  check       Say whether all fits
  help        Show help
  peak        Say more

Flags:
  -v, --verbose   a \ is shown

Use "cbl1 [command] --help" for more.
`

func TestMan(t *testing.T) {
	require.Equal(t, `.TH CBL1-CHECK 1 2026-11-25 "cbl1 0.1.0" "cbl1"
.SH NAME
cbl1\-check \- Say whether all fits
.SH SYNOPSIS
.nf
  cbl1 check FILE ... [flags]
.fi
.SH DESCRIPTION
.nf
Say whether all fits. It is
exact \- always.

The exit code is 0.
.fi
.SH EXAMPLES
.nf
  cbl1 check run.json
  .hidden
.fi
.SH AVAILABLE COMMANDS
.nf
  check       Say whether all fits
  help        Show help
  peak        Say more
.fi
.SH FLAGS
.nf
  \-v, \-\-verbose   a \e is shown
.fi
`, toy().man("cbl1-check", help))
	require.Equal(t, []string{"check", "peak"}, verbs(help))
	require.Equal(t, `\&.x`, roff(".x"))
}

func TestSBOM(t *testing.T) {
	linux := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.org/b", Version: "v1.2.3", Sum: "h1:b="},
		{Path: "example.org/a", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v0.2.0", Sum: "h1:f="}},
	}}
	windows := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.org/b", Version: "v1.2.3", Sum: "h1:b="}, {Path: "example.org/w", Version: "v2.0.0", Sum: "h1:w="},
	}}
	text, err := toy().sbom([]*debug.BuildInfo{linux, windows}, map[string][]byte{"cbl1.whl": []byte("x")})
	require.NoError(t, err)
	var got bom
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, "CycloneDX", got.Format)
	require.Equal(t, "0.1.0", got.Metadata.Component.Version)
	require.Equal(t, "2026-11-25T17:50:52Z", got.Metadata.Timestamp)
	require.Equal(t, component{
		Type: "file", Name: "cbl1.whl", Version: "0.1.0", Hashes: []digest{{"SHA-256", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}},
	}, got.Components[0])
	got.Components = got.Components[1:]
	var purls []string
	for _, c := range got.Components {
		purls = append(purls, c.PURL)
	}
	require.Equal(t, []string{
		"pkg:golang/example.org/b@v1.2.3", "pkg:golang/example.org/fork@v0.2.0", "pkg:golang/example.org/w@v2.0.0", "pkg:golang/std@1.26.8",
	}, purls)
	require.Equal(t, []property{{"cbl1:go.sum", "h1:b="}}, got.Components[0].Properties)
}

// The formula has a block for each system that has Homebrew, with the sum of its binary.
func TestFormula(t *testing.T) {
	folder := t.TempDir()
	var binaries []string
	for _, s := range systems() {
		name := filepath.Join(folder, s.binary())
		require.NoError(t, os.WriteFile(name, []byte(s.arch), 0o666))
		binaries = append(binaries, name)
	}
	text, err := toy().formulaOf(binaries)
	require.NoError(t, err)
	require.Contains(t, string(text), `  version "0.1.0"

  on_linux do
    on_intel do
      url "https://github.com/cbl1/cbl1/releases/download/v0.1.0/cbl1-linux-amd64"
      sha256 "`+fmt.Sprintf("%x", sha256.Sum256([]byte("amd64")))+`"
    end
  end
`)
	require.Equal(t, 4, strings.Count(string(text), "sha256"))
	require.Contains(t, string(text), "on_macos do\n    on_arm do\n")
	require.NotContains(t, string(text), "windows")
}

// A wheel has the package, a binary that can be run, and the checksums of all.
func TestWheel(t *testing.T) {
	t.Chdir("../../..")
	dev := toy()
	dev.version = "0.1.0-dev"
	script := []byte("#!/bin/sh\necho \"$0\"\n")
	names := map[system]string{
		{"linux", "amd64"}: "manylinux2014_x86_64.musllinux_1_1_x86_64", {"linux", "arm64"}: "manylinux2014_aarch64.musllinux_1_1_aarch64",
		{"darwin", "amd64"}: "macosx_12_0_x86_64", {"darwin", "arm64"}: "macosx_12_0_arm64", {"windows", "amd64"}: "win_amd64",
	}
	for _, s := range systems() {
		name, text, err := dev.wheel(s, script)
		require.NoError(t, err)
		require.Equal(t, "cbl1-0.1.0.dev0-py3-none-"+names[s]+".whl", name)
		_, again, err := dev.wheel(s, script)
		require.NoError(t, err)
		require.Equal(t, text, again)
		wheel, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		require.NoError(t, err)
		var lines []string
		for _, f := range wheel.File {
			require.Equal(t, strings.Contains(f.Name, "/scripts/cbl1"), f.Mode()&0o111 != 0, f.Name)
			body, err := fs.ReadFile(wheel, f.Name)
			require.NoError(t, err)
			sum := sha256.Sum256(body)
			lines = append(lines, fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(body)))
		}
		lines[len(lines)-1] = "cbl1-0.1.0.dev0.dist-info/RECORD,,\n"
		record, err := fs.ReadFile(wheel, "cbl1-0.1.0.dev0.dist-info/RECORD")
		require.NoError(t, err)
		require.Equal(t, strings.Join(lines, ""), string(record))
	}
}

var update = flag.Bool("update", false, "TestStub: write documents.pyi anew")

// The types of the Python package are those of the schemas.
func TestStub(t *testing.T) {
	t.Chdir("../../..")
	text, err := stubOf(os.DirFS("tool/docs/schemas"))
	require.NoError(t, err)
	const name = "tool/python/cbl1/documents.pyi"
	if *update {
		require.NoError(t, os.WriteFile(name, text, 0o666))
	}
	have, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(text), string(have), "make api writes it")
}

// Each form of a schema has its type.
func TestTypesOfSchemas(t *testing.T) {
	folder := fstest.MapFS{}
	for _, name := range []string{"check", "diff", "peak", "report", "room", "who"} {
		folder["cbl1."+name+"-1.schema.json"] = &fstest.MapFile{Data: []byte(`{"type":"object"}`)}
	}
	folder["cbl1.who-1.schema.json"].Data = []byte(`{"type":"object","required":["a","b","c","d","e","f"],"properties":{
		"a":{"type":"integer"},"b":{"type":["string","null"]},"c":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/two_words"}]},
		"d":{"type":"array","items":{"type":"object","properties":{"x":{"const":"y"}}}},"e":{"enum":["p",null]},"f":{"type":"object"},"g":{"type":"boolean"},"h":{"type":"array","items":false,"prefixItems":[{"type":"integer"},{"type":"integer"}]}},
		"$defs":{"two_words":{"type":"object","properties":{"again":{"$ref":"#/$defs/two_words"},"from":{"type":"integer"}}}}}`)
	text, err := stubOf(folder)
	require.NoError(t, err)
	_, classes, _ := strings.Cut(string(text), "\n\n\n")
	require.Equal(t, `class Who(TypedDict):
    a: int
    b: None | str
    c: None | WhoTwoWords
    d: list[WhoDItem]
    e: None | str
    f: dict[str, Any]
    g: NotRequired[bool]
    h: NotRequired[list[int]]


class WhoDItem(TypedDict):
    x: NotRequired[str]


WhoTwoWords = TypedDict("WhoTwoWords", {
    "again": NotRequired[WhoTwoWords],
    "from": NotRequired[int],
})
`, classes)
	delete(folder, "cbl1.who-1.schema.json")
	_, err = stubOf(folder)
	require.ErrorContains(t, err, "who")
}

// pip installs a wheel, and the package finds its binary.
func TestWheelIsInstalled(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import pip, sys; sys.exit(sys.version_info < (3, 10))").Run()
	}
	if err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs python3 of 3.10 or newer with pip, on Linux and amd64: it installs a wheel as a user does")
	}
	t.Chdir("../../..")
	name, text, err := toy().wheel(system{"linux", "amd64"}, []byte("#!/bin/sh\necho it ran\n"))
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o666))
	at := filepath.Join(folder, "at")
	out, err := exec.Command(python, "-m", "pip", "install", "-q", "--no-index", "--target", at, filepath.Join(folder, name)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, args := range [][]string{{"-c", "import cbl1, subprocess; print(subprocess.run([cbl1.binary()], capture_output=True, text=True).stdout)"}, {"-m", "cbl1"}} {
		cmd := exec.Command(python, args...)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+at, "CBL1=")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, "it ran", strings.TrimSpace(string(out)))
	}
}

// pytestFolder returns the folder in which python3 has pytest, or into which the Debian packages of it in the folder
// $CBL1_PYTEST_DEBS are unpacked. Without either the test is skipped.
func pytestFolder(t *testing.T, python string) string {
	t.Helper()
	debs, err := filepath.Glob(filepath.Join(os.Getenv("CBL1_PYTEST_DEBS"), "*.deb"))
	require.NoError(t, err)
	if os.Getenv("CBL1_PYTEST_DEBS") != "" && len(debs) > 0 {
		dpkg, err := exec.LookPath("dpkg")
		if err != nil {
			t.Skip("needs dpkg: it unpacks the Debian packages of pytest")
		}
		at := t.TempDir()
		for _, deb := range debs {
			out, err := exec.Command(dpkg, "-x", deb, at).CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		return filepath.Join(at, "usr", "lib", "python3", "dist-packages")
	}
	at, err := exec.Command(python, "-c", "import os, pytest; print(os.path.dirname(os.path.dirname(pytest.__file__)))").Output()
	if err != nil {
		t.Skip("needs pytest 7.2 or newer (package python3-pytest, or its .deb and those it needs in the folder CBL1_PYTEST_DEBS)")
	}
	return strings.TrimSpace(string(at))
}

// A wheel with the real command is installed into a fresh venv without network: its plugin fails a test with a verdict.
// It links the command, and is left out with -short.
func TestWheelInVenv(t *testing.T) {
	if testing.Short() {
		t.Skip("links the command")
	}
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))").Run()
	}
	if err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs python3 of 3.10 or newer with venv (package python3-venv), on Linux and amd64: it installs a wheel as a user does")
	}
	t.Chdir("../../..")
	pytest, folder := pytestFolder(t, python), t.TempDir()
	root, err := os.Getwd()
	require.NoError(t, err)
	output := func(dir string, wantCode int, name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PYTHONPATH="+pytest, "PYTHONDONTWRITEBYTECODE=1", "CBL1=", "PATH=/usr/bin:/bin", "CGO_ENABLED=0")
		if name == "go" || name == python {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		out, _ := cmd.CombinedOutput()
		require.Equal(t, wantCode, cmd.ProcessState.ExitCode(), "%s", out)
		return string(out)
	}
	output(root, 0, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(folder, "cbl1"), "./tool/cmd/cbl1")
	binary, err := os.ReadFile(filepath.Join(folder, "cbl1"))
	require.NoError(t, err)
	name, text, err := toy().wheel(system{"linux", "amd64"}, binary)
	require.NoError(t, err)
	require.Less(t, len(text), 12_000_000, "of bytes, at the most")
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o666))
	output(folder, 0, python, "-m", "venv", "venv")
	inside := filepath.Join(folder, "venv", "bin", "python")
	output(folder, 0, inside, "-m", "pip", "install", "-q", "--no-index", name)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "test_model.py"), fmt.Appendf(nil, `
import json, sys
import pytest
sys.path.append(%q)
import standins
standins.install("file", json.load(open(%q))["graph"])

@pytest.mark.cbl1
def test_fits(): pass

@pytest.mark.cbl1(budget="10%%")
def test_over(): pass
`, filepath.Join(root, "tool", "python", "test"), filepath.Join(root, "examples", "cached_ops.json")), 0o666))
	said := output(folder, 1, inside, "-m", "pytest", "-p", "no:cacheprovider", "test_model.py")
	require.Contains(t, said, "1 failed, 1 passed")
	require.Equal(t, 1, strings.Count(said, "10% of"), "%s", said)
}

// systemd finds nothing wrong with the unit.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("needs systemd-analyze (package systemd): it reads the unit as a user's machine does")
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cbl1.service"), []byte(strings.ReplaceAll(unit, "/usr/bin/cbl1", "/bin/true")), 0o666))
	out, err := exec.Command(analyze, "verify", "--man=no", filepath.Join(folder, "cbl1.service")).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestSum(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a"), []byte("a\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b"), nil, 0o666))
	require.NoError(t, sum(folder))
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7  a\n"+
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n", string(sums))
}

func TestRunWrongUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"-version", "0.1.0"}, {"-version", "0.1.0", "-commit", "a", "more"}, {"-unknown"}} {
		var errs bytes.Buffer
		require.Equal(t, 2, run(args, io.Discard, &errs), args)
		require.NotEmpty(t, errs.String())
	}
	var errs bytes.Buffer
	require.Equal(t, 1, run([]string{"-version", "0.1.0", "-commit", "a", "-out", t.TempDir()}, io.Discard, &errs), "the folder exists")
	require.Contains(t, errs.String(), "file exists")
}
