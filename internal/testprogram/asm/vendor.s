# x86_64-linux-gnu-as --64
# Instructions that vendors added, and set_loc, which compilers no longer write.
	.text
	.type	function, @function
function:
	.cfi_startproc
	nop
	.cfi_escape 0x1d, 8, 0, 0, 0, 0, 0, 0, 0	# MIPS_advance_loc8 8
	.cfi_escape 0x0e, 16				# def_cfa_offset 16
	.cfi_escape 0x2e, 0x80, 0x01			# GNU_args_size 128
	.cfi_escape 0x02, 4				# advance_loc1 4
	.cfi_escape 0x2f, 3, 2				# GNU_negative_offset_extended rbx at cfa+16
	.cfi_escape 0x03, 4, 0				# advance_loc2 4
	.cfi_escape 0x2d				# GNU_window_save
	.cfi_escape 0x04, 4, 0, 0, 0			# advance_loc4 4
	.cfi_escape 0x06, 3				# restore_extended rbx
	.cfi_escape 0x07, 12, 0x08, 13, 0x09, 14, 15	# undefined, same_value, register
	.cfi_escape 0x42				# advance_loc 2
	.cfi_escape 0x05, 14, 4				# offset_extended r14 at cfa-32
	.cfi_escape 0xce				# restore r14
	.skip	40, 0x90
	.cfi_endproc
	.size	function, .-function

	.section .debug_frame,"",@progbits
.Lcie:	.long	.Lcieend-.Lcieid
.Lcieid:
	.long	0xffffffff
	.byte	3, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte	0x0c, 7, 8, 0x90, 1
	.p2align 3
.Lcieend:
	.long	.Lfdeend-.Lfdeid
.Lfdeid:
	.long	.Lcie
	.quad	function
	.quad	41
	.byte	0x0e, 16
	.byte	0x01					# set_loc
	.quad	function+9
	.byte	0x0e, 24
	.p2align 3
.Lfdeend:
	.section .note.GNU-stack,"",@progbits
