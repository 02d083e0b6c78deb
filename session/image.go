// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session/link"
	"github.com/clewdev/clew/value"
)

// Range is a range of addresses.
type Range struct{ Start, End uint64 } // [Start, End)

// Function is a function of an image.
type Function struct {
	Name  string
	Start uint64 // address
	Size  uint64 // bytes; where the image does not say, up to the next one
}

// Image is code in memory, with ELF bytes that describe it at its addresses. Several sessions
// can use one image at once: breakpoints of one do not stop another. Its methods may be called
// from several goroutines.
type Image struct {
	name      string
	machine   *arch.Machine
	files     []*object.File
	elf       [][]byte
	ranges    []Range
	functions []Function
	program   *link.Program  // of LoadImage
	host      []HostFunction // of NewHost, one a stub
	memory    *jit.Memory    // of NewHost and of this package's own

	traps trapTable

	demangle sync.Once
	sources  map[string]sourceName // of the functions that have mangled names

	compile  sync.Once
	compiled tables
	infos    []func() *value.Info // one a file, opened at first use

	mu     sync.Mutex
	users  int
	closed bool
}

// ImageOptions changes what LoadImage does.
type ImageOptions struct {
	// Imports are searched for symbols that none of the objects defines, in order.
	Imports []*Image
}

// NewImage makes an image of a batch. The batch's memory stays the caller's and must stay
// mapped until the image is closed. Nothing is published.
func NewImage(c *jit.Code) (*Image, error) {
	machine := c.Machine
	if machine == nil {
		machine = jit.Host()
	}
	if machine == nil || machine != jit.Host() {
		return nil, fmt.Errorf("%s: code of another machine cannot run: %w", c.Name, errors.ErrUnsupported)
	}
	described, err := symfile.Append(nil, c)
	if err != nil {
		return nil, err
	}
	name := c.Name
	if name == "" {
		name = "jit"
	}
	i := &Image{name: name, machine: machine}
	if err := i.describe(name, described); err != nil {
		return nil, err
	}
	for n := range c.Functions {
		start := c.Start(&c.Functions[n])
		i.addRange(Range{start, start + c.Functions[n].Size})
	}
	return i.finish(), nil
}

// LoadImage loads and links relocatable objects, as compilers make them, into memory that the
// image owns. Undefined symbols are looked up in the imports: the C library's printf, malloc
// and so on are in package session/hosted. Constructors are not called, see Image.Constructors.
// Each worker has its own thread-local variables; they are initialized again when a session
// must start another worker.
func LoadImage(o *ImageOptions, objects ...*object.File) (*Image, error) {
	if o == nil {
		o = &ImageOptions{}
	}
	resolve := func(name string) (uint64, bool) {
		for _, i := range o.Imports {
			if address, ok := i.Symbol(name); ok {
				return address, true
			}
		}
		return 0, false
	}
	program, err := link.Load(&link.Options{Resolve: resolve}, objects...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range objects {
		names = append(names, f.Name())
	}
	i := &Image{name: strings.Join(names, ", "), machine: jit.Host(), program: program}
	for _, object := range program.Objects {
		if err := i.describe(object.Name, object.ELF); err != nil {
			return nil, errors.Join(err, program.Close())
		}
		for _, r := range object.Text {
			i.addRange(Range(r))
		}
	}
	return i.finish(), nil
}

// describe adds the bytes that describe some of the code.
func (i *Image) describe(name string, described []byte) error {
	f, err := object.NewFile(described, name)
	if err != nil {
		return err
	}
	i.files = append(i.files, f)
	i.infos = append(i.infos, sync.OnceValue(func() *value.Info {
		info, err := value.Open(f)
		if err != nil {
			return nil
		}
		return info
	}))
	i.elf = append(i.elf, described)
	return nil
}

func (i *Image) addRange(r Range) {
	if n := len(i.ranges); n > 0 && i.ranges[n-1].End == r.Start {
		i.ranges[n-1].End = r.End
		return
	}
	i.ranges = append(i.ranges, r)
}

func (i *Image) finish() *Image {
	slices.SortFunc(i.ranges, func(a, b Range) int {
		if a.Start < b.Start {
			return -1
		}
		return 1
	})
	i.findFunctions()
	i.traps.image = i
	return i
}

// Constructors returns the addresses of the functions that objects want called
// before all others, in that order and without arguments (.preinit_array and
// .init_array). LoadImage does not call them: they are code as any other, and the
// program decides whether they run, once, in which session.
func (i *Image) Constructors() []uint64 {
	if i.program == nil {
		return nil
	}
	return i.program.Init
}

// Name returns what the image is called: the batch's name, or the files'.
func (i *Image) Name() string { return i.name }

// Ranges returns where the code is, in ascending order.
func (i *Image) Ranges() []Range { return i.ranges }

// Contains reports whether an address is in the code.
func (i *Image) Contains(address uint64) bool {
	_, ok := i.rangeOf(address)
	return ok
}

func (i *Image) rangeOf(address uint64) (Range, bool) {
	n, ok := slices.BinarySearchFunc(i.ranges, address, func(r Range, address uint64) int {
		switch {
		case r.End <= address:
			return -1
		case r.Start > address:
			return 1
		}
		return 0
	})
	if !ok {
		return Range{}, false
	}
	return i.ranges[n], true
}

// Files returns the files that describe the code, one per batch or object. All addresses in
// them are run-time addresses, so the bias is 0.
func (i *Image) Files() []*object.File { return i.files }

// ELF returns the bytes of the files, in the same order. They must not be changed.
func (i *Image) ELF() [][]byte { return i.elf }

// File returns the file that describes the code at an address, or nil.
func (i *Image) File(address uint64) *object.File {
	if n := i.fileIndex(address); n >= 0 {
		return i.files[n]
	}
	return nil
}

// Info returns the debugging information about variables and types of the code at
// an address, or nil where there is none.
func (i *Image) Info(address uint64) *value.Info {
	if n := i.fileIndex(address); n >= 0 {
		return i.infos[n]()
	}
	return nil
}

func (i *Image) fileIndex(address uint64) int {
	if !i.Contains(address) {
		return -1
	}
	if i.program != nil {
		for n, o := range i.program.Objects {
			for _, r := range o.Text {
				if address-r.Start < r.End-r.Start {
					return n
				}
			}
		}
		return -1
	}
	return 0
}

// Symbol returns the address of a function or of data, by its name.
func (i *Image) Symbol(name string) (address uint64, ok bool) {
	if i.program != nil {
		if address, ok := i.program.Symbol(name); ok {
			return address, true
		}
	}
	for _, f := range i.files {
		s, ok := f.Symbol(name)
		if ok && (s.Type == elf.STT_FUNC || s.Type == elf.STT_OBJECT || s.Type == elf.STT_NOTYPE && i.Contains(s.Address)) {
			return s.Address, true
		}
	}
	return 0, false
}

// use counts a session that has the image.
func (i *Image) use() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return fmt.Errorf("image %s: %w", i.name, ErrClosed)
	}
	i.users++
	return nil
}

func (i *Image) release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users--
}

// Close gives the image's memory back. The error wraps ErrInUse while a session
// has the image.
func (i *Image) Close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil
	}
	if i.users > 0 {
		return failure(ErrInUse, "%d sessions have image %s", i.users, i.name)
	}
	i.closed = true
	if i.host != nil {
		forgetHost(i)
	}
	failed := []error{i.traps.close()}
	for _, f := range i.files {
		failed = append(failed, f.Close())
	}
	if i.memory != nil {
		failed = append(failed, i.memory.Close())
	}
	if i.program != nil {
		failed = append(failed, i.program.Close())
	}
	return errors.Join(failed...)
}

// findFunctions lists the functions that have symbols. Symbols of assembly code often have no
// type and no size: a label outside of all other functions is a function.
func (i *Image) findFunctions() {
	var labels []object.Symbol
	for _, f := range i.files {
		for s := range f.Symbols() {
			switch {
			case !i.Contains(s.Address):
			case s.Type == elf.STT_FUNC:
				i.functions = append(i.functions, Function{Name: s.Name, Start: s.Address, Size: s.Size})
			case s.Type == elf.STT_NOTYPE:
				labels = append(labels, s)
			}
		}
	}
	slices.SortFunc(i.functions, func(a, b Function) int {
		return cmp.Or(compareFunctions(a, b), strings.Compare(a.Name, b.Name))
	})
	var found []Function
	for _, s := range labels {
		f, ok := covering(i.functions, s.Address)
		switch {
		case !ok:
			found = append(found, Function{Name: s.Name, Start: s.Address})
		case f.Start == s.Address:
			found = append(found, Function{Name: s.Name, Start: s.Address, Size: f.Size})
		}
	}
	i.functions = append(found, i.functions...)
	slices.SortStableFunc(i.functions, compareFunctions)
	next := uint64(0)
	for n := len(i.functions) - 1; n >= 0; n-- {
		f := &i.functions[n]
		if n+1 < len(i.functions) && i.functions[n+1].Start != f.Start {
			next = i.functions[n+1].Start
		}
		if f.Size == 0 {
			r, _ := i.rangeOf(f.Start)
			f.Size = r.End - f.Start
			if next > f.Start {
				f.Size = min(f.Size, next-f.Start)
			}
		}
	}
	slices.SortStableFunc(i.functions, compareFunctions)
}

// compareFunctions sorts by addresses. Where several start at one, that of most
// bytes is the last, which is the one that covers what others do.
func compareFunctions(a, b Function) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Size, b.Size))
}

// Functions returns all functions, in ascending order of their addresses. The
// slice is the image's.
func (i *Image) Functions() []Function { return i.functions }

// Function returns the function that covers an address.
func (i *Image) Function(address uint64) (Function, bool) { return covering(i.functions, address) }

// covering returns the last function of a list that covers an address.
func covering(list []Function, address uint64) (Function, bool) {
	n, _ := slices.BinarySearchFunc(list, address, func(f Function, address uint64) int {
		if f.Start <= address {
			return -1
		}
		return 1
	})
	for n--; n >= 0; n-- {
		if f := list[n]; f.Size != 0 {
			return f, address-f.Start < f.Size
		}
	}
	return Function{}, false
}
