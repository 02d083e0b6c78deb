// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
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

// list prints completions in columns.
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

func commonPrefix(words []string) string {
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			_, size := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-size]
		}
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
		for _, key := range buffer[:n] {
			if key == ctrlC {
				k.pending = append(k.pending, endOfLine, deleteLine)
				continue
			}
			k.pending = append(k.pending, key)
		}
		if err != nil && len(k.pending) == 0 {
			return 0, err
		}
	}
	n := copy(p, k.pending)
	k.pending = k.pending[n:]
	return n, nil
}
