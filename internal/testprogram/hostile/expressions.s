# x86_64-linux-gnu-as --64
# Expressions that can't be evaluated, each the CFA of one FDE.
# The valid FDEs before and after must still be read.
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

	.macro	cfa name, start, bytes:vararg
	fde	\name, good, \start, 2
	.byte	0x0f
	.uleb128 .L\name\()x-.L\name\()b
.L\name\()b:
	.byte	\bytes
.L\name\()x:
	end	\name
	.endm
	cfa	loop, 16, 0x2f, 0xfd, 0xff		# skip to itself
	cfa	pushing, 18, 0x31, 0x2f, 0xfc, 0xff	# and pushing all the while
	cfa	branching, 20, 0x31, 0x31, 0x28, 0xfb, 0xff
	cfa	div, 22, 0x31, 0x30, 0x1b		# 1 / 0
	cfa	mod, 24, 0x31, 0x30, 0x1d		# 1 % 0
	cfa	minimum, 26, 0x31, 0x08, 63, 0x24, 0x4f, 0x1f, 0x31, 0x22, 0x1b	# 1<<63 / -30
	cfa	underflow, 28, 0x22
	cfa	empty, 30, 0x30, 0x13			# nothing is left
	cfa	pick, 32, 0x31, 0x15, 200
	cfa	outside, 34, 0x31, 0x2f, 0x00, 0x40	# a jump past the end
	cfa	ahead, 36, 0x31, 0x2f, 0x00, 0x80	# and before the start
	cfa	inside, 38, 0x2f, 1, 0, 0x0a, 0x31, 0x2f, 0xfa, 0xff	# into an operand
	cfa	null, 40, 0x30, 0x06			# deref of 0
	cfa	size, 42, 0x31, 0x94, 200		# deref_size of 200 bytes
	cfa	nosize, 44, 0x31, 0x94, 0
	cfa	shift, 46, 0x31, 0x08, 64, 0x24		# by as many bits as there are
	cfa	unknown, 48, 0xff
	cfa	pieces, 50, 0x50, 0x93, 8		# a location, not a value
	cfa	register, 52, 0x50
	cfa	column, 54, 0x92, 0xff, 0xff, 0xff, 0xff, 0x0f, 0
	cfa	typed, 56, 0xa4, 0, 4, 1, 2, 3, 4	# const_type of a unit that isn't there
	cfa	call, 58, 0x98, 0, 0
	cfa	circular, 60, 0x9c			# the CFA that is being computed
	cfa	short, 62, 0x0e, 1, 2

	fde	after, good, 112
	.byte	0x41, 0x0e, 16
	end	after
	.section .note.GNU-stack,"",@progbits
