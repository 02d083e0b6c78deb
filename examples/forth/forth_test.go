// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clewdev/clew/examples/forth"
)

// programs are sources with their output.
var programs = []struct{ name, source, output string }{
	{"nothing", "", ""},
	{"numbers", `0 . 1 . -1 . $ff . 'A' . 9223372036854775807 . -9223372036854775808 . 18446744073709551615 u. $ffffffffffffffff .`,
		"0 1 -1 255 65 9223372036854775807 -9223372036854775808 18446744073709551615 -1 "},
	{"literals", `65536 . 4294967296 . -65536 . 1311768467463790320 . -1311768467463790320 . 4294967295 . -2147483649 . $ffff0000ffff1234 .`,
		"65536 4294967296 -65536 1311768467463790320 -1311768467463790320 4294967295 -2147483649 -281470681804236 "},
	{"stack", `: show . . . . ;
		1 2 3 4 show 1 2 3 dup show 1 2 3 4 swap show 1 2 3 over show 9 1 2 3 rot show 9 1 2 3 -rot show 1 2 3 4 5 nip show
		8 1 2 tuck show 1 2 2dup show 1 2 3 4 5 6 2drop show 5 6 7 0 ?dup show 5 6 7 ?dup show`,
		"4 3 2 1 3 3 2 1 3 4 2 1 2 3 2 1 1 3 2 9 2 1 3 9 5 3 2 1 2 1 2 8 2 1 2 1 4 3 2 1 0 7 6 5 7 7 6 5 "},
	{"arithmetic", `: n ; 7 n 3 + . 7 n 3 - . 7 n 3 * . 7 n 3 / . -7 n 3 / . 7 n 3 mod . -7 n 3 mod . -7 n 3 /mod . . -1 n 10 u/mod . .
		-9223372036854775808 n -1 / . -9223372036854775808 n -1 mod . 12 n 10 and . 12 n 10 or . 12 n 10 xor . 1 n 63 lshift . -1 n 60 rshift .
		3 n 5 min . -3 n 5 min . 3 n -5 max . 5 n invert . 5 n negate . -5 n abs . 5 n abs . 5 n 1+ . 5 n 1- . 5 n 2* . -5 n 2/ . 5 n cells .`,
		"10 4 21 2 -2 1 -1 -2 -1 1844674407370955161 5 -9223372036854775808 0 8 14 6 -9223372036854775808 15 3 -3 3 -6 -5 5 5 6 4 10 -3 40 "},
	{"comparison", `: t 2dup = . 2dup <> . 2dup < . 2dup > . 2dup <= . 2dup >= . 2dup u< . u> . cr ; 1 2 t 2 2 t 2 1 t -1 1 t
		: z dup 0= . dup 0<> . dup 0< . 0> . cr ; 0 z 1 z -1 z`,
		"0 -1 -1 0 -1 0 -1 0 \n-1 0 0 0 -1 -1 0 0 \n0 -1 0 -1 0 -1 0 -1 \n0 -1 -1 0 -1 0 0 -1 \n-1 0 0 0 \n0 -1 0 -1 \n0 -1 -1 0 \n"},
	{"fib", ": fib dup 2 < if exit then dup 1- recurse swap 2 - recurse + ; 20 fib .", "6765 "},
	{"factorial", ": fact ?dup if dup 1- recurse * else 1 then ; 10 fact .", "3628800 "},
	{"loops", `5 0 do i . loop 0 0 ?do i . loop 3 0 ?do i . loop 10 0 do i . 3 +loop 0 10 do i . -5 +loop
		: pairs 3 0 do 2 0 do j i . . loop loop ; pairs 10 0 do i dup 4 = if . leave then . loop
		: first 10 0 do i 7 = if i unloop exit then loop 99 ; first .`,
		"0 1 2 3 4 0 1 2 0 3 6 9 10 5 0 0 0 1 0 0 1 1 1 0 2 1 2 0 1 2 3 4 7 "},
	{"begin", `: down begin dup . 1- dup 0= until drop ; 3 down : up 0 begin dup 4 < while dup . 1+ repeat drop ; up
		: both 0 begin dup 10 < while dup 5 < while dup . 1+ repeat 77 . then drop ; both
		: always 0 begin 1+ dup 6 = if exit then again ; always .`, "3 2 1 0 1 2 3 0 1 2 3 4 77 6 "},
	{"return stack", ": swapped >r >r 3 r> r@ r> ; 1 2 swapped . . . . : under 7 >r 2 0 do i >r 3 0 do i j + . loop r> drop loop r> . ; under",
		"2 2 1 3 0 1 2 1 2 3 7 "},
	{"memory", `variable x 7 x ! x @ . 5 x +! x ? create t 1 , 2 , 3 , t 2 cells + @ . create b 3 c, 4 c, b 1+ c@ . 300 b c! b c@ .
		create space2 10 cells allot 42 space2 9 cells + ! space2 9 cells + @ . 6 constant six six 7 * .`, "7 12 3 4 44 42 42 "},
	{"text", `." hello, " s" world" type cr char A emit [char] B emit space 3 spaces 67 emit`, "hello, world\nAB    C"},
	{"comments", "1 ( one ) . \\ two\n2 . ( more\nthan one line ) 3 .", "1 2 3 "},
	{"case", ": Foo 1 . ; FOO foo 2 DUP . .", "1 1 2 2 "},
	{"hidden", ": dup 9 ; dup . : x 1 ; : x x 1+ ; x .", "9 2 "},
	{"sieve", `1000 constant n create flags n allot
		: primes n 2 do i dup * n < if i flags + c@ 0= if n i dup * do 1 flags i + c! j +loop then then loop
		0 n 2 do i flags + c@ 0= if 1+ then loop ; primes .`, "168 "},
	{"ackermann", `: ack over 0= if nip 1+ exit then dup 0= if drop 1- 1 recurse exit then
		over 1- -rot 1- recurse recurse ; 2 9 ack .`, "21 "},
	{"many ops", ": many " + string(bytes.Repeat([]byte("1 + "), 500)) + " ; 0 many .", "500 "},
}

func TestPrograms(t *testing.T) {
	for _, p := range programs {
		for _, frames := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/frames=%v", p.name, frames), func(t *testing.T) {
				var out bytes.Buffer
				s := load(t, p.source, &forth.Options{FramePointers: frames}, &forth.SessionOptions{Output: &out})
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				if out.String() != p.output {
					t.Errorf("it prints\n%q, want\n%q", out.String(), p.output)
				}
			})
		}
	}
}

func load(t testing.TB, source string, options *forth.Options, session *forth.SessionOptions) *forth.Session {
	t.Helper()
	p, err := forth.Compile("test.fth", []byte(source), options)
	if err != nil {
		t.Fatal(err)
	}
	s, err := forth.Load(p, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestCall(t *testing.T) {
	s := load(t, ": fib dup 2 < if exit then dup 1- recurse swap 2 - recurse + ; : three 1 2 3 ;", nil, nil)
	for _, c := range []struct {
		word            string
		arguments, want []int64
	}{
		{"fib", []int64{10}, []int64{55}},
		{"FIB", []int64{7, 10}, []int64{7, 55}},
		{"three", nil, []int64{1, 2, 3}},
		{"three", []int64{-1}, []int64{-1, 1, 2, 3}},
	} {
		got, err := s.Call(c.word, c.arguments...)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d %s leaves %d, %v; want %d", c.arguments, c.word, got, err, c.want)
		}
	}
	if _, err := s.Call("none"); err == nil {
		t.Error("a word that does not exist was called")
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		source string
		want   error
		at     string
	}{
		{": deep recurse ;\ndeep", forth.ErrReturnStack, "test.fth:1:1: in deep: "},
		{": deep 1 >r recurse r> drop ;\ndeep", forth.ErrReturnStack, "test.fth:1:1: in deep: "},
		{": push 1 1 1 1 recurse ;\npush", forth.ErrDataStack, "test.fth:1:1: in push: "},
		{": push begin 1 again ;\npush", forth.ErrDataStack, "test.fth:1:8: in push: "},
		{"1 drop drop begin exit again", forth.ErrDataStack, "test.fth:1:13: in toplevel: "},
		{": pop begin drop again ;\npop", forth.ErrDataStack, "test.fth:1:7: in pop: "},
		{": half\n  2 0 / ;\nhalf", forth.ErrDivision, "test.fth:2:7: in half: "},
		{"1 0 mod", forth.ErrDivision, "test.fth:1:5: in toplevel: "},
		{"1 0 u/mod", forth.ErrDivision, "test.fth:1:5: in toplevel: "},
		{"-1 @", forth.ErrAddress, "test.fth:1:4: in toplevel: "},
		{"1 @", forth.ErrAddress, "test.fth:1:3: in toplevel: "},
		{"1 -8 !", forth.ErrAddress, "test.fth:1:6: in toplevel: "},
		{"8 c@", forth.ErrAddress, "test.fth:1:3: in toplevel: "},
		{"begin again", forth.ErrSteps, "test.fth:1:1: in toplevel: "},
		{"begin 'x' emit again", forth.ErrOutput, "test.fth:1:11: in toplevel: "},
	} {
		for _, frames := range []bool{false, true} {
			options := &forth.SessionOptions{MaxSteps: 10_000_000}
			s := load(t, c.source+" \n: ok 42 ;", &forth.Options{FramePointers: frames}, options)
			for range 2 {
				err := s.Run()
				var fault *forth.Fault
				if !errors.Is(err, c.want) || !errors.As(err, &fault) || err.Error() != c.at+c.want.Error() {
					t.Errorf("%q: %v, want %s%v", c.source, err, c.at, c.want)
				}
				if got, err := s.Call("ok"); err != nil || !slices.Equal(got, []int64{42}) {
					t.Errorf("%q: then %d, %v", c.source, got, err)
				}
			}
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for source, want := range map[string]string{
		"1 2 foo":                "1:5: \"foo\" is neither a word nor a number",
		": f":                    "1:4: the definition of f has no ;",
		":":                      "1:1: : without a name",
		"\n  ;":                  "2:3: ; without :",
		": f : g ;":              "1:5: a definition inside f",
		"if":                     "1:1: if is not closed",
		"then":                   "1:1: then without if",
		"begin then":             "1:7: then without if",
		"if else":                "1:4: else is not closed",
		"else":                   "1:1: else without if",
		"repeat":                 "1:1: repeat without begin",
		"begin repeat":           "1:7: repeat without while",
		"while":                  "1:1: while without begin",
		"loop":                   "1:1: loop without do",
		"1 0 do":                 "1:5: do is not closed",
		"i":                      "1:1: i outside of a loop",
		"1 0 do j loop":          "1:8: j outside of a loop",
		"leave":                  "1:1: leave outside of a loop",
		"unloop":                 "1:1: unloop outside of a loop",
		"recurse":                "1:1: recurse outside of a definition",
		": f >r ;":               "1:8: 1 items left on the return stack",
		": f r> ;":               "1:5: r> without >r",
		": f 1 0 do r@ loop ;":   "1:12: r@ without >r",
		": f if >r then ;":       "1:11: the return stack differs between the paths to then",
		": f begin >r again ;":   "1:14: the return stack differs from that at begin",
		": f 2 0 do >r loop ;":   "1:15: the return stack differs from that at do",
		"variable":               "1:1: variable without a name",
		": f dup constant x ;":   "1:9: constant needs a number before it that is known at compile time",
		"create x 9999999 allot": "1:18: 9999999 bytes after 0 bytes of data; the limit is 1048576",
		"-1 allot":               "1:4: -1 bytes after 0 bytes of data; the limit is 1048576",
		"( no end":               "1:1: the comment has no ')'",
		"s\" no end\n\"":         "1:1: the text has no \" in its line",
		"char":                   "1:1: char without a character",
		": \xff ;":               "1:3: invalid name \"\\xff\"",
	} {
		_, err := forth.Compile("t.fth", []byte(source), nil)
		var syntax *forth.SyntaxError
		if !errors.As(err, &syntax) || err.Error() != "t.fth:"+want {
			t.Errorf("%q: %v, want t.fth:%s", source, err, want)
		}
	}
}
