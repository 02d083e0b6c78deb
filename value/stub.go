// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
)

var errNotYet = errors.New("not implemented yet")

type (
	unit        struct{}
	unitRange   struct{}
	entry       struct{}
	body        struct{}
	access      struct{}
	sections    struct{}
	arrayLength struct{}
)

func open(f *object.File) (*Info, error)                         { return nil, errNotYet }
func (i *Info) scopes(pc uint64) ([]*Scope, error)               { return nil, errNotYet }
func (i *Info) functionAt(pc uint64) (*Function, error)          { return nil, errNotYet }
func (i *Info) functionsOf(name string) ([]*Function, error)     { return nil, errNotYet }
func (i *Info) global(name string, pc uint64) (*Variable, error) { return nil, errNotYet }
func (i *Info) globals(pc uint64) ([]*Variable, error)           { return nil, errNotYet }
func (i *Info) typeOf(name string, pc uint64) (*Type, error)     { return nil, errNotYet }
func (i *Info) enumerator(name string, pc uint64) (Value, error) { return Value{}, errNotYet }
func (i *Info) languageAt(pc uint64) Language                    { return C }
func (t *Type) sizeAt(int) uint64                                { return t.size }
func (t *Type) isSigned() bool                                   { return t.signed }
func (t *Type) element() *Type                                   { return t.elem }
func (t *Type) strip() *Type                                     { return t }
func (t *Type) arrayLen() (uint64, bool)                         { return 0, false }
func (t *Type) load()                                            {}
func (t *Type) equal(u *Type, depth int) bool                    { return t == u }
func (t *Type) text() string                                     { return t.name }
func pointerTo(t *Type) *Type                                    { return nil }
func arrayOf(t *Type, n uint64) *Type                            { return nil }
func base(m *arch.Machine, name string) *Type                    { return nil }
func (v *Variable) read(f Frame) Value                           { return Value{err: errNotYet} }
func (v *Variable) readEntry(f Frame) Value                      { return Value{err: errNotYet} }
func at(t *Type, address uint64, f Frame) Value                  { return Value{err: errNotYet} }
func constant(t *Type, p []byte, f Frame) Value                  { return Value{err: errNotYet} }
func (v Value) place() []Piece                                   { return nil }
func (v Value) address() (uint64, bool)                          { return 0, false }
func (v Value) check() error                                     { return v.err }
func (v Value) bytes() ([]byte, error)                           { return nil, errNotYet }
func (v Value) uint() (uint64, error)                            { return 0, errNotYet }
func (v Value) float() (float64, error)                          { return 0, errNotYet }
func (v Value) field(i int) Value                                { return Value{err: errNotYet} }
func (v Value) fieldByName(name string) Value                    { return Value{err: errNotYet} }
func (v Value) index(i int64) Value                              { return Value{err: errNotYet} }
func (v Value) deref() Value                                     { return Value{err: errNotYet} }
func (v Value) pointer() Value                                   { return Value{err: errNotYet} }
func (v Value) decay() Value                                     { return Value{err: errNotYet} }
func (v Value) cast(t *Type) Value                               { return Value{err: errNotYet} }
func (v Value) assign(w Writer, p []byte) error                  { return errNotYet }
func (p *Printer) print(v Value) (string, error)                 { return "", errNotYet }
func (p *Printer) text(v Value) string                           { return "" }
func (p *Printer) argument(v *Variable, f Frame) string          { return "" }
