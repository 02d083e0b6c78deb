// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
)

// Range is a range of addresses.
type Range struct{ Start, End uint64 } // [Start, End)

// Function is a function of an image.
type Function struct {
	Name  string
	Start uint64 // address
	Size  uint64 // bytes; 0 where the image does not say
}

// Image is code in memory and the ELF bytes that describe it at its addresses.
// Several sessions can use one image at once: breakpoints of one do not stop
// another. Its methods may be called from several goroutines.
type Image struct {
	name string
}

// ImageOptions changes what LoadImage does.
type ImageOptions struct {
	// Imports are searched for symbols that none of the objects defines, in order.
	Imports []*Image
}

// NewImage makes an image of a batch, whose memory stays the caller's and must
// stay mapped until the image is closed. Nothing is published.
func NewImage(c *jit.Code) (*Image, error) { return nil, errNotYet }

// LoadImage loads and links relocatable objects, as compilers make them, into
// memory of the image's own.
func LoadImage(o *ImageOptions, objects ...*object.File) (*Image, error) { return nil, errNotYet }

// Name returns what the image is called: the batch's name, or the files'.
func (i *Image) Name() string { return i.name }

// Ranges returns where the code is, in ascending order.
func (i *Image) Ranges() []Range { return nil }

// Contains reports whether an address is in the code.
func (i *Image) Contains(address uint64) bool { return false }

// Files returns what describes the code: one file a batch or object. All their
// addresses are those of the memory; there is no bias.
func (i *Image) Files() []*object.File { return nil }

// ELF returns the bytes of the files, in the same order. They must not be changed.
func (i *Image) ELF() [][]byte { return nil }

// File returns the file that describes the code at an address, or nil.
func (i *Image) File(address uint64) *object.File { return nil }

// Symbol returns the address of a function or of data, by its name.
func (i *Image) Symbol(name string) (address uint64, ok bool) { return 0, false }

// Functions returns all functions, in ascending order of their addresses.
func (i *Image) Functions() []Function { return nil }

// Function returns the function that covers an address.
func (i *Image) Function(address uint64) (Function, bool) { return Function{}, false }

// Close gives the image's memory back. The error wraps ErrInUse while a session
// has the image.
func (i *Image) Close() error { return nil }
