// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/clewdev/clew/arch"
)

// AppendHeader appends to dst the .eh_frame_hdr of what was written, for a
// header that will lie at an address: with the sorted table that libgcc, gdb
// and perf search, whose entries have four bytes relative to the header. The
// error is an *Error that wraps ErrRange where code or .eh_frame is too far away
// for that, and ErrHeader for a .debug_frame; dst is then returned as it was.
func (e *Encoder) AppendHeader(dst []byte, address uint64) ([]byte, error) {
	if e.Kind != EHFrame || e.Machine == nil {
		return dst, &Error{e.name(), 0, fmt.Errorf("%w: there is one for an .eh_frame with a Machine alone", ErrHeader)}
	}
	h := Header{Address: address, EHFrame: Pointer{Address: e.Address},
		EHFrameEncoding: EncPCRel | EncSdata4, CountEncoding: EncUdata4, TableEncoding: EncDataRel | EncSdata4}
	if !slices.IsSortedFunc(e.functions, byStart) {
		slices.SortStableFunc(e.functions, byStart)
	}
	return h.Append(dst, e.Machine, e.functions)
}

func byStart(a, b HeaderEntry) int { return cmp.Compare(a.Start, b.Start) }

// headerSections spares Append an allocation: jitdumps have a header for each function.
var headerSections = sync.Pool{New: func() any { return new(Encoder) }}

// Append appends to dst an .eh_frame_hdr for a machine that has the header's
// address, encodings and pointer to .eh_frame, and the entries given, which are
// sorted by their starts. The error is an *Error that wraps ErrRange where an
// entry does not fit the encoding, and ErrHeader where they are not sorted; dst
// is then returned as it was.
func (h *Header) Append(dst []byte, m *arch.Machine, entries []HeaderEntry) ([]byte, error) {
	section := headerSections.Get().(*Encoder)
	defer func() {
		*section = Encoder{}
		headerSections.Put(section)
	}()
	*section = Encoder{Machine: m, Address: h.Address - uint64(len(dst)), DataBase: h.Address, Data: dst, called: ".eh_frame_hdr"}
	w := writer{Encoder: section, width: m.AddressSize, big: m.Order == binary.BigEndian}
	w.uint8(1)
	w.uint8(uint8(h.EHFrameEncoding))
	w.uint8(uint8(h.CountEncoding))
	w.uint8(uint8(h.TableEncoding))
	if h.EHFrameEncoding != EncOmit {
		w.pointer(h.EHFrameEncoding, h.EHFrame, 0, false)
	}
	if h.CountEncoding != EncOmit && h.TableEncoding != EncOmit {
		w.pointer(h.CountEncoding, Pointer{Address: uint64(len(entries))}, 0, false)
		for i := range entries {
			if i > 0 && entries[i].Start < entries[i-1].Start {
				w.fail(ErrHeader, "entry %d starts at %#x, before the one in front of it at %#x", i, entries[i].Start, entries[i-1].Start)
			}
			w.pointer(h.TableEncoding, Pointer{Address: entries[i].Start}, 0, false)
			w.pointer(h.TableEncoding, Pointer{Address: entries[i].FDE}, 0, false)
			if w.err != nil {
				break
			}
		}
	}
	if w.err != nil {
		return dst, w.err
	}
	return section.Data, nil
}
