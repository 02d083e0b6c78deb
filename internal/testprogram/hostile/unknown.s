# x86_64-linux-gnu-as --64
# Unknown to every reader: versions, augmentations without a length,
# pointer encodings, instructions, factors of zero. The valid FDEs before and after must still be read.
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

	begin	version
	.long	0
	.byte	77, 0, 1, 0x78, 16
	end	version
	fde	versionfde, version, 16
	end	versionfde
	begin	augmentation
	.long	0
	.byte	1
	.string	"armcc+"
	.byte	1, 0x78, 16
	end	augmentation
	fde	augmentationfde, augmentation, 32
	end	augmentationfde
	begin	encoding
	.long	0
	.byte	1
	.string	"zR"
	.byte	1, 0x78, 16, 1, 0x77		# no such form or application
	end	encoding
	fde	encodingfde, encoding, 48
	end	encodingfde
	begin	omitted
	.long	0
	.byte	1
	.string	"zR"
	.byte	1, 0x78, 16, 1, 0xff		# an FDE can't leave out its start
	end	omitted
	fde	omittedfde, omitted, 64
	end	omittedfde
	fde	instruction, good, 80
	.byte	0x41, 0x0e, 16, 0x3e, 0x41, 0x0e, 24
	end	instruction
	begin	factors
	.long	0
	.byte	1
	.string	"zR"
	.byte	0, 0, 16, 1, 0x1b		# factors of zero
	end	factors
	fde	factorsfde, factors, 96
	.byte	0x0c, 7, 8, 0x44, 0x83, 2
	end	factorsfde
	begin	twice
	.long	0
	.byte	1
	.string	"zzRR"
	.byte	1, 0x78, 16, 2, 0x1b, 0x00
	end	twice
	fde	twicefde, twice, 104
	end	twicefde

	fde	after, good, 112
	.byte	0x41, 0x0e, 16
	end	after
	.section .note.GNU-stack,"",@progbits
