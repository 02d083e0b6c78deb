// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/object"
)

// TestErrors has files that cannot be loaded, and parts of the errors.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		compiler string // gcc where it is empty
		files    []string
		flags    string
		kind     error
		parts    []string
	}{
		{"undefined symbols", "", []string{
			"a.c\nint f(void), g(void); extern int v; int test(void) { return f() + g() + f() + f() + f() + v; }",
			"b.c\nint g(void); int h(void) { return g(); }",
		}, "-O0 -fPIC", ErrUndefined, []string{"f, used at ", "a.o: .text+0x", " and 1 more; g, used at ", "b.o: .text+0x", "; v, used at "}},
		{"symbol twice", "", []string{"a.c\nint f(void) { return 1; }", "b.c\nint f(void) { return 2; }"}, "-O0", errDuplicate, []string{"f, in ", "a.o and in ", "b.o"}},
		{"variable that is far away", "", []string{"a.c\nextern int far; int test(void) { return far; }"}, "-O2 -fno-pic", ErrOverflow,
			[]string{"a.o: .text+0x2: relocation R_X86_64_PC32 of far: ", "value 0x", "-fPIC"}},
		{"address of a function that is far away", "", []string{"a.c\nint far(void); int (*test(void))(void) { return far; }"}, "-O2 -fno-pic", ErrOverflow,
			[]string{"a.o: .text+0x1: relocation R_X86_64_32 of far: ", "-fPIC"}},
		{"variable that is far away, arm64", "aarch64-linux-gnu-gcc", []string{"a.c\nextern int far; int test(void) { return far; }"}, "-O2 -fno-pic", ErrOverflow,
			[]string{"relocation R_AARCH64_ADR_PREL_PG_HI21 of far: ", "-fPIC"}},
		{"too near", "aarch64-linux-gnu-as", []string{"a.s\n tbz x0, #1, there\n .space 40000\n .section .text.b,\"ax\"\nthere: ret\n"}, "", ErrOverflow, []string{".text+0x0: relocation R_AARCH64_TSTBR14 of .text.b: "}},
		{"not aligned", "aarch64-linux-gnu-as", []string{"a.s\n ldr x0, [x0, #:lo12:v]\n .data\n .byte 1\nv: .quad 1\n"}, "", ErrOverflow, []string{"R_AARCH64_LDST64_ABS_LO12_NC of .data: "}},
		{"byte", "as", []string{"a.s\n .data\nv: .byte v\n"}, "", ErrOverflow, []string{".data+0x0: relocation R_X86_64_8 of .data: "}},
		{"indirect function", "", []string{"a.c\nstatic int g(void) { return 1; } static void *choose(void) { return g; } int f(void) __attribute__((ifunc(\"choose\"))); int test(void) { return f(); }"},
			"-O2", ErrUnsupported, []string{"f is an indirect function (STT_GNU_IFUNC)"}},
		{"undefined thread-local variable", "", []string{"a.c\nextern __thread int v; int test(void) { return v; }"}, "-O2 -fPIC", ErrUndefined, []string{"v (thread-local), used at"}},
		{"too many thread-local variables", "", []string{"a.c\n__thread char v[70000]; char *test(void) { return v; }"}, "-O2", errTooLarge, []string{"70000 bytes of thread-local variables"}},
		{"slim code for link-time optimization", "", []string{"a.c\nint test(void) { return 1; }"}, "-O2 -flto -fno-fat-lto-objects", ErrUnsupported, []string{"-fno-lto"}},
		{"writable code", "as", []string{"a.s\n .section .both,\"awx\"\n nop\n"}, "", ErrUnsupported, []string{"section .both: ", "writable and executable"}},
		{"old constructors", "as", []string{"a.s\n .section .ctors,\"aw\"\n .quad 0\n"}, "", ErrUnsupported, []string{"-fuse-init-array"}},
		{"too large", "as", []string{"a.s\n .bss\n .space 0x90000000\n"}, "", errTooLarge, []string{".bss"}},
		{"another machine", "aarch64-linux-gnu-gcc amd64", []string{"a.c\nint test(void) { return 1; }"}, "", ErrUnsupported, []string{"it is for EM_AARCH64 (ELFCLASS64), and this machine is EM_X86_64"}},
		{"unknown sequence of instructions", "as", []string{"a.s\n .byte 0x48,0x8d,0x3d\n .long v@tlsgd-4\n call __tls_get_addr@plt\n .section .tdata,\"awT\"\nv: .long 1\n"}, "", ErrUnsupported,
			[]string{".text+0x3: relocation R_X86_64_TLSGD of v: ", "do not access a thread-local variable in a known way"}},
		{"relocation of dynamic linkers", "as", []string{"a.s\n .data\n .reloc ., R_X86_64_COPY, test\n .quad 0\n"}, "", ErrUnsupported, []string{".data+0x0: relocation R_X86_64_COPY"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &amd64
			compiler, other, _ := strings.Cut(tt.compiler, " ")
			if strings.HasPrefix(compiler, "aarch64") && other == "" {
				m = &arm64
			}
			if !compiled(m) {
				return
			}
			if compiler == "" {
				compiler = "gcc"
			}
			var paths []string
			for _, f := range tt.files {
				paths = append(paths, compile(t, compiler, f, strings.Fields(tt.flags)...))
			}
			a, err := at(t, m, farAway, func(name string) (uint64, bool) { return 0x7f0000001234, name == "far" }, paths...)
			if a.p != nil || !errors.Is(err, tt.kind) {
				t.Fatalf("error %v, want %v", err, tt.kind)
			}
			text := err.Error()
			for _, part := range tt.parts {
				i := strings.Index(text, part)
				if i < 0 {
					t.Fatalf("no %q in its place in %v", part, err)
				}
				text = text[i+len(part):]
			}
		})
	}
}

// TestNotRelocatable loads files that are not relocatable.
func TestNotRelocatable(t *testing.T) {
	f := open(t, host(t, native))
	if _, err := Load(nil, f); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "a file of type ET_") {
		t.Errorf("an executable: %v", err)
	}
	if _, err := Load(nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("no file: %v", err)
	}
}

// TestTwice loads a file again, but not the ELF of the loaded object.
func TestTwice(t *testing.T) {
	path := compile(t, "gcc", addSource, "-O2")
	a, err := at(t, native, farAway, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := object.NewFile(a.p.Objects[0].ELF, "image")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newLinker(native, farAway, nil).link([]*object.File{image}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an image: %v", err)
	}
	if _, err := at(t, native, farAway, nil, path, path); !errors.Is(err, errDuplicate) {
		t.Errorf("one file twice: %v", err)
	}
}
