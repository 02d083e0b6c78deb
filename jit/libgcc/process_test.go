// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android

package libgcc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libgcc/internal/unwindtest"
)

func TestBacktrace(t *testing.T) {
	library := built(t, "backtrace.c")
	for name := range loaded {
		t.Run(name, func(t *testing.T) {
			unwinder := load(t, name)
			const n = 6
			c := newChain(t, n, library.Symbol("leaf"))
			expect := func(when string, want []int, through bool) {
				t.Helper()
				if !through && name == "libunwind.so.1" {
					// libgcc leaves out the frame of the unknown function.
					want = want[:len(want)-1]
				}
				if got, to := backtrace(t, c, library, unwinder); !slices.Equal(got, want) || to != through {
					t.Errorf("%s: functions %d, to the caller in C %v; expected %d, %v", when, got, to, want, through)
				}
			}
			// The topmost frame is C's, and its caller is known: it is in f5, which has
			// no table.
			expect("before", []int{5}, false)
			for range 2 {
				published, err := Publisher{}.Publish(c.code)
				if err != nil {
					t.Fatal(err)
				}
				expect("published", down(n), true)
				for range 2 {
					if err := published.WithdrawFunctions(2); err != nil {
						t.Fatal(err)
					}
					expect("without f2", []int{5, 4, 3, 2}, false)
				}
				one := *c.code
				one.Functions = one.Functions[2:3]
				again, err := Publisher{}.Publish(&one)
				if err != nil {
					t.Fatal(err)
				}
				expect("f2 in a batch of its own", down(n), true)
				if err := published.WithdrawFunctions(1, 5); err != nil {
					t.Fatal(err)
				}
				expect("without f1 and f5", []int{5}, false)
				if err := errors.Join(published.Withdraw(), published.Withdraw(), published.WithdrawFunctions(3), again.Withdraw(), again.WithdrawFunctions(0)); err != nil {
					t.Fatal(err)
				}
				expect("withdrawn", []int{5}, false)
			}
		})
	}
}

// TestBacktraceBatches publishes the functions of a chain one by one, in random order
// and interleaved with other batches.
func TestBacktraceBatches(t *testing.T) {
	library := built(t, "backtrace.c")
	const n = 48
	c := newChain(t, n, library.Symbol("leaf"))
	var unwinders []unwindtest.Library
	for name := range loaded {
		if l, err := unwindtest.Open(name); err == nil {
			unwinders = append(unwinders, l)
		}
	}
	if len(unwinders) == 0 {
		t.Skip("skipped: libgcc is not installed")
	}
	batches := make(map[int]jit.Registration)
	for _, step := range []int{5, 7, 11, 1} {
		one := *c.code
		one.Functions = nil
		for i := 0; i < n; i += step {
			if batches[i] == nil {
				one.Functions = append(one.Functions, c.code.Functions[i])
			}
		}
		published, err := Publisher{}.Publish(&one)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < n; i += step {
			if batches[i] == nil {
				batches[i] = published
			}
		}
		for _, u := range unwinders {
			if _, through := backtrace(t, c, library, u); through != (step == 1) {
				t.Errorf("with every %d. function: through to the caller in C: %v", step, through)
			}
		}
	}
	for _, u := range unwinders {
		if got, through := backtrace(t, c, library, u); !slices.Equal(got, down(n)) || !through {
			t.Errorf("functions %d, to the caller in C %v", got, through)
		}
	}
	for i := range n {
		if err := batches[i].Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range unwinders {
		if got, through := backtrace(t, c, library, u); len(got) > 1 || through {
			t.Errorf("withdrawn: functions %d, to the caller in C %v", got, through)
		}
	}
}

// TestTwoCIEs publishes functions with alternating CIEs, which LLVM reads one by one,
// and a batch that is refused.
func TestTwoCIEs(t *testing.T) {
	library := built(t, "backtrace.c")
	for name := range loaded {
		t.Run(name, func(t *testing.T) {
			unwinder := load(t, name)
			const n = 8
			c := newChain(t, n, library.Symbol("leaf"))
			bad := *c.code
			bad.Functions = slices.Clone(bad.Functions)
			for i := range n {
				f := &c.code.Functions[i]
				cie := *f.Unwind.CIE
				cie.Version = 1 + uint8(i%2)*2
				f.Unwind = &cfi.Program{CIE: &cie, Instructions: f.Unwind.Instructions, End: f.Unwind.End}
			}
			bad.Functions[n-1].Unwind = &cfi.Program{CIE: cfi.NewCIE(jit.Host())}
			if _, err := (Publisher{}).Publish(&bad); !errors.Is(err, ErrTable) {
				t.Fatalf("a table without a CFA: %v, expected ErrTable", err)
			}
			if got, through := backtrace(t, c, library, unwinder); len(got) > 1 || through {
				t.Errorf("after a refused batch: functions %d, to the caller in C %v", got, through)
			}
			published, err := Publisher{}.Publish(c.code)
			if err != nil {
				t.Fatal(err)
			}
			if got, through := backtrace(t, c, library, unwinder); !slices.Equal(got, down(n)) || !through {
				t.Errorf("functions %d, to the caller in C %v", got, through)
			}
			if err := published.Withdraw(); err != nil {
				t.Fatal(err)
			}
			if got, through := backtrace(t, c, library, unwinder); len(got) > 1 || through {
				t.Errorf("withdrawn: functions %d, to the caller in C %v", got, through)
			}
		})
	}
}

// TestException throws through generated frames. With LLVM's unwinder ahead of libgcc's
// it does so in a child process.
func TestException(t *testing.T) {
	library := built(t, "exception.cc")
	for _, n := range []int{1, 7, 1000} {
		c := newChain(t, n, library.Symbol("throws"))
		published, err := Publisher{}.Publish(c.code)
		if err != nil {
			t.Fatal(err)
		}
		destroyed := unwindtest.Allocate(8)
		result, err := unwindtest.Call(library.Symbol("catches"), c.entry, addressOf(destroyed))
		if err != nil || result != 42 || destroyed[0] != 2 {
			t.Errorf("through %d frames: caught %d (%v), and %d destructors ran; expected 42 and 2", n, result, err, destroyed[0])
		}
		unwindtest.Free(destroyed)
		if err := published.Withdraw(); err != nil {
			t.Error(err)
		}
	}
}

// child runs tests of this file in another process.
func child(t *testing.T, run string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run="+run, "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", env, err, out)
	}
	return string(out)
}

// TestARM64 runs the tests with libgcc's unwinder as an emulated arm64 program.
func TestARM64(t *testing.T) {
	if runtime.GOARCH == "arm64" {
		t.Skip("skipped: this is arm64")
	}
	const gcc = "aarch64-linux-gnu-gcc"
	t.Setenv("CLEW_TEST_CC", gcc)
	t.Setenv("CLEW_TEST_CXX", testprogram.RequireTool(t, "aarch64-linux-gnu-g++"))
	testprogram.PassOnARM64(t, gcc,
		"TestBacktrace/libgcc_s.so.1", "TestBacktraceBatches", "TestBacktraceSwitched/libgcc_s.so.1_down", "TestBacktraceSwitched/libgcc_s.so.1_up", "TestTwoCIEs/libgcc_s.so.1", "TestException")
}

func TestPreloaded(t *testing.T) {
	const preload = "LD_PRELOAD=libunwind.so.1"
	if slices.Contains(os.Environ(), preload) {
		t.Skip("skipped: this is the child")
	}
	load(t, "libunwind.so.1")
	child(t, "^(TestBacktrace|TestBacktraceBatches|TestTwoCIEs|TestException|TestFlavours)$", preload)
}

// TestNoUnwinder publishes in a program that has loaded no unwinder.
func TestNoUnwinder(t *testing.T) {
	if os.Getenv("CLEW_TEST_CHILD") == "" {
		child(t, "^TestNoUnwinder$", "CLEW_TEST_CHILD=1")
		return
	}
	if _, err := (Publisher{}).Publish(code(frame(t, 16), 1)); !errors.Is(err, jit.ErrNotApplicable) {
		t.Errorf("before: %v, expected ErrNotApplicable", err)
	}
	load(t, "libgcc_s.so.1")
	b, err := Publisher{}.Publish(code(frame(t, 16), 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Withdraw(); err != nil {
		t.Error(err)
	}
	p, err := jit.Publish(code(frame(t, 16), 1))
	if err != nil {
		t.Fatal(err)
	}
	if names := p.Publishers(); !slices.Equal(names, []string{"libgcc"}) {
		t.Errorf("jit.Publish used %q, expected libgcc", names)
	}
	if err := p.Withdraw(); err != nil {
		t.Error(err)
	}
}

// TestFlavours checks that the flavours of unwinders are distinguished.
func TestFlavours(t *testing.T) {
	count := func() (libgcc, llvm int) {
		process.mu.Lock()
		defer process.mu.Unlock()
		process.refresh()
		for _, u := range process.unwinders {
			if u.flavour == functionArray {
				llvm++
			} else {
				libgcc++
			}
			t.Logf("flavour %d", u.flavour)
		}
		return libgcc, llvm
	}
	load(t, "libgcc_s.so.1")
	if libgcc, _ := count(); libgcc != 1 {
		t.Errorf("libgcc is found %d times", libgcc)
	}
	load(t, "libunwind.so.1")
	if libgcc, llvm := count(); libgcc != 1 || llvm != 1 {
		t.Errorf("libgcc is found %d times, LLVM's unwinder %d times", libgcc, llvm)
	}
}

// TestConcurrent publishes, walks and withdraws from many goroutines. Each walk through
// one chain that stays published is complete.
func TestConcurrent(t *testing.T) {
	library := built(t, "backtrace.c")
	unwinder := load(t, "libgcc_s.so.1")
	const n = 20
	c := newChain(t, n, library.Symbol("leaf"))
	every := func(k int) *jit.Code {
		part := *c.code
		part.Functions = nil
		for i := k; i < n; i += 2 {
			part.Functions = append(part.Functions, c.code.Functions[i])
		}
		return &part
	}
	for k := range 2 {
		published, err := Publisher{}.Publish(every(k))
		if err != nil {
			t.Fatal(err)
		}
		defer published.Withdraw()
	}
	var wg sync.WaitGroup
	for g := range 4 {
		other := newChain(t, n, library.Symbol("leaf"))
		wg.Go(func() {
			for i := range 50 {
				published, err := Publisher{}.Publish(other.code)
				if err != nil {
					t.Error(err)
					return
				}
				var both sync.WaitGroup
				for k := range 2 {
					both.Go(func() {
						if err := published.WithdrawFunctions(k, 2+g, n-1-i%5); err != nil {
							t.Error(err)
						}
					})
				}
				if got, through := backtrace(t, c, library, unwinder); !slices.Equal(got, down(n)) || !through {
					t.Errorf("functions %d, to the caller in C %v", got, through)
				}
				both.Wait()
				if err := published.Withdraw(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
