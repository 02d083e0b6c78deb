// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/printable"
)

// Address is an address that JSON has as a string, "0x1160": numbers above 2^53 lose digits in
// many readers of JSON.
type Address uint64

// MarshalText returns the address in hexadecimal.
func (a Address) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(a)), nil }

// UnmarshalText accepts what MarshalText returns.
func (a *Address) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 0, 64)
	*a = Address(n)
	return err
}

// Known identifies a finding in a baseline. It contains no address, because those of a rebuilt
// program differ.
type Known struct {
	File     string  `json:"file"`             // Part.Key
	Symbol   string  `json:"symbol,omitempty"` // of the function; "" if there is none
	Start    Address `json:"function_start,omitempty"`
	Offset   uint64  `json:"offset"` // of the instruction in the function
	Kind     string  `json:"kind"`
	Register string  `json:"register,omitempty"`
	Expected string  `json:"expected,omitempty"`
	Found    string  `json:"found"`
}

// NewKnown returns what identifies a finding of a part.
func NewKnown(p *Part, f *check.Finding) Known {
	k := Known{File: p.Key, Symbol: f.Name, Start: Address(f.Function), Kind: f.Kind.String(), Register: f.Register, Expected: f.Expected, Found: f.Found}
	if f.Function != 0 {
		k.Offset = f.Address - f.Function
	}
	return k.normal()
}

// normal removes what changes when the code moves.
func (k Known) normal() Known {
	valid := func(s string) string { return string([]rune(s)) } // as in JSON
	k.File, k.Symbol, k.Found = filepath.Base(valid(k.File)), valid(k.Symbol), valid(k.Found)
	if k.Symbol != "" {
		k.Start = 0
	}
	if k.Expected == "" { // a defect of an entry, with addresses in its text
		k.Found = number.ReplaceAllString(k.Found, "0x…")
		k.Start, k.Offset = 0, 0
	}
	return k
}

var number = regexp.MustCompile(`0x[0-9a-f]+`)

// Line returns String as one line of bounded length, without control characters.
func (k Known) Line() string {
	return printable.Shortened(printable.Text(k.String()), printable.MaxName)
}

// String returns the place and the defect of a finding.
func (k Known) String() string {
	place := k.Symbol
	if place == "" {
		place = fmt.Sprintf("%#x", uint64(k.Start))
	}
	if k.Expected == "" {
		return fmt.Sprintf("%s: %s: %s", k.File, k.Kind, k.Found)
	}
	return fmt.Sprintf("%s: %s+%#x: %s: %s", k.File, place, k.Offset, k.Kind, k.Found)
}

// Baseline is a list of known findings. It is not safe for concurrent use.
type Baseline struct {
	list  []Known
	left  map[Known]int // findings that were not met yet
	files map[string]bool
}

// Limits of a baseline that is read. All files of a distribution have about 100,000 findings.
const (
	maxLine  = 16 << 20 // bytes
	maxKnown = 1 << 20  // findings
	maxText  = 64 << 20 // bytes of the strings of all findings
	maxFile  = 1 << 30  // bytes
)

// ReadBaseline reads a baseline: a JSON object in each line, as Baseline.Write and
// 'clew check --json' write them. It ignores lines without a kind, such as a summary.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	b := &Baseline{left: make(map[Known]int), files: make(map[string]bool)}
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	lines := bufio.NewScanner(limited)
	text := 0
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var k Known
		if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
			return nil, fmt.Errorf("line %d is not a finding in JSON: %w", n, err)
		}
		if k.Kind == "" {
			continue
		}
		text += len(k.File) + len(k.Symbol) + len(k.Kind) + len(k.Register) + len(k.Expected) + len(k.Found)
		switch {
		case len(b.list) == maxKnown:
			return nil, fmt.Errorf("line %d: more than %d findings", n, maxKnown)
		case text > maxText:
			return nil, fmt.Errorf("line %d: the names and rules of the findings have more than %d bytes", n, maxText)
		}
		b.Add(k)
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line has more than %d bytes", maxLine)
		}
		return nil, err
	}
	return b, nil
}

// Add adds a finding. The same finding can be added several times: functions of several source
// files can have the same name.
func (b *Baseline) Add(k Known) {
	if b.left == nil {
		b.left, b.files = make(map[Known]int), make(map[string]bool)
	}
	k = k.normal()
	b.list = append(b.list, k)
	b.left[k]++
}

// AddResult adds all findings of a result.
func (b *Baseline) AddResult(r *Result) {
	for _, list := range [][]check.Finding{r.Findings, r.Known} {
		for i := range list {
			b.Add(NewKnown(r.Part, &list[i]))
		}
	}
}

// remove returns the findings of a result that the baseline does not hold, and the others.
func (b *Baseline) remove(r *Result) (rest, known []check.Finding) {
	if !r.Failed {
		b.files[Known{File: r.Key}.normal().File] = true
	}
	for i := range r.Findings {
		if k := NewKnown(r.Part, &r.Findings[i]); b.left[k] > 0 {
			b.left[k]--
			known = append(known, r.Findings[i])
			continue
		}
		rest = append(rest, r.Findings[i])
	}
	return rest, known
}

// Fixed returns the entries for the checked files that no finding has matched. Their defects are
// gone, or have changed.
func (b *Baseline) Fixed() (list []Known) {
	left := make(map[Known]int)
	for k, n := range b.left {
		left[k] = n
	}
	for _, k := range b.list {
		if left[k] > 0 && b.files[k.File] {
			left[k]--
			list = append(list, k)
		}
	}
	return list
}

// Write writes the findings, one on each line. Their order does not depend on addresses, so that
// two versions can be compared.
func (b *Baseline) Write(w io.Writer) error {
	list := slices.SortedStableFunc(slices.Values(b.list), func(a, b Known) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Offset, b.Offset),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Register, b.Register), cmp.Compare(a.Found, b.Found))
	})
	for i := range list {
		if err := printable.EncodeJSON(w, &list[i]); err != nil {
			return err
		}
	}
	return nil
}
