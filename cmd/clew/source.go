// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/report/style"
)

var errSourcePath = errors.New("--source-path is for --source: give both")

func sourcePathFlag(to *[]string, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "source-path", Destination: to, Usage: usage}
}

// sourceText returns a reader of source files that uses open, then looks below directories.
func sourceText(open func(path string) (*os.File, error), directories []string) *style.SourceFiles {
	text := &style.SourceFiles{Open: open}
	for _, dir := range directories {
		if abs, err := filepath.Abs(dir); err == nil {
			text.Path = append(text.Path, abs)
		}
	}
	return text
}

// warnOfSource warns if a source file was not read.
func warnOfSource(text *style.SourceFiles) {
	if err := text.Err(); err != nil {
		output.Warn("source file not shown: %v; --source-path DIR allows the files below DIR", err)
	}
}
