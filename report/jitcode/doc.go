// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package jitcode prints the code that a program generated while it ran: its sources and
// the memory that they cover ([Sources]), a function's unwind table and instructions
// ([Function]), and the previous places of a function ([FormerFunction]).
//
// Text is for people and may change from version to version. JSON objects only gain members.
package jitcode
