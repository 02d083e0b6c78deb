// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The error for a program that cannot run names it, and says what is wrong with it.
func TestStartError(t *testing.T) {
	dir := t.TempDir()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	foreign := append([]byte(nil), self...)
	if foreign[18] = 0xf3; self[18] == foreign[18] { // EM_RISCV
		foreign[18] = 0x3e // EM_X86_64
	}
	for _, test := range []struct {
		name    string
		mode    fs.FileMode
		content string
		want    string
	}{
		{"text", 0o644, "#!/bin/sh\n", "permission denied: it is not executable; 'chmod +x "},
		{"shell", 0o755, "exit 0\n", "exec format error: it is neither an ELF program nor a script with #! in its first line; 'sh "},
		{"empty", 0o755, "", "exec format error: it is neither an ELF program"},
		{"script", 0o755, "#! /nonexistent/sh\r\nexit 0\n", `no such file or directory: its first line names the interpreter "/nonexistent/sh\r", which is missing`},
		{"foreign", 0o755, string(foreign), "exec format error: it is an ELF file for "},
	} {
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, []byte(test.content), test.mode); err != nil {
			t.Fatal(err)
		}
		started := exec.Command(path).Run()
		if err := StartError(started); err == nil || !strings.HasPrefix(err.Error(), "could not run "+path+": "+test.want) || !errors.Is(err, errors.Unwrap(started)) {
			t.Errorf("%s: %v, expected %s", test.name, err, test.want)
		}
	}
	for path, want := range map[string]string{
		dir:                          "permission denied: it is a directory, expected a program",
		filepath.Join(dir, "absent"): "no such file or directory",
		"nosuchprogram":              "executable file not found in $PATH",
	} {
		if err := StartError(exec.Command(path).Run()); err == nil || err.Error() != "could not run "+path+": "+want {
			t.Errorf("%s: %v, expected %s", path, err, want)
		}
	}
	other := errors.New("other")
	if err := StartError(other); err != other {
		t.Errorf("another error has become %v", err)
	}
}
