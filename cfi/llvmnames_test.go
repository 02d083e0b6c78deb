// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/cfi"
)

// llvmNames are llvm-dwarfdump's names of the columns of a machine.
type llvmNames struct {
	mu     sync.RWMutex
	name   map[uint64]string
	column map[string]uint64
}

// learn takes the names of columns from a row of llvm-dwarfdump, which lists registers in
// the order of their columns.
func (n *llvmNames) learn(s *cfi.Section, row *cfi.Row, rules string) error {
	cfa, registers, _ := strings.Cut(rules, ": ")
	cfa = strings.TrimPrefix(cfa, "CFA=")
	if row.CFA.Kind == cfi.Register {
		name, found := strings.CutSuffix(cfa, string(appendSigned(nil, row.CFA.Offset)))
		if !found || strings.ContainsAny(name, "+-") {
			return fmt.Errorf("the CFA is column %d %+d", row.CFA.Register, row.CFA.Offset)
		}
		if err := n.bind(uint64(row.CFA.Register), name); err != nil {
			return err
		}
	} else if err := n.learnOperations(s, row.CFA, cfa); err != nil {
		return err
	}
	for _, r := range row.Registers {
		name, rest, found := strings.Cut(registers, "=")
		if !found {
			return fmt.Errorf("no rule for column %d", r.Column)
		}
		if err := n.bind(uint64(r.Column), name); err != nil {
			return err
		}
		end := len(rest)
		// The next register follows a comma and precedes "="; an operation of an
		// expression only follows a comma.
		if i := strings.IndexByte(rest, '='); i >= 0 {
			end = max(strings.LastIndex(rest[:i], ", "), 0)
		}
		if err := n.learnOperations(s, r.Rule, strings.Trim(rest[:end], "[]")); err != nil {
			return err
		}
		if r.Kind == cfi.Register {
			if err := n.bind(uint64(r.Register), rest[:end]); err != nil {
				return err
			}
		}
		registers = strings.TrimPrefix(rest[end:], ", ")
	}
	return nil
}

func (n *llvmNames) learnOperations(s *cfi.Section, rule cfi.Rule, text string) error {
	if s.Expression(rule) == nil {
		return nil
	}
	operations := strings.Split(text, ", ")
	for o, err := range operationsOf(s, rule) {
		if err != nil || len(operations) == 0 {
			return fmt.Errorf("operations %q: %v", operations, err)
		}
		_, operand, _ := strings.Cut(operations[0], " ")
		operations = operations[1:]
		if o.Op >= cfi.OpBreg0 && o.Op < cfi.OpRegx {
			name, found := strings.CutSuffix(operand, fmt.Sprintf("%+d", o.Operands[0]))
			if !found {
				return fmt.Errorf("%v %d is %q", o.Op, o.Operands[0], operand)
			}
			if err := n.bind(uint64(o.Op-cfi.OpBreg0), name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *llvmNames) bind(column uint64, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.name == nil {
		n.name, n.column = make(map[uint64]string), make(map[string]uint64)
	}
	other, known := n.column[name]
	if was := n.name[column]; was == name {
		return nil
	} else if was != "" || known || name == "" {
		return fmt.Errorf("column %d is %q, but was %q; that name was column %d", column, name, was, other)
	}
	n.name[column], n.column[name] = name, column
	return nil
}

func operationsOf(s *cfi.Section, rule cfi.Rule) iter.Seq2[cfi.Operation, error] {
	if s.Expression(rule) == nil {
		return func(func(cfi.Operation, error) bool) {}
	}
	return s.Operations(uint64(rule.Offset), uint64(rule.Register))
}

func appendSigned(b []byte, offset int64) []byte {
	if offset > 0 {
		b = append(b, '+')
	}
	if offset == 0 {
		return b
	}
	return strconv.AppendInt(b, offset, 10)
}

// render appends a row in the format of llvm-dwarfdump, without the address.
func (n *llvmNames) render(b []byte, s *cfi.Section, row *cfi.Row) []byte {
	n.mu.RLock()
	defer n.mu.RUnlock()
	b = append(b, "CFA="...)
	switch row.CFA.Kind {
	case cfi.Register:
		b = append(b, n.name[uint64(row.CFA.Register)]...)
		b = appendSigned(b, row.CFA.Offset)
	case cfi.ValExpression:
		b = n.operations(b, s, row.CFA)
	default:
		b = append(b, "unspecified"...)
	}
	for i, r := range row.Registers {
		if i == 0 {
			b = append(b, ": "...)
		} else {
			b = append(b, ", "...)
		}
		b = append(append(b, n.name[uint64(r.Column)]...), '=')
		switch r.Kind {
		case cfi.Undefined:
			b = append(b, "undefined"...)
		case cfi.SameValue:
			b = append(b, "same"...)
		case cfi.Offset:
			b = append(appendSigned(append(b, "[CFA"...), r.Offset), ']')
		case cfi.ValOffset:
			b = appendSigned(append(b, "CFA"...), r.Offset)
		case cfi.Register:
			b = append(b, n.name[uint64(r.Rule.Register)]...)
		case cfi.Expression:
			b = append(n.operations(append(b, '['), s, r.Rule), ']')
		case cfi.ValExpression:
			b = n.operations(b, s, r.Rule)
		}
	}
	return b
}

func (n *llvmNames) operations(b []byte, s *cfi.Section, rule cfi.Rule) []byte {
	first := true
	for o, err := range operationsOf(s, rule) {
		if !first {
			b = append(b, ", "...)
		}
		first = false
		if err != nil {
			return append(b, err.Error()...)
		}
		b = append(b, o.Op.String()...)
		switch op := o.Op; {
		case op >= cfi.OpBreg0 && op < cfi.OpRegx:
			b = fmt.Appendf(b, " %s%+d", n.name[uint64(op-cfi.OpBreg0)], o.Operands[0])
		case op == cfi.OpConst1s || op == cfi.OpConst2s || op == cfi.OpConst4s || op == cfi.OpConst8s || op == cfi.OpConsts:
			b = fmt.Appendf(b, " %+d", o.Operands[0])
		case op >= cfi.OpConst1u && op <= cfi.OpConstu || op == cfi.OpPlusUconst || op == cfi.OpAddr || op == cfi.OpPick || op == cfi.OpDerefSize:
			b = fmt.Appendf(b, " %#x", uint64(o.Operands[0]))
		case op == cfi.OpBra || op == cfi.OpSkip:
			b = fmt.Appendf(b, " %+d", o.Operands[0])
		}
	}
	return b
}
