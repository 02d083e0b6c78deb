// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"encoding/binary"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

// scan decodes procedures from bytes: start, size and number of regions; for each
// region count and number of operations; for each operation tag, register, when and
// value. After a region with an odd number of operations, the next byte is the index of the
// following region.
func scan(data []byte) []*region.Procedure {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	var out []*region.Procedure
	for len(data) > 0 && len(out) < 4 {
		p := &region.Procedure{Start: uint64(next()) * 16}
		p.End = p.Start + uint64(next())
		regions := make([]*region.Region, next()%16)
		for i := range regions {
			r := &region.Region{Count: int32(int8(next()))}
			n := next()
			for range n % 16 {
				o := region.Op{Tag: region.Tag(next() % 10), Register: int16(int8(next())), When: int32(int8(next())), Value: uint64(int64(int8(next())))}
				if o.Tag == region.TagAlias {
					o.Value &= 0xfff
				}
				r.Ops = append(r.Ops, o)
			}
			if i > 0 {
				regions[i-1].Next = r
			}
			regions[i] = r
			if n&1 != 0 {
				r.Next = regions[int(next())%(i+1)]
			}
		}
		if len(regions) > 0 {
			p.Regions = regions[0]
		}
		out = append(out, p)
	}
	return out
}

// FuzzProgram checks that any description results in an error, or in a table that
// can be written and read.
func FuzzProgram(f *testing.F) {
	f.Add([]byte{0, 16, 2, 8, 6, 4, 7, 0, 0xf8, 3, 6, 0, 0, 1, 7, 3, 6, 0xfe, 2, 5, 0, 0, 1})
	f.Add([]byte{0, 64, 1, 16, 2, 8, 0, 0xff, 0x80, 8, 64, 1, 64, 2, 8, 0, 0xff, 0})
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x0102_0304_0506_0708))
	f.Fuzz(func(t *testing.T, data []byte) {
		procedures := scan(data)
		for _, m := range []*arch.Machine{amd64, arm64} {
			for _, p := range procedures {
				program, err := p.Program(m, procedures...)
				if (err == nil) == (program == nil) {
					t.Fatalf("both or neither: %v, %v", program, err)
				}
				if err != nil {
					_ = err.Error()
					continue
				}
				e := cfi.Encoder{Machine: m}
				if err := e.Program(program, codeAt, p.End-p.Start); err != nil {
					t.Fatal(err)
				}
				s := &cfi.Section{Data: e.Data, Machine: m}
				var x cfi.Interpreter
				for entry, err := range s.Entries() {
					if err != nil {
						t.Fatal(err)
					}
					if entry.FDE == nil {
						continue
					}
					end := uint64(codeAt)
					for row := range x.Rows(entry.FDE) {
						if row.CFA.Kind != cfi.Register {
							t.Fatalf("the CFA of %v is %v", row, row.CFA)
						}
						end = row.End
					}
					if x.Err() != nil || end != entry.FDE.End {
						t.Fatalf("the rows end at %#x of %v: %v", end, entry.FDE, x.Err())
					}
				}
			}
		}
	})
}
