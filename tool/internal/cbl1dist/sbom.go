package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// bom is the part of CycloneDX that we write.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []digest   `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type digest struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// sbom returns the modules that are in any of the binaries, with the release of Go, and the wheels.
func (r release) sbom(binaries []*debug.BuildInfo, wheels map[string][]byte) ([]byte, error) {
	parts := make(map[string]component)
	for name, text := range wheels {
		parts[name] = component{
			Type: "file", Name: name, Version: r.version, Hashes: []digest{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(text))}},
		}
	}
	for _, info := range binaries {
		goVersion := strings.TrimPrefix(info.GoVersion, "go")
		parts["std"] = component{Type: "library", Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + goVersion}
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			parts[dep.Path] = component{
				Type: "library", Name: dep.Path, Version: dep.Version, PURL: "pkg:golang/" + dep.Path + "@" + dep.Version,
				Properties: []property{{"cbl1:go.sum", dep.Sum}},
			}
		}
	}
	out, err := json.MarshalIndent(bom{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata: metadata{r.time.Format("2006-01-02T15:04:05Z"), component{
			Type: "application", Name: "cbl1", Version: r.version, PURL: "pkg:golang/github.com/cbl1/cbl1@v" + r.version,
			Properties: []property{{"cbl1:commit", r.commit}},
		}},
		Components: slices.SortedFunc(maps.Values(parts), func(a, b component) int { return cmp.Compare(a.Name, b.Name) }),
	}, "", "  ")
	return append(out, '\n'), err
}
