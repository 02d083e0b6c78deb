# x86_64-linux-gnu-as --64
# Augmentation strings: none, "eh" (gcc 2: a word after the string), "z" alone,
# every known letter in an unusual order, unknown letters after 'z', with data that
# is skipped by its length.
	.text
	.type	function, @function
function:
	.skip	96, 0x90
	.size	function, .-function
table:
	.long	0

	.section .eh_frame,"a",@progbits
	.macro	begin name
\name:
	.long	.L\name\()end-.L\name\()id
.L\name\()id:
	.endm
	.macro	end name
	.p2align 3
.L\name\()end:
	.endm

	begin	none
	.long	0
	.byte	1, 0
	.uleb128 1
	.sleb128 -8
	.byte	16
	.byte	0x0c, 7, 8, 0x90, 1
	end	none
	begin	nonefde
	.long	.-none
	.quad	function			# absptr: nothing says otherwise
	.quad	16
	.byte	0x41, 0x0e, 16
	end	nonefde

	begin	eh
	.long	0
	.byte	1
	.string	"eh"
	.quad	table				# the exception table's address
	.uleb128 1
	.sleb128 -8
	.byte	16
	.byte	0x0c, 7, 8, 0x90, 1
	end	eh
	begin	ehfde
	.long	.-eh
	.quad	function+16
	.quad	16
	.byte	0x42, 0x0e, 16
	end	ehfde

	begin	z
	.long	0
	.byte	1
	.string	"z"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 0
	.byte	0x0c, 7, 8, 0x90, 1
	end	z
	begin	zfde
	.long	.-z
	.quad	function+32
	.quad	16
	.uleb128 3				# data that no letter explains
	.byte	1, 2, 3
	.byte	0x43, 0x0e, 16
	end	zfde

	begin	all
	.long	0
	.byte	1
	.string	"zPLSR"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 7
	.byte	0x03				# P: udata4
	.long	0
	.byte	0x1b				# L: pcrel sdata4
	.byte	0x1b				# R: pcrel sdata4
	.byte	0x0c, 7, 8, 0x90, 1
	end	all
	begin	allfde
	.long	.-all
	.long	function+48-.
	.long	16
	.uleb128 4
	.long	table-.
	.byte	0x44, 0x0e, 16
	end	allfde

	begin	unknown
	.long	0
	.byte	1
	.string	"zRX!"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 5
	.byte	0x1b				# R: pcrel sdata4
	.byte	1, 2, 3, 4			# of the unknown letters
	.byte	0x0c, 7, 8, 0x90, 1
	end	unknown
	begin	unknownfde
	.long	.-unknown
	.long	function+64-.
	.long	16
	.uleb128 0
	.byte	0x45, 0x0e, 16
	end	unknownfde
	.section .note.GNU-stack,"",@progbits
