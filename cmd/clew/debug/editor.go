// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/session/console"
)

// editor reads lines at a terminal. The terminal is in raw mode only while a line is read, so that
// Ctrl-C stops running code.
type editor struct {
	terminal *term.Terminal
	console  *console.Console
	listed   string // the line for which the next Tab lists completions

	mu  sync.Mutex
	old *term.State // the mode to restore; nil outside of raw mode
}

func newEditor(c *console.Console) *editor {
	e := &editor{console: c}
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{from: os.Stdin}, output.Stdout.Raw()}, "")
	e.terminal.AutoCompleteCallback = e.complete
	e.terminal.History = OpenHistory()
	return e
}

// readLine reads a line. The error is io.EOF at the end of the input or at Ctrl-D.
func (e *editor) readLine(prompt string) (string, error) {
	if err := e.makeRaw(); err != nil {
		return "", err
	}
	defer e.restore()
	if w, h := output.Stdout.Size(); w > 0 {
		if err := e.terminal.SetSize(w, h); err != nil {
			return "", err
		}
	}
	e.terminal.SetPrompt(prompt)
	line, err := e.terminal.ReadLine()
	if err == term.ErrPasteIndicator {
		err = nil
	}
	return line, err
}

func (e *editor) makeRaw() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.old, err = term.MakeRaw(int(os.Stdin.Fd()))
	return err
}

// restore leaves raw mode. It may be called from any goroutine, and repeatedly.
func (e *editor) restore() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.old != nil {
		_ = term.Restore(int(os.Stdin.Fd()), e.old) // nothing can be done about an error
		e.old = nil
	}
}

// complete is called for every key.
func (e *editor) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		e.listed = ""
		return "", 0, false
	}
	start, words := e.console.Complete(line, pos)
	// The terminal would obey control sequences in a word.
	words = slices.DeleteFunc(words, func(w string) bool { return printable.Text(w) != w })
	if len(words) == 0 {
		return line, pos, true
	}
	word := commonPrefix(words)
	switch {
	case len(words) == 1:
		if !strings.ContainsAny(word[len(word)-1:], "(/:") {
			word += " "
		}
	case word == line[start:pos] && e.listed == line:
		e.list(words)
	case word == line[start:pos]:
		e.listed = line // the next Tab lists them
		return line, pos, true
	}
	completed := line[:start] + word
	return completed + line[pos:], len(completed), true
}

func (e *editor) list(words []string) {
	width, _ := output.Stdout.Size()
	if width <= 0 {
		width = 80
	}
	column := 0
	for _, w := range words {
		column = max(column, utf8.RuneCountInString(w)+2)
	}
	perRow := max(1, width/column)
	rows := (len(words) + perRow - 1) / perRow
	var b strings.Builder
	for row := range rows {
		line := ""
		for i := row; i < len(words); i += rows {
			line += fmt.Sprintf("%-*s", column, words[i])
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, _ = io.WriteString(e.terminal, b.String())
}

// commonPrefix returns the longest common prefix of sorted words.
func commonPrefix(words []string) string {
	prefix := words[0]
	for !strings.HasPrefix(words[len(words)-1], prefix) {
		_, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
	}
	return prefix
}

// keys reads typed keys. Package term treats Ctrl-C as the end of the input, so keys replaces it by
// the two keys that clear the line.
type keys struct {
	from    io.Reader
	pending []byte
}

const (
	ctrlC      = 3
	endOfLine  = 5  // Ctrl-E
	deleteLine = 21 // Ctrl-U, which deletes the text before the cursor
)

func (k *keys) Read(p []byte) (int, error) {
	if len(k.pending) == 0 {
		buffer := make([]byte, len(p))
		n, err := k.from.Read(buffer)
		k.pending = bytes.ReplaceAll(buffer[:n], []byte{ctrlC}, []byte{endOfLine, deleteLine})
		if err != nil && len(k.pending) == 0 {
			return 0, err
		}
	}
	n := copy(p, k.pending)
	k.pending = k.pending[n:]
	return n, nil
}

// history holds the typed lines, oldest first, and the file that keeps them between sessions.
// Errors of the file are not reported, because the user did not name it.
type history struct {
	lines []string
	path  string // "" for no file
}

const maxHistory = 1000 // lines that the file keeps

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
