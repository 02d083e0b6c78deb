// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"path"
	"strings"

	"github.com/clewdev/clew/internal/dw"
)

// producer returns what DW_AT_producer says.
func (d *Data) producer(o *openUnit) string {
	return string(d.text(o.code, &o.codeRoot, o.codeRoot.producer))
}

// isLLVM reports whether gdb takes a producer for LLVM. Distributions that put
// their name before clang's escape it; clang marks the ends of prologues.
func isLLVM(producer string) bool {
	return strings.HasPrefix(producer, "clang ") || strings.HasPrefix(producer, " F90 Flang ")
}

// locationsValid reports whether the locations of variables are valid in prologues too,
// so that prologues need not be skipped: with location lists of gcc 4.5 or later.
func (d *Data) locationsValid(o *openUnit) bool {
	if o == nil || !o.functions.lists {
		return false
	}
	version, ok := strings.CutPrefix(d.producer(o), "GNU ")
	if !ok {
		return false
	}
	// "GNU C17 12.2.0 -O2", "GNU AS 2.40"
	i := 0
	for _, word := range strings.Fields(version) {
		if word[0] >= '0' && word[0] <= '9' {
			break
		}
		i++
	}
	fields := strings.Fields(version)
	if i >= len(fields) {
		return false
	}
	numbers := strings.Split(fields[i], ".")
	major := decimal(numbers[0])
	return major > 4 || major == 4 && len(numbers) > 1 && decimal(numbers[1]) >= 5
}

// decimal returns the number that a text starts with.
func decimal(text string) (n int) {
	for i := 0; i < len(text) && i < 6 && text[i] >= '0' && text[i] <= '9'; i++ {
		n = 10*n + int(text[i]-'0')
	}
	return n
}

// isAssembly reports whether a file is in assembly language, where each row is
// an instruction of its own.
func isAssembly(o *openUnit, file string) bool {
	switch path.Ext(file) {
	case ".s", ".S", ".sx":
		return true
	}
	return o.codeRoot.language == dw.LangMipsAssembler || o.codeRoot.language == dw.LangAssembly
}
