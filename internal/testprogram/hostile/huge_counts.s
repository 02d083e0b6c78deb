# x86_64-linux-gnu-as --64
# Counts that must not size an allocation or a loop. The valid FDEs before and after must still be read.
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

	fde	block, good, 16
	.byte	0x41, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f
	end	block
	fde	column, good, 32
	.byte	0x41, 0x05, 0xff, 0xff, 0xff, 0xff, 0x0f, 1
	end	column
	fde	columns, good, 48		# 2,000 different ones
	.set	i, 0
	.rept	2000
	.byte	0x05
	.uleb128 i*1000003
	.byte	1
	.set	i, i+1
	.endr
	end	columns
	fde	remember, good, 64		# 20,000 states
	.fill	20000, 1, 0x0a
	.byte	0x41, 0x0e, 16
	end	remember
	fde	restore, good, 80		# none was remembered
	.byte	0x41, 0x0b, 0x0e, 16
	end	restore
	fde	advance, good, 96
	.byte	0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 16
	.byte	0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0e, 24
	.byte	0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	end	advance

	fde	after, good, 112
	.byte	0x41, 0x0e, 16
	end	after
	.section .note.GNU-stack,"",@progbits
