// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import "github.com/clewdev/clew/internal/x86"

// twoByte decodes the opcodes after 0F (Intel SDM volume 2, table A-3).
func (d *amd64Decoder) twoByte() {
	switch op := d.Opcode; {
	case op == 0x05: // syscall
		d.clobber(amd64RAX)
		d.clobber(amd64RCX)
		d.clobber(amd64R11)
	case op == 0x0b, op == 0xb9, op == 0xff:
		d.out.Flow = FlowStop
		d.out.Padding = op == 0x0b
	case op == 0x07, op == 0x34, op == 0x35, op == 0xaa: // sysret, sysenter, sysexit, rsm
		d.out.Flow = FlowElsewhere
	case op == 0x00, op == 0x01:
		d.system()
	case op == 0x02, op == 0x03:
		d.clobber(d.reg())
	case op >= 0x18 && op <= 0x1f, op == 0x0d:
		d.out.KeepsFlags = true
		d.out.Padding = op == 0x1f
		if op == 0x1e && d.F3 && d.registerOperand() && d.extension() == 1 { // rdssp
			d.clobber(d.rm())
		}
	case op == 0x20, op == 0x21:
		d.clobber(d.rm())
	case op >= 0x30 && op <= 0x33: // wrmsr, rdtsc, rdmsr, rdpmc
		d.clobber(amd64RAX)
		d.clobber(amd64RDX)
	case op >= 0x40 && op <= 0x4f:
		d.out.KeepsFlags = true
		d.selectOf()
	case op >= 0x80 && op <= 0x8f:
		d.branch(op & 15)
	case op >= 0x90 && op <= 0x9f:
		d.out.KeepsFlags = true
		d.writtenByte()
	case op >= 0xa0:
		d.upperTwoByte()
	case op == 0x78 && !d.Prefix66 && !d.F2: // vmread
		d.written()
	default:
		d.sse()
	}
}

// upperTwoByte decodes the opcodes from 0F A0 on.
func (d *amd64Decoder) upperTwoByte() {
	switch op := d.Opcode; {
	case op == 0xa0, op == 0xa8:
		d.push(NoRegister)
	case op == 0xa1, op == 0xa9:
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: d.stackUnit()})
	case op == 0xa2: // cpuid
		d.out.Clobbered |= 1<<amd64RAX | 1<<amd64RBX | 1<<amd64RCX | 1<<amd64RDX
	case op == 0xa3: // bt
	case op == 0xba:
		if d.extension() != 4 {
			d.written()
		}
	case op == 0xa4, op == 0xa5, op == 0xab, op == 0xac, op == 0xad, op == 0xb3, op == 0xbb:
		d.written()
	case op == 0xaf, op == 0xb8, op == 0xbc, op == 0xbd:
		d.clobber(d.reg())
	case op == 0xb0:
		d.clobber(amd64RAX)
		d.writtenByte()
	case op == 0xb1:
		d.clobber(amd64RAX)
		d.written()
	case op == 0xb6, op == 0xb7:
		d.zeroExtend()
	case op == 0xbe, op == 0xbf:
		d.clobber(d.reg())
	case op == 0xc0:
		d.clobber(d.byteReg())
		d.writtenByte()
	case op == 0xc1:
		d.clobber(d.reg())
		d.written()
	case op == 0xc3: // movnti
		d.written()
	case op == 0xc7:
		d.groupNine()
	case op >= 0xc8 && op <= 0xcf: // bswap
		d.clobber(d.numbered(op & 7))
	case op == 0xae && d.registerOperand() && d.F3 && d.extension() < 2: // rdfsbase, rdgsbase
		d.clobber(d.rm())
	default:
		d.sse()
	}
}

// sse decodes the instructions of SSE that write a general register or memory.
func (d *amd64Decoder) sse() {
	switch op := d.Opcode; op {
	case 0x2c, 0x2d:
		if d.F2 || d.F3 {
			d.clobber(d.reg())
		}
	case 0x50, 0xd7, 0xc5:
		d.clobber(d.reg())
	case 0x6e:
		d.toVector()
	case 0x7e:
		if d.F3 {
			return
		}
		d.fromVector()
	case 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7:
		if d.registerOperand() {
			return
		}
		d.store(NoRegister, d.sseSize(op))
	}
}

// toVector decodes movd and movq to a vector register.
func (d *amd64Decoder) toVector() {
	if d.registerOperand() && d.Wide {
		d.spill(d.rm())
	}
}

// fromVector decodes movd and movq from a vector register.
func (d *amd64Decoder) fromVector() {
	if d.registerOperand() && d.Wide {
		d.reload(d.rm())
		return
	}
	d.written()
}

// sseSize returns the bytes that a store of SSE writes.
func (d *amd64Decoder) sseSize(op byte) int {
	switch {
	case op == 0x13, op == 0x17, op == 0xd6:
		return 8
	case op == 0x11 && d.F3 && !d.Vector:
		return 4
	case op == 0x11 && d.F2 && !d.Vector:
		return 8
	case (op == 0x7f || op == 0xe7) && !d.Prefix66 && !d.F3 && !d.Vector: // MMX
		return 8
	}
	return 16
}

func (d *amd64Decoder) system() {
	m := d.Code[d.ModRM]
	switch {
	case d.Opcode == 0x01 && (m == 0xf9 || m == 0xd0): // rdtscp, xgetbv
		d.out.Clobbered |= 1<<amd64RAX | 1<<amd64RCX | 1<<amd64RDX
	case d.Opcode == 0x00 && m>>3&7 < 2, d.Opcode == 0x01 && m>>3&7 == 4: // sldt, str, smsw
		d.written()
	case d.Opcode == 0x01 && m >= 0xc0:
		d.out.Clobbered |= 1<<amd64RAX | 1<<amd64RCX | 1<<amd64RDX
		if m == 0xc1 || m == 0xd9 || m == 0xf8 || m == 0xd8 { // vmcall, vmmcall, swapgs, vmrun
			d.out.Clobbered |= 1 << amd64RBX
		}
	}
}

func (d *amd64Decoder) groupNine() {
	switch {
	case d.registerOperand(): // rdrand, rdseed, rdpid
		d.clobber(d.rm())
	case d.extension() == 1: // cmpxchg16b
		d.clobber(amd64RAX)
		d.clobber(amd64RDX)
		d.store(NoRegister, 16)
	}
}

func (d *amd64Decoder) selectOf() {
	if !d.registerOperand() || !d.Wide {
		d.clobber(d.reg())
		return
	}
	d.emit(Operation{Op: OpSelect, To: d.reg(), From: d.rm(), Index: d.reg()})
}

func (d *amd64Decoder) zeroExtend() {
	d.out.KeepsFlags = true
	limit, from := int64(0xff), d.rm()
	if d.Opcode == 0xb7 {
		limit = 0xffff
	}
	switch {
	case d.Operand16:
		d.clobber(d.reg())
		return
	case !d.registerOperand():
		from = NoRegister
	case d.Opcode == 0xb6 && d.byteRM() != from:
		from = NoRegister // ah
	}
	d.emit(Operation{Op: OpBound, To: d.reg(), From: from, Offset: limit})
}

// threeByte decodes the opcodes after 0F 38 and 0F 3A (tables ).
func (d *amd64Decoder) threeByte() {
	op := d.Opcode
	switch d.Map {
	case x86.Map0F38:
		switch {
		case op == 0xf0, op == 0xf1 && d.F2, op == 0xf6 && (d.Prefix66 || d.F3): // movbe, crc32, adcx, adox
			d.clobber(d.reg())
		case op == 0xf1, op == 0xf5, op == 0xf6, op == 0xf9: // movbe, wruss, wrss, movdiri
			d.written()
		case op >= 0xd8 && op <= 0xdf || op >= 0x80 && op <= 0x82:
		}
	case x86.Map0F3A:
		switch {
		case op >= 0x14 && op <= 0x17: // pextr
			if d.registerOperand() {
				d.clobber(d.rm())
			} else {
				d.store(NoRegister, []int{1, 2, 4, 4}[op-0x14])
			}
		case op >= 0x60 && op <= 0x63: // pcmpestrm and so on
			d.clobber(amd64RCX)
		}
	}
}

// vector decodes VEX, EVEX and XOP (Intel SDM volume 2, §2.3 and §2.7).
func (d *amd64Decoder) vector() bool {
	op := d.Opcode
	if op >= 0xe0 && d.Map == x86.Map0F38 && d.evex() {
		return false // of APX
	}
	switch d.Map {
	case x86.Map0F:
		d.vectorTwoByte()
	case x86.Map0F38:
		switch {
		case op == 0xf2, op == 0xf5, op == 0xf7: // andn, bzhi, pdep, pext, bextr, shlx
			d.clobber(d.reg())
		case op == 0xf3: // blsr and so on
			d.clobber(d.operandV())
		case op >= 0xe0 && op <= 0xef, op == 0xf6: // cmpccxadd, mulx
			d.clobber(d.reg())
			d.clobber(d.operandV())
		}
	case x86.Map0F3A:
		switch {
		case op == 0xf0: // rorx
			d.clobber(d.reg())
		case op >= 0x14 && op <= 0x17: // vpextr
			if d.registerOperand() {
				d.clobber(d.rm())
			}
		case op >= 0x60 && op <= 0x63: // vpcmpestrm and so on
			d.clobber(amd64RCX)
		case op == 0x19, op == 0x1b, op == 0x1d, op == 0x39, op == 0x3b: // vextract, vcvtps2ph
			if !d.registerOperand() {
				d.store(NoRegister, vectorSize)
			}
		}
	case x86.MapXOP9:
		d.clobber(d.reg())
		d.clobber(d.operandV())
		if d.registerOperand() {
			d.clobber(d.rm())
		}
	case x86.MapXOPA:
		d.clobber(d.reg())
		d.clobber(d.operandV())
	}
	return true
}

// vectorSize is a number of bytes that every store of a vector writes.
const vectorSize = 4

func (d *amd64Decoder) vectorTwoByte() {
	const p66, f3, f2 = 1, 2, 3
	prefix := d.vectorPrefix()
	switch op := d.Opcode; op {
	case 0x50, 0xd7, 0xc5: // vmovmskps, vpmovmskb, vpextrw
		d.clobber(d.reg())
	case 0x93: // kmov
		d.clobber(d.reg())
	case 0x2c, 0x2d, 0x78, 0x79: // vcvttss2si, vcvttss2usi; with other prefixes they convert vectors
		if prefix == f3 || prefix == f2 {
			d.clobber(d.reg())
		}
	case 0x6e:
		if prefix == p66 {
			d.toVector()
		}
	case 0x7e:
		if prefix == p66 {
			d.fromVector()
		}
	case 0x91: // kmov
		d.store(NoRegister, 1)
	case 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7:
		if !d.registerOperand() {
			d.store(NoRegister, vectorSize)
		}
	}
}

// evex reports whether an instruction of Vector has an EVEX prefix.
func (d *amd64Decoder) evex() bool { return d.ModRM >= 5 && d.Code[d.ModRM-5] == 0x62 }

// vectorPrefix returns the field pp of VEX or EVEX.
func (d *amd64Decoder) vectorPrefix() byte {
	at := d.ModRM - 2
	if d.evex() {
		at--
	}
	if at < 0 {
		return 0
	}
	return d.Code[at] & 3
}

// operandV returns the column of the register in VEX.vvvv.
func (d *amd64Decoder) operandV() uint8 {
	if d.ModRM < 4 {
		return amd64RAX // VEX of two bytes: not of these instructions
	}
	return amd64Columns[^d.Code[d.ModRM-2]>>3&15]
}

// x87 decodes the instructions of the x87 that write memory or ax.
func (d *amd64Decoder) x87() {
	e := d.extension()
	if d.registerOperand() {
		if d.Opcode == 0xdf && d.Code[d.ModRM] == 0xe0 { // fnstsw ax
			d.clobber(amd64RAX)
		}
		return
	}
	switch d.Opcode {
	case 0xd9, 0xdb, 0xdd, 0xdf:
		size := 4
		switch {
		case d.Opcode == 0xd9 && e == 7: // fnstcw
			size = 2
		case d.Opcode == 0xdd && e < 4:
			size = 8
		case d.Opcode == 0xdb && e == 7:
			size = 10
		case d.Opcode == 0xdf && e == 7:
			size = 8
		case d.Opcode == 0xdd && e == 7, d.Opcode == 0xdf && e < 4:
			size = 2
		}
		if e == 1 || e == 2 || e == 3 || e == 6 || e == 7 {
			if e == 1 && d.Opcode == 0xd9 {
				return
			}
			d.store(NoRegister, size)
		}
	}
}
