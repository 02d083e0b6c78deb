// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"testing"

	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
)

// The size of lists includes dynamic unwind information, and counts shared regions once.
func TestListBytes(t *testing.T) {
	r := NewReader(Target{})
	tail := &region.Region{Ops: make([]region.Op, 100)}
	source := &Source{Kind: DynInfoList}
	for range 3 {
		p := &region.Procedure{Regions: &region.Region{Ops: make([]region.Op, 10), Next: tail}}
		source.codes = append(source.codes, r.code(DynInfoList, &infoCode{info: &libunwind.Info{Procedure: p}}))
	}
	table := &region.Table{Entries: make([]region.TableEntry, 1000)}
	source.codes = append(source.codes, r.code(DynInfoList, &infoCode{info: &libunwind.Info{Table: table}}),
		r.code(GDBList, newImageCode(make([]byte, 5000))))
	r.sources = append(r.sources, source)
	want := uint64(4*infoBytes + 3*(regionBytes+10*opBytes) + regionBytes + 100*opBytes + 1000*tableEntryBytes + 5000)
	if n := r.Bytes(); n != want {
		t.Errorf("%d bytes, expected %d", n, want)
	}
}
