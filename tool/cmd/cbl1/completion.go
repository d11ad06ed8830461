package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// newCompletion is the command that writes a script for a shell.
func newCompletion(s streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Write a script that completes verbs, flags and values in a shell",
		Long: "Write a script that completes verbs, flags, values and files of cbl1 in a shell.",
		Example: "  cbl1 completion bash > /etc/bash_completion.d/cbl1\n  cbl1 completion zsh > \"${fpath[1]}/_cbl1\"\n" +
			"  cbl1 completion fish > ~/.config/fish/completions/cbl1.fish",
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("for which shell: bash, zsh, fish or powershell?")
			}
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(s.out, true)
			case "zsh":
				return root.GenZshCompletion(s.out)
			case "fish":
				return root.GenFishCompletion(s.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(s.out)
			}
			near := nearest(args[0], shells)
			return fmt.Errorf("%s is no shell that is known here%s", args[0], didYouMean("cbl1 completion ", near))
		},
	}
}
