# x86_64-linux-gnu-as --64
# Columns beyond 127, the return address's too: a byte in CIE version 1, two
# bytes of ULEB128 in 3 and 4. readelf 2.40 prints nothing of such a section.
	.text
	.type	function, @function
function:
	.skip	64, 0x90
	.size	function, .-function

	.macro	cie name, version
\name:
	.long	.L\name\()end-.L\name\()id
.L\name\()id:
	.long	0xffffffff
	.byte	\version
	.byte	0
	.if	\version >= 4
	.byte	8, 0
	.endif
	.uleb128 2				# code alignment factor
	.sleb128 -4				# data alignment factor
	.if	\version == 1
	.byte	130
	.else
	.uleb128 130
	.endif
	.byte	0x0c, 7, 8			# def_cfa rsp+8
	.byte	0x05, 0x82, 1, 2		# offset_extended r130 at cfa-8
	.p2align 3
.L\name\()end:
	.endm

	.macro	fde name, cie, start
	.long	.L\name\()end-.L\name\()id
.L\name\()id:
	.long	\cie
	.quad	function+\start
	.quad	16
	.byte	0x42, 0x0e, 16			# advance 2*2, def_cfa_offset 16
	.byte	0x14, 3, 4			# val_offset rbx is cfa-16
	.p2align 3
.L\name\()end:
	.endm

	.section .debug_frame,"",@progbits
	cie	cie1, 1
	cie	cie3, 3
	cie	cie4, 4
	fde	fde1, cie1, 0
	fde	fde3, cie3, 16
	fde	fde4, cie4, 32
	.section .note.GNU-stack,"",@progbits
