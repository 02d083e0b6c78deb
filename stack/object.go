// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// Objects are the objects that a snapshot's target has mapped: its program, its libraries,
// the kernel's vDSO. Their files are opened when they are first needed. Objects is not safe
// for concurrent use, apart from NameOptions.Meanwhile.
type Objects struct {
	// Modules are the modules of the objects, by run-time address; see Object and Find.
	Modules unwind.Modules

	// Analyzer makes rules for functions that no table describes. It is nil if their code is
	// not analysed. It must be set before the first walk.
	Analyzer CodeAnalyzer

	snapshot   *snapshot.Snapshot
	all        []*Object // except those of generated code
	generated  generatedCode
	lines      locator
	files      sharedFiles
	opened     atomic.Int32       // objects that were opened, or tried to
	errorText  atomic.Int64       // bytes of the errors of objects that cannot be read
	partOwners *object.PartOwners // set by Close
	cut        bool               // CodeObjects exceeded its limit and reported it
}

const (
	// maxSearched bounds the objects that are opened to search them: a process can map
	// 65,530 files, or one file that often (vm.max_map_count).
	maxSearched = 1 << 13
	// maxOpened bounds all opened objects: frames can lie in other ones.
	maxOpened = maxSearched + 1<<10
)

// sharedFiles are the opened files. A file that is mapped as several objects is opened once.
type sharedFiles struct {
	mu   sync.Mutex
	open map[fileKey]*object.File
}

// fileKey identifies a mapped file. A core has no inodes, and one file for each path.
type fileKey struct {
	device, inode uint64
	path          string
	deleted       bool
}

// maxErrorText bounds the text of the errors of objects, in bytes: each contains its path of
// up to 4 KB several times.
const maxErrorText = 4 << 20

var (
	errManyErrors       = errors.New("cannot be read, like thousands of other mapped objects")
	errManyErrorsNotELF = fmt.Errorf("%w, like thousands of other mapped objects", object.ErrNotELF)
	errManyObjects      = fmt.Errorf("not opened: %d other mapped objects are open", maxOpened)
)

// Kind is the kind of code of an object.
type Kind uint8

const (
	Unknown Kind = iota
	Native
	Go
	Generated // by a JIT compiler
	Kernel
	Hypervisor
	Guest // code of a virtual machine
)

// Object is one mapped object, or the generated code of one source. Package recording
// makes the objects of a recording, which have no mappings and no File.
type Object struct {
	Name     string // the path as the target sees it, "[vdso]", "[kernel]", or GeneratedName
	Mappings []*snapshot.Mapping

	// Generated is the source that names generated code, and None for other code.
	// Generated code has no mappings, and File returns an error.
	Generated generated.Kind
	// System is Kernel, Hypervisor or Guest for code outside the target, else Unknown.
	System Kind

	// Of an object of a recording:
	BuildID string // hexadecimal; "" if the recording lacks it
	Hash    string // object.File.Hash in hexadecimal; "" without recording.Options.Hashes
	Path    string // of the file that was read; "" if none was
	Err     error  // why the file could not be read

	// Bias is the run-time address minus the address in the object. It is set once File was
	// called.
	Bias uint64
	// Loaded says that the object was read from the target's memory, because its file
	// cannot be opened, or because it has none. It is set once File was called.
	Loaded bool
	// Missing says why the file of a Loaded object cannot be opened. It is nil for the
	// vDSO, which has no file.
	Missing error

	// Bare says that the object has no call frame information at all, and Go that it is a
	// Go program. Both are set once a walk met a frame in the object.
	Bare, Go bool

	snapshot  *snapshot.Snapshot
	module    unwind.Module
	objects   *Objects
	file      *object.File
	err       error
	opened    sync.Once // sets file, err, Bias, Loaded and Missing
	searched  sync.Once // sets searchErr
	searchErr error
	requested map[uint64]struct{} // addresses of requestLines
	pending   []uint64            // those of requested that are not located yet
	locating  bool                // a goroutine locates pending
	notELF    bool                // deleted and not an ELF file: memory that a JIT compiler maps twice
	copied    bool                // a second mapping of a part of an image: code without variables of its own

	code describer // nil for an object file
}

// Kind returns the kind of code of the object. It is Unknown for a nil object and for an
// object of a recording without its file.
func (o *Object) Kind() Kind {
	switch {
	case o == nil:
		return Unknown
	case o.System != Unknown:
		return o.System
	case o.Generated != generated.None:
		return Generated
	case o.Err != nil:
		return Unknown
	case o.Go:
		return Go
	}
	return Native
}

// NewObjects returns the objects that a snapshot's target has mapped. The caller must
// close them.
func NewObjects(s *snapshot.Snapshot) *Objects {
	o := &Objects{snapshot: s}
	o.resetGenerated()
	var last *Object
	for i := range s.Mappings {
		m := &s.Mappings[i]
		if !holdsObject(m.Path) {
			if m.Executable {
				o.Modules.Add(m.Start, m.End, &o.generated.module)
			}
			continue
		}
		// The mappings of an object are consecutive, and the first one contains the ELF
		// header. A mapping of the header therefore starts another object, also after a
		// mapping of the whole file as data. If code lies in the page of the header,
		// two mappings of the same object start there.
		if last == nil || last.Name != m.Path || last.Mappings[0].Inode != m.Inode ||
			m.Offset == 0 && (!m.Executable || last.Mappings[len(last.Mappings)-1].Offset != 0) || last.isCopied(m) {
			last = &Object{Name: m.Path, snapshot: s, objects: o, copied: last != nil && last.isCopied(m)}
			last.module = unwind.Module{Name: m.Path, Load: last.load, Owner: last}
			o.all = append(o.all, last)
		}
		last.Mappings = append(last.Mappings, m)
		if m.Executable {
			o.Modules.Add(m.Start, m.End, &last.module)
		}
	}
	return o
}

// isCopied reports whether m, which follows the object's mappings, is a second mapping of
// code of the same file. V8 so maps its built-in functions close to the code that it
// generates. A mapping out of the order of offsets is not part of the image (gABI "Program
// Header": ascending p_vaddr), unless it has the load bias of the other code.
func (o *Object) isCopied(m *snapshot.Mapping) bool {
	if o.Name != m.Path || !m.Executable || m.Offset == 0 || m.Offset >= o.Mappings[len(o.Mappings)-1].Offset {
		return false
	}
	return !slices.ContainsFunc(o.Mappings, func(other *snapshot.Mapping) bool {
		return other.Executable && other.Start-other.Offset == m.Start-m.Offset
	})
}

// holdsObject reports whether the path of a mapping can be that of an object file. Shared
// memory has a path too: /dev/zero if it has no name (the kernel's shmem_zero_setup), and
// /SYSV with a key for System V shared memory.
func holdsObject(path string) bool {
	switch {
	case path == "" || strings.HasPrefix(path, "[") && path != "[vdso]":
		return false
	case strings.HasPrefix(path, "/dev/"):
		return strings.HasPrefix(path, "/dev/shm/")
	}
	return !strings.HasPrefix(path, "/SYSV")
}

// Object returns the object of a module. It is nil for a nil module and for the module of
// memory without a file: see Find.
func (o *Objects) Object(m *unwind.Module) (object *Object) {
	if m != nil {
		object, _ = m.Owner.(*Object)
	}
	return object
}

// Find returns the object that contains a run-time address of a module, which can be
// generated code. It is nil if none is known.
func (o *Objects) Find(m *unwind.Module, address uint64) *Object {
	object := o.Object(m)
	if m == &o.generated.module || object != nil && object.err != nil {
		// A JIT compiler can map memory twice, to write and to run it. Its file is not
		// an object file ("/memfd:jit").
		if generated := o.generated.find(o.snapshot, address); generated != nil {
			return generated
		}
	}
	return object
}

// Snapshot returns the snapshot of the objects.
func (o *Objects) Snapshot() *snapshot.Snapshot { return o.snapshot }

// All yields the objects except those of generated code, in no order.
func (o *Objects) All() iter.Seq[*Object] { return slices.Values(o.all) }

// Close closes the files of all objects.
func (o *Objects) Close() error {
	o.lines.end()
	if o.partOwners == nil {
		owners := o.readPartOwners()
		o.partOwners = &owners
	}
	var errs []error
	for _, f := range o.files.open {
		errs = append(errs, f.Close())
	}
	for _, object := range o.all {
		if object.file != nil && object.Loaded {
			errs = append(errs, object.file.Close())
		}
	}
	return errors.Join(errs...)
}

// SetSnapshot replaces the snapshot by a newer one of the same target, and keeps the opened
// files. The former snapshot must not be used with the objects any more.
func (o *Objects) SetSnapshot(s *snapshot.Snapshot) {
	o.snapshot = s
	for _, object := range o.all {
		object.snapshot = s
	}
	o.Update()
}

// Update adapts the objects to changed mappings and changed generated code of their
// snapshot, as process.Watch makes them. Objects at the same place stay open. Unmapped
// objects stay valid for the frames in them, until Close.
func (o *Objects) Update() {
	fresh := NewObjects(o.snapshot)
	known := make(map[string][]*Object)
	for _, old := range o.all {
		known[old.Name] = append(known[old.Name], old)
	}
	o.resetGenerated()
	used := make(map[*Object]*Object) // by the fresh one
	for _, now := range fresh.all {
		isSame := func(old *Object) bool {
			return slices.EqualFunc(old.Mappings, now.Mappings, func(a, b *snapshot.Mapping) bool { return *a == *b })
		}
		if i := slices.IndexFunc(known[now.Name], isSame); i >= 0 {
			old := known[now.Name][i]
			old.Mappings = now.Mappings
			used[now] = old
			continue
		}
		now.objects = o
		o.all = append(o.all, now)
		used[now] = now
	}
	o.Modules = unwind.Modules{}
	for _, r := range fresh.Modules.Ranges() {
		module := &o.generated.module
		if object := used[o.Object(r.Module)]; object != nil {
			module = &object.module
		}
		o.Modules.Add(r.Start, r.End, module)
	}
	o.Modules.Changed()
}
