// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// writeInitramfs writes the initial file system of the machine: init, the files of a directory
// (the C library, a shell), and the files of the module.
func writeInitramfs(to, rootFolder string) error {
	t := make(tree)
	if rootFolder != "" {
		if err := t.addFS(os.DirFS(rootFolder), "/"); err != nil {
			return err
		}
	}
	init, err := buildInit(filepath.Dir(to))
	if err != nil {
		return err
	}
	t.add("init", file{mode: typeFile | 0o755, content: init})
	// init prints errors here until it has mounted devtmpfs.
	t.add("dev/console", file{mode: typeDevice | 0o600, major: 5, minor: 1})
	for tool, command := range exchange.Tools {
		if _, err := exec.LookPath(command[0]); err == nil {
			for _, name := range []string{tool, command[0]} {
				if _, ok := t["usr/bin/"+name]; ok {
					continue // the machine's own
				}
				t.add("usr/bin/"+name, file{mode: typeLink | 0o777, content: []byte("/init")})
			}
		}
	}
	t.add("etc/passwd", file{mode: typeFile | 0o644, content: []byte(
		"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")})
	t.add("etc/group", file{mode: typeFile | 0o644, content: []byte("root:x:0:\nnogroup:x:65534:\n")})
	t.add("etc/hosts", file{mode: typeFile | 0o644, content: []byte("127.0.0.1 localhost\n")})
	if err := addModule(t); err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := t.write(w); err != nil {
		return err
	}
	return w.Flush()
}

// buildInit builds the machine's first program.
func buildInit(folder string) ([]byte, error) {
	path := filepath.Join(folder, "init")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "github.com/clewdev/clew/scripts/machine/init")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, text)
	}
	return os.ReadFile(path)
}

// addModule adds the files of the module that are not ignored, at their paths.
func addModule(t tree) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	module := strings.TrimSpace(string(out))
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = module
	names, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%v: %w", cmd, err)
	}
	fsys := os.DirFS(module)
	for name := range bytes.SplitSeq(bytes.TrimSuffix(names, []byte{0}), []byte{0}) {
		if _, err := os.Lstat(filepath.Join(module, string(name))); err != nil {
			continue // deleted, but not yet committed
		}
		if err := t.addFrom(fsys, string(name), filepath.Join(module, string(name))); err != nil {
			return err
		}
	}
	return nil
}
