// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain":         "plain",
		"tab\tstays":    "tab\tstays",
		"\x1b[31mred":   `\x1b[31mred`,
		"line\nend\r":   `line\nend\r`,
		"grün":          "grün",
		"\xff":          `\xff`,
		"\x9b2J":        `\x9b2J`,
		"del\x7f":       `del\x7f`,
		"c1\u009b":      `c1\u009b`,
		"\u202eback":    `\u202eback`,
		"\u2066\u061c":  `\u2066\u061c`,
		"\uFFFD":        "\uFFFD",
		"\U000e0001":    `\U000e0001`,
		"back\\slash\"": "back\\slash\"",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := string(Append([]byte("\x1b"), []byte(text))); got != "\x1b"+want {
			t.Errorf("%q appended: %q, want %q", text, got, want)
		}
	}
}

// The output is the same for any split into writes. It has no control characters except in
// the sequences of the program.
func TestWriter(t *testing.T) {
	const bold, off = "\x1b[1m", "\x1b[22m"
	for text, want := range map[string]string{
		"one line, and a long one of many words to be read at once\nanother\tline\n": "one line, and a long one of many words to be read at once\nanother\tline\n",
		bold + "name" + off + "\n":                      bold + "name" + off + "\n",
		"\x1b[31mred" + bold:                            `\x1b[31mred` + bold,
		"\x1b\x1b[1":                                    `\x1b\x1b[1`,
		"\x1b[2J\u009b2J\x9b2J":                         `\x1b[2J\u009b2J\x9b2J`,
		"12345678\x7f12345678\r\n":                      `12345678\x7f12345678\r` + "\n",
		"grün und │ \u202eabc\u2069 …":                  `grün und │ \u202eabc\u2069 …`,
		"cut \xe2\x80":                                  `cut \xe2\x80`,
		"cut \xe2\x80x":                                 `cut \xe2\x80x`,
		"title \x1b]0;x\x07, a bell and \b a backspace": `title \x1b]0;x\a, a bell and \b a backspace`,
		"": "",
	} {
		for size := 1; size <= len(text)+1; size++ {
			var got strings.Builder
			w := NewWriter(&got, bold, off)
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				if k, err := w.Write(rest[:n]); k != n || err != nil {
					t.Fatalf("%d, %v", k, err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if got.String() != want {
				t.Errorf("%q by %d: %q, want %q", text, size, got.String(), want)
			}
		}
	}
	failed := errors.New("failed")
	for _, text := range []string{"plain", "\x1b"} {
		if n, err := NewWriter(failing{failed}).Write([]byte(text)); n != 0 || err != failed {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// The JSON means the same strings, and all its characters are printable.
func TestEncodeJSON(t *testing.T) {
	for _, text := range []string{"plain <>&", "grün", "\x1b[2J\a\b\x7f", "\u009b2J", "\u202eabc\u2069\u200e\u061c", "\U000e0001", "\u2028", "\u00ad", "\"\\"} {
		var b bytes.Buffer
		if err := EncodeJSON(&b, []string{text}); err != nil {
			t.Fatal(err)
		}
		if line := strings.TrimSuffix(b.String(), "\n"); Text(line) != line {
			t.Errorf("%q: %q", text, b.String())
		}
		var got []string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got[0] != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	var b bytes.Buffer
	var got string
	if err := errors.Join(EncodeJSON(&b, "a\x9bz"), json.Unmarshal(b.Bytes(), &got)); err != nil || got != "a\ufffdz" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := EncodeJSON(io.Discard, func() {}); err == nil {
		t.Error("a function is encoded")
	}
}

// For any bytes and any split into writes, the output is UTF-8 of printable characters, and
// input of this form is unchanged.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("plain text of some length\n"), 3)
	f.Add([]byte("\x1b[1mname\x1b[22m \u202e\xe2\x80"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var got bytes.Buffer
		w := NewWriter(&got, "\x1b[1m")
		cut = max(0, min(cut, len(text)))
		w.Write(text[:cut])
		w.Write(text[cut:])
		w.Flush()
		shown := bytes.ReplaceAll(got.Bytes(), []byte("\x1b[1m"), nil)
		for _, r := range string(shown) {
			if r != '\n' && r != '\t' && !Is(r) {
				t.Fatalf("%q: %q", text, shown)
			}
		}
		if !utf8.Valid(shown) {
			t.Fatalf("%q: %q", text, shown)
		}
		if want := appendText(nil, string(text), true); !bytes.Contains(text, []byte("\x1b[1m")) && !bytes.Equal(want, shown) {
			t.Fatalf("%q: %q, want %q", text, shown, want)
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	text := bytes.Repeat([]byte("  0x00007f3c00001139  +0x19   rsp+16  [c-16]  [c-8]\n"), 1<<11)
	w := NewWriter(io.Discard, "\x1b[1m")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w.Write(text)
	}
}
