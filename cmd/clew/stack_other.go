// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package main

import (
	"errors"
	"runtime"

	"github.com/spf13/cobra"
)

func stackCommand() *cobra.Command { return onlyOnLinux("stack", "Print the stacks of live processes") }

func demoCommand() *cobra.Command { return onlyOnLinux("demo", "See clew at work") }

func onlyOnLinux(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, RunE: func(*cobra.Command, []string) error {
		return errors.New("processes can be looked at on Linux only, and this is " + runtime.GOOS)
	}}
}
