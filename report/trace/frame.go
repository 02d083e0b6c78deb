// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"path/filepath"
	"strings"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/stack/recording"
)

// unnamed stands for the name of a function without a name.
const unnamed = "??"

// FunctionName returns the name of the function that a frame is in: its symbol,
// demangled and without version, so that the name is the same with and without
// debugging information; else the name that the debugging information has; "??" if
// neither is known. A signal trampoline has the name that debuggers give it, whatever its
// symbol.
func FunctionName(f *stack.Frame) string {
	if f.Trampoline {
		return "<signal handler called>"
	}
	return functionName(&f.Code, f.Object != nil && f.Object.Generated != generated.None)
}

func functionName(c *stack.Code, generated bool) string {
	if name := c.Symbol.Name; name != "" {
		if !generated {
			name = unversioned(name) // a runtime's own names have no versions, but paths with "@"
		}
		return style.SymbolName(&c.Symbol, name)
	}
	if l := c.Location(); l != nil && l.Function != "" {
		return style.Demangle(l.Function)
	}
	return unnamed
}

// unversioned takes off a symbol what a linker appended: the version of a
// versioned definition, "name@@GLIBC_2.34" (a stub's "name@plt" is none), and
// the calling convention of a Go function in assembly, "runtime.futex.abi0".
func unversioned(symbol string) string {
	symbol = strings.TrimSuffix(symbol, ".abi0")
	if i := strings.IndexByte(symbol, '@'); i > 0 && symbol[i:] != "@plt" {
		return symbol[:i]
	}
	return symbol
}

// appendFrame appends a frame of a stack as profiles hold it: inlined calls, innermost
// first, then the function.
func appendFrame(dst []profile.Frame, f *stack.Frame) []profile.Frame {
	out := profile.Frame{Function: FunctionName(f), Code: codeOf(f)}
	if f.Object != nil {
		out.Object = f.Object.Name
	}
	return appendCalls(dst, out, &f.Code)
}

// appendRecorded appends a frame of a recording, as appendFrame does.
func appendRecorded(dst []profile.Frame, f *recording.Frame) []profile.Frame {
	out := profile.Frame{Function: functionName(&f.Code, f.Kind == recording.JIT)}
	switch f.Kind {
	case recording.Native:
		out.Code = profile.Native
	case recording.Go:
		out.Code = profile.Go
	case recording.JIT:
		out.Code = profile.Generated
	case recording.Kernel:
		out.Code = profile.Kernel
	case recording.Hypervisor:
		out.Object = "[hypervisor]"
	case recording.Guest:
		out.Object = "[guest]"
	}
	if f.Object != nil {
		out.Object = f.Object.Name
	}
	return appendCalls(dst, out, &f.Code)
}

// appendCalls appends the calls that were inlined into a function, and the function.
func appendCalls(dst []profile.Frame, function profile.Frame, c *stack.Code) []profile.Frame {
	if function.Function == unnamed {
		function.Function = ""
	}
	for i := range c.Locations {
		l := &c.Locations[i]
		if i == len(c.Locations)-1 {
			function.File, function.Line = l.File, l.Line
			break
		}
		inlined := function
		inlined.Function, inlined.File, inlined.Line, inlined.Inlined = style.CallName(&c.Symbol, l.Function), l.File, l.Line, true
		dst = append(dst, inlined)
	}
	return append(dst, function)
}

// shownName returns the name of a function for text.
func shownName(f *profile.Frame) string {
	if f.Function == "" && !f.Inlined {
		return unnamed
	}
	return f.Function
}

// shownObject returns the base name of the object of a frame, "" if there is none.
func shownObject(f *profile.Frame) string {
	if f.Object == "" {
		return ""
	}
	return filepath.Base(f.Object)
}

// codeOf returns the kind of a frame's code. A Go program can hold C functions:
// their sources say so, or a name without a package.
func codeOf(f *stack.Frame) profile.Code {
	switch {
	case f.Object == nil:
		return profile.Unknown
	case f.Object.Generated != generated.None:
		return profile.Generated
	case !f.Object.Go:
		return profile.Native
	}
	if l := f.Location(); l != nil && l.File != "" {
		if strings.HasSuffix(l.File, ".go") || strings.HasSuffix(l.File, ".s") {
			return profile.Go
		}
		return profile.Native
	}
	if name := f.Symbol.Name; name != "" && !strings.Contains(name, ".") {
		return profile.Native
	}
	return profile.Go
}
