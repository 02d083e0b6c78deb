# x86_64-linux-gnu-as --64
# A CIE and an FDE for every form and application of a pointer encoding
# (DW_EH_PE) that readelf 2.40 knows, each FDE 16 bytes of the function.
	.text
	.type	function, @function
function:
	.skip	512, 0x90
	.size	function, .-function

	.section .rodata
	.p2align 3
pointers:
	.quad	function+0x120, function+0x130

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

	cie	c00, 0x00		# absptr
	fde	f00, c00, ".quad function+0x00", ".quad 16"
	cie	c02, 0x02		# udata2: a small address
	fde	f02, c02, ".short 0x1234", ".short 16"
	cie	c03, 0x03		# udata4
	fde	f03, c03, ".long function+0x20", ".long 16"
	cie	c04, 0x04		# udata8
	fde	f04, c04, ".quad function+0x30", ".quad 16"
	cie	c0a, 0x0a		# sdata2
	fde	f0a, c0a, ".short 0x4321", ".short 16"
	cie	c0b, 0x0b		# sdata4
	fde	f0b, c0b, ".long function+0x70", ".long 16"
	cie	c0c, 0x0c		# sdata8
	fde	f0c, c0c, ".quad function+0x80", ".quad 16"
	cie	c08, 0x08		# signed, of an address's size
	fde	f08, c08, ".quad function+0x90", ".quad 16"
	cie	c10, 0x10		# pcrel absptr
	fde	f10, c10, ".quad function+0xa0-.", ".quad 16"
	cie	c1a, 0x1a		# pcrel sdata2
	fde	f1a, c1a, ".short .Lnear-.", ".short 16"
	cie	c1b, 0x1b		# pcrel sdata4
	fde	f1b, c1b, ".long function+0xc0-.", ".long 16"
	cie	c1c, 0x1c		# pcrel sdata8
	fde	f1c, c1c, ".quad function+0xd0-.", ".quad 16"
	cie	c23, 0x23		# textrel udata4
	fde	f23, c23, ".long 0xe0", ".long 16"
	cie	c2b, 0x2b		# textrel sdata4
	fde	f2b, c2b, ".long 0xf0", ".long 16"
	cie	c3b, 0x3b		# datarel sdata4
	fde	f3b, c3b, ".long 0x100", ".long 16"
	cie	c43, 0x43		# funcrel udata4
	fde	f43, c43, ".long 0x110", ".long 16"
	cie	c80, 0x80		# indirect absptr
	fde	f80, c80, ".quad pointers", ".quad 16"
	cie	c9b, 0x9b		# indirect pcrel sdata4
	fde	f9b, c9b, ".long pointers+8-.", ".long 16"
	cie	c50, 0x50		# aligned
	fde	f50, c50, ".p2align 3; .quad function+0x140", ".quad 16"
.Lnear:
	.section .note.GNU-stack,"",@progbits
