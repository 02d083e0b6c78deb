// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// anyValue presents a std::any. The function that manages its value is a member of a class
// that is made with the value's type, and that says where the value is.
func anyValue(a instance) (print.Presentation, bool) {
	manager, err := a.FieldByName("_M_manager").Uint()
	if err != nil {
		return print.Presentation{}, false
	}
	if manager == 0 {
		return print.Presentation{Text: a.template + " [no contained value]"}, true
	}
	info := a.Frame().Info()
	if info == nil {
		return print.Presentation{}, false
	}
	fn, err := info.FunctionAt(manager - a.Frame().Bias())
	if err != nil {
		return print.Presentation{}, false
	}
	class := fn.Class()
	if class == nil || argument(class, 0) == nil {
		return print.Presentation{}, false
	}
	elem := argument(class, 0)
	var at uint64
	var ok bool
	switch name, _, _ := strings.Cut(class.Name(), "<"); lastOf(name) {
	case "_Manager_internal":
		at, ok = field(a.Value, "_M_storage._M_buffer").Address()
	case "_Manager_external":
		at, err = field(a.Value, "_M_storage._M_ptr").Uint()
		ok = err == nil
	}
	if !ok {
		return print.Presentation{}, false
	}
	held := value.At(elem, at, a.Frame())
	p := a.holding(a.template, "[contained value]", held)
	if p.Text == a.template {
		p.Text += " containing " + short(elem.String())
	}
	return p, true
}
