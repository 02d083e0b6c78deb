// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/clewdev/clew/internal/errorlist"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
)

// Collector keeps the generated code of a program while it runs, with copies of the code, so that
// it can be checked after the program has withdrawn it or ended. It is not safe for concurrent
// use.
type Collector struct {
	objects  *stack.Objects
	seen     map[[sha256.Size]byte]bool
	places   []collectedPlace
	problems errorlist.List
	size     uint64 // bytes of the copies

	// The lists are read again only if something has changed.
	mapped      [sha256.Size]byte // hash of the executable mappings
	descriptors []uint64          // addresses of __jit_debug_descriptor
	state       []byte            // their content
	read        time.Time         // the last time that the lists were read
	took        time.Duration
}

// collectedPlace is a list in memory, or a file.
type collectedPlace struct {
	kind   generated.Kind
	place  string
	source *generated.Source // the latest; the only one of a file
	// Functions that were at the same address at different times are in different elements.
	code []*generatedCode
}

// maxCollected bounds the bytes of code that a Collector copies.
const maxCollected = 256 << 20

// Add adds the generated code that exists in a snapshot and was not met before. It reads the
// snapshot's memory during the call only, and nearly nothing if no list has changed. Lists that
// only a search of all memory can find are read if last is set: before the program ends.
func (c *Collector) Add(s *snapshot.Snapshot, last bool) {
	start := time.Now()
	moved := c.update(s)
	changed := c.changed(s)
	// Lists other than GDB's are read now and then.
	if !last && !moved && !changed && time.Since(c.read) < max(minPause, 10*c.took) {
		return
	}
	if !moved {
		c.objects.SetSnapshot(s)
	}
	read := c.objects.PublishedCode
	if last {
		read = c.objects.GeneratedCode
	}
	sources, _ := read() // the sources have the errors
	c.add(sources)
	c.read, c.took = time.Now(), time.Since(start)
}

// minPause is the least time after which unchanged lists are read again.
const minPause = 50 * time.Millisecond

// update follows changes of the executable mappings, and reports whether there was one.
func (c *Collector) update(s *snapshot.Snapshot) bool {
	hash := sha256.New()
	for i := range s.Mappings {
		if m := &s.Mappings[i]; m.Executable {
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:], m.Start)
			binary.LittleEndian.PutUint64(b[8:], m.End)
			hash.Write(b[:])
			hash.Write([]byte(m.Path))
		}
	}
	sum := [sha256.Size]byte(hash.Sum(nil))
	if c.objects != nil && sum == c.mapped {
		return false
	}
	c.mapped = sum
	if c.objects == nil {
		c.objects, c.seen = stack.NewObjects(s), make(map[[sha256.Size]byte]bool)
	} else {
		c.objects.SetSnapshot(s)
	}
	c.descriptors = c.descriptors[:0]
	for _, o := range c.objects.CodeObjects() {
		if f, err := o.File(); err == nil {
			if symbol, ok := f.Symbol("__jit_debug_descriptor"); ok {
				c.descriptors = append(c.descriptors, symbol.Address+o.Bias)
			}
		}
	}
	return true
}

// changed reports whether a function was added to a GDB JIT list, or withdrawn.
func (c *Collector) changed(s *snapshot.Snapshot) bool {
	const size = 24 // of the descriptor: version, action, relevant entry, first entry
	state := make([]byte, size*len(c.descriptors))
	for i, at := range c.descriptors {
		_ = s.Memory.ReadMemory(state[size*i:size*(i+1)], at) // without memory it is zero
	}
	same := bytes.Equal(state, c.state)
	c.state = state
	return !same
}

// add adds the functions of sources.
func (c *Collector) add(sources []*generated.Source) {
	for _, source := range sources {
		if source.Kind == generated.PerfMap || source.Kind == generated.GoModuleList {
			continue // names only; tables that are read from memory when they are needed
		}
		i := slices.IndexFunc(c.places, func(p collectedPlace) bool { return p.kind == source.Kind && p.place == source.Place })
		if i < 0 {
			i = len(c.places)
			c.places = append(c.places, collectedPlace{kind: source.Kind, place: source.Place})
		}
		p := &c.places[i]
		p.source = source
		if source.Kind != generated.Jitdump { // a file keeps what it had
			c.collect(p)
		}
	}
}

// collect copies the functions of a list that are new.
func (c *Collector) collect(p *collectedPlace) {
	live := &generatedCode{source: p.source}
	hashes := make(map[*byte][]byte) // of symbol files
	for i := range live.list() {
		f := &live.functions[i]
		if c.size+f.Size > maxCollected || f.Size > maxCollected {
			c.problems.Add(errTooMuch)
			return
		}
		code, err := f.Code()
		if err != nil {
			continue // it was withdrawn meanwhile
		}
		key := sha256.New()
		var head [24]byte
		binary.LittleEndian.PutUint64(head[:], uint64(p.kind))
		binary.LittleEndian.PutUint64(head[8:], f.Start)
		binary.LittleEndian.PutUint64(head[16:], f.Size)
		key.Write(head[:])
		key.Write(code)
		key.Write(tablesOf(f, hashes))
		sum := [sha256.Size]byte(key.Sum(nil))
		if c.seen[sum] {
			continue
		}
		c.seen[sum] = true
		c.size += f.Size
		p.add(f, code)
	}
}

// tablesOf returns a hash of the unwind tables of a function.
func tablesOf(f *generated.Function, hashes map[*byte][]byte) []byte {
	image := f.Image()
	if len(image) > 0 {
		if sum, ok := hashes[&image[0]]; ok {
			return sum
		}
		sum := sha256.Sum256(image)
		hashes[&image[0]] = sum[:]
		return sum[:]
	}
	all := sha256.New()
	for sections := range f.AllFrames() {
		for _, s := range sections {
			all.Write(s.Data)
		}
	}
	return all.Sum(nil)
}

// add adds a function with a copy of its code.
func (p *collectedPlace) add(f *generated.Function, code []byte) {
	var to *generatedCode
	for _, g := range p.code {
		if !g.overlaps(f) {
			to = g
			break
		}
	}
	if to == nil {
		to = &generatedCode{source: p.source, listed: true, copies: make(map[uint64][]byte)}
		p.code = append(p.code, to)
	}
	i, _ := slices.BinarySearchFunc(to.functions, f.Start, byStart)
	to.functions = slices.Insert(to.functions, i, *f)
	to.copies[f.Start] = code
}

// overlaps reports whether a function is at an address of one of g.
func (g *generatedCode) overlaps(f *generated.Function) bool {
	i, found := slices.BinarySearchFunc(g.functions, f.Start, byStart)
	return found || i < len(g.functions) && g.functions[i].Start-f.Start < f.Size || g.at(f.Start) != nil
}

// Parts returns the collected code as parts. The error says what could not be collected. Close
// must be called after the parts are reported.
func (c *Collector) Parts() (parts []*Part, err error) {
	for i := range c.places {
		p := &c.places[i]
		if p.kind == generated.Jitdump {
			parts = append(parts, Source(p.source, nil))
		}
		for _, g := range p.code {
			g.source = p.source
			part := sourcePart(g, p.source.Machine())
			part.Name = p.place
			parts = append(parts, part)
		}
	}
	return parts, c.problems.Err()
}

// Close releases the files of the program.
func (c *Collector) Close() error {
	if c.objects == nil {
		return nil
	}
	return c.objects.Close()
}
