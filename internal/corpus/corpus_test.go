// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package corpus_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/internal/corpus"
)

func TestFiles(t *testing.T) {
	files := corpus.Files(t)
	if len(files) == 0 {
		t.Fatal("no ELF file on this machine")
	}
	bySize := make(map[int64][]os.FileInfo)
	for _, p := range files {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if !info.Mode().IsRegular() || !strings.HasPrefix(p, "/usr/") {
			t.Errorf("%s is not a file of /usr", p)
		}
		for _, other := range bySize[info.Size()] {
			if os.SameFile(info, other) {
				t.Errorf("%s is there twice", p)
			}
		}
		bySize[info.Size()] = append(bySize[info.Size()], info)
	}
}

func TestEach(t *testing.T) {
	paths := []string{"/usr/bin/env", "/nowhere/a", "/nowhere/b", "/usr/bin/true"}
	var mu sync.Mutex
	var seen []string
	corpus.Each(paths, func(p string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, p)
	})
	slices.Sort(seen)
	want := slices.Sorted(slices.Values(paths))
	if !slices.Equal(seen, want) {
		t.Errorf("checked %v, expected %v", seen, want)
	}
}

func TestMutate(t *testing.T) {
	section := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 16)
	kept := slices.Clone(section)
	r := rand.New(rand.NewPCG(1, 1))
	changed := 0
	for range 1000 {
		if !bytes.Equal(corpus.Mutate(r, section, []uint64{0, 64}, binary.BigEndian), section) {
			changed++
		}
	}
	if !bytes.Equal(section, kept) {
		t.Error("the section itself changed")
	}
	if changed < 900 {
		t.Errorf("%d of 1000 mutants differ", changed)
	}
}
