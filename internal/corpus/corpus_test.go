// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package corpus_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b", "replaced", "removed"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	var mu sync.Mutex
	var seen []string
	corpus.Each(t, append(paths, "/nowhere/c"), func(path string) error {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, path)
		// A package manager that changes files meanwhile does not make the test fail.
		switch filepath.Base(path) {
		case "replaced":
			return errors.Join(os.WriteFile(path+".new", []byte("replaced"), 0o644), os.Rename(path+".new", path), errors.New("another file"))
		case "removed":
			return errors.Join(os.Remove(path), errors.New("no file"))
		}
		return nil
	})
	slices.Sort(seen)
	if !slices.Equal(seen, slices.Sorted(slices.Values(paths))) {
		t.Errorf("checked %v, expected %v", seen, paths)
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
