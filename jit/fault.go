// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrCode is wrapped by the error for an invalid Code.
var ErrCode = errors.New("invalid description of generated code")

// ErrPublished means that a function overlaps one that is published and not withdrawn. The
// error that wraps it names both.
var ErrPublished = errors.New("published already")

// FunctionError is the fault of one function of a batch. The other functions can be published.
type FunctionError struct {
	Index   int    // in Code.Functions
	Name    string // "" if Code.NameOf would return it
	Address uint64
	Err     error // wraps ErrCode, ErrPublished or an error of a publisher
}

func (e *FunctionError) Error() string {
	name := strconv.Quote(e.Name)
	if e.Name == "" {
		name = strconv.Itoa(e.Index)
	}
	return fmt.Sprintf("function %s at %#x: %v", name, e.Address, e.Err)
}

func (e *FunctionError) Unwrap() error { return e.Err }

// FunctionErrors are the faults of a batch, in ascending order of Index, at most one for each
// function. A [Publisher] returns them, itself or wrapped, if the batch can be published
// without these functions.
type FunctionErrors []*FunctionError

// maxListed is the number of faults that a message lists.
const maxListed = 10

func (e FunctionErrors) Error() string {
	var s strings.Builder
	for i, f := range e[:min(len(e), maxListed)] {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(f.Error())
	}
	if n := len(e) - maxListed; n > 0 {
		fmt.Fprintf(&s, "\nand %d more functions", n)
	}
	return s.String()
}

// Unwrap returns the faults for errors.Is and errors.As.
func (e FunctionErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, f := range e {
		all[i] = f
	}
	return all
}

// Err returns e, or nil if e is empty.
func (e FunctionErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// within reports whether there are faults, in ascending order, of a batch of n functions.
func (e FunctionErrors) within(n int) bool {
	previous := -1
	for _, f := range e {
		if f.Index <= previous || f.Index >= n {
			return false
		}
		previous = f.Index
	}
	return len(e) > 0
}

// Fault returns the error of a function of the batch. It is for publishers.
func (c *Code) Fault(index int, err error) *FunctionError {
	f := &c.Functions[index]
	return &FunctionError{index, f.Name, c.Start(f), err}
}

// subset is a batch without some of its functions.
type subset struct {
	code  *Code
	index []int // in the whole batch, by index in code.Functions; nil if code is the whole batch
}

// whole returns the index in the whole batch.
func (s *subset) whole(index int) int {
	if s.index == nil {
		return index
	}
	return s.index[index]
}

// without returns the subset without the functions at fault, and without empty ones.
func (s subset) without(faults FunctionErrors) subset {
	c := *s.code
	c.Functions = make([]Function, 0, len(s.code.Functions)-len(faults))
	index := make([]int, 0, cap(c.Functions)) // in the whole batch
	own := make([]int, 0, cap(c.Functions))   // in s
	for i := range s.code.Functions {
		if len(faults) > 0 && faults[0].Index == i {
			faults = faults[1:]
		} else if f := &s.code.Functions[i]; f.Size > 0 {
			c.Functions = append(c.Functions, *f)
			index, own = append(index, s.whole(i)), append(own, i)
		}
	}
	if name := s.code.NameOf; name != nil {
		c.NameOf = func(i int) string { return name(own[i]) }
	}
	if lines := s.code.LinesOf; lines != nil {
		c.LinesOf = func(i int) []Line { return lines(own[i]) }
	}
	return subset{&c, index}
}

// adjust returns the faults with the indexes of the whole batch.
func (s *subset) adjust(faults FunctionErrors) FunctionErrors {
	if s.index == nil {
		return faults
	}
	all := make(FunctionErrors, len(faults))
	for i, f := range faults {
		g := *f
		g.Index = s.index[f.Index]
		all[i] = &g
	}
	return all
}

// part is the registration of a subset.
type part struct {
	Registration
	index []int // in the whole batch; ascending
}

func (p *part) WithdrawFunctions(functions ...int) error {
	own := make([]int, 0, len(functions))
	for _, f := range functions {
		if i, ok := slices.BinarySearch(p.index, f); ok {
			own = append(own, i)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return p.Registration.WithdrawFunctions(own...)
}
