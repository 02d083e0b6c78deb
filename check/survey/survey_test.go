// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/object"
)

// made returns parts whose functions are f0, f1, … at multiples of 16. The later a part, the faster
// it is checked.
func made(n int) (parts []*Part) {
	for i := range n {
		p := &Part{Name: fmt.Sprint("dir/part", i), Key: fmt.Sprint("part", i), functions: func() int { return 2 }}
		p.symbols = func(yield func(object.Symbol) bool) {
			_ = yield(object.Symbol{Name: "f0", Address: 16}) && yield(object.Symbol{Name: fmt.Sprint("g", i), Address: 32})
		}
		p.check = func(o check.Options) (*check.Report, error) {
			time.Sleep(time.Duration(n-i) * time.Millisecond)
			if i == 3 {
				return nil, errors.New("unreadable")
			}
			var r check.Report
			for _, start := range []uint64{16, 32} {
				if o.Skip != nil && o.Skip(start, start+16) {
					continue
				}
				r.Functions++
				r.Findings = append(r.Findings, check.Finding{Kind: check.WrongCFA, Function: start, Name: fmt.Sprint("s", start), Address: start + 4, Expected: "CFA = rsp+16", Found: "CFA = rsp+8"})
			}
			return &r, nil
		}
		parts = append(parts, p)
	}
	return parts
}

// The results are the same with any number of jobs.
func TestOrder(t *testing.T) {
	var want string
	for _, jobs := range []int{0, 1, 2, 7, 100} {
		var got strings.Builder
		var calls, last atomic.Int64
		s := Survey{Jobs: jobs, Progress: func(done, total int) {
			if total != 40 || done > total {
				t.Errorf("%d of %d functions", done, total)
			}
			calls.Add(1)
			last.Store(max(last.Load(), int64(done)))
		}}
		for r := range s.Check(made(20)) {
			fmt.Fprintln(&got, r.Name, len(r.Findings), r.Defective, r.Err, r.Failed)
		}
		if want == "" {
			want = got.String()
		}
		if got.String() != want {
			t.Errorf("%d jobs: %s\nwant %s", jobs, &got, want)
		}
		if calls.Load() != 38 { // a part has none
			t.Errorf("%d calls of Progress", calls.Load())
		}
	}
	if !strings.HasPrefix(want, "dir/part0 2 2 <nil> false\n") || !strings.Contains(want, "dir/part3 0 0 unreadable true\n") {
		t.Error(want)
	}
}

func TestFunctions(t *testing.T) {
	is := func(name string) func(string) bool { return func(s string) bool { return s == name } }
	s := Survey{Functions: []func(string) bool{is("g1"), is("absent"), is("f0"), is("other")}}
	functions := 0
	for r := range s.Check(made(3)) {
		functions += r.Functions
	}
	if functions != 4 {
		t.Errorf("%d functions, want f0 of 3 parts and g1", functions)
	}
	if got := s.Unmatched(); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("unmatched: %v", got)
	}
}

// The caller can stop early.
func TestStop(t *testing.T) {
	next, stop := iter.Pull((&Survey{Jobs: 2}).Check(made(50)))
	if r, ok := next(); !ok || r.Name != "dir/part0" {
		t.Error(r, ok)
	}
	stop()
	for range (&Survey{}).Check(nil) {
		t.Error("a result without parts")
	}
}
