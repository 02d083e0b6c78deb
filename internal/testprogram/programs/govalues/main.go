// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Govalues prints the arguments of a function in the form of a Go debugger, and waits in the
// function.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

type point struct{ X, Y int }

type shape interface{ area() int }

type square struct {
	point
	side int
	name string
}

func (s *square) area() int { return s.side * s.side }

type colour uint8

const (
	red colour = 1 << iota
	green
	blue
)

// list returns a slice in Delve's form.
func list[T any](s []T, verb string) string {
	if s == nil {
		return fmt.Sprintf("%T len: 0, cap: 0, nil", s)
	}
	var all []string
	for _, e := range s {
		all = append(all, fmt.Sprintf(verb, e))
	}
	return fmt.Sprintf("%T len: %d, cap: %d, [%s]", s, len(s), cap(s), strings.Join(all, ","))
}

//go:noinline
func call(text string, empty string, bytes []byte, numbers []int, none []int, words []string, three [3]int8, counts map[string]int, noMap map[point]bool,
	err error, noErr error, thing shape, value any, number any, p *point, st square, ptr *square, f func(int) int, noFunc func(), c chan int,
	paint colour, ratio float64, letter rune, b byte, d time.Duration, ok bool) (n int, problem error) {
	shown := []string{
		"text=" + fmt.Sprintf("%q", text), "empty=" + fmt.Sprintf("%q", empty), "bytes=" + list(bytes, "%d"), "numbers=" + list(numbers, "%d"),
		"none=" + list(none, "%d"), "words=" + list(words, "%q"),
		fmt.Sprintf("three=%T [%d,%d,%d]", three, three[0], three[1], three[2]),
		fmt.Sprintf("counts=%T [%q: %d]", counts, "one", counts["one"]), fmt.Sprintf("noMap=%T nil", noMap),
		fmt.Sprintf("err=error(%T) *{s: %q}", err, err.Error()), "noErr=error nil",
		fmt.Sprintf("thing=main.shape(%T) *{point: %T {X: 1, Y: 2}, side: %d, name: %q}", thing, st.point, thing.(*square).side, thing.(*square).name),
		fmt.Sprintf("value=interface {}(%T) {X: %d, Y: %d}", value, value.(point).X, value.(point).Y),
		fmt.Sprintf("number=interface {}(%T) %d", number, number),
		fmt.Sprintf("p=%T {X: %d, Y: %d}", p, p.X, p.Y),
		fmt.Sprintf("st=%T {point: %T {X: %d, Y: %d}, side: %d, name: %q}", st, st.point, st.X, st.Y, st.side, st.name),
		fmt.Sprintf("ptr=%T {point: %T {X: %d, Y: %d}, side: %d, name: %q}", ptr, ptr.point, ptr.X, ptr.Y, ptr.side, ptr.name),
		"f=main.main.func1", "noFunc=nil", fmt.Sprintf("c=%T %d/%d", c, len(c), cap(c)),
		fmt.Sprintf("paint=red|blue (%d)", paint), fmt.Sprintf("ratio=%g", ratio), fmt.Sprintf("letter=%d", letter), fmt.Sprintf("b=%d", b),
		fmt.Sprintf("d=Second (%d)", int64(d)), fmt.Sprintf("ok=%t", ok),
	}
	fmt.Println(strings.Join(shown, ", "))
	n, problem = os.Stdin.Read(make([]byte, 1))
	fmt.Println(text, empty, bytes, numbers, none, words, three, counts, noMap, err, noErr, thing, value, number, p, st, ptr, f(1), noFunc == nil, c, paint, ratio,
		letter, b, d, ok)
	return n, problem
}

func main() {
	sq := &square{point{1, 2}, 3, "sq"}
	c := make(chan int, 3)
	c <- 1
	numbers := make([]int, 3, 8)
	numbers[2] = -5
	call("hello \"world\"\n", "", []byte("bytes"), numbers, nil, []string{"a", "b c"}, [3]int8{-1, 0, 1}, map[string]int{"one": 1}, nil,
		errors.New("a boom that is told in full"), nil, sq, point{7, 8}, 42, &point{3, 4}, *sq, sq, func(i int) int { return i + len(os.Args) }, nil, c,
		red|blue, 0.1, 'x', 'y', time.Second, true)
}
