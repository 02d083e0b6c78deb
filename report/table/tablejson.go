// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"io"
	"strconv"

	"github.com/clewdev/clew/cfi"
)

// JSON prints the rows of functions as JSON, a line a row; Schema
// describes it. It is reused from one function to the next, and not safe for
// concurrent use.
type JSON struct {
	interpreter cfi.Interpreter
	rules       notation
	json        jsonText
	head        []byte // what all rows of the function start with
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
		t.row(fde, row)
		if len(j.buf) > maxWaiting {
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

// function appends what all rows of a function share.
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
		j.yes("signal_frame")
	}
	if cie.Personality.Address != 0 {
		j.pointer("personality", cie.Personality)
	}
	if fde.LSDA.Address != 0 {
		j.pointer("lsda", fde.LSDA)
	}
}

// pointer appends an address, in brackets that of a slot which holds it.
func (j *jsonText) pointer(name string, p cfi.Pointer) {
	j.key(name)
	j.buf = append(j.buf, '"')
	j.buf = appendPointer(j.buf, p)
	j.buf = append(j.buf, '"')
}

func (t *JSON) row(fde *cfi.FDE, row *cfi.Row) {
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
		j.yes("signed")
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

// rule appends a rule, of the CFA or of a register.
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

// CIE prints nothing: its rules are part of its functions' rows.
func (t *JSON) CIE(io.Writer, *cfi.CIE) (fault, err error) { return nil, nil }

// Terminator prints nothing.
func (t *JSON) Terminator(io.Writer, *cfi.Section, uint64) error { return nil }

// Fault prints what is wrong with an entry.
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
