// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import "fmt"

// Kind is a kind of source.
type Kind uint8

const (
	None            Kind = iota // no generated code
	GDBList                     // the list of the GDB JIT interface, found by its symbol
	GDBListSearched             // that list, found by a search of the target's memory
	Jitdump                     // a jitdump, which the target has mapped for perf
	DynInfoList                 // libunwind's list of dynamic unwind information
	PerfMap                     // /tmp/perf-PID.map of the target
	GoModuleList                // the list of modules of the target's Go runtime
)

// kinds has the name of each kind and of its entries.
var kinds = [...]struct{ name, entry string }{
	None:            {"not generated", ""},
	GDBList:         {"GDB JIT list", "symbol file"},
	GDBListSearched: {"GDB JIT list that a search found", "symbol file"},
	Jitdump:         {"jitdump", "record"},
	DynInfoList:     {"dyn-info list of libunwind", "info"},
	PerfMap:         {"perf map", "line"},
	GoModuleList:    {"Go module list", "module"},
}

// String returns the name of the kind: "perf map".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Entry returns the name of an entry of a source of the kind: "record".
func (k Kind) Entry() string {
	if int(k) < len(kinds) {
		return kinds[k].entry
	}
	return "entry"
}
