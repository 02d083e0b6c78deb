// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package expression evaluates expressions of C, as users of gdb write them, over
// the variables, registers and memory of a frame.
//
// [Compile] reads an expression once, in a [Context] that says what names mean
// at some address of the program; [Expression.Evaluate] and [Expression.True]
// then read it in frames as often as wanted. A comparison of variables and
// registers allocates nothing, so that the condition of a breakpoint can be
// asked at every hit.
//
// # The language
//
// It is C with its precedence and conversions, as gdb 13 has them, and gdb's
// additions: registers ($rax, $pc), convenience variables ($count) and the
// history ($, $$, $1, $$2) as far as the Context gives them, file.c::x and
// function::x, arrays a@n of n objects in a row, and {type} address. Types are
// those of the program, and those of C where the program does not name them, so
// that *(int *)($rbx + 8) works in code that nobody described.
//
// What differs from gdb: floating-point numbers are computed in 64 bits (a long
// double loses its low bits), the operators of C++ and other languages are not
// there, and warnings (a shift by more bits than there are) are not given.
//
// The package runs no code: a call of a function is handed to the Context, and
// memory and registers are changed only by assignments, through the Frame.
//
// Errors are sentences, those that gdb says where gdb has one, because they are
// what a user reads; as values they are [*Error].
package expression
