// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"fmt"
	"os"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
)

// searchDebugFile searches for the separate debug file, once: a search that finds nothing
// is as expensive when it is repeated.
func (o *Object) searchDebugFile(f *object.File) error {
	o.searched.Do(func() { _, o.searchErr = o.snapshot.Search.OpenDebugFile(f) })
	return o.searchErr
}

// File returns the object's file: the file that is mapped, else the image in the target's
// memory. It is opened at the first call. The objects own it.
func (o *Object) File() (*object.File, error) {
	if o.code == nil {
		o.opened.Do(o.openFile)
	}
	return o.file, o.err
}

func (o *Object) openFile() {
	if o.objects.opened.Add(1) > maxOpened {
		o.err = errManyObjects
		return
	}
	if o.file, o.err = o.open(); o.err != nil {
		o.file = nil
		if o.Mappings[0].Deleted && errors.Is(o.err, object.ErrNotELF) {
			o.notELF, o.Loaded, o.Missing = true, false, nil
		}
		o.shortenError()
		return
	}
	if o.Loaded {
		o.Bias = o.file.ImageBias()
		return
	}
	for _, m := range o.Mappings {
		if !m.Executable {
			continue // a mapping of the file as data can have another bias
		}
		if bias, ok := o.file.Bias(m.Start, m.Offset, true); ok {
			o.Bias = bias
			return
		}
	}
	o.file, o.err = nil, fmt.Errorf("%s: no segment of the file fits its mapping at %#x", o.Name, o.Mappings[0].Start)
}

// shortenError drops the text of the object's errors if the errors of all objects exceed
// maxErrorText.
func (o *Object) shortenError() {
	if o.objects.errorText.Add(int64(len(o.err.Error()))) <= maxErrorText {
		return
	}
	if o.Missing != nil {
		o.Missing = errManyErrors
	}
	if errors.Is(o.err, object.ErrNotELF) {
		o.err = errManyErrorsNotELF
	} else {
		o.err = errManyErrors
	}
}

func (o *Object) open() (*object.File, error) {
	first := o.Mappings[0]
	var failed error
	if o.snapshot.Open != nil && o.Name != "[vdso]" {
		f, err := o.openMapped(first)
		if err == nil {
			return f, nil
		}
		failed = err
	}
	if first.Offset != 0 || o.snapshot.Memory == nil {
		return nil, fmt.Errorf("%s: its ELF header is not mapped, and its file cannot be opened: %w", o.Name, failed)
	}
	o.Loaded, o.Missing = true, failed
	f, err := o.openImage()
	if err != nil && failed != nil {
		err = fmt.Errorf("%w (read from memory, because %w)", err, failed)
	}
	return f, err
}

// openMapped opens the mapped file, once for all objects that share it.
func (o *Object) openMapped(m *snapshot.Mapping) (*object.File, error) {
	files, key := &o.objects.files, fileKey{m.Device, m.Inode, m.Path, m.Deleted}
	files.mu.Lock()
	defer files.mu.Unlock()
	if f := files.open[key]; f != nil {
		return f, nil
	}
	f, err := o.snapshot.Open(m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := object.OpenFile(f, o.Name)
	if err != nil {
		return nil, err
	}
	if files.open == nil {
		files.open = make(map[fileKey]*object.File)
	}
	files.open[key] = file
	return file, nil
}

// openImage opens the object's image in the target's memory. A mapping of the whole file as
// data can precede the image, so several mappings can start with a header. The image is at
// the header that fits the mapped code, and before that code.
func (o *Object) openImage() (*object.File, error) {
	for i, m := range o.Mappings[1:] {
		if o.Mappings[i].Executable {
			break
		}
		if m.Offset != 0 {
			continue
		}
		if f, err := object.FromMemory(o.snapshot.Memory, m.Start, o.Name); err == nil && o.fits(f) {
			return f, nil
		}
	}
	return object.FromMemory(o.snapshot.Memory, o.Mappings[0].Start, o.Name)
}

// fits reports whether the object's code is mapped at its place in an image.
func (o *Object) fits(image *object.File) bool {
	for _, m := range o.Mappings {
		if m.Executable {
			bias, ok := image.Bias(m.Start, m.Offset, true)
			return ok && bias == image.ImageBias()
		}
	}
	return false
}

// load gives the unwinder the object's call frame information.
func (o *Object) load(m *unwind.Module) {
	f, err := o.File()
	if o.notELF {
		m.Source = &o.objects.generated
		return
	}
	if err != nil {
		m.Source = failedSource{o.objects, err}
		return
	}
	t := ReadTables(f, false)
	m.Bias, m.Source, m.Function = o.Bias, t.Source, t.Function
	m.SwitchesStack = t.SwitchesStack
	m.Analyze = t.Analyze(f, o.objects.Analyzer)
	o.Bare, o.Go = t.Bare, t.Go
}

// failedSource is the source of an object that cannot be read. It can contain generated
// code.
type failedSource struct {
	objects *Objects // nil if it cannot
	err     error
}

func (s failedSource) Rules(pc uint64) (*unwind.Rules, error) {
	if s.objects != nil {
		if rules, err := s.objects.generated.Rules(pc); err == nil || s.objects.generated.Find(pc) != nil {
			return rules, err
		}
	}
	return nil, fmt.Errorf("%w: %w", cfi.ErrNoFDE, s.err)
}

// OpenSource opens a source file that the debugging information of an object names, by its
// absolute path, as snapshot.Process.OpenSource does. Another user could have put a separate
// debug file or split unit next to a program. Therefore, if this process is root, the owners
// of those that were read must also have the right to read the source file. OpenSource may
// be called after Close.
func (o *Objects) OpenSource(path string) (*os.File, error) {
	process := o.snapshot.Process
	f, err := process.OpenSource(path)
	if err != nil {
		return nil, err
	}
	root := ""
	if process != nil {
		root = process.SourceRoot
	}
	owners := o.partOwners
	if owners == nil {
		now := o.readPartOwners()
		owners = &now
	}
	if err := owners.Check(f, root, path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readPartOwners returns the owners of the files with debugging information that was read,
// except the mapped files themselves.
func (o *Objects) readPartOwners() object.PartOwners {
	return object.PartOwnersOf(func(yield func(*object.File) bool) {
		for _, f := range o.files.open {
			if !yield(f) {
				return
			}
		}
		for _, mapped := range o.all {
			if mapped.file != nil && mapped.Loaded && !yield(mapped.file) {
				return
			}
		}
	})
}
