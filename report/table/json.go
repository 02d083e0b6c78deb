// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// JSON prints the rows of functions as JSON, a line for each row, as Schema describes. The
// zero value is ready to use. It must not be used concurrently.
type JSON struct {
	interpreter cfi.Interpreter
	rules       notation
	json        jsonText
	head        []byte // the start of all rows of the function
}

// Schema describes the lines that JSON prints.
const Schema = `Each line is an object for one row:
  function        a demangled symbol, "sym+0x10", a section such as ".plt", or the
                  address
  symbol          the symbol as the file has it; absent if there is none
  function_start  the first address that the FDE covers
  function_end    the address after the last
  start, end      the addresses of the row; end is not included
  cfa             {"rule", "register", "offset", "expression", "text"}
  registers       by name: {"rule", "register", "offset", "expression", "text"}
  return_address  the name of the return address column in "registers"
  section, fde, cie   the section, and the offsets of the entries in it
  args_size, signed, signal_frame, personality, lsda   only if they are set
"rule" is one of undefined, same_value, offset, val_offset, register, expression,
val_expression; for the CFA: register, val_expression, unspecified.
Registers without a rule are absent. "offset" is in bytes, relative to the CFA; in the
rule of the CFA it is relative to the register. "text" is the rule as the table
prints it. A malformed entry gives {"section", "offset", "error"} after the rows that
could be read. Addresses and file offsets are strings ("0x1139").`

// Function prints the rows of one function. See [Printer] for the errors.
func (t *JSON) Function(w io.Writer, f *Function) (fault, err error) {
	fde := f.FDE
	s := fde.CIE.Section
	t.rules.section = s
	j := &t.json
	j.buf = append(j.buf[:0], '{')
	j.function(f)
	t.head = append(t.head[:0], j.buf...)
	j.buf = j.buf[:0]
	for row := range t.interpreter.Rows(fde) {
		j.buf = append(j.buf, t.head...)
		t.row(row)
		if len(j.buf) > maxPending {
			if _, err := w.Write(j.buf); err != nil {
				return nil, err
			}
			j.buf = j.buf[:0]
		}
	}
	if _, err := w.Write(j.buf); err != nil {
		return nil, err
	}
	if fault = t.interpreter.Err(); fault != nil {
		err = t.Fault(w, s, fde.Offset, fault)
	}
	return fault, err
}

// function appends the members that all rows of a function share.
func (j *jsonText) function(f *Function) {
	fde, cie := f.FDE, f.FDE.CIE
	j.text("function", f.Name())
	if f.Symbol != "" {
		j.text("symbol", f.Symbol)
	}
	j.hex("function_start", fde.Start)
	j.hex("function_end", fde.End)
	j.text("section", cie.Section.Name)
	j.hex("fde", fde.Offset)
	j.hex("cie", cie.Offset)
	j.text("return_address", cie.Section.Machine.RegisterName(cie.ReturnAddress))
	if cie.SignalFrame {
		j.isTrue("signal_frame")
	}
	if cie.Personality.Address != 0 {
		j.pointer("personality", cie.Personality)
	}
	if fde.LSDA.Address != 0 {
		j.pointer("lsda", fde.LSDA)
	}
}

// pointer appends an address. In brackets it is that of a slot that contains the address.
func (j *jsonText) pointer(name string, p cfi.Pointer) {
	j.key(name)
	j.buf = append(j.buf, '"')
	j.buf = appendPointer(j.buf, p)
	j.buf = append(j.buf, '"')
}

func (t *JSON) row(row *cfi.Row) {
	j := &t.json
	j.hex("start", row.Start)
	j.hex("end", row.End)
	j.key("cfa")
	j.rule(&t.rules, row.CFA, true)
	j.key("registers")
	j.registers(&t.rules, row.Registers)
	if row.ArgumentsSize != 0 {
		j.key("args_size")
		j.buf = strconv.AppendUint(j.buf, row.ArgumentsSize, 10)
	}
	if row.Signed {
		j.isTrue("signed")
	}
	j.buf = append(j.buf, '}', '\n')
}

func (j *jsonText) registers(n *notation, rules []cfi.RegisterRule) {
	j.buf = append(j.buf, '{')
	for i := range rules {
		if i > 0 {
			j.buf = append(j.buf, ',')
		}
		j.buf = append(j.buf, '"')
		j.buf = n.section.Machine.AppendRegisterName(j.buf, uint64(rules[i].Column))
		j.buf = append(j.buf, '"', ':')
		j.rule(n, rules[i].Rule, false)
	}
	j.buf = append(j.buf, '}')
}

// rule appends the rule of the CFA or of a register.
func (j *jsonText) rule(n *notation, r cfi.Rule, ofCFA bool) {
	j.buf = append(j.buf, '{')
	j.text("rule", ruleNames[r.Kind])
	switch r.Kind {
	case cfi.Register:
		j.key("register")
		j.buf = append(j.buf, '"')
		j.buf = n.section.Machine.AppendRegisterName(j.buf, uint64(r.Register))
		j.buf = append(j.buf, '"')
	case cfi.Expression, cfi.ValExpression:
		j.text("expression", string(appendOperations(nil, n.section, uint64(r.Offset), uint64(r.Register))))
	}
	if r.Kind == cfi.Offset || r.Kind == cfi.ValOffset || r.Kind == cfi.Register && ofCFA {
		j.key("offset")
		j.buf = strconv.AppendInt(j.buf, r.Offset, 10)
	}
	j.key("text")
	j.buf = append(j.buf, '"')
	if ofCFA {
		j.buf = n.appendCFA(j.buf, r)
	} else {
		j.buf = n.appendRule(j.buf, r)
	}
	j.buf = append(j.buf, '"', '}')
}

// CIE prints nothing, because its rules are part of its functions' rows.
func (t *JSON) CIE(io.Writer, *cfi.CIE) (fault, err error) { return nil, nil }

// Terminator prints nothing.
func (t *JSON) Terminator(io.Writer, *cfi.Section, uint64) error { return nil }

// Fault prints the error of an entry.
func (t *JSON) Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	return printFaultJSON(w, s, offset, fault)
}

func printFaultJSON(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	j := jsonText{[]byte{'{'}}
	j.text("section", s.Name)
	j.hex("offset", offset)
	j.text("error", fault.Error())
	_, err := w.Write(append(j.buf, '}', '\n'))
	return err
}

// jsonText is JSON in the making. It appends members without building values first, because
// files have a million rows.
type jsonText struct{ buf []byte }

// key starts a member of an object.
func (j *jsonText) key(name string) {
	if last := j.buf[len(j.buf)-1]; last != '{' {
		j.buf = append(j.buf, ',')
	}
	j.buf = append(j.buf, '"')
	j.buf = append(j.buf, name...)
	j.buf = append(j.buf, `":`...)
}

// open starts a member that is an object, with '{', or a list, with '['.
func (j *jsonText) open(name string, bracket byte) {
	j.key(name)
	j.buf = append(j.buf, bracket)
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

func (j *jsonText) number(name string, v int64) {
	j.key(name)
	j.buf = strconv.AppendInt(j.buf, v, 10)
}

// isTrue appends a member with the value true.
func (j *jsonText) isTrue(name string) {
	j.key(name)
	j.buf = append(j.buf, "true"...)
}

// appendJSONString appends s as JSON (RFC 8259 §7). It replaces invalid UTF-8 by U+FFFD, as
// encoding/json does, and escapes characters that are not printable.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c >= ' ' && c < 0x7f:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = printable.AppendJSON(dst, r)
			i += size
		}
	}
	return append(dst, '"')
}
