// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"debug/elf"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// Wrong debugging information costs names and values, not the stack.
func TestDamaged(t *testing.T) {
	program := compile(t, "gcc -O2 -Wl,--build-id=0x1234", "frames.c")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	intact, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(intact))
	if err != nil {
		t.Fatal(err)
	}
	var sections []*elf.Section
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") && s.Flags&elf.SHF_COMPRESSED == 0 {
			sections = append(sections, s)
		}
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	random := rand.New(rand.NewPCG(1, 2))
	frames := 0
	for n := range 15 {
		data := bytes.Clone(intact)
		if n > 0 { // the first is whole
			s := sections[random.IntN(len(sections))]
			for range 1 + random.IntN(16) {
				data[s.Offset+random.Uint64N(s.FileSize)] = byte(random.Uint32() >> random.IntN(8))
			}
		}
		if err := os.WriteFile(damaged, data, 0o755); err != nil {
			t.Fatal(err)
		}
		c, err := core.Open(path, &core.Options{Program: damaged})
		if err != nil {
			t.Fatal(err)
		}
		s := c.Snapshot()
		objects := stack.NewObjects(s)
		stacks := objects.Walk(stack.WalkOptions{Registers: true})
		_ = objects.Name(stacks, stack.NameOptions{Lines: true}) // what is damaged is said there
		r := trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects), Locals: true}
		if err := r.Text(io.Discard, trace.Options{AllFrames: true}); err != nil {
			t.Error(err)
		}
		if err := r.JSON(io.Discard); err != nil {
			t.Error(err)
		}
		own := 0
		for i := range stacks[0].Frames {
			if !stacks[0].Frames[i].TailCall {
				own++
			}
		}
		if frames == 0 {
			frames = own
		}
		if own != frames {
			t.Errorf("damage %d: %d frames, expected %d", n, own, frames)
		}
		objects.Close()
		c.Close()
	}
}
