// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// FuzzLocation evaluates arbitrary bytes as a location. The result is pieces or an error.
func FuzzLocation(f *testing.F) {
	for _, s := range []string{
		"0300200000000000 00", "53", "777f", "9170", "9e02abcd", "319f", "5093049302770093 02", "509d0305319f9d0500",
		"a03412000004", "770006", "0e10000000000000009b", "3132331716141503", "2ffdff", "31122ffcff", "a43008000000000000f0bfa8209f",
		"a511309f", "7700a604209f", "a301559f", "f301559f", "fa10000000", "9810 00", "fd10000000", "31301b",
	} {
		f.Add(unhex(s), uint64(8))
	}
	f.Fuzz(func(t *testing.T, expression []byte, size uint64) {
		info, u := fakeInfo(5)
		caller, callee := fakeFrame{}, fakeFrame{}
		callee.caller = &caller
		b := &body{unit: u, frameBase: entry.Attribute{Kind: entry.AttributeBlock, Bytes: expression}, root: &node{}}
		e := newEvaluator(info, u, b, &callee)
		pieces, err := e.locate(e.program(expression), size)
		if (err == nil) == (len(pieces) == 0) {
			t.Fatalf("%d pieces, %v", len(pieces), err)
		}
		if e.budget.steps > maxSteps+1 {
			t.Fatalf("%d steps", e.budget.steps)
		}
		v := Value{typ: ArrayOf(Base(amd64, "int"), size/4), frame: &callee, pieces: pieces, err: err}
		exerciseValue(t, v, allFormats)
	})
}

const allFormats = "\x00xafc"

// exerciseValue reads and prints a value in some formats.
func exerciseValue(t *testing.T, v Value, formats string) {
	for _, format := range []byte(formats) {
		p := NewPrinter(format)
		text, err := p.Print(v)
		if (err == nil) == (text == "") {
			t.Fatalf("%q, %v", text, err)
		}
		if len(p.Text(v)) > maxPrinted {
			t.Fatal("the text is too long")
		}
	}
	if b, err := v.Bytes(); err == nil && uint64(len(b)) != v.Type().Size() {
		t.Fatalf("%d bytes of %d", len(b), v.Type().Size())
	}
	v.Deref().Err()
	v.Index(1).Bytes()
	v.FieldByName("x").Bytes()
	v.Cast(Base(amd64, "double")).Bytes()
	v.Pointer().Bytes()
	w := &fakeFrame{written: make(map[uint64][]byte), regs: make(map[uint64][]byte)}
	if v.Type() != nil && v.Type().Size() < 1<<16 {
		v.Assign(w, make([]byte, v.Type().Size()))
	}
}

// exercise uses everything in a file, at addresses with the distance step.
func exercise(t *testing.T, file *object.File, step uint64) {
	info, err := Open(file)
	if (info == nil) == (err == nil) {
		if err == nil {
			t.Fatal("neither information nor an error")
		}
	}
	if err != nil {
		return
	}
	frame := &hostileFrame{info: info}
	p := NewPrinter(0)
	for pc := uint64(0x401000); pc < 0x401280; pc += step {
		frame.pc = pc
		formats := allFormats
		if step > 5 { // one per address
			n := pc / step % uint64(len(allFormats))
			formats = allFormats[n : n+1]
		}
		scopes, err := info.Scopes(pc)
		if (err == nil) == (len(scopes) == 0) {
			t.Fatalf("%d scopes, %v", len(scopes), err)
		}
		for _, s := range scopes {
			_ = s.Function.Type.String()
			for _, v := range s.Arguments {
				isNumber(t, v, frame)
				p.Argument(v, frame)
			}
			for _, b := range s.Blocks {
				for _, v := range b.Variables {
					p.Variable(v, frame)
					_ = v.Type.String()
					exerciseValue(t, v.Read(frame), formats)
				}
			}
		}
		globals, _ := info.Globals(pc)
		for _, v := range globals {
			exerciseValue(t, v.Read(frame), formats)
		}
	}
	info.Functions("manhattan")
	info.Type("struct point", 0x401000)
	info.Type("long", 0)
	info.Enumerator("GREEN", 0)
	info.Global("first", 0)
}

// hostileFrame is a frame with an endless memory of equal bytes.
type hostileFrame struct {
	info *Info
	pc   uint64
	fakeFrame
}

func (f *hostileFrame) ProgramCounter() (pc, lookup uint64) { return f.pc, f.pc }
func (f *hostileFrame) Info() *Info                         { return f.info }
func (f *hostileFrame) Bias() uint64                        { return 0 }
func (f *hostileFrame) Caller() Frame                       { return &hostileFrame{info: f.info, pc: 0x401040} }
func (f *hostileFrame) ReadMemory(p []byte, addr uint64) error {
	for k := range p {
		p[k] = 0x41
	}
	return nil
}

// FuzzFile reads whole files.
func FuzzFile(f *testing.F) {
	for _, name := range []string{"testdata/small4.elf", "testdata/small5.elf", "testdata/dynamic5.elf", "testdata/records5.elf"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := object.NewFile(data, "fuzz")
		if err != nil || file.Machine() == nil {
			return
		}
		exercise(t, file, 37)
	})
}

// TestMutated reads files with damaged debugging information.
func TestMutated(t *testing.T) {
	rounds := 50
	if sample.Full() {
		rounds = 500
	}
	for _, name := range []string{"testdata/small4.elf", "testdata/small5.elf", "testdata/dynamic5.elf", "testdata/records5.elf"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := object.NewFile(data, name)
		if err != nil {
			t.Fatal(err)
		}
		var sections []object.Section
		for _, s := range file.Sections() {
			switch s.Name {
			case ".debug_info", ".debug_abbrev", ".debug_loc", ".debug_loclists", ".debug_rnglists", ".debug_ranges":
				sections = append(sections, s)
			}
		}
		if len(sections) < 4 {
			t.Fatalf("%s: %d sections of debugging information", name, len(sections))
		}
		r := sample.Rand(t)
		usable := 0
		if name == "testdata/records5.elf" {
			rounds /= 10 // its strings have 64 KiB each
		}
		for range rounds {
			damaged := append([]byte(nil), data...)
			for range 1 + r.IntN(4) {
				s := sections[r.IntN(len(sections))]
				at := s.Offset + r.Uint64N(s.Size)
				switch r.IntN(3) {
				case 0:
					damaged[at] ^= 1 << r.IntN(8)
				case 1:
					damaged[at] = byte(r.IntN(256))
				case 2:
					copy(damaged[at:s.Offset+s.Size], damaged[s.Offset+r.Uint64N(s.Size):][:1+r.IntN(16)])
				}
			}
			file, err := object.NewFile(damaged, name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(file); err == nil {
				usable++
			}
			exercise(t, file, 5)
		}
		if usable < rounds/2 {
			t.Errorf("%s: %d of %d damaged files could be opened", name, usable, rounds)
		}
	}
}

// TestCut reads files in which one section ends early, at each of its bytes or at some. The error
// names the section.
func TestCut(t *testing.T) {
	for _, name := range []string{"testdata/small4.elf", "testdata/small5.elf", "testdata/dynamic5.elf"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := object.NewFile(data, name)
		if err != nil {
			t.Fatal(err)
		}
		table := int(binary.LittleEndian.Uint64(data[40:])) // e_shoff
		reported := make(map[string]int)
		random := sample.Rand(t)
		for k, s := range file.Sections() {
			if !strings.HasPrefix(s.Name, ".debug_") || s.Name == ".debug_line" || s.Name == ".debug_aranges" {
				continue // sections without variables
			}
			first, step := random.Uint64N(7), uint64(7)
			if sample.Full() {
				first, step = 0, 1
			}
			for size := first; size < s.Size; size += step {
				cut := bytes.Clone(data)
				binary.LittleEndian.PutUint64(cut[table+64*k+32:], size) // sh_size
				file, err := object.NewFile(cut, name)
				if err != nil {
					t.Fatal(err)
				}
				exercise(t, file, 37)
				info, err := Open(file)
				if err == nil {
					_, err = info.Functions("manhattan")
				}
				switch {
				case err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoInfo):
				case strings.Contains(err.Error(), ".debug_"):
					reported[s.Name]++
				default:
					t.Errorf("%s: %s of %d bytes: %v", name, s.Name, size, err)
				}
			}
		}
		if reported[".debug_info"] == 0 || reported[".debug_abbrev"] == 0 {
			t.Errorf("%s: reported what was truncated: %v", name, reported)
		}
	}
}

// TestLoops reads entries that refer to each other in a circle.
func TestLoops(t *testing.T) {
	info, _ := fakeInfo(5)
	typedef := &Type{machine: amd64, kind: Typedef, name: "loop", ready: true}
	typedef.elem = typedef
	array := &Type{machine: amd64, kind: Array, count: 1 << 20, counted: true, ready: true}
	array.elem = array
	self := &Type{machine: amd64, kind: Struct, name: "self", size: 8, sized: true, ready: true, info: info}
	self.fields = []Field{{Name: "a", Type: self}, {Name: "b", Type: self}}
	fn := &Type{machine: amd64, kind: Func, ready: true}
	fn.params = []*Type{fn, fn, fn}
	fn.elem = fn
	pointer := &Type{machine: amd64, kind: Pointer, ready: true}
	pointer.elem = pointer
	for _, typ := range []*Type{typedef, array, self, fn, pointer} {
		if s := typ.String(); len(s) > 1<<20 || s == "" {
			t.Errorf("%d characters of a type", len(s))
		}
		typ.Size()
		typ.Strip()
		typ.Equal(PointerTo(typ))
		exerciseValue(t, At(typ, 0x1100, &fakeFrame{}), allFormats)
		if n := len(NewPrinter(0).Text(At(typ, 0x1100, &fakeFrame{}))); n > maxPrinted {
			t.Errorf("%d characters of a value", n)
		}
	}
	if _, err := At(self, 0x1100, &fakeFrame{}).FieldByName("none").Bytes(); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a field that is not there: %v", err)
	}
}
