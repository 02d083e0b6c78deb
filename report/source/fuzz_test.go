// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"encoding/hex"
	"go/format"
	"regexp"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/source"
)

var byteInArray = regexp.MustCompile(`0x([0-9a-f]{2}),`)

// arrays returns the bytes of the printed arrays, without the terminators, in hexadecimal. It
// sets the start of the code to 0x100000.
func arrays(t testing.TB, text string) (list []string) {
	t.Helper()
	inside := false
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch code, _, _ := strings.Cut(line, "/*"); {
		case strings.HasPrefix(line, "static const unsigned char"):
			inside = true
			b.Reset()
		case strings.HasPrefix(line, "};"):
			inside = false
			list = append(list, b.String())
		case inside:
			for _, m := range byteInArray.FindAllStringSubmatch(code, -1) {
				b.WriteString(m[1])
			}
		}
	}
	return list
}

// relocated sets the address of the code in a section with one function.
func relocated(t testing.TB, m *arch.Machine, text string) string {
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	length := uint64(m.Order.Uint32(data))
	at := length + 4 + 8
	m.Order.PutUint32(data[at:], uint32(0x100000-at))
	return hex.EncodeToString(data)
}

func FuzzWrite(f *testing.F) {
	for _, b := range []*cfi.Builder{
		cfi.NewBuilder(cfi.EntryCIE(amd64)).At(1).DefCFAOffset(16).Offset(6, -16).At(4).DefCFARegister(6).At(0x20).DefCFA(7, 8),
		cfi.NewBuilder(cfi.EntryCIE(amd64)).Offset(3, -16).At(1).DefCFAExpression([]byte{0x76, 0x70, 0x06}).At(8).Restore(3),
		cfi.NewBuilder(cfi.EntryCIE(amd64)).RememberState().At(1).Undefined(16).ArgumentsSize(8).At(2).RestoreState(),
		cfi.NewBuilder(cfi.EntryCIE(arm64)).At(4).NegateRAState().At(8).DefCFAOffset(32).Offset(29, -32).Offset(72, -8),
	} {
		s := section(f, b).sections[0]
		f.Add(s.Data, s.Machine == arm64)
	}
	f.Fuzz(func(t *testing.T, data []byte, arm bool) {
		m := amd64
		if arm {
			m = arm64
		}
		s := &cfi.Section{Name: ".eh_frame", Machine: m, Data: data, Address: 0x2000}
		of := sections(t, s)
		text, functions, _ := write(t, of, source.C)
		tables := arrays(t, text)
		if len(tables) != len(functions) {
			t.Fatalf("%d arrays of %d functions:\n%s", len(tables), len(functions), text)
		}
		for i, table := range tables {
			compareEncoded(t, functions[i], relocated(t, m, table))
		}
		text, _, _ = write(t, of, source.Go)
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Fatalf("%v:\n%s", err, text)
		}
		if text, functions, _ = write(t, of, source.Asm); len(functions) == 0 {
			return
		}
		mark := map[bool]string{false: "#", true: "//"}[arm]
		for line := range strings.Lines(text) {
			word := strings.TrimSpace(line)
			if word != "" && !strings.HasPrefix(word, mark+" ") && !strings.HasPrefix(line, "\t.") && !strings.HasSuffix(line, ":\n") {
				t.Fatalf("%q in\n%s", line, text)
			}
		}
	})
}
