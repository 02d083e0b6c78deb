// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && arm64

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// maxSibling is the maximum size of a file that is sent to the host because it is in the same
// directory as an argument of a compiler. It includes headers, and excludes programs.
const maxSibling = 256 << 10

// runTool asks the host to run a program with the arguments of this one. Both sides have the
// same files in the module. In the temporary directory, it copies the files that the arguments
// name to the host first, and copies the output back.
func runTool(root, name string) int {
	dir, err := os.Getwd()
	if err != nil {
		return fail(name, err)
	}
	c := exchange.Call{Args: append([]string{name}, os.Args[1:]...), Dir: dir, Files: make(map[string][]byte)}
	for _, variable := range []string{"CGO_ENABLED", "GOFLAGS", "LC_ALL"} {
		if value, ok := os.LookupEnv(variable); ok {
			c.Env = append(c.Env, variable+"="+value)
		}
	}
	c.Together = sameFile(os.Stdout, os.Stderr)
	c.Port = portOf(os.Args[1:])
	temporary := filepath.Join(root, "tmp")
	folders := []string{dir}
	for _, word := range strings.Fields(strings.Join(os.Args[1:], " ")) {
		path := argumentPath(dir, word)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			// The host has the programs that are debugged, because it built them.
			if under(path, temporary) && (c.Port == 0 || info.Size() <= maxSibling) {
				if c.Files[path], err = os.ReadFile(path); err != nil {
					return fail(name, err)
				}
			}
			path = filepath.Dir(path)
		}
		folders = append(folders, path)
	}
	for _, folder := range folders {
		if under(folder, temporary) {
			if err := addSmall(c.Files, folder); err != nil {
				return fail(name, err)
			}
		}
	}
	if slices.Contains(os.Args[1:], "-") {
		if c.Stdin, err = io.ReadAll(os.Stdin); err != nil {
			return fail(name, err)
		}
	}
	path, writes := output(dir, os.Args)
	writes = writes && under(path, temporary)
	if writes {
		c.Folder = filepath.Dir(path)
	}
	result, err := ask(root, &c)
	if err != nil {
		return fail(name, err)
	}
	if result.Error != "" {
		return fail(name, errors.New(result.Error))
	}
	if writes && result.Status == 0 {
		content, err := readHost(path)
		if err != nil {
			return fail(name, err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return fail(name, err)
		}
	}
	os.Stdout.Write(result.Stdout)
	os.Stderr.Write(result.Stderr)
	return result.Status
}

func fail(name string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	return 125
}

// argumentPath returns the path in an argument, if it contains one: FILE, -IDIRECTORY,
// --flag=FILE, -Wl,-T,FILE.
func argumentPath(dir, word string) string {
	path := strings.TrimPrefix(word, "-I")
	if strings.HasPrefix(path, "-") {
		path = path[strings.LastIndexAny(path, "=,")+1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// addSmall adds the small files of a directory.
func addSmall(files map[string][]byte, folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the argument is not a path
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSibling {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if files[path] != nil {
			continue
		}
		if files[path], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

// output returns the path that follows -o, or the last argument of objcopy.
func output(dir string, args []string) (string, bool) {
	if n := len(args) - 1; n > 0 && filepath.Base(args[0]) == "objcopy" {
		return argumentPath(dir, args[n]), true
	}
	for i, word := range args {
		if word == "-o" && i+1 < len(args) {
			return argumentPath(dir, args[i+1]), true
		}
		if path, ok := strings.CutPrefix(word, "-o"); ok && path != "" {
			return argumentPath(dir, path), true
		}
	}
	return "", false
}

// ask sends a call to the host and waits for the result.
func ask(root string, c *exchange.Call) (*exchange.Result, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	x := fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
	if err := writeHost(exchange.ToolCall(root, x), text); err != nil {
		return nil, err
	}
	if c.Port != 0 {
		go func() {
			if err := connect(root, x, c.Port); err != nil {
				fmt.Fprintln(os.Stderr, c.Args[0]+":", err)
			}
		}()
	}
	for {
		text, err := readHost(exchange.ToolResult(root, x))
		if errors.Is(err, fs.ErrNotExist) {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil {
			return nil, err
		}
		removeHost(exchange.ToolResult(root, x))
		var result exchange.Result
		if err := json.Unmarshal(text, &result); err != nil {
			return nil, fmt.Errorf("%s: %w", exchange.ToolResult(root, x), err)
		}
		return &result, nil
	}
}

// sameFile reports whether two descriptors refer to the same file.
func sameFile(a, b *os.File) bool {
	one, err := a.Stat()
	if err != nil {
		return false
	}
	other, err := b.Stat()
	return err == nil && os.SameFile(one, other)
}
