# x86_64-linux-gnu-as --64
# Output of linkers: a zero length in the middle, padding of several zero
# lengths, and an FDE before its CIE (which .eh_frame can't name, as distances
# count backwards, but .debug_frame can).
	.text
	.type	function, @function
function:
	.skip	64, 0x90
	.size	function, .-function

	.section .eh_frame,"a",@progbits
	.macro	cie name
\name:
	.long	.L\name\()end-.L\name\()id
.L\name\()id:
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
.L\name\()end:
	.endm
	.macro	fde name, cie, start
	.long	.L\name\()end-.L\name\()id
.L\name\()id:
	.long	.-\cie
	.long	function+\start-.
	.long	16
	.uleb128 0
	.byte	0x41, 0x0e, 16
	.p2align 2
.L\name\()end:
	.endm
	cie	first
	fde	one, first, 0
	.long	0				# the end, in the middle
	cie	second
	fde	two, second, 16
	.long	0, 0, 0
	fde	three, first, 32		# of a CIE far before
	# A CIE after its FDE: the distance is negative.
	.long	.Lfourend-.Lfour
.Lfour:	.long	.-third
	.long	function+48-.
	.long	16
	.uleb128 0
	.byte	0x42, 0x0e, 16
	.p2align 2
.Lfourend:
	cie	third
	.long	0

	.section .debug_frame,"",@progbits
	.long	.Ldfdeend-.Ldfdeid
.Ldfdeid:
	.long	.Ldcie				# ahead of us
	.quad	function
	.quad	64
	.byte	0x41, 0x0e, 16
	.p2align 3
.Ldfdeend:
.Ldcie:
	.long	.Ldcieend-.Ldcieid
.Ldcieid:
	.long	0xffffffff
	.byte	3, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte	0x0c, 7, 8, 0x90, 1
	.p2align 3
.Ldcieend:
	.section .note.GNU-stack,"",@progbits
