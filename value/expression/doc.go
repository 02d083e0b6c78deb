// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package expression evaluates expressions of C, as users of gdb write them, with the variables,
// registers and memory of a frame.
//
// [Compile] parses an expression once, in a [Context] that defines the names at an address of the
// program. [Expression.Evaluate] and [Expression.True] then evaluate it in any number of frames.
// A comparison of variables and registers allocates nothing, so that the condition of a breakpoint
// can be evaluated at every hit.
//
// # The language
//
// It is C with its precedence and conversions, as in gdb 13, and gdb's additions: registers ($rax,
// $pc), convenience variables ($count) and the history ($, $$, $1, $$2) if the Context has them,
// file.c::x and function::x, arrays a@n of n adjacent objects, and {type} address. Types are those
// of the program, and those of C if the program does not name them, so that *(int *)($rbx + 8)
// works in code without debugging information.
//
// In code of C++, names can be those of templates and be qualified (box<int>::count, (ns::kind)1,
// x.base::member); comparisons are bool, and a cast between pointers to a class and its base moves
// the pointer. In code of Rust, tuple.0, x as u8, !n and 5u8 have Rust's meaning. Calls can
// be of methods, x.f(1): virtual ones by the class of the object. Operators of classes are not called.
//
// There are three differences from gdb. Floating-point numbers are computed in 64 bits: a long
// double loses its low bits. Other operators of C++ and Rust are missing. There are no
// warnings, for example for a shift by too many bits.
//
// The package runs no code: the Context makes the calls, and only assignments change memory and
// registers, through the Frame.
//
// Errors have the type *[Error]. Their texts are sentences, because users read them, and those of
// gdb if gdb has one.
package expression
