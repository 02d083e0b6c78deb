// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/value"
)

// unnamed is printed for a function without a name.
const unnamed = "??"

// FunctionName returns the name of a frame's function. It is the symbol, demangled and
// without version, so that debugging information does not change it; else the name in the
// debugging information; else "??". A signal trampoline has the name that debuggers print.
func FunctionName(f *stack.Frame) string {
	if f.Trampoline {
		return "<signal handler called>"
	}
	if name := f.Symbol.Name; name != "" {
		if f.Object.Kind() != stack.Generated {
			name = unversioned(name) // names of generated code have no versions, but can contain paths with "@"
		}
		return style.SymbolName(&f.Symbol, name)
	}
	if l := f.Location(); l != nil && l.Function != "" {
		return style.Demangle(l.Function)
	}
	return unnamed
}

// unversioned returns a symbol without the suffixes of a linker: the version of a versioned
// definition, "name@@GLIBC_2.34", but not the "@plt" of a stub; and the calling convention of
// a Go function in assembly, "runtime.futex.abi0".
func unversioned(symbol string) string {
	symbol = strings.TrimSuffix(symbol, ".abi0")
	if i := strings.IndexByte(symbol, '@'); i > 0 && symbol[i:] != "@plt" {
		return symbol[:i]
	}
	return symbol
}

// appendCalls appends the calls of a frame: the inlined ones, innermost first, then the
// function. Their code is that of the object.
func appendCalls(dst []profile.Frame, f *stack.Frame) []profile.Frame {
	function := profile.Frame{Function: FunctionName(f), Code: profileCodes[f.Object.Kind()]}
	if function.Function == unnamed {
		function.Function = ""
	}
	if f.Object != nil {
		function.Object = f.Object.Name
	}
	for i := range f.Locations {
		l := &f.Locations[i]
		if i == len(f.Locations)-1 {
			function.File, function.Line = l.File, l.Line
			break
		}
		inlined := function
		inlined.Function, inlined.File, inlined.Line, inlined.Inlined = style.CallName(&f.Symbol, l.Function), l.File, l.Line, true
		dst = append(dst, inlined)
	}
	return append(dst, function)
}

// shownName returns the name of a frame's function, "??" if it is unknown.
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

// profileCodes maps kinds of objects to the kinds of code that profiles distinguish.
var profileCodes = [...]profile.Code{
	stack.Unknown: profile.Unknown, stack.Native: profile.Native, stack.Go: profile.Go, stack.Generated: profile.Generated,
	stack.Kernel: profile.Kernel, stack.Hypervisor: profile.Unknown, stack.Guest: profile.Unknown,
}

// codeOf returns the kind of code at a place. A Go program can contain C functions. Their
// source files, or names without a package, identify them.
func codeOf(c *stack.Code) profile.Code {
	if c.Object.Kind() != stack.Go {
		return profileCodes[c.Object.Kind()]
	}
	if l := c.Location(); l != nil && l.File != "" {
		if strings.HasSuffix(l.File, ".go") || strings.HasSuffix(l.File, ".s") {
			return profile.Go
		}
		return profile.Native
	}
	if name := c.Symbol.Name; name != "" && !strings.Contains(name, ".") {
		return profile.Native
	}
	return profile.Go
}

// maxPlaceText limits the text that is kept for other frames at the same addresses, in bytes.
const maxPlaceText = 1 << 20

// placeText is the text that all frames at an address share.
type placeText struct {
	frame stack.Frame // the first frame at the address
	calls int
	lines []lineText // of inlined calls, and last of the function
}

// lineText is the parts of a line before and after the arguments.
type lineText struct{ before, after string }

// textAt returns the text that a frame shares with others. Threads have many frames at a few
// addresses, so the printer keeps the text.
func (p *stackPrinter) textAt(f *stack.Frame, calls []shownCall) *placeText {
	if t := p.places[f.PC]; t != nil && t.isOf(f, len(calls)) {
		return t
	}
	t := &placeText{frame: *f, calls: len(calls)}
	t.frame.Registers = nil
	out := p.out
	for i := range max(len(f.Locations)-1, 0) {
		l := &f.Locations[i]
		p.out = nil
		for range p.digits + 4 {
			p.out = append(p.out, ' ')
		}
		p.function(cmp.Or(style.CallName(&f.Symbol, l.Function), unnamed), call(calls, i, len(f.Locations)))
		before := string(p.out)
		p.out = p.Palette.Dim.Append(p.out[:0], " (inlined)")
		p.out = appendSource(p.out, p.Palette.Source, l.File, l.Line)
		t.lines = append(t.lines, lineText{before, string(p.out)})
	}
	p.out = append([]byte(nil), "0x"...)
	p.out = appendPadded(p.out, f.PC, p.digits)
	p.out = append(p.out, "  "...)
	name, c := FunctionName(f), call(calls, len(f.Locations)-1, len(f.Locations))
	p.function(name, c)
	before := string(p.out)
	p.out = p.out[:0]
	l := f.Location()
	// Arguments and a source line identify the place, so the module is omitted.
	if c == nil || l == nil || l.File == "" {
		p.place(f, name)
	}
	if l != nil {
		p.out = appendSource(p.out, p.Palette.Source, l.File, l.Line)
	}
	t.lines = append(t.lines, lineText{before, string(p.out)})
	p.out = out
	for _, l := range t.lines {
		p.placesSize += len(l.before) + len(l.after)
	}
	if p.places == nil || p.placesSize > maxPlaceText {
		p.places, p.placesSize = make(map[uint64]*placeText), 0
	}
	p.places[f.PC] = t
	return t
}

// isOf reports whether t is also the text of f, which has the same PC. calls is the number of
// its calls with known variables.
func (t *placeText) isOf(f *stack.Frame, calls int) bool {
	o := &t.frame
	return t.calls == calls && o.LookupPC == f.LookupPC && o.Object == f.Object && o.Address == f.Address && o.Trampoline == f.Trampoline &&
		o.Symbol == f.Symbol && slices.Equal(o.Locations, f.Locations)
}

// sourceName returns the name of a function in the source, without parameters, from its name
// in the debugging information and its symbol. Compilers spell the arguments of C++ templates
// differently in debugging information, but not in symbols, so the symbol is preferred, as in
// gdb. In the debugging information, the name of a function within another one, such as the
// body of a lambda, lacks the outer name.
func sourceName(name, symbol string, language value.Language) string {
	if language == value.CPlusPlus && strings.HasPrefix(symbol, "_Z") {
		if qualified, ok := style.DemangleFunction(symbol); ok {
			return qualified
		}
	}
	if symbol == "" || strings.Contains(name, "::") {
		return name
	}
	qualified := style.WithoutParameters(style.Demangle(symbol))
	if strings.HasSuffix(qualified, "::"+name) || strings.HasSuffix(qualified, "."+name) {
		return qualified
	}
	return name
}

// call returns the call for one of a frame's Locations, or nil if its variables are unknown.
// The last call is that of the last location, the function itself.
func call(calls []shownCall, location, locations int) *shownCall {
	i := location + len(calls) - max(locations, 1)
	if i < 0 || i >= len(calls) {
		return nil
	}
	return &calls[i]
}

// arguments writes ` (n=5, s=0x... "text")`.
func (p *stackPrinter) arguments(c *shownCall) {
	p.out = append(p.out, " ("...)
	for i := range c.arguments {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		p.out = printable.Append(p.out, c.arguments[i].line)
	}
	p.out = append(p.out, ')')
}

// locals writes a line for each local variable.
func (p *stackPrinter) locals(c *shownCall) {
	if c == nil {
		return
	}
	for i := range c.locals {
		p.out = append(p.out, "        "...)
		p.out = printable.Append(p.out, c.locals[i].line)
		p.out = append(p.out, '\n')
	}
}
