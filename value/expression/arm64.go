// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

// arm64 sets r if it is a part of a register, or a register without a column.
func (r *register) arm64(m *arch.Machine) {
	if n, ok := registerNumber(r.name, "w", "", 31); ok {
		r.column, r.typ = n, value.IntOf(m, "int", 4, true)
	}
	if n, ok := registerNumber(r.name, "v", "", 32); ok {
		r.column, r.typ = 64+n, vector(m, "aarch64v", 16)
	}
	for prefix, base := range map[string]string{"d": "double", "s": "float"} {
		if n, ok := registerNumber(r.name, prefix, "", 32); ok {
			r.column, r.typ = 64+n, value.Base(m, base)
		}
	}
	switch r.name {
	case "cpsr", "fpsr", "fpcr":
		r.part(m, 0, 0, 4)
		r.named = true
	}
}
