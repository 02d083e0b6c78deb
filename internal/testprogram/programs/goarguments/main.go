// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Goarguments waits in functions whose arguments the compiler has split: some of
// their numbers are put on the stack before a call, of some there is nothing left.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// padded has padding between its fields.
type padded struct {
	small uint16
	big   uint32
	text  string
}

type thing interface{ weight(factor int) int }

func (p *padded) weight(factor int) int { return block(factor, int(p.big)) }

var entered = make(chan bool)

//go:noinline
func block(n, m int) int {
	entered <- true
	<-make(chan int)
	return n + m
}

// All of its arguments are needed after the call.
//
//go:noinline
func whole(p padded, list []byte, t thing, n int) int {
	n += block(1, 2)
	return n + int(p.small) + int(p.big) + len(p.text) + strings.Count(p.text, "t") + len(list) + int(list[n]) + t.weight(n)
}

// It needs neither the length of the slice nor the bytes of the text.
//
//go:noinline
func outer(list []byte, text string) int {
	return int(cut(list)[3]) + length(text) + len(text)
}

func cut(inner []byte) []byte {
	inner = inner[:4]
	inner[0] = byte(block(int(inner[0]), 4))
	return inner
}

func length(inner string) int { return len(inner) + block(len(inner), 6) }

//go:noinline
func measured(text string) int { return length(text) + len(text) }

// Arguments that do not fit in registers are on the stack from the start, and stay there.
//
//go:noinline
func many(a, b, c, d, e, f, g, h, i int, list []int, text string) int {
	return a + b + c + d + e + f + g + h + i + block(len(list), len(text)) + len(list) + len(text)
}

//go:noinline
func wide(n int64) int64 { return n + int64(block(1, 7)) + n<<3 }

// Its argument is on the heap, with another value.
//
//go:noinline
func moved(n int, text string) (sum int) {
	pointer := &n
	defer func() { sum += *pointer }()
	*pointer += 41
	entered <- true
	<-make(chan int)
	return n + len(text)
}

// It does not return from the place where it waits, and other code of it follows.
//
//go:noinline
func stops(n int, text string) int {
	if n > 0 {
		panic(fmt.Sprint(block(n, 8), text))
	}
	return strings.Count(text, "t") + strings.Count(text, "s") + block(len(text), n)
}

// Its argument has another value when it waits.
//
//go:noinline
func changed(n int) int {
	before := n
	n = n*3 + 7
	block(n, 9)
	return before
}

// Its whole argument is stored on the stack for the code after the call.
//
//go:noinline
func keeps(p padded) {
	block(1, 10)
	fmt.Fprintln(io.Discard, p)
}

func main() {
	p := &padded{7, 70000, "text"}
	list := append(make([]byte, 0, 30), 1)
	go many(1, 2, 3, 4, 5, 6, 7, 8, 9, make([]int, 2, 3), "many")
	go wide(1<<40 + 5)
	go moved(1, "moved")
	go stops(1, "stops")
	go changed(5)
	go keeps(*p)
	go whole(*p, list, p, len(os.Args))
	go outer(list, "something")
	go measured("measured")
	for range 9 {
		<-entered
	}
	fmt.Println("ready")
	fmt.Println(os.Stdin.Read(make([]byte, 1)))
}
