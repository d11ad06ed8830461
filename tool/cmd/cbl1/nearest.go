package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
)

// nearest returns the word that somebody probably meant who wrote another one: the first
// that begins like that, or that is the fewest slips away. In a short word one slip is
// likely, in longer ones two or three. It is "" where no word is near.
func nearest(written string, words []string) string {
	const longest = 255 // bytes, as in the name of a file
	if len(written) > longest {
		return ""
	}
	written = strings.ToLower(written)
	best, fewest := "", 2+min(len(written)/5, 2)
	for _, word := range words {
		lower := strings.ToLower(word)
		n := max(len(lower), len(written)) - min(len(lower), len(written)) // no fewer slips than that
		switch {
		case len(written) > 2 && strings.HasPrefix(lower, written):
			n = min(n, 1)
		case n < fewest:
			n = slips(written, lower)
		}
		if n < fewest {
			best, fewest = word, n
		}
	}
	return best
}

// slips counts the bytes that are missing, too many, wrong or swapped with the next one.
func slips(a, b string) int {
	var before []int // the row above the last one
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			wrong := last[j]
			if a[i] != b[j] {
				wrong++
			}
			row[j+1] = min(wrong, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// didYouMean ends the sentence that a word is not known.
func didYouMean(prefix, near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", prefix, near)
}

// misspelt returns an error if the first argument is no verb and no file, but nearly a
// verb.
func misspelt(root *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" || strings.HasPrefix(args[0], "-") || isVerb(root, args[0]) {
		return nil
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if near := nearest(args[0], verbNames(root)); near != "" {
		return fmt.Errorf("%s is no file and no command%s", args[0], didYouMean("cbl1 ", near))
	}
	return nil
}

// unknownFlag says which flag was meant. Values of --format are taken for flags by many.
func unknownFlag(cmd *cobra.Command, err error) error {
	wrong, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := wrong.GetSpecifiedName()
	if short := wrong.GetSpecifiedShortnames(); short != "" {
		name = short
	}
	if now := map[string]string{"align": "--set align=64", "max-l1": "--set l1=1499136"}[name]; now != "" && cmd.Flags().Lookup("set") != nil {
		return fmt.Errorf("%w; it was replaced: write %s", err, now)
	}
	if name == "op" && cmd.Flags().Lookup("core") != nil {
		return fmt.Errorf("%w; a core holds buffers of all operations: cbl1 report --op lists the programs of some, and cbl1 check --op judges them", err)
	}
	var words []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { words = append(words, f.Name) })
	var formats []string
	if f := cmd.Flags().Lookup("format"); f != nil {
		formats = strings.Split(f.Value.Type(), "|")
	}
	near := nearest(name, append(words, formats...))
	prefix := "--"
	if slices.Contains(formats, near) {
		prefix = "--format "
	}
	return fmt.Errorf("%w%s", err, didYouMean(prefix, near))
}

// missing says of a file that is not there which one of its folder was meant. Other
// errors are returned as they are.
func missing(name string, err error) error {
	if _, there := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) || there == nil {
		return err // what is missing is in the folder, or behind the link
	}
	const enough = 4096 // names of a folder to compare
	var words []string
	dir := filepath.Dir(name)
	if folder, err := os.Open(dir); err == nil {
		words, _ = folder.Readdirnames(enough) // those that there are
		_ = folder.Close()                     // open for reading only
		slices.Sort(words)
	}
	near := nearest(filepath.Base(name), words)
	if near != "" {
		near = safe.End(filepath.Join(dir, near), 100)
	}
	return fmt.Errorf("%s: no such file or folder%s", safe.End(name, 100), didYouMean("", near))
}
