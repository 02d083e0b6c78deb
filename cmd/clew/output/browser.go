// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package output

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// OpenPage opens a file in the browser that $BROWSER names, or by xdg-open. It does not wait for it.
func OpenPage(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	browser := cmp.Or(os.Getenv("BROWSER"), "xdg-open")
	cmd := exec.Command(browser, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C in this terminal does not end it
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s could not be opened: %w; set BROWSER to the program to use", path, err)
	}
	return cmd.Process.Release()
}
