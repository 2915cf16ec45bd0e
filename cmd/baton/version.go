package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "baton %s %s %s/%s\n", drill.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
