// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"unicode/utf8"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// jsonText appends JSON without building it first: files have a million rows.
type jsonText struct{ buf []byte }

// key starts a member of an object; the first of an object follows open.
func (j *jsonText) key(name string) {
	if last := j.buf[len(j.buf)-1]; last != '{' {
		j.buf = append(j.buf, ',')
	}
	j.buf = append(j.buf, '"')
	j.buf = append(j.buf, name...)
	j.buf = append(j.buf, `":`...)
}

func (j *jsonText) text(name, value string) {
	j.key(name)
	j.buf = appendJSONString(j.buf, value)
}

func (j *jsonText) hex(name string, value uint64) {
	j.key(name)
	j.buf = append(j.buf, '"')
	j.buf = style.AppendHex(j.buf, value)
	j.buf = append(j.buf, '"')
}

func (j *jsonText) yes(name string) {
	j.key(name)
	j.buf = append(j.buf, "true"...)
}

// appendJSONString appends s as JSON (RFC 8259 §7); what is not UTF-8 becomes
// U+FFFD, as encoding/json has it, and what is not printable is escaped.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = printable.AppendJSON(dst, r)
			i += size
		}
	}
	return append(dst, '"')
}
