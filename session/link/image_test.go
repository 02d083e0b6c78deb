// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/object"
)

// TestImages compares the descriptions of each address in the ELF of objects and in the program
// that ld makes from the same files.
func TestImages(t *testing.T) {
	for _, tt := range []struct {
		m        *machine
		compiler string
		ld       string
		flags    string
	}{
		{&amd64, "gcc", "ld", "-O2 -g"},
		{&amd64, "gcc", "ld", "-O0 -g -gz -fno-pic"},
		{&amd64, "gcc", "ld", "-O2 -gdwarf-4 -ffunction-sections -fPIC"},
		{&amd64, "gcc", "ld", "-O2 -g3 -DCOMMON -fcommon"},
		{&amd64, "gcc", "ld", "-O2 -g -fdebug-types-section"},
		{&amd64, "gcc", "ld", "-O0 -g -gz=zlib-gnu"},
		{&amd64, "clang", "ld", "-O2 -g -gz"},
		{&amd64, "clang", "ld", "-O0 -gdwarf-4"},
		{&arm64, "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld", "-O2 -g -gz"},
		{&arm64, "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld", "-O0 -gdwarf-4 -fPIC"},
		{&arm64, "clang --target=aarch64-linux-gnu", "aarch64-linux-gnu-ld", "-O2 -g"},
	} {
		if !compiled(tt.m) {
			continue
		}
		t.Run(tt.compiler+" "+tt.flags, func(t *testing.T) {
			paths := []string{
				compile(t, tt.compiler, "small.c", strings.Fields(tt.flags)...),
				compile(t, tt.compiler, addSource, strings.Fields(tt.flags)...),
			}
			a, err := at(t, tt.m, 0x10000000, nil, paths...)
			if err != nil {
				t.Fatal(err)
			}
			path, _ := runLd(t, a, tt.ld, paths...)
			theirs := open(t, path)
			theirSymbols := symbols(theirs)
			var frames []string
			for _, o := range a.p.Objects[:len(paths)] {
				ours, err := object.NewFile(o.ELF, o.Name)
				if err != nil {
					t.Fatal(err)
				}
				if ours.Type() != elf.ET_EXEC || ours.Machine().ELF != tt.m.elf {
					t.Errorf("%v for %v", ours.Type(), ours.Machine().ELF)
				}
				list := symbols(ours)
				for _, s := range list {
					if !slices.Contains(theirSymbols, s) {
						t.Errorf("%s: symbol %s, ld has %s", o.Name, s, strings.Join(theirSymbols, "; "))
					}
				}
				if len(list) == 0 {
					t.Errorf("%s: no symbols", o.Name)
				}
				located := 0
				for _, r := range o.Text {
					for pc := r.Start; pc < r.End; pc++ {
						got, err := ours.Locate(pc)
						if err != nil {
							t.Fatal(err)
						}
						want, err := theirs.Locate(pc)
						if err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%#x is %v, in ld's program %v", pc, got, want)
						}
						if len(got) > 0 && got[0].Line > 0 {
							located++
						}
					}
				}
				if located == 0 {
					t.Errorf("%s: no lines", o.Name)
				}
				frames = append(frames, fdes(t, ours)...)
				if err := ours.Damage(); err != nil {
					t.Error(err)
				}
			}
			want := fdes(t, theirs)
			slices.Sort(frames)
			slices.Sort(want)
			if !slices.Equal(frames, want) || len(frames) < 5 {
				t.Errorf("unwind tables\n%s\nld's\n%s", strings.Join(frames, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// symbols lists the functions and objects of a file that have a size.
func symbols(f *object.File) (list []string) {
	for s := range f.Symbols() {
		if s.Size > 0 {
			list = append(list, fmt.Sprintf("%s %#x+%d %v %v", s.Name, s.Address, s.Size, s.Type, s.Binding))
		}
	}
	return list
}

// fdes lists the unwind tables of a file.
func fdes(t *testing.T, f *object.File) (list []string) {
	t.Helper()
	sections, err := f.CFISections()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		for fde := range s.FDEs() {
			list = append(list, fmt.Sprintf("%#x-%#x % x", fde.Start, fde.End, strings.TrimRight(string(fde.Instructions), "\x00")))
		}
	}
	return list
}
