# x86_64-linux-gnu-as --64
# The pointer encodings of variable length, which readelf 2.40 reads as 8 bytes.
	.text
	.type	function, @function
function:
	.skip	512, 0x90
	.size	function, .-function

	.section .eh_frame,"a",@progbits
	.macro	cie name, encoding
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
	.byte	\encoding
	.byte	0x0c, 7, 8, 0x90, 1
	.p2align 3
.L\name\()end:
	.endm

	# The start from the argument of the macro, then the length, always
	# in the form without an application.
	.macro	fde name, cie, start:req, length:req
	.long	.L\name\()end-.L\name\()id
.L\name\()id:
	.long	.-\cie
	\start
	\length
	.uleb128 0
	.byte	0x41, 0x0e, 16
	.p2align 3
.L\name\()end:
	.endm

	cie	c01, 0x01		# uleb128
	fde	f01, c01, ".uleb128 0x123456", ".uleb128 16"
	cie	c09, 0x09		# sleb128
	fde	f09, c09, ".sleb128 0x654321", ".sleb128 16"
	.section .note.GNU-stack,"",@progbits
