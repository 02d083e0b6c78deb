// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

var errGap = errors.New("nothing is mapped there")

// TestHostile prints invalid values by their members, and the readable part of circular and broken
// structures.
func TestHostile(t *testing.T) {
	info := openTypes(t, "gcc12.debug")
	for _, test := range []struct {
		name   string
		memory words
		want   string // "" for the members
		more   bool   // want is a prefix
	}{
		{"vector", words{0x1000: 0x2008, 0x1008: 0x2000, 0x1010: 0x2010}, "", false},
		{"vector", words{0x1000: 0x2000, 0x1008: 0x2002, 0x1010: 0x2010}, "", false},
		{"vector", words{0x1000: 0x2000, 0x1008: 0x2010, 0x1010: 0x2008}, "", false},
		{"bits", words{0x1000: 0x2000, 0x1008: 0, 0x1010: 0x2000, 0x1018: 3, 0x1020: 0x2008, 0x2000: 5},
			"std::vector<bool> of length 3, capacity 64 = {true, false, true}", false},
		{"bits", words{0x1000: 0x2000, 0x1008: 9, 0x1010: 0x2000, 0x1018: 3, 0x1020: 0x2008}, "", false},
		{"deque", words{}, rawDeque("non-dereferenceable iterator for std::deque", "non-dereferenceable iterator for std::deque"), false}, // not initialized
		{"list", words{0x1000: 0x2000, 0x2000: 0x2000, 0x2010: 7}, "std::__cxx11::list = {[0] = 7, [1] = 7, [2] = 7, ", true},
		{"list", words{0x1000: 0x1000}, "empty std::__cxx11::list", false},
		{"list", words{}, "std::__cxx11::list = {[0] = 0, ", true},
		{"forward", words{0x1000: 0x2000, 0x2000: 0x3000, 0x2008: 1, 0x3008: 2}, "std::forward_list = {[0] = 1, [1] = 2}", false},
		// A node that is its own right child, and one that is its own parent.
		{"multi", words{0x1018: 0x2000, 0x1028: 1 << 40, 0x2000: 0, 0x2018: 0x2000, 0x2020: 5}, "std::multiset with 1099511627776 elements = {[0] = 5, [1] = 5, ", true},
		{"multi", words{0x1018: 0x2000, 0x1028: 3, 0x2008: 0x2000, 0x2020: 5}, "std::multiset with 3 elements = {[0] = 5, [1] = 5, [2] = 5}", false},
		{"hashed", words{0x1010: 0x2000, 0x1018: 1, 0x2008: 1 | 2<<32}, "std::unordered_map with 1 element = {[1] = 2}", false},
		{"shared", words{0x1000: 0x2000, 0x1008: 0x3000, 0x3008: 1 | 1<<32}, "std::shared_ptr<int> (use count 1, weak count 0) = {get() = 0x2000}", false},
		{"optional", words{0x1018: 2}, "{<std::_Optional_base<", true},
		{"optional", words{0x1018: 1}, "std::optional<std::vector<int>> containing std::vector of length 0, capacity 0", false},
		{"variant", words{0x1008: 0xff}, "std::variant<int, double> [no contained value]", false},
		{"variant", words{0x1008: 2}, "", false},
		{"it", words{}, "non-dereferenceable iterator for std::vector", false},
	} {
		variable, err := info.Global(test.name, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := value.At(variable.Type, 0x1000, value.Static(test.memory, info, 0))
		got := (&print.Printer{Present: stdtype.Present}).Text(v)
		want := test.want
		if want == "" {
			want = new(print.Printer).Text(v)
		}
		if got != want && !(test.more && strings.HasPrefix(got, want) && strings.HasSuffix(got, "}")) {
			t.Errorf("%s of %x: %s, expected %s", test.name, test.memory, got, want)
		}
	}
}

// text adds the words of a string at an address.
func (w words) text(address uint64, s string) words {
	for i := range len(s) {
		w[(address+uint64(i))&^7] |= uint64(s[i]) << (8 * ((address + uint64(i)) & 7))
	}
	return w
}

// category returns a std::error_code or std::error_condition with a number and a category. That is a
// pointer to an object with a virtual table, from which the name of the class is found.
func category(number uint32, class string) words {
	return words{0x1000: uint64(number), 0x1008: 0x2000, 0x2000: 0x3000, 0x2ff8: 0x4000, 0x4008: 0x5000}.text(0x5000, class)
}

func TestPresent(t *testing.T) {
	info := openTypes(t, "gcc12.debug")
	const system, generic = "N12_GLOBAL__N_121system_error_categoryE", "N12_GLOBAL__N_122generic_error_categoryE"
	manager := func(function string) uint64 {
		list, err := info.Functions(function)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Entry
	}
	for _, test := range []struct {
		name   string
		memory words
		want   string // "" for the members of the type
	}{
		{"code", category(2, system), `std::error_code = {"system": ENOENT}`},
		{"code", category(0, system), "std::error_code = { }"},
		{"code", category(0, generic), `std::error_code = {"generic": 0}`},
		{"code", category(41, system), `std::error_code = {"system": 41}`},
		{"code", category(1<<32-1, system), `std::error_code = {"system": -1}`},
		{"code", category(134, system), `std::error_code = {"system": 134}`},
		{"code", category(2, "N2my10MyCategoryE"), "std::error_code = {my::MyCategory: 2}"},
		{"code", category(2, "N2my10MyCategory"), "std::error_code = {std::_V2::error_category: 2}"},
		{"code", words{0x1000: 2}, "std::error_code = {std::_V2::error_category: 2}"},
		{"condition", category(22, generic), `std::error_condition = {"generic": EINVAL}`},
		{"condition", category(0, generic), "std::error_condition = { }"},
		{"path", words{0x1000: 0x2000, 0x1008: 1, 0x1020: 2, 0x2000: '/'}, `filesystem::path "/" [root-directory]`},
		{"path", words{0x1000: 0x2000, 0x1008: 4, 0x1020: 1}.text(0x2000, "//ab"), `filesystem::path "//ab" [root-name]`},
		{"path", words{0x1000: 0x2000, 0x1008: 3, 0x1020: 3}.text(0x2000, "abc"), `filesystem::path "abc"`},
		{"path", words{0x1000: 0x2000, 0x1008: 4, 0x1020: 0x3000, 0x3000: 2,
			0x3008: 0x2000, 0x3010: 1, 0x3028: 2, 0x3038: 0x2001, 0x3040: 3, 0x3058: 3}.text(0x2000, "/usr"),
			`filesystem::path "/usr" = {[root-directory] = "/", [1] = "usr"}`},
		{"any", words{}, "std::any [no contained value]"},
		{"any", words{0x1000: manager("std::any::_Manager_internal<int>::_S_manage"), 0x1008: 42}, "std::any containing int = {[contained value] = 42}"},
		{"any", words{0x1000: 1}, ""},
		{"deque", words{0x1010: 0x2000, 0x1018: 0x2000, 0x1020: 0x2200, 0x1028: 0x3000, 0x1030: 0x200c, 0x1038: 0x2000, 0x1040: 0x2200, 0x1048: 0x3000,
			0x3000: 0x2000, 0x2000: 5 | 6<<32, 0x2008: 7}, "std::deque with 3 elements = {5, 6, 7}"},
		// The last element of one buffer, and the first of the next.
		{"deque", words{0x1010: 0x21fc, 0x1018: 0x2000, 0x1020: 0x2200, 0x1028: 0x3000, 0x1030: 0x4004, 0x1038: 0x4000, 0x1040: 0x4200, 0x1048: 0x3008,
			0x3000: 0x2000, 0x3008: 0x4000, 0x21f8: 5 << 32, 0x4000: 6}, "std::deque with 2 elements = {5, 6}"},
		{"deque", words{0x1010: 0x200c, 0x1018: 0x2000, 0x1020: 0x2200, 0x1028: 0x3000, 0x1030: 0x2000, 0x1038: 0x2000, 0x1040: 0x2200, 0x1048: 0x3000, 0x2000: 5, 0x2008: 7 << 32},
			rawDeque("7", "5")},
		{"stack", words{0x1010: 0x2000, 0x1018: 0x2000, 0x1020: 0x2200, 0x1028: 0x3000, 0x1030: 0x2004, 0x1038: 0x2000, 0x1040: 0x2200, 0x1048: 0x3000,
			0x3000: 0x2000, 0x2000: 5}, "std::stack wrapping: std::deque with 1 element = {5}"},
		{"set", words{0x1000: 1<<63 | 1, 0x1008: 2}, "std::bitset = {[0] = 1, [63] = 1, [65] = 1}"},
		{"set", words{}, "std::bitset"},
		{"tuple", words{0x1000: 0x3ff8_0000_0000_0000, 0x1008: 7}, "std::tuple containing = {[1] = 7, [2] = 1.5}"},
		{"pair", words{0x1000: 5 | 6<<32}, "{first = 5, second = 6}"},
		{"initial", words{0x1000: 0x2000, 0x1008: 2, 0x2000: 5 | 6<<32}, "std::initializer_list of length 2 = {5, 6}"},
		{"atomic", words{0x1000: 5}, "std::atomic<int> = { 5 }"},
		{"view", words{0x1000: 2, 0x1008: 0x2000}.text(0x2000, "hi"), `"hi"`},
		{"variant", words{0x1000: 9}, "std::variant<int, double> [index 0] = {9}"},
		{"variant", words{0x1000: 0x3ff8_0000_0000_0000, 0x1008: 1}, "std::variant<int, double> [index 1] = {1.5}"},
		{"unique", words{0x1000: 0x2000}, "std::unique_ptr<int> = {get() = 0x2000}"},
		{"shared", words{}, "std::shared_ptr<int> (empty) = {get() = 0x0}"},
		{"shared", words{0x1000: 0x2000, 0x1008: 0x3000, 0x3008: 0 | 2<<32}, "std::shared_ptr<int> (expired, weak count 2) = {get() = 0x2000}"},
		{"at", words{0x1000: 0x2000, 0x2020: 5 | 6<<32}, "{first = 5, second = 6}"},
		{"at", words{}, ""},
		{"it", words{0x1000: 0x2000, 0x2000: 5}, "5"},
		{"text", words{0x1000: 0x2000, 0x1008: 2}.text(0x2000, "hi"), `"hi"`},
	} {
		variable, err := info.Global(test.name, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := value.At(variable.Type, 0x1000, value.Static(test.memory, info, 0))
		want := test.want
		if want == "" {
			want = new(print.Printer).Text(v)
		}
		if got := (&print.Printer{Present: stdtype.Present}).Text(v); got != want {
			t.Errorf("%s of %x: %s, expected %s", test.name, test.memory, got, want)
		}
	}
}

func TestHostileRust(t *testing.T) {
	for _, test := range []struct {
		release, name string
		memory        words
		want          string // "" for the members
	}{
		// In Rust 1.95 the order of the compiler is capacity, pointer, length.
		{"1.95", "vec", words{0x1000: 2, 0x1008: 0x2000, 0x1010: 1, 0x2000: 4, 0x2008: 0x3000, 0x2010: 2, 0x3000: 5 | 6<<32}, "Vec(size=1) = {Vec(size=2) = {5, 6}}"},
		{"1.95", "vec", words{0x1000: 2, 0x1008: 0x2000, 0x1010: 3}, ""},
		{"1.95", "text", words{0x1000: 2, 0x1008: 0x2000, 0x1010: 2, 0x2000: 'h' | 'i'<<8}, `"hi"`},
		{"1.63", "tree", words{}, "BTreeMap(size=0)"},
		{"1.95", "tree", words{}, "BTreeMap(size=0)"},
		{"1.95", "rc", words{0x1000: 0x2000, 0x2000: 1, 0x2008: 1, 0x2010: 7}, "Rc(strong=1, weak=0) = {value = 7, strong = 1, weak = 0}"},
		{"1.95", "rc_text", words{0x1000: 0x2000, 0x1008: 2, 0x2000: 1, 0x2008: 3, 0x2010: 'h' | 'i'<<8}, `Rc(strong=1, weak=2) = {value = "hi", strong = 1, weak = 2}`},
		{"1.95", "rc_list", words{0x1000: 0x2000, 0x1008: 1, 0x2000: 1, 0x2008: 1, 0x2010: 9}, "Rc(strong=1, weak=0) = {value = [9], strong = 1, weak = 0}"},
		{"1.95", "ref_cell", words{0x1000: 1<<64 - 1, 0x1008: 3}, "RefCell(borrow_mut=1) = {value = 3, borrow = -1}"},
		{"1.95", "path", words{0x1000: 0x2000, 0x1008: 1, 0x2000: '/'}, `"/"`},
	} {
		info := openTypes(t, "rust"+test.release+".debug")
		v := value.At(rustType(t, info, test.name), 0x1000, value.Static(test.memory, info, 0))
		got := (&print.Printer{Present: stdtype.Present}).Text(v)
		want := test.want
		if want == "" {
			want = new(print.Printer).Text(v)
		}
		if got != want {
			t.Errorf("%s of %x: %s, expected %s", test.name, test.memory, got, want)
		}
	}
}

// TestNoFrame does not present a value without memory.
func TestNoFrame(t *testing.T) {
	info := openTypes(t, "gcc12.debug")
	for _, name := range names {
		variable, err := info.Global(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := value.Constant(variable.Type, make([]byte, variable.Type.Size()), nil)
		if got, want := (&print.Printer{Present: stdtype.Present}).Text(v), new(print.Printer).Text(v); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

// TestHostileText prints text without an end, and text that is partly unmapped.
func TestHostileText(t *testing.T) {
	info := openTypes(t, "gcc12.debug")
	for _, test := range []struct {
		at, length uint64
		want       string
	}{
		{1, 3, `"\000\000"`},
		{1, 1 << 60, `"` + strings.Repeat(`\000`, 200) + `"...`},
		{990, 50, "<error: Cannot access memory at address 0x3de>"},
		{0xffff_ffff_ffff_fff0, 1 << 62, "<error: Cannot access memory at address 0xfffffffffffffff0>"},
	} {
		v, err := info.Global("text", 0)
		if err != nil {
			t.Fatal(err)
		}
		memory := layered{words{0: test.at, 8: test.length}, repeated{}}
		got := (&print.Printer{Present: stdtype.Present, Repeats: 1000}).Text(value.At(v.Type, 0, value.Static(memory, info, 0)))
		if got != test.want {
			t.Errorf("%d characters at %#x: %s, expected %s", test.length, test.at, got, test.want)
		}
	}
}

// layered is memory with other contents in its first 16 bytes.
type layered struct {
	head words
	rest repeated
}

func (l layered) ReadMemory(p []byte, address uint64) error {
	if address < 16 && address+uint64(len(p)) <= 16 {
		return l.head.ReadMemory(p, address)
	}
	return l.rest.ReadMemory(p, address)
}

// rawDeque returns the members of a std::deque without elements that can be read. Its iterators have
// presentations of their own, as in gdb.
func rawDeque(start, finish string) string {
	return "{<std::_Deque_base<int, std::allocator<int> >> = {_M_impl = {<std::allocator<int>> = {<std::__new_allocator<int>> = {<No data fields>}, <No data fields>}, " +
		"<std::_Deque_base<int, std::allocator<int> >::_Deque_impl_data> = {_M_map = 0x0, _M_map_size = 0, _M_start = " + start + ", _M_finish = " + finish + "}, <No data fields>}}, <No data fields>}"
}
