// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/object"
)

// manySource is a C file of n functions that call each other, and branch through
// jump tables and tables of pointers.
func manySource(n int) string {
	var b strings.Builder
	b.WriteString("many.c\ntypedef unsigned u;\nstatic const u t[16] = {3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3};\nu calls;\n")
	for i := range n {
		fmt.Fprintf(&b, "u f%d(u);\n", i)
	}
	fmt.Fprintf(&b, "static u (*const table[])(u) = {")
	for i := range n {
		fmt.Fprintf(&b, "f%d, ", i)
	}
	b.WriteString("};\n")
	for i := range n {
		fmt.Fprintf(&b, `__attribute__((noinline)) u f%d(u x) {
	static u last = %du;
	calls++;
	if (!x)
		return last;
	switch ((x + %du) & 7) {
	case 0: return x * 3 + t[x & 15];
	case 1: return f%d(x >> 1 & ~%du) + 1;
	case 2: return table[x %% %du](x / 3);
	case 3: { u old = last; last = x; return old; }
	case 4: return f%d(x >> 1) * 7;
	case 5: return x - %du;
	case 6: return table[%d](f%d(x >> 1) & x >> 1);
	}
	return ~x;
}
`, i, i*7, i, i/2, i*i, max(i, 1), i/3, i*5, i/4, i/5)
	}
	fmt.Fprintf(&b, "long test(void) { u sum = 0; for (u i = 0; i < 20000; i++) sum = sum * 31 + table[i %% %du](i * 2654435761u); return sum ^ calls; }\n", n)
	return b.String()
}

// many computes the result of test of manySource.
func many(n int) uint32 {
	t := []uint32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}
	last := make([]uint32, n)
	for i := range last {
		last[i] = uint32(i) * 7
	}
	var calls uint32
	var f func(i int, x uint32) uint32
	f = func(i int, x uint32) uint32 {
		calls++
		u := uint32(i)
		if x == 0 {
			return last[i]
		}
		switch (x + u) & 7 {
		case 0:
			return x*3 + t[x&15]
		case 1:
			return f(i/2, x>>1&^(u*u)) + 1
		case 2:
			return f(int(x%max(u, 1)), x/3)
		case 3:
			old := last[i]
			last[i] = x
			return old
		case 4:
			return f(i/3, x>>1) * 7
		case 5:
			return x - u*5
		case 6:
			return f(i/4, f(i/5, x>>1)&(x>>1))
		}
		return ^x
	}
	var sum uint32
	for i := uint32(0); i < 20000; i++ {
		sum = sum*31 + f(int(i)%n, i*2654435761)
	}
	return sum ^ calls
}

// TestMany runs a file of 3,000 lines, or of 9,000.
func TestMany(t *testing.T) {
	n := 200
	if sample.Full() {
		n = 600
	}
	want := strconv.Itoa(int(many(n)))
	for _, tt := range []struct {
		m        *machine
		compiler string
		flags    string
	}{
		{&amd64, "gcc", "-O1 -g -ffunction-sections -fdata-sections"},
		{&amd64, "gcc", "-O0 -fno-pic"},
		{&arm64, "aarch64-linux-gnu-gcc", "-O1 -ffunction-sections"},
	} {
		if !compiled(tt.m) {
			continue
		}
		t.Run(tt.compiler+" "+tt.flags, func(t *testing.T) {
			a, err := at(t, tt.m, farAway, nil, compile(t, tt.compiler, manySource(n), strings.Fields(tt.flags)...))
			if err != nil {
				t.Fatal(err)
			}
			if got := execute(t, []linked{a}, a.symbol(t, "test")); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func BenchmarkLink(b *testing.B) {
	for _, flags := range []string{"-O1", "-O1 -g"} {
		path := compile(b, "gcc", manySource(1000), strings.Fields(flags)...)
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(flags, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				f, err := object.NewFile(data, "many.o")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := newLinker(native, farAway, nil).link([]*object.File{f}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
