// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/untrusted"
)

// history holds the typed lines, oldest first, and the file that keeps them between sessions.
// Errors of the file are not reported, because the user did not name it.
type history struct {
	lines []string
	path  string // "" for no file
}

// maxHistory is the number of lines that the file keeps.
const maxHistory = 1000

// OpenHistory reads the file that CLEW_HISTORY names, or clew/history in the user's directory of
// state files (XDG Base Directory Specification).
func OpenHistory() *history {
	h := &history{path: historyPath()}
	if h.path == "" {
		return h
	}
	f, err := outputfile.Read(h.path)
	if err != nil {
		return h
	}
	defer f.Close()
	const maxBytes = 1 << 20
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil || len(data) > maxBytes {
		return h
	}
	for line := range strings.Lines(string(data)) {
		h.lines = append(h.lines, strings.TrimRight(line, "\r\n"))
	}
	if len(h.lines) > 2*maxHistory {
		h.lines = slices.Clone(h.lines[len(h.lines)-maxHistory:])
		_ = outputfile.Write(h.path, func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(h.lines, "\n")+"\n")
			return err
		})
	}
	return h
}

func historyPath() string {
	if path, ok := os.LookupEnv("CLEW_HISTORY"); ok {
		return path
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		if info, err := os.Stat(home); err != nil || !untrusted.IsOwn(info) {
			return "" // another user's, as under sudo
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "clew", "history")
}

// Add adds a line, unless it is blank or equal to the previous one.
func (h *history) Add(line string) {
	line = strings.TrimSpace(line)
	if line == "" || strings.ContainsAny(line, "\r\n") || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.path == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return
	}
	f, err := outputfile.Append(h.path)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(line + "\n")
}

// Len returns the number of lines.
func (h *history) Len() int { return len(h.lines) }

// At returns line i, counted from the last, which is 0.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
