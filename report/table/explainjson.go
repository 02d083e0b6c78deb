// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import "io"

// ExplainSchema describes what [Explanation.JSON] and [Uncovered.JSON] write.
const ExplainSchema = `One object:
  address         the requested address
  covered         whether an FDE covers it; if not, only "before" and "after"
                  follow, the nearest functions: {"function", "start", "end"}
  function, symbol, function_start, function_end, section, fde, cie,
  return_address, signal_frame, personality, lsda   as for 'clew table --json'
  place           "main+0x27"
  row             {"start", "end", "index", "count"}; index starts at 1
  cfa             {"rule", "register", "offset", "expression", "text", "from"}
  registers       by name, in the same form
  args_size, signed   only if they are set
  also            other FDEs that cover the address: [{"section", "fde"}]
  code            with --source: [{"address", "size", "text", "file", "line"}]
"from" is {"op", "offset", "entry", "entry_offset"}: the instruction that set the
rule, and the CIE or FDE that holds it, by their offsets in the section.`

// JSON writes the explanation as one line, as ExplainSchema describes. code is the code of
// the function, or nil.
func (e *Explanation) JSON(w io.Writer, code []CodeLine) error {
	j := jsonText{[]byte{'{'}}
	j.hex("address", e.Address)
	j.isTrue("covered")
	j.text("place", e.Place())
	j.function(&e.Function)
	j.open("row", '{')
	j.hex("start", e.Start)
	j.hex("end", e.End)
	j.number("index", int64(e.Index))
	j.number("count", int64(e.Rows))
	j.buf = append(j.buf, '}')
	s := e.Function.FDE.CIE.Section
	n := notation{section: s}
	j.key("cfa")
	j.explained(e, &n, e.CFA, true)
	j.open("registers", '{')
	for _, r := range e.Registers {
		j.key(s.Machine.RegisterName(r.Column))
		j.explained(e, &n, r, false)
	}
	j.buf = append(j.buf, '}')
	if e.ArgumentsSize > 0 {
		j.number("args_size", int64(e.ArgumentsSize))
	}
	if e.Signed {
		j.isTrue("signed")
	}
	if len(e.Also) > 0 {
		j.open("also", '[')
		for i := range e.Also {
			if i > 0 {
				j.buf = append(j.buf, ',')
			}
			j.buf = append(j.buf, '{')
			j.text("section", e.Also[i].FDE.CIE.Section.Name)
			j.hex("fde", e.Also[i].FDE.Offset)
			j.buf = append(j.buf, '}')
		}
		j.buf = append(j.buf, ']')
	}
	if code != nil {
		j.open("code", '[')
		for i := range code {
			if i > 0 {
				j.buf = append(j.buf, ',')
			}
			j.code(&code[i])
		}
		j.buf = append(j.buf, ']')
	}
	_, err := w.Write(append(j.buf, '}', '\n'))
	return err
}

func (j *jsonText) code(l *CodeLine) {
	j.buf = append(j.buf, '{')
	j.hex("address", l.Address)
	j.number("size", int64(l.Size))
	j.text("text", l.Text)
	if l.Line > 0 {
		j.text("file", l.File)
		j.number("line", int64(l.Line))
	}
	j.buf = append(j.buf, '}')
}

// explained appends a rule with its origin.
func (j *jsonText) explained(e *Explanation, n *notation, r Explained, ofCFA bool) {
	j.rule(n, r.Rule, ofCFA)
	if !r.From.Set {
		return
	}
	fde := e.Function.FDE
	j.buf = j.buf[:len(j.buf)-1]
	j.open("from", '{')
	j.text("op", r.From.Op.Name(fde.CIE.Section.Machine))
	j.hex("offset", r.From.Offset)
	if r.From.InCIE {
		j.text("entry", "cie")
		j.hex("entry_offset", fde.CIE.Offset)
	} else {
		j.text("entry", "fde")
		j.hex("entry_offset", fde.Offset)
	}
	j.buf = append(j.buf, '}', '}')
}

// JSON writes the address and the nearest functions as one line, as ExplainSchema describes.
func (u *Uncovered) JSON(w io.Writer) error {
	j := jsonText{[]byte{'{'}}
	j.hex("address", u.Address)
	j.key("covered")
	j.buf = append(j.buf, "false"...)
	for _, near := range []struct {
		name string
		f    *Function
	}{{"before", u.Before}, {"after", u.After}} {
		if near.f == nil {
			continue
		}
		j.open(near.name, '{')
		j.text("function", near.f.Name())
		j.hex("start", near.f.FDE.Start)
		j.hex("end", near.f.FDE.End)
		j.buf = append(j.buf, '}')
	}
	_, err := w.Write(append(j.buf, '}', '\n'))
	return err
}
