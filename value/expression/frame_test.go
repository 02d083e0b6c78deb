// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/ianlancetaylor/demangle"
)

// frame is a frame with registers and memory that a test sets.
type frame struct {
	maps      []segment
	registers map[uint64]uint64
	wide      map[uint64][]byte // registers of more than 8 bytes
	pc, cfa   uint64
	info      *value.Info
	bias      uint64
}

type segment struct {
	start uint64
	bytes []byte
}

var errUnmapped = errors.New("not mapped")

func (f *frame) find(p []byte, address uint64) ([]byte, error) {
	for _, s := range f.maps {
		if address >= s.start && address-s.start < uint64(len(s.bytes)) && uint64(len(p)) <= uint64(len(s.bytes))-(address-s.start) {
			return s.bytes[address-s.start:][:len(p)], nil
		}
	}
	return nil, errUnmapped
}

func (f *frame) ReadMemory(p []byte, address uint64) error {
	b, err := f.find(p, address)
	copy(p, b)
	return err
}

func (f *frame) WriteMemory(p []byte, address uint64) error {
	b, err := f.find(p, address)
	copy(b, p)
	return err
}

func (f *frame) Register(column uint64) (uint64, bool) {
	v, ok := f.registers[column]
	return v, ok
}

func (f *frame) RegisterBytes(column uint64) ([]byte, bool) {
	b, ok := f.wide[column]
	return append([]byte(nil), b...), ok
}

func (f *frame) SetRegisterBytes(column uint64, p []byte) error {
	old, ok := f.registers[column]
	if !ok {
		return fmt.Errorf("no register %d", column)
	}
	b := binary.LittleEndian.AppendUint64(nil, old)
	copy(b, p)
	f.registers[column] = binary.LittleEndian.Uint64(b)
	if int(column) == amd64.ProgramCounter {
		f.pc = f.registers[column]
	}
	return nil
}

func (f *frame) ProgramCounter() (pc, lookup uint64) { return f.pc, f.pc }
func (f *frame) CFA() (uint64, bool)                 { return f.cfa, true }
func (f *frame) Info() *value.Info                   { return f.info }
func (f *frame) Bias() uint64                        { return f.bias }
func (f *frame) Caller() value.Frame                 { return nil }

// symbols names addresses of code and data.
type symbols struct {
	list []object.Symbol
	bias uint64
}

func (s symbols) Symbol(address uint64) (name string, offset uint64, ok bool) {
	for _, symbol := range s.list {
		if offset := address - s.bias - symbol.Address; offset < max(symbol.Size, 1) {
			return demangle.Filter(symbol.Name), offset, true
		}
	}
	return "", 0, false
}

func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("skipped: " + name + " is not installed")
	}
	return path
}

// build compiles a file of testdata.
func build(t testing.TB, name string, flags ...string) (path string, file *object.File, info *value.Info) {
	t.Helper()
	source, err := filepath.Abs("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	compiler := "gcc"
	if filepath.Ext(name) == ".cc" {
		compiler = "g++"
	}
	path = filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(tool(t, compiler), append(flags, "-g", "-w", "-o", path, source)...).CombinedOutput(); err != nil {
		t.Fatalf(compiler+": %v\n%s", err, out)
	}
	if file, err = object.Open(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if info, err = value.Open(file); err != nil {
		t.Fatal(err)
	}
	return path, file, info
}
