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

func (r Range) size() uint64 { return r.End - r.Start }

// Function is a function of an image.
type Function struct {
	Name  string
	Start uint64 // address
	Size  uint64 // bytes; if the image has no size for it, up to the next function
}

// Image is code in memory, with ELF files that describe it at its addresses. Several sessions can
// use one image at the same time: breakpoints of one do not stop another. Its methods may be
// called from several goroutines.
type Image struct {
	name      string
	machine   *arch.Machine
	files     []*object.File
	elf       [][]byte
	ranges    []Range
	functions []Function
	program   *link.Program  // of LoadImage
	host      []HostFunction // of NewHost, by stub
	memory    *jit.Memory    // that newStubs allocated

	traps trapTable

	demangle sync.Once
	sources  map[string]sourceName // by mangled name

	compile  sync.Once
	compiled tables
	infos    []func() *value.Info // by file, opened at first use

	mu     sync.Mutex
	users  int
	closed bool
}

// ImageOptions are the options of LoadImage.
type ImageOptions struct {
	// Imports are searched in order for symbols that none of the objects defines.
	Imports []*Image
}

// NewImage makes an image of a batch of generated code. The caller owns the batch's memory, which
// must stay mapped until the image is closed. NewImage publishes nothing.
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

// LoadImage loads and links relocatable objects, as compilers write them, into memory that the image
// owns. It looks undefined symbols up in the imports: the C library's printf, malloc and so on are in
// package session/hosted. It does not call constructors: see Image.Constructors. Each worker has its
// own thread-local variables. They are initialized again when a session must start another worker.
func LoadImage(o *ImageOptions, objects ...*object.File) (*Image, error) {
	if o == nil {
		o = &ImageOptions{}
	}
	resolve := func(name string) (uint64, bool) { return lookUp(o.Imports, name) }
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
	slices.SortFunc(i.ranges, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	i.findFunctions()
	i.traps.image = i
	return i
}

// Constructors returns the addresses of the objects' constructors (.preinit_array and .init_array),
// in the order in which they must be called, without arguments, before all other functions.
// LoadImage does not call them: the caller decides in which session they run, once.
func (i *Image) Constructors() []uint64 {
	if i.program == nil {
		return nil
	}
	return i.program.Init
}

// Name returns the name of the batch, or the names of the files.
func (i *Image) Name() string { return i.name }

// Ranges returns the address ranges of the code, in ascending order. The image owns the slice.
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

// Files returns the files that describe the code, one for each batch or object. Their addresses are
// run-time addresses, so the bias is 0.
func (i *Image) Files() []*object.File { return i.files }

// ELF returns the bytes of Files, in the same order. The image owns them.
func (i *Image) ELF() [][]byte { return i.elf }

// File returns the file that describes the code at an address, or nil.
func (i *Image) File(address uint64) *object.File {
	if n := i.fileIndex(address); n >= 0 {
		return i.files[n]
	}
	return nil
}

// Info returns the debugging information of the code at an address, or nil.
func (i *Image) Info(address uint64) *value.Info {
	if n := i.fileIndex(address); n >= 0 {
		return i.infos[n]()
	}
	return nil
}

func (i *Image) fileIndex(address uint64) int {
	switch {
	case !i.Contains(address):
		return -1
	case i.program == nil:
		return 0
	}
	return slices.IndexFunc(i.program.Objects, func(o *link.Object) bool {
		return slices.ContainsFunc(o.Text, func(r link.Range) bool { return address-r.Start < r.End-r.Start })
	})
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

// lookUp returns the address of a symbol in the first of the images that has it.
func lookUp(images []*Image, name string) (address uint64, ok bool) {
	for _, i := range images {
		if address, ok := i.Symbol(name); ok {
			return address, true
		}
	}
	return 0, false
}

// use counts a session as a user of the image.
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

// Close frees the image's memory. The error wraps ErrInUse while a session has the image.
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
		hosts.Lock()
		hosts.images = without(hosts.images, i)
		hosts.Unlock()
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

// findFunctions sets i.functions from the symbols. Symbols of assembly code often have no type and
// no size: a label outside all other functions is a function.
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

// compareFunctions sorts by address, and functions with equal addresses by size, so that covering
// finds the largest.
func compareFunctions(a, b Function) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Size, b.Size))
}

// Functions returns all functions, in ascending order of their addresses. The image owns the slice.
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
