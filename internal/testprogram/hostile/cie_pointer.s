# x86_64-linux-gnu-as --64
# CIE pointers to the FDE itself, to another FDE, into the middle of a CIE,
# before the section and after it. The valid FDEs before and after must still be read.
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

	begin	self
	.long	4
	.long	function+16-., 16, 0
	end	self
	begin	fdes
	.long	.-before
	.long	function+32-., 16, 0
	end	fdes
	begin	middle
	.long	.-good-6
	.long	function+48-., 16, 0
	end	middle
	begin	outside
	.long	0x7fffffff
	.long	function+64-., 16, 0
	end	outside
	begin	behind
	.long	0x80000000
	.long	function+80-., 16, 0
	end	behind

	fde	after, good, 112
	.byte	0x41, 0x0e, 16
	end	after
	.section .note.GNU-stack,"",@progbits
