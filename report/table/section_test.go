// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

var amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)

// cie is a CIE at offset 0 with absolute pointers: CFA = rsp+8, rip at CFA-8. An FDE after it
// is at offset 0x18.
const cie = "\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x00\x0c\x07\x08\x90\x01\x00\x00"

// fde returns an FDE at an offset, for code with a start and a size.
func fde(offset int, start uint16, size byte, instructions string) string {
	body := "\x00\x00\x00\x00" + string([]byte{byte(start), byte(start >> 8)}) + strings.Repeat("\x00", 6) +
		string([]byte{size}) + strings.Repeat("\x00", 7) + "\x00" + instructions
	length := len(body)
	pointer := offset + 4
	b := []byte(body)
	b[0], b[1] = byte(pointer), byte(pointer>>8)
	return string([]byte{byte(length), byte(length >> 8), 0, 0}) + string(b)
}

func ehFrame(data string) *cfi.Section {
	return &cfi.Section{Name: ".eh_frame", Data: []byte(data), Address: 0x2000, Machine: amd64}
}

func listing(t testing.TB, s *cfi.Section, selection table.Selection) *table.Listing {
	t.Helper()
	l, err := table.List([]*cfi.Section{s}, nil, selection)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(t testing.TB, l *table.Listing, p func() table.Printer) (string, table.Summary) {
	t.Helper()
	var out strings.Builder
	s, err := l.Write(&out, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), s
}

func text() table.Printer { return &table.Text{} }

func TestMalformedEntriesKeepTheirPlace(t *testing.T) {
	data := cie + fde(0x18, 0x1000, 0x10, "\x41\x0e\x10\x86\x02")
	data += "\x04\x00\x00\x00\x99\x99\x00\x00"                           // an FDE with an invalid CIE pointer
	data += fde(len(data), 0x1010, 0x10, "\x41\x0e\x10\x0b")             // restore without remember
	data += "\x00\x00\x00\x00" + fde(len(data)+4, 0x1020, 8, "\x41\x3f") // a terminator, an unknown operation
	l := listing(t, ehFrame(data), table.Selection{})
	out, s := write(t, l, text)
	outputtest.Golden(t, "malformed.table", []byte(out), *update)
	if s.Functions != 3 || s.Faults != 3 || !errors.Is(s.First, cfi.ErrFDE) {
		t.Errorf("%d functions, %d faults, first %v", s.Functions, s.Faults, s.First)
	}
	out, s = write(t, l, func() table.Printer { return &table.RawText{} })
	outputtest.Golden(t, "malformed.raw", []byte(out), *update)
	if s.Faults != 3 {
		t.Errorf("raw: %d faults", s.Faults)
	}
	for name, p := range map[string]func() table.Printer{
		"table": func() table.Printer { return &table.JSON{} },
		"raw":   func() table.Printer { return &table.RawJSON{} },
	} {
		out, s = write(t, l, p)
		outputtest.Golden(t, "malformed."+name+".json", []byte(out), *update)
		if s.Faults != 3 {
			t.Errorf("%s JSON: %d faults", name, s.Faults)
		}
	}
}

func TestSelection(t *testing.T) {
	data := cie
	for i := range 4 {
		data += fde(len(data), uint16(0x1000+0x10*i), 0x10, "")
	}
	for _, test := range []struct {
		selection table.Selection
		starts    []string
	}{
		{table.Selection{}, []string{"0x1000", "0x1010", "0x1020", "0x1030"}},
		{table.Selection{Addresses: []uint64{0x101f}}, []string{"0x1010"}},
		{table.Selection{Addresses: []uint64{0x1020, 0x1000}}, []string{"0x1000", "0x1020"}},
		{table.Selection{Addresses: []uint64{0x1040}}, nil},
	} {
		l := listing(t, ehFrame(data), test.selection)
		out, _ := write(t, l, func() table.Printer { return &table.JSON{} })
		var starts []string
		for line := range strings.Lines(out) {
			var row struct{ Start string }
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			starts = append(starts, row.Start)
		}
		if strings.Join(starts, " ") != strings.Join(test.starts, " ") {
			t.Errorf("%v: %v, want %v", test.selection, starts, test.starts)
		}
	}
	l := listing(t, ehFrame(data), table.Selection{Addresses: []uint64{0x1000}, CIEs: true})
	if l.Len() != 2 || l.Functions() != 1 {
		t.Errorf("with the CIE: %d entries, %d functions", l.Len(), l.Functions())
	}
	l = listing(t, ehFrame(data), table.Selection{})
	before, after := l.Nearest(0x1040)
	if before == nil || before.FDE.Start != 0x1030 || after != nil {
		t.Errorf("nearest: %v and %v", before, after)
	}
}

// Several goroutines print batches. The order is that of the section, and the output before a
// write error is a prefix of the whole output.
func TestWriteKeepsTheOrder(t *testing.T) {
	data := cie
	for i := range 2000 {
		data += fde(len(data), uint16(0x1000+0x10*i), 0x10, "\x41\x0e\x10\x41\x0e\x08")
	}
	l := listing(t, ehFrame(data), table.Selection{})
	var mu sync.Mutex
	var done int
	var out bytes.Buffer
	s, err := l.Write(&out, text, func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done = max(done, n)
	})
	if err != nil || s.Functions != 2000 || done != l.Len() {
		t.Fatalf("%v, %d functions, %d of %d done", err, s.Functions, done, l.Len())
	}
	at := 0x1000
	for line := range strings.Lines(out.String()) {
		if name, _, _ := strings.Cut(line, "  "); strings.HasPrefix(name, "0x") {
			if want := fmt.Sprintf("%#x", at); name != want {
				t.Fatalf("%s comes where %s should", name, want)
			}
			at += 0x10
		}
	}
	failing := &failingWriter{left: out.Len() / 2}
	if _, err := l.Write(failing, text, nil); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("the writer's error is lost: %v", err)
	}
	if !strings.HasPrefix(out.String(), failing.String()) {
		t.Error("the output is not a prefix of the whole output")
	}
}

type failingWriter struct {
	strings.Builder
	left int
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return w.Builder.Write(p)
}

// countingWriter counts bytes and the size of the largest write.
type countingWriter struct{ n, most int }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.n += len(p)
	w.most = max(w.most, len(p))
	return len(p), nil
}

// An FDE of a few kilobytes can describe a table of megabytes, which is written in pieces.
func TestTablesAreWrittenInPieces(t *testing.T) {
	var b strings.Builder
	for column := range 250 {
		b.WriteString("\x05" + string([]byte{byte(column&0x7f | 0x80), byte(column >> 7)}) + "\x01")
	}
	b.WriteString(strings.Repeat("\x41", 8000))
	body := fde(0x18, 0x1000, 0, b.String())
	data := []byte(cie + body)
	data[0x18+4+4+8+1] = 0x40 // 0x4000 bytes of code
	for name, p := range map[string]func() table.Printer{
		"text": text, "JSON": func() table.Printer { return &table.JSON{} },
	} {
		var w countingWriter
		s, err := listing(t, ehFrame(string(data)), table.Selection{}).Write(&w, p, nil)
		if err != nil || s.Faults > 0 {
			t.Fatal(err, s.First)
		}
		if w.n < 10<<20 || w.most > 2<<20 {
			t.Errorf("%s: %d bytes, the largest piece %d", name, w.n, w.most)
		}
	}
}

func FuzzPrint(f *testing.F) {
	f.Add([]byte(cie + fde(0x18, 0x1000, 0x10, "\x41\x0e\x10\x86\x02")))
	f.Add([]byte(cie + fde(0x18, 0x1000, 0x10, "\x0f\x03\x76\x70\x06\x10\x03\x05\x38\x1c\x06\x23\x08")))
	f.Add([]byte(cie + fde(0x18, 0x1000, 0x10, "\x0a\x41\x0b\x2e\x10\x16\x0c\x02\x23\x18\x07\x03\x08\x05")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := ehFrame(string(data))
		l := listing(t, s, table.Selection{})
		for i, p := range []func() table.Printer{
			text,
			func() table.Printer { return &table.RawText{} },
			func() table.Printer { return &table.JSON{} },
			func() table.Printer { return &table.RawJSON{} },
		} {
			out := &failingWriter{left: 1 << 22}
			if _, err := l.Write(out, p, nil); err != nil && !errors.Is(err, io.ErrShortWrite) {
				t.Fatal(err)
			}
			if i < 2 || out.left < 0 {
				continue
			}
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Fatalf("no JSON: %q", line)
				}
			}
		}
		for fde := range s.FDEs() {
			if fde.End <= fde.Start {
				continue
			}
			copied := *fde
			for _, pc := range []uint64{fde.Start, fde.Start + (fde.End-fde.Start)/2, fde.End - 1} {
				e, err := table.Explain(table.Function{FDE: &copied}, pc)
				if (e == nil) == (err == nil) {
					t.Fatalf("%v and %v", e, err)
				}
				if err != nil {
					continue
				}
				if e.Start > pc || e.End <= pc {
					t.Fatalf("row %#x-%#x for %#x", e.Start, e.End, pc)
				}
				var out bytes.Buffer
				if err := errors.Join(e.Words(&out, style.Palette{}, 80), e.Drawing(&out, style.Palette{})); err != nil {
					t.Fatal(err)
				}
				out.Reset()
				if err := e.JSON(&out, nil); err != nil || !json.Valid(out.Bytes()) {
					t.Fatalf("%v: %q", err, out.Bytes())
				}
			}
		}
	})
}
