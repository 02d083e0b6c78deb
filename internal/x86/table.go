// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package x86

// The bytes after an opcode byte in 64-bit mode (Intel SDM volume 2, appendix A,
// tables; AMD APM volume 3, appendix A). Rows are sixteen opcodes.
//
//	.  nothing                     m  ModRM
//	b  imm8                        M  ModRM, imm8
//	w  imm16                       Z  ModRM, imm16 or imm32
//	z  imm16 or imm32              3  ModRM, imm8 where its reg is 0 or 1 (group 3)
//	v  imm16, imm32 or imm64       #  ModRM, imm16 or imm32 likewise
//	e  imm16, imm8 (enter)         r  ModRM that always names registers
//	o  an address (mov moffs)      s  ModRM, two imm8 with 66 or F2 (SSE4a)
//	j  rel8                        J  rel32
//	p  prefix or escape            -  no instruction
const oneByte = "" +
	"mmmmbz--mmmmbz-p" + // 00
	"mmmmbz--mmmmbz--" + // 10
	"mmmmbzp-mmmmbzp-" + // 20
	"mmmmbzp-mmmmbzp-" + // 30
	"pppppppppppppppp" + // 40: REX
	"................" + // 50
	"--pmppppzZbM...." + // 60
	"jjjjjjjjjjjjjjjj" + // 70
	"MZ-Mmmmmmmmmmmmm" + // 80
	"..........-....." + // 90
	"oooo....bz......" + // A0
	"bbbbbbbbvvvvvvvv" + // B0
	"MMw.ppMZe.w..b-." + // C0
	"mmmm---.mmmmmmmm" + // D0
	"jjjjbbbbJJ-j...." + // E0
	"p.pp..3#......mm" //   F0

// twoByte is the map after 0F.
const twoByte = "" +
	"mmmm-.....-.-m.M" + // 00
	"mmmmmmmmmmmmmmmm" + // 10
	"rrrr----mmmmmmmm" + // 20
	"......-.p-p-----" + // 30
	"mmmmmmmmmmmmmmmm" + // 40
	"mmmmmmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmmmmm" + // 60
	"MMMMmmm.sm--mmmm" + // 70
	"JJJJJJJJJJJJJJJJ" + // 80
	"mmmmmmmmmmmmmmmm" + // 90
	"...mMmmm...mMmmm" + // A0
	"mmmmmmmmmmMmmmmm" + // B0
	"mmMmMMMm........" + // C0
	"mmmmmmmmmmmmmmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"mmmmmmmmmmmmmmmm" //   F0

// The opcode maps, as VEX, EVEX and XOP number them.
const (
	MapOneByte = 0
	Map0F      = 1
	Map0F38    = 2
	Map0F3A    = 3
	MapFP16a   = 5 // EVEX only
	MapFP16b   = 6
	MapXOP8    = 8 // XOP only: imm8
	MapXOP9    = 9
	MapXOPA    = 10 // imm32
)

// operands is the table's letter for an opcode; vector says that it is VEX, EVEX or XOP,
// not a legacy encoding.
func operands(opcodeMap, opcode byte, vector bool) byte {
	switch opcodeMap {
	case MapOneByte:
		return oneByte[opcode]
	case Map0F:
		if !vector {
			return twoByte[opcode]
		}
		switch opcode {
		case 0x77: // vzeroupper
			return '.'
		case 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6:
			return 'M'
		}
		return 'm'
	case Map0F38, MapFP16a, MapFP16b, MapXOP9:
		return 'm'
	case Map0F3A, MapXOP8:
		return 'M'
	case MapXOPA:
		return 'Z' // imm32: XOP takes no operand size prefix
	}
	return '-'
}
