# x86_64-linux-gnu-as --64
# 64-bit DWARF, which gas writes for no .cfi directive: an .eh_frame with a
# 32-bit CIE and FDE between the 64-bit ones, and a .debug_frame.
	.text
	.type	function, @function
function:
	.skip	32, 0x90
	.size	function, .-function

	.section .eh_frame,"a",@progbits
.Lcie64:
	.long	0xffffffff
	.quad	.Lcie64end-.Lcie64id
.Lcie64id:
	.long	0				# a CIE: four bytes, by the LSB
	.byte	1
	.string	"zR"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 1
	.byte	0x1b				# pcrel sdata4
	.byte	0x0c, 7, 8			# def_cfa rsp+8
	.byte	0x90, 1				# offset rip at cfa-8
	.p2align 3
.Lcie64end:
	.long	0xffffffff
	.quad	.Lfde64end-.Lfde64id
.Lfde64id:
	.long	.Lfde64id-.Lcie64		# as in 32-bit DWARF, by the LSB
	.long	function-.
	.long	16
	.uleb128 0
	.byte	0x44, 0x0e, 16			# advance 4, def_cfa_offset 16
	.p2align 3
.Lfde64end:
.Lcie32:
	.long	.Lcie32end-.Lcie32id
.Lcie32id:
	.long	0
	.byte	1
	.string	"zR"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 1
	.byte	0x1b
	.byte	0x0c, 7, 8, 0x90, 1
	.p2align 2
.Lcie32end:
	.long	.Lfde32end-.Lfde32id
.Lfde32id:
	.long	.Lfde32id-.Lcie32
	.long	function+16-.
	.long	16
	.uleb128 0
	.byte	0x48, 0x0e, 24
	.p2align 2
.Lfde32end:

	.section .debug_frame,"",@progbits
.Ldcie:
	.long	0xffffffff
	.quad	.Ldcieend-.Ldcieid
.Ldcieid:
	.quad	0xffffffffffffffff
	.byte	4				# version
	.byte	0				# no augmentation
	.byte	8, 0				# address and segment selector size
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte	0x0c, 7, 8, 0x90, 1
	.p2align 3
.Ldcieend:
	.long	0xffffffff
	.quad	.Ldfdeend-.Ldfdeid
.Ldfdeid:
	.quad	.Ldcie
	.quad	function
	.quad	32
	.byte	0x41, 0x0e, 16, 0x83, 2		# advance 1, def_cfa_offset 16, rbx at cfa-16
	.p2align 3
.Ldfdeend:
	.section .note.GNU-stack,"",@progbits
