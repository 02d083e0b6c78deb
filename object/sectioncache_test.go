// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// keptSections is a SectionCache in memory.
type keptSections struct {
	mu                       sync.Mutex
	data                     map[SectionKey][]byte
	stored, loaded, released int
	places                   []SectionPlace
}

func (c *keptSections) Key(place SectionPlace, hash func() SectionKey) SectionKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places = append(c.places, place)
	return hash()
}

func (c *keptSections) Load(key SectionKey, size int64) ([]byte, func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data := c.data[key]
	if data == nil || int64(len(data)) != size {
		return nil, nil
	}
	c.loaded++
	return data, func() error { c.released++; return nil }
}

func (c *keptSections) Store(key SectionKey, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored++
	c.data[key] = bytes.Clone(data)
}

// A large section is decompressed once for all files that have it, and the results are the
// same.
func TestSectionCache(t *testing.T) {
	tool(t, "gcc")
	var source strings.Builder
	for i := range 4000 {
		source.WriteString("int f" + strings.Repeat("a", i%50) + string(rune('a'+i%26)) + "_" + strings.Repeat("b", i/26) + "(int n) { return n; }\n")
	}
	path := write(t, "many.c", source.String()+"int main(void) { return fa_(0); }\n")
	program := path + ".out"
	run(t, "gcc", "-g", "-gz=zlib", "-o", program, path)
	copied := filepath.Join(t.TempDir(), "copied")
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, content, 0o700); err != nil {
		t.Fatal(err)
	}
	c := &keptSections{data: make(map[SectionKey][]byte)}
	read := func(path string, cache SectionCache) []Location {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := f.OpenDebugFile(DebugSearch{Sections: cache}); err != nil {
			t.Fatal(err)
		}
		s, ok := f.Symbol("main")
		list, err := f.Locate(s.Address)
		if err != nil || !ok || len(list) == 0 || list[0].Line != 4001 {
			t.Fatalf("main: %v, %v", list, err)
		}
		return list
	}
	want := read(program, nil)
	if got := read(program, c); !reflect.DeepEqual(got, want) {
		t.Errorf("at first %v, expected %v", got, want)
	}
	if c.stored == 0 || c.loaded > 0 {
		t.Fatalf("at first %d were stored and %d loaded", c.stored, c.loaded)
	}
	f := open(t, program)
	for _, s := range f.Sections() {
		data, err := f.raw(f.section(s.Index))
		if err != nil {
			t.Fatal(err)
		}
		kept := c.data[sha256.Sum256(data)]
		inflated, err := f.SectionData(s.Index)
		if s.Name == ".debug_info" && kept == nil {
			t.Errorf("%d bytes of .debug_info are not kept", len(inflated))
		}
		if err != nil || kept != nil && !bytes.Equal(kept, inflated) {
			t.Errorf("%s is kept wrongly, %v", s.Name, err)
		}
	}
	for _, place := range c.places {
		data := content[place.Offset:][:place.Size]
		if kept := c.data[sha256.Sum256(data)]; place.File.Name() != filepath.Base(program) || kept == nil {
			t.Errorf("%d bytes at %#x of %s are no section that is kept", place.Size, place.Offset, place.File.Name())
		}
	}
	if len(c.places) != c.stored {
		t.Errorf("%d calls of Key, %d sections stored", len(c.places), c.stored)
	}
	stored := c.stored
	if got := read(copied, c); !reflect.DeepEqual(got, want) {
		t.Errorf("then %v, expected %v", got, want)
	}
	if c.stored != stored || c.loaded != stored || c.released != stored {
		t.Errorf("then %d were stored, %d loaded and %d released, of %d", c.stored-stored, c.loaded, c.released, stored)
	}
}
