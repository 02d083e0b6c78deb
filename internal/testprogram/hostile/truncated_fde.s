# x86_64-linux-gnu-as --64
# FDEs that end in their start, their range, their augmentation data and in the
# middle of an instruction. The valid FDEs before and after must still be read.
	.text
	.type	function, @function
function:
	.skip	128, 0x90
	.size	function, .-function

	.macro	begin name
\name:	.long	.L\name\()end-.L\name\()id
.L\name\()id:
	.endm
	.macro	end name
	.p2align 3
.L\name\()end:
	.endm
	.macro	cie name
	begin	\name
	.long	0
	.byte	1
	.string	"zR"
	.byte	1, 0x78, 16, 1, 0x1b
	.byte	0x0c, 7, 8, 0x90, 1
	end	\name
	.endm
	.macro	fde name, cie, start, length=16	# and its instructions follow
	begin	\name
	.long	.-\cie
	.long	function+\start-.
	.long	\length
	.byte	0
	.endm

	.section .eh_frame,"a",@progbits
	cie	good
	fde	before, good, 0
	.byte	0x41, 0x0e, 16
	end	before

	begin	start
	.long	.-good
	.short	0
.Lstartend:
	begin	range
	.long	.-good
	.long	function+16-.
	.short	16
.Lrangeend:
	begin	data
	.long	.-good
	.long	function+32-.
	.long	16
	.byte	100, 0, 0, 0
.Ldataend:
	fde	operand, good, 48
	.byte	0x41, 0x0c, 7			# def_cfa without its offset
.Loperandend:
	fde	advance, good, 64
	.byte	0x04, 1, 0			# advance_loc4 of two bytes
.Ladvanceend:
	fde	block, good, 80
	.byte	0x0f, 20, 0x77			# an expression of 20 bytes
.Lblockend:

	fde	after, good, 112
	.byte	0x41, 0x0e, 16
	end	after
	.section .note.GNU-stack,"",@progbits
