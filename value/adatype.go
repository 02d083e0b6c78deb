// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"strings"
)

// ada returns the name of a type as gdb's whatis has it in Ada: that of the source, else
// how the type is made.
func (n *namer) ada(t *Type, depth int) string {
	if n.left--; n.left < 0 || depth > maxChain {
		return "..."
	}
	name := ""
	if t.name != "" {
		if name = AdaName(t.name); name[0] == '<' && t.kind != Array {
			name, _, _ = strings.Cut(t.name, "___")
			name = strings.ReplaceAll(name, "__", ".")
		}
	}
	switch t.kind {
	case Const, Volatile, Restrict, Atomic:
		return n.ada(t.Elem(), depth+1)
	case Reference:
		return "<ref> " + n.ada(t.Elem(), depth+1)
	case Pointer:
		return "access " + n.ada(t.Elem(), depth+1)
	case Func:
		return n.adaProfile(t, depth)
	case Array:
		if name == "" || name[0] == '<' {
			return n.adaArray(t, depth)
		}
	}
	switch {
	case name != "":
		return name
	case t.kind == Struct || t.kind == Union:
		return "record ... end record"
	}
	return t.tagged()
}

func (n *namer) adaProfile(t *Type, depth int) string {
	var params []string
	for k, p := range t.Params() {
		if n.left < 0 {
			break
		}
		params = append(params, fmt.Sprintf("a%d: %s", k+1, n.ada(p, depth+1)))
	}
	list := ""
	if len(params) > 0 {
		list = " (" + strings.Join(params, "; ") + ")"
	}
	if result := t.Elem(); result.kind != Void {
		return "function" + list + " return " + n.ada(result, depth+1)
	}
	return "procedure" + list
}

func (n *namer) adaArray(t *Type, depth int) string {
	var bounds []string
	packed := int64(0)
	for ; t.kind == Array && len(bounds) < maxChain; t = t.Elem() {
		if _, known := t.Len(); known {
			bounds = append(bounds, fmt.Sprintf("%d .. %d", t.lower, t.lower+int64(t.count)-1))
		} else {
			bounds = append(bounds, "<>")
		}
		packed = t.stride
	}
	text := "array (" + strings.Join(bounds, ", ") + ") of " + n.ada(t, depth+1)
	if packed > 0 {
		text += fmt.Sprintf(" <packed: %d-bit elements>", packed)
	}
	return text
}
