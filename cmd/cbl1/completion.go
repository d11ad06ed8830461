package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// completion writes a script for a shell.
func completion(c *request, args []string) error {
	if len(args) != 1 {
		return errors.New("for which shell: bash, zsh, fish or powershell?")
	}
	scripts := map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        (*cobra.Command).GenZshCompletion,
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	}
	if script := scripts[args[0]]; script != nil {
		return script(newRoot(c.streams), c.out)
	}
	near := nearest(args[0], []string{"bash", "zsh", "fish", "powershell"})
	return fmt.Errorf("%s is no shell that is known here%s", args[0], didYouMean("cbl1 completion ", near))
}
