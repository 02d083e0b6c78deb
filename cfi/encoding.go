// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
)

// Encoding is a DW_EH_PE byte, the format of a pointer in .eh_frame and .eh_frame_hdr (LSB
// Core, "DWARF Exception Header Encoding"). The low four bits are the form, the next three
// the base that the pointer is relative to. The top bit says that the pointer is the
// address of a slot with the value.
type Encoding uint8

const (
	EncAbsptr  Encoding = 0x00 // an address, in the machine's width
	EncULEB128 Encoding = 0x01
	EncUdata2  Encoding = 0x02
	EncUdata4  Encoding = 0x03
	EncUdata8  Encoding = 0x04
	EncSigned  Encoding = 0x08 // an address, signed
	EncSLEB128 Encoding = 0x09
	EncSdata2  Encoding = 0x0a
	EncSdata4  Encoding = 0x0b
	EncSdata8  Encoding = 0x0c

	EncPCRel   Encoding = 0x10 // relative to the pointer's own address
	EncTextRel Encoding = 0x20 // relative to Section.TextBase
	EncDataRel Encoding = 0x30 // relative to Section.DataBase; in .eh_frame_hdr to its own start
	EncFuncRel Encoding = 0x40 // relative to the start of the FDE's function
	EncAligned Encoding = 0x50 // padded to the next multiple of an address's width, then Absptr

	EncIndirect Encoding = 0x80
	EncOmit     Encoding = 0xff // no pointer

	encForm        Encoding = 0x0f
	encApplication Encoding = 0x70
)

var (
	encForms = [16]string{0: "absptr", 1: "uleb128", 2: "udata2", 3: "udata4", 4: "udata8",
		8: "signed", 9: "sleb128", 10: "sdata2", 11: "sdata4", 12: "sdata8"}
	encApplications = [8]string{0: "", 1: "pcrel ", 2: "textrel ", 3: "datarel ", 4: "funcrel ", 5: "aligned "}
)

// String returns the encoding as in gcc's -dA comments: "indirect pcrel sdata4".
func (e Encoding) String() string {
	if e == EncOmit {
		return "omit"
	}
	form, application := encForms[e&encForm], encApplications[e&encApplication>>4]
	if form == "" || application == "" && e&encApplication != 0 {
		return fmt.Sprintf("%#02x", uint8(e))
	}
	if e&EncIndirect != 0 {
		return "indirect " + application + form
	}
	return application + form
}

// Pointer is a decoded pointer.
type Pointer struct {
	Address uint64 // without load bias
	// Indirect says that Address is the address of a slot that contains the value
	// (DW_EH_PE_indirect), which the dynamic linker often sets.
	Indirect bool
}

// pointer reads a pointer. function is the start of the FDE's function, for EncFuncRel. With
// nullable a stored zero is a null pointer in every encoding, as in libgcc for personality and
// LSDA.
func (c *cursor) pointer(e Encoding, function uint64, nullable bool) Pointer {
	if e&^EncIndirect == EncAligned {
		at := c.s.Address + c.Off
		c.Bytes(-at & uint64(c.width-1))
		return Pointer{c.Uint(c.width), e&EncIndirect != 0}
	}
	at := c.s.Address + c.Off
	v := c.encoded(e)
	if c.Err != nil || v == 0 && nullable {
		return Pointer{}
	}
	switch e & encApplication {
	case 0:
	case EncPCRel:
		v += at
	case EncTextRel:
		v += c.s.TextBase
	case EncDataRel:
		v += c.s.DataBase
	case EncFuncRel:
		v += function
	default:
		c.fail(ErrEncoding, "%#02x has an unknown application", uint8(e))
		return Pointer{}
	}
	return Pointer{c.s.Machine.Truncate(v), e&EncIndirect != 0}
}

// encoded reads a number in the form of a pointer.
func (c *cursor) encoded(e Encoding) uint64 {
	switch e & encForm {
	case EncAbsptr:
		return c.Uint(c.width)
	case EncULEB128:
		return c.ULEB128()
	case EncUdata2:
		return c.Uint(2)
	case EncUdata4:
		return c.Uint(4)
	case EncUdata8:
		return c.Uint(8)
	case EncSigned:
		return uint64(c.Int(c.width))
	case EncSLEB128:
		return uint64(c.SLEB128())
	case EncSdata2:
		return uint64(c.Int(2))
	case EncSdata4:
		return uint64(c.Int(4))
	case EncSdata8:
		return uint64(c.Int(8))
	}
	c.fail(ErrEncoding, "%#02x has an unknown form", uint8(e))
	return 0
}

// length reads a number of bytes in the form of e, but always unsigned.
func (c *cursor) length(e Encoding) uint64 {
	switch e & encForm {
	case EncSigned:
		e = EncAbsptr
	case EncSdata2, EncSdata4, EncSdata8:
		e &^= EncSigned
	case EncSLEB128:
		e = EncULEB128
	}
	return c.encoded(e)
}
