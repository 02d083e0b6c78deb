// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
)

// If a disk is full, clew record names each file that could not be written, writes the others, prints the
// summary, and leaves nothing of the files on the disk.
func TestRecordToFullDisk(t *testing.T) {
	disk, other := t.TempDir(), t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("skipped: cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
	old := filepath.Join(disk, "old.data")
	if err := os.WriteFile(old, make([]byte, 60<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	busy := testprogram.Build(t, "shares.c", "-O2", "-pthread")
	at := func(dir, name string) string { return filepath.Join(dir, name) }
	const full = ": no space left on device"
	for _, test := range []struct {
		name             string
		args             []string
		failing, written []string
	}{
		{"raw", []string{"--raw", old}, []string{old}, nil},
		{"profile", []string{"-o", at(disk, "out.html"), "-o", at(other, "out.folded")}, []string{at(disk, "out.html")}, []string{at(other, "out.folded")}},
		{"both", []string{"--raw", at(disk, "new.data"), "-o", at(disk, "out.html"), "-o", at(other, "out.pb.gz")},
			[]string{at(disk, "new.data"), at(disk, "out.html")}, []string{at(other, "out.pb.gz")}},
		{"raw on another disk", []string{"--raw", at(other, "new.data"), "-o", at(disk, "out.html"), "-o", at(other, "out.html")},
			[]string{at(disk, "out.html")}, []string{at(other, "new.data"), at(other, "out.html")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := clew(t, append(append([]string{"record", "--no-lines", "--frequency", "499"}, test.args...), "--", busy, "1", "300")...)
			out, err := cmd.CombinedOutput()
			if _, exited := err.(*exec.ExitError); !exited || cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("%v, expected exit code 2\n%s", err, out)
			}
			for _, path := range test.failing {
				if n := strings.Count(string(out), "write "+path+full); n != 1 {
					t.Errorf("the output names %s %d times\n%s", path, n, out)
				}
			}
			if !strings.Contains(string(out), " samples of cpu-clock") || strings.Count(string(out), full) != len(test.failing) {
				t.Errorf("no summary, or other messages:\n%s", out)
			}
			for _, path := range test.written {
				if info, err := os.Stat(path); err != nil || info.Size() == 0 {
					t.Errorf("%s was not written: %v", path, err)
				}
			}
			entries, err := os.ReadDir(disk)
			if err != nil || len(entries) != 1 {
				t.Errorf("on the full disk are %v, %v", entries, err)
			}
			if info, err := os.Stat(old); err != nil || info.Size() != 60<<10 {
				t.Errorf("the file that existed has changed: %v", err)
			}
		})
	}
}
