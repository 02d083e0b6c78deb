# x86_64-linux-gnu-as --64
# CIEs that end in their augmentation string, their augmentation data and in
# each field between, with an FDE each. The valid FDEs before and after must still be read.
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

	begin	string
	.long	0
	.byte	1, 'z', 'R', 'P'		# no terminator
.Lstringend:
	fde	stringfde, string, 16
	end	stringfde
	begin	data
	.long	0
	.byte	1
	.string	"zR"
	.byte	1, 0x78, 16, 200, 0x1b		# 200 bytes of augmentation data
	end	data
	fde	datafde, data, 32
	end	datafde
	begin	factors
	.long	0
	.byte	1, 0, 0x80, 0x80, 0x80, 0x80
.Lfactorsend:
	fde	factorsfde, factors, 48
	end	factorsfde
	begin	empty
	.long	0
.Lemptyend:
	fde	emptyfde, empty, 64
	end	emptyfde

	fde	after, good, 112
	.byte	0x41, 0x0e, 16
	end	after
	.section .note.GNU-stack,"",@progbits
