// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
)

func versionCommand() *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:        "version",
		Usage:       "Print the version",
		Description: "Print the version of clew. --json adds the commit, the Go release and the features.",
		UsageText: `clew version [flags]

Examples:
  clew version
  clew version --json`,
		Metadata: manual.SeeAlso("json"),
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "json", Destination: &asJSON, Usage: "print JSON"}},
		Action: func(_ context.Context, c *cli.Command) error {
			switch {
			case c.Args().Present():
				return errors.New("expected no arguments")
			case asJSON:
				return printable.EncodeJSON(output.Stdout, readBuild())
			}
			return printVersion(output.Stdout)
		},
	}
}

// build is the JSON of 'clew version --json'. Fields with unknown values are absent.
type build struct {
	Version  string   `json:"version"`
	Commit   string   `json:"commit,omitempty"`
	Modified bool     `json:"modified,omitempty"` // the files differ from the commit
	Go       string   `json:"go"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Features []string `json:"features"`
}

func readBuild() *build {
	b := &build{
		Version: version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Features: []string{"files", "cores", "recordings"},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if runtime.GOOS == "linux" {
		b.Features = append(b.Features, "processes")
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			b.Features = append(b.Features, "sessions")
		}
	}
	return b
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
