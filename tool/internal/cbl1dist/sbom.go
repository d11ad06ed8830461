package main

import (
	"cmp"
	"encoding/json"
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
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// sbom returns the modules that are in any of the binaries, with the release of Go.
func (r release) sbom(binaries []*debug.BuildInfo) ([]byte, error) {
	parts := make(map[string]component)
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
