// Command cbl1dist writes what a release of cbl1 consists of into a folder. It starts in the root
// of the repository:
//
//	cbl1dist -version 0.1.0 -commit 0123456789ab -time 1795629052 -out dist
//
//	cbl1-linux-amd64, ...     static binaries, one for each system
//	cbl1_0.1.0_amd64.deb, ... Debian packages: the binary, completions and man pages
//	cbl1-0.1.0-py3-....whl    wheels: the Python package with a binary
//	cbl1.cdx.json             the modules in the binaries: an SBOM in CycloneDX 1.5
//	cbl1.service              a unit of systemd for cbl1 serve, which is in the packages too
//	cbl1.rb                   a formula of Homebrew, which fetches a binary of the release
//	SHA256SUMS                the checksums of all of them
//
// The same commit and the same release of Go give the same bytes. Exit 1: something could not be
// built or written. Exit 2: wrong usage.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// release is a commit that is released under a number.
type release struct {
	version string // like 0.1.0
	commit  string
	time    time.Time // of the commit: all files have it
}

// system is an operating system and an architecture, as Go names them.
type system struct{ os, arch string }

// binary is the name of the binary for a system.
func (s system) binary() string {
	name := "cbl1-" + s.os + "-" + s.arch
	if s.os == "windows" {
		name += ".exe"
	}
	return name
}

func systems() []system {
	return []system{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}
}

func run(args []string, out, errw io.Writer) int {
	var r release
	flags := flag.NewFlagSet("cbl1dist", flag.ContinueOnError)
	flags.SetOutput(errw)
	flags.StringVar(&r.version, "version", "", "`number` of the release, like 0.1.0")
	flags.StringVar(&r.commit, "commit", "", "`hash` of the commit")
	seconds := flags.Int64("time", 0, "`seconds` since 1970: when the commit was made")
	folder := flags.String("out", "dist", "`folder` to write, which must not exist")
	if flags.Parse(args) != nil {
		return 2
	}
	if r.version == "" || r.commit == "" || flags.NArg() > 0 {
		fmt.Fprintln(errw, "cbl1dist: wrong usage: -version and -commit are needed, and nothing else:", flags.Args())
		return 2
	}
	r.time = time.Unix(*seconds, 0).UTC()
	if err := r.write(*folder); err != nil {
		fmt.Fprintln(errw, "cbl1dist:", err)
		return 1
	}
	sums, err := os.ReadFile(filepath.Join(*folder, "SHA256SUMS"))
	if err != nil {
		fmt.Fprintln(errw, "cbl1dist:", err)
		return 1
	}
	fmt.Fprintf(out, "%sWheels of other systems than %s/%s were built and not run.\n", sums, runtime.GOOS, runtime.GOARCH)
	return 0
}

// write builds the binaries and writes everything.
func (r release) write(folder string) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	var infos []*debug.BuildInfo
	var binaries []string
	for _, s := range systems() {
		name := filepath.Join(folder, s.binary())
		if err := r.build(s, name); err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		binaries, infos = append(binaries, name), append(infos, info)
	}
	wheels, err := r.wheels(binaries)
	if err != nil {
		return err
	}
	sbom, err := r.sbom(infos, wheels)
	if err != nil {
		return err
	}
	formula, err := r.formulaOf(binaries)
	if err != nil {
		return err
	}
	files := map[string][]byte{"cbl1.cdx.json": sbom, "cbl1.service": []byte(unit), "cbl1.rb": formula}
	maps.Copy(files, wheels)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			return err
		}
	}
	docs, err := r.documents(filepath.Join(folder, system{runtime.GOOS, runtime.GOARCH}.binary()))
	if err != nil {
		return err
	}
	for i, s := range systems() {
		if s.os == "linux" {
			if err := r.pack(s, binaries[i], docs); err != nil {
				return err
			}
		}
	}
	return sum(folder)
}

// wheels returns the wheels of all binaries, by their names.
func (r release) wheels(binaries []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for i, s := range systems() {
		binary, err := os.ReadFile(binaries[i])
		if err != nil {
			return nil, err
		}
		name, text, err := r.wheel(s, binary)
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}

// pack writes the Debian package that has the binary of a Linux, beside it.
func (r release) pack(s system, name string, docs []file) error {
	folder := filepath.Dir(name)
	binary, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := r.deb(s.arch, append([]file{{"usr/bin/cbl1", 0o755, binary}}, docs...))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprintf("cbl1_%s_%s.deb", r.version, s.arch)), text, 0o666)
}

// build builds the binary for a system.
func (r release) build(s system, name string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+r.version+" -X main.commit="+r.commit, "-o", name, "./tool/cmd/cbl1")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "GOOS="+s.os, "GOARCH="+s.arch)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s/%s: %w\n%s", s.os, s.arch, err, output)
	}
	return nil
}

// documents returns completions, man pages and the licence, which the binary for this system
// writes or which are in the repository.
func (r release) documents(binary string) ([]file, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	version, err := exec.Command(binary, "--version").Output()
	if want := fmt.Sprintf("cbl1 %s (%s)\n", r.version, r.commit); err != nil || string(version) != want {
		return nil, fmt.Errorf("the binary is %q, not %q: %w", version, want, err)
	}
	said := func(args ...string) ([]byte, error) {
		out, err := exec.Command(binary, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("cbl1 %s: %w", strings.Join(args, " "), err)
		}
		return out, nil
	}
	var files []file
	for shell, name := range map[string]string{
		"bash": "usr/share/bash-completion/completions/cbl1",
		"zsh":  "usr/share/zsh/vendor-completions/_cbl1",
		"fish": "usr/share/fish/vendor_completions.d/cbl1.fish",
	} {
		script, err := said("completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, script})
	}
	help, err := said("--help")
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{"cbl1": help}
	for _, verb := range verbs(string(help)) {
		if pages["cbl1-"+verb], err = said(verb, "--help"); err != nil {
			return nil, err
		}
	}
	for name, help := range pages {
		page, err := compressed([]byte(r.man(name, string(help))))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"usr/share/man/man1/" + name + ".1.gz", 0o644, page})
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	files = append(files, file{"usr/share/doc/cbl1/copyright", 0o644, licence}, file{"usr/lib/systemd/system/cbl1.service", 0o644, []byte(unit)})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// sum writes the checksums of all files of a folder, as sha256sum does.
func sum(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), sums.Bytes(), 0o666)
}
