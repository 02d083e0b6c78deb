# x86_64-linux-gnu-as --64
# An entry longer than the rest of its section.
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

	.long	0x1000, 0x30
	.long	function+16-., 16
	.section .note.GNU-stack,"",@progbits
