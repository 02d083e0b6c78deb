// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

func create(t testing.TB, dir string) *Dump {
	t.Helper()
	d, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// index reads the current contents of a dump.
func index(t testing.TB, path string) *Index {
	t.Helper()
	d, err := ReadJitdump(path)
	if err != nil {
		t.Fatal(err)
	}
	x := d.Index()
	if all, err := x.Damage(); all != 0 || d.Damage() != nil || d.End != uint64(len(d.data)) {
		t.Fatalf("%v, %v, complete up to %d of %d bytes", err, d.Damage(), d.End, len(d.data))
	}
	return x
}

// A dump has the code of all ranges of a batch, and of inlined calls the lines. A batch of which one
// function is too large is not written, and the error names the function.
func TestDumpRanges(t *testing.T) {
	d := create(t, t.TempDir())
	c := &jit.Code{Address: 0x10000, Text: []byte{1, 2, 3, 4}, Ranges: []jit.Range{{Address: 0x20000, Text: []byte{5, 6, 7, 8}}},
		Functions: []jit.Function{{Name: "a", Size: 4}, {}, {Name: "b", Range: 1, Offset: 1, Size: 3, Lines: []jit.Line{
			{File: "in.w", Line: 7, Inlined: &jit.Call{Function: "g", File: "b.w", Line: 1}}}}}}
	r, err := d.Publish(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.WithdrawFunctions(1, 2), r.Withdraw()); err != nil {
		t.Error(err)
	}
	large := batch(0x30000, 2, 80)
	large.Functions[1].Size = math.MaxInt32 + 1
	large.Text = unsafe.Slice(unsafe.SliceData(large.Text), math.MaxInt32+1<<20) // nobody reads it
	var faults jit.FunctionErrors
	if _, err := d.Publish(large); !errors.As(err, &faults) || len(faults) != 1 || faults[0].Index != 1 {
		t.Errorf("a function of 2 GiB: %v", err)
	}
	x := index(t, d.Path())
	if len(x.Functions()) != 2 {
		t.Fatalf("%+v", x.Functions())
	}
	f := &x.Functions()[1]
	if f.Address != 0x20001 || !bytes.Equal(x.Code(f), []byte{6, 7, 8}) || x.Name(f) != "b" {
		t.Errorf("%+v, % x", f, x.Code(f))
	}
	for l := range x.Lines(f) {
		if l.File != "in.w" || l.Line != 7 {
			t.Errorf("%+v", l)
		}
	}
}

func TestDump(t *testing.T) {
	dir := t.TempDir()
	before, _ := monotonic()
	d := create(t, dir)
	if want := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid())); d.Path() != want {
		t.Errorf("%s, want %s", d.Path(), want)
	}
	if got := mapping(t, d.Path()); got != "r-xp" {
		t.Errorf("the file is mapped %q, want r-xp", got)
	}
	c := batch(0x10000, 3, 80)
	if _, err := d.Publish(c); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	after, _ := monotonic()
	if got := mapping(t, d.Path()); got != "" {
		t.Errorf("the file is mapped %q after Close", got)
	}

	x := index(t, d.Path())
	if h := x.dump.Header; !x.dump.Closed || h.PID != uint32(os.Getpid()) || h.Machine != jit.Host().ELF || h.Flags != 0 || h.Time < before || h.Time > after {
		t.Errorf("closed %t, %+v", x.dump.Closed, h)
	}
	if len(x.Functions()) != 3 {
		t.Fatalf("%d functions, want 3", len(x.Functions()))
	}
	for i := range x.Functions() {
		f, want := &x.Functions()[i], &c.Functions[i]
		if f.Address != c.Start(want) || x.Name(f) != want.Name || !bytes.Equal(x.Code(f), c.Bytes(want)) || f.Time < before || f.Time > after {
			t.Errorf("%+v %q % x, want %+v", f, x.Name(f), x.Code(f), want)
		}
		var got bytes.Buffer
		describe(t, &got, x, f)
		sp := jit.Host().RegisterName(uint64(jit.Host().StackPointer))
		for _, want := range []string{
			fmt.Sprintf("+0x0 /src/a:%d:2", i+1), "+0x4 /src/a:0:0", "+0x8 /src/b:7:0",
			fmt.Sprintf("+0x4 CFA=%s+", sp),
		} {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%q is missing in\n%s", want, &got)
			}
		}
	}

	if _, err := d.Publish(c); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Publish after Close: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// mapping returns the mapping of a file in this process.
func mapping(t *testing.T, path string) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); len(fields) > 5 && fields[5] == path {
			return fields[1]
		}
	}
	return ""
}

// spaces returns the sizes of the mappings that perf will make for tables.
func spaces(x *Index) (sizes []uint64) {
	for i := range x.functions {
		r := x.dump.record(x.functions[i].unwindingInfo)
		u, _ := r.UnwindingInfo()
		sizes = append(sizes, u.MappedSize)
	}
	return sizes
}

// A table gets a mapping after its function only if no other function is there.
func TestRoom(t *testing.T) {
	d := create(t, t.TempDir())
	n, err := SpaceAfter(program(), 16)
	if err != nil {
		t.Fatal(err)
	}
	if n != 72 {
		t.Fatalf("SpaceAfter is %d bytes, want 72", n)
	}
	publish := func(address uint64, count, apart int) jit.Registration {
		r, err := d.Publish(batch(address, count, apart))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := publish(0x20000, 2, 72) // space for both tables
	publish(0x30000, 2, 71)          // for the second
	low := publish(0x1ffe0, 1, 0)    // before a function: none
	publish(0x1ffd0, 1, 0)           // and before that
	if err := first.WithdrawFunctions(1); err != nil {
		t.Fatal(err)
	}
	middle := publish(0x20058, 1, 0) // where the first batch had its second one
	publish(0x2ffb8-16, 1, 0)        // just enough
	for _, r := range []jit.Registration{low, middle} {
		if err := errors.Join(r.Withdraw(), r.WithdrawFunctions(0)); err != nil {
			t.Fatal(err)
		}
	}
	publish(0x1ffa8, 1, 0) // nothing up to 0x1ffd0
	publish(0x1fffd0-0x48, 1, 0)
	if _, err := d.Publish(batch(0x1ffa0, 1, 0)); !errors.Is(err, jit.ErrPublished) || !strings.Contains(err.Error(), `overlaps function "function 0" of batch "jit", 0x10 bytes at 0x1ffa8`) {
		t.Errorf("code that is published: %v", err)
	}
	if err := low.WithdrawFunctions(1); err == nil || err.Error() != "jitdump: "+jit.ErrCode.Error()+": no function 1: the batch has 1 functions" {
		t.Errorf("withdrawing what is not there: %v", err)
	}
	if got, want := fmt.Sprint(spaces(index(t, d.Path()))), "[72 72 0 72 0 0 72 72 0 72]"; got != want {
		t.Errorf("space for tables %s, want %s", got, want)
	}
}

// A function that is published again is a new one from then on.
func TestPublishAgain(t *testing.T) {
	d := create(t, t.TempDir())
	for _, name := range []string{"first", "second"} {
		c := batch(0x10000, 1, 100)
		c.Functions[0].Name = name
		r, err := d.Publish(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WithdrawFunctions(0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Microsecond)
	}
	x := index(t, d.Path())
	for i, want := range []string{"first", "second"} {
		if f, ok := x.Find(0x10008, x.Functions()[i].Time); !ok || x.Name(f) != want || f.Index != uint64(i) {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if got := fmt.Sprint(spaces(x)); got != "[72 72]" {
		t.Errorf("space for tables %s", got)
	}
}

func TestConcurrentPublish(t *testing.T) {
	d := create(t, t.TempDir())
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			for i := range uint64(20) {
				r, err := d.Publish(batch(0x100000*(g+1)+0x1000*i, 5, 100))
				if err != nil {
					t.Error(err)
				} else if err = r.WithdrawFunctions(1, 3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	x := index(t, d.Path())
	indexes := map[uint64]bool{}
	for i := range x.Functions() {
		indexes[x.Functions()[i].Index] = true
	}
	if len(indexes) != 400 {
		t.Errorf("%d indexes, want 400", len(indexes))
	}
}

// A batch that the map refuses is removed from the jitdump.
func TestTakeBack(t *testing.T) {
	p, err := NewPublisher(Options{Jitdump: true, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	good, err := openMap(filepath.Join(t.TempDir(), "map"), nil)
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	bad := &MapWriter{path: "/dev/full", file: full}
	defer bad.Close()
	for i, list := range []*MapWriter{good, bad, good} {
		p.list = list
		if _, err := p.Publish(batch(0x1000*(1+uint64(i+1)/2), i+1, 0)); (list == bad) != errors.Is(err, unix.ENOSPC) {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	if n := len(index(t, p.dump.Path()).Functions()); n != 1+3 {
		t.Errorf("%d functions in the jitdump, want 4", n)
	}
	if m, err := ReadMap(good.Path()); err != nil || len(m.Symbols()) != 1+3 {
		t.Errorf("%v, %+v in the map, want 4", err, m)
	}
}

// Publishing allocates for a batch, not for its functions.
func TestPublishAllocations(t *testing.T) {
	d := create(t, t.TempDir())
	c := batch(0x100000, 1000, 80)
	if n := testing.AllocsPerRun(10, func() {
		r, err := d.Publish(c)
		if err == nil {
			err = r.Withdraw()
		}
		if err != nil {
			t.Fatal(err)
		}
	}); n > 500 { // some tens; the race detector clears sync.Pools
		t.Errorf("%v allocations for 1000 functions", n)
	}
}

// A batch of several megabytes takes several writes.
func TestLargeBatch(t *testing.T) {
	d := create(t, t.TempDir())
	if _, err := d.Publish(batch(0x100000, 20_000, 80)); err != nil {
		t.Fatal(err)
	}
	x := index(t, d.Path())
	if n := len(x.Functions()); n != 20_000 || x.dump.End < 2*flushSize {
		t.Errorf("%d functions in %d bytes", n, x.dump.End)
	}
}

func TestBadCode(t *testing.T) {
	d := create(t, t.TempDir())
	overlap := batch(0x1000, 2, 0)
	overlap.Functions[1].Offset--
	other := batch(0x1000, 1, 0)
	other.Machine = machines["arm64"]
	if runtime.GOARCH == "arm64" {
		other.Machine = machines["amd64"]
	}
	other.Functions[0].Unwind = nil
	for _, c := range []*jit.Code{overlap, other, {}} {
		if _, err := d.Publish(c); !errors.Is(err, jit.ErrCode) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if n := len(index(t, d.Path()).Functions()); n != 0 {
		t.Errorf("%d functions were written", n)
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is missing: %v", err)
	}
	// Not even root can write to this one.
	if d, err := Create("/sys"); d != nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "/sys/jit-") {
		t.Errorf("in a folder that cannot be written: %v", err)
	}

	// A link to another file, at the path of an earlier process's dump.
	precious := filepath.Join(dir, "precious")
	path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid()))
	if err := errors.Join(os.WriteFile(precious, []byte("precious"), 0o644), os.Symlink(precious, path)); err != nil {
		t.Fatal(err)
	}
	d := create(t, dir)
	if _, err := d.Publish(batch(0x1000, 1, 0)); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(precious); string(data) != "precious" {
		t.Errorf("the link was followed: %q, %v", data, err)
	}
	if n := len(index(t, path).Functions()); n != 1 {
		t.Errorf("%d functions, want 1", n)
	}
}
