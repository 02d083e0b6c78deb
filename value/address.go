// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/value/internal/number"
)

// Address returns the run-time address of a variable that lies in memory, where
// that is told the way compilers tell it of variables that have a place of their
// own: at an address, or at an offset from the frame. Of others it returns false,
// and Read tells where they are. It allocates nothing, for conditions that are
// asked often.
func (v *Variable) Address(f Frame) (uint64, bool) {
	e := v.location.bytes
	if v.location.kind != attributeBlock || len(e) < 2 || v.constant.kind != attributeAbsent || v.info == nil {
		return 0, false
	}
	m := v.info.machine
	switch cfi.Op(e[0]) {
	case cfi.OpAddr:
		if len(e) != 1+m.AddressSize || m.AddressSize > 8 {
			return 0, false
		}
		return number.Uint(m.Order, e[1:]) + f.Bias(), true
	case cfi.OpFbreg:
		offset, n, err := leb128.Int(e[1:])
		if err != nil || n != len(e)-1 || v.body == nil {
			return 0, false
		}
		base, ok := v.body.simpleBase(f)
		return base + uint64(offset), ok
	}
	return 0, false
}

// simpleBase returns the frame base of a function where it is the CFA or what a
// register holds.
func (b *body) simpleBase(f Frame) (uint64, bool) {
	e := b.frameBase.bytes
	if b.frameBase.kind != attributeBlock || len(e) != 1 {
		return 0, false
	}
	switch op := cfi.Op(e[0]); {
	case op == cfi.OpCallFrameCFA:
		return f.CFA()
	case op >= cfi.OpReg0 && op <= cfi.OpReg0+31:
		return f.Register(uint64(op - cfi.OpReg0))
	}
	return 0, false
}

// FileGlobal returns the variable of a name at file scope of a source file, which
// is named by its path or the last components of it. The error wraps ErrNotFound.
func (i *Info) FileGlobal(file, name string) (v *Variable, err error) {
	err = i.locked(func() error {
		err := i.search(nil, func(u *unit) bool {
			root, err := i.root(u)
			if err != nil {
				return false
			}
			path, _ := root.Text(dwarf.AttrName)
			if path != file && !strings.HasSuffix(path, "/"+file) {
				return false
			}
			for _, off := range u.names.variables[name] {
				if found, err := i.variableAt(off, nil); err == nil && !found.external {
					v = found
					return true
				}
			}
			return false
		})
		if err == nil && v == nil {
			err = fmt.Errorf("variable %q of %s: %w", name, file, ErrNotFound)
		}
		if v != nil {
			return nil
		}
		return err
	})
	return v, err
}
