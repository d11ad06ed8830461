package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"strings"
)

// file is a file of a Debian package.
type file struct {
	name string // from the root of the system, without a leading slash
	mode int64
	text []byte
}

// deb returns a Debian package: an ar archive of a version, a control archive and a data archive.
// The files are in the order of their names.
func (r release) deb(arch string, files []file) ([]byte, error) {
	size := 0
	for _, f := range files {
		size += len(f.text)
	}
	control := fmt.Sprintf(`Package: cbl1
Version: %s
Architecture: %s
Maintainer: cbl1 <cbl1@users.noreply.github.com>
Installed-Size: %d
Section: utils
Priority: optional
Homepage: https://github.com/cbl1/cbl1
Description: L1 circular buffers of Tenstorrent devices
 cbl1 reads ttnn graph captures and event logs. It says how much of the L1 of each core
 circular buffers take, what else lies there, and whether it fits.
`, strings.ReplaceAll(r.version, "-", "~"), arch, (size+1023)/1024) // 0.1.0~dev comes before 0.1.0
	controls, err := r.archive([]file{{"control", 0o644, []byte(control)}})
	if err != nil {
		return nil, err
	}
	data, err := r.archive(files)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, member := range []file{{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, controls}, {"data.tar.gz", 0o644, data}} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", member.name, r.time.Unix(), 0, 0, 0o100644, len(member.text))
		out.Write(member.text)
		if len(member.text)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

// archive returns a compressed tar archive of files and of the folders that they are in.
func (r release) archive(files []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	folders := map[string]bool{".": true}
	add := func(h tar.Header, text []byte) error {
		h.ModTime, h.Uname, h.Gname, h.Format = r.time, "root", "root", tar.FormatGNU
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}
	for _, f := range files {
		for i, c := range f.name {
			if folder := f.name[:i]; c == '/' && !folders[folder] {
				folders[folder] = true
				if err := add(tar.Header{Name: "./" + folder + "/", Mode: 0o755, Typeflag: tar.TypeDir}, nil); err != nil {
					return nil, err
				}
			}
		}
		if err := add(tar.Header{Name: "./" + path.Clean(f.name), Mode: f.mode, Size: int64(len(f.text)), Typeflag: tar.TypeReg}, f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressed(out.Bytes())
}

// compressed returns a text as gzip, without a time or a name.
func compressed(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// verbs returns the commands that the help of cbl1 lists.
func verbs(help string) (out []string) {
	_, list, _ := strings.Cut(help, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "help" {
			out = append(out, words[0])
		}
	}
	return out
}

// man returns the manual page of a command, made of its help. The parts keep their lines.
func (r release) man(name, help string) string {
	text, usage, _ := strings.Cut(help, "\nUsage:\n")
	first, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), ". ")
	var out strings.Builder
	fmt.Fprintf(&out, ".TH %s 1 %s %q %q\n", strings.ToUpper(name), r.time.Format("2006-01-02"), "cbl1 "+r.version, "cbl1")
	fmt.Fprintf(&out, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.TrimSuffix(strings.TrimSpace(first), ".")))
	part := func(title, text string) {
		fmt.Fprintf(&out, ".SH %s\n.nf\n", strings.ToUpper(title))
		for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
			out.WriteString(roff(line))
		}
		out.WriteString(".fi\n")
	}
	synopsis, rest, _ := strings.Cut(usage, "\n\n")
	part("synopsis", synopsis)
	part("description", text)
	for title, body, found := strings.Cut(rest, ":\n"); found; title, body, found = strings.Cut(rest, ":\n") {
		body, rest, _ = strings.Cut(body, "\n\n")
		part(title, body)
	}
	return out.String()
}

// roff returns a line as roff prints it: without meaning for it.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
