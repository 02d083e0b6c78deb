// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"os"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// surroundings are the program and libraries of this process. Code of images can call them, and they
// are then on the stack. The walker reads them only for such a stack.
type surroundings struct {
	objects *stack.Objects
	infos   map[*stack.Object]*value.Info
}

// surround adds the current mappings of the rest of the process to the walker's modules.
func (w *walker) surround(s *Session) error {
	mappings, err := process.Mappings(os.Getpid())
	if len(mappings) == 0 {
		return err
	}
	w.closeSurroundings()
	self := &snapshot.Snapshot{PID: os.Getpid(), Machine: s.machine, Mappings: mappings, Memory: s,
		Open: func(m *snapshot.Mapping) (*os.File, error) { return process.OpenMapping(os.Getpid(), m) }}
	w.around = &surroundings{objects: stack.NewObjects(self), infos: map[*stack.Object]*value.Info{}}
	w.modules = unwind.Modules{}
	w.addImages(s)
	for _, m := range mappings {
		if module, ok := w.around.objects.Modules.Find(m.Start); ok && module != nil && m.Path != "" {
			w.modules.Add(m.Start, m.End, module)
		}
	}
	return nil
}

// closeSurroundings closes the files that surround opened.
func (w *walker) closeSurroundings() {
	if w.around != nil {
		w.around.objects.Close()
		w.around = nil
		w.tails.Forget()
	}
}

// object returns the object around the images at an address, or nil.
func (w *walker) object(address uint64) (*stack.Object, *object.File) {
	if w.around == nil {
		return nil, nil
	}
	module, _ := w.modules.Find(address)
	if module == nil {
		return nil, nil
	}
	o := w.around.objects.Object(module)
	if o == nil {
		return nil, nil
	}
	f, err := o.File()
	if err != nil {
		return nil, nil
	}
	return o, f
}

// codeAround returns the file of the object around the images at an address, or the zero value.
func (w *walker) codeAround(address uint64) (c codeFile) {
	if o, file := w.object(address); o != nil {
		c = codeFile{file: file, bias: o.Bias}
	}
	return c
}

// describeAround sets the function and source of a frame outside the images.
func (f *Frame) describeAround() {
	o, file := f.session.walker.object(f.LookupPC)
	if o == nil {
		return
	}
	f.Object, f.bias = o.Name, o.Bias
	if symbols, _ := file.FindSymbols([]uint64{f.LookupPC - o.Bias}); len(symbols) == 1 && symbols[0].Name != "" {
		f.Function = Function{Name: symbols[0].Name, Start: symbols[0].Address + o.Bias, Size: symbols[0].Size}
	}
	f.Locations, _ = file.Locate(f.LookupPC - o.Bias)
}

// infoAround returns the debugging information of a frame outside the images, or nil.
func (f *Frame) infoAround() *value.Info {
	w := &f.session.walker
	o, file := w.object(f.LookupPC)
	if o == nil {
		return nil
	}
	info, ok := w.around.infos[o]
	if !ok {
		info, _ = value.Open(file)
		w.around.infos[o] = info
	}
	return info
}
