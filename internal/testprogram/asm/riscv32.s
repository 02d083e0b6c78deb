# riscv64-linux-gnu-as -march=rv32gc -mabi=ilp32d
# RISC-V, 32 bits: restore of registers that the CIE leaves alone.
	.text
	.type	function, @function
function:
	.cfi_startproc
	addi	sp, sp, -32
	.cfi_def_cfa_offset 32
	sw	ra, 24(sp)
	.cfi_offset ra, -8
	sw	s0, 16(sp)
	.cfi_offset s0, -16
	fsd	fs0, 8(sp)
	.cfi_offset fs0, -24
	addi	s0, sp, 32
	.cfi_def_cfa s0, 0
	.cfi_remember_state
	sw	ra, 24(sp)
	.cfi_restore ra
	.cfi_restore s0
	.cfi_restore fs0
	.cfi_def_cfa sp, 0
	ret
	.cfi_restore_state
	nop
	ret
	.cfi_endproc
	.size	function, .-function
