# arm-linux-gnueabihf-as -mfpu=vfpv3
# Arm: .debug_frame, because .ARM.exidx replaces .eh_frame, and .eh_frame.
	.cfi_sections .debug_frame, .eh_frame
	.syntax	unified
	.text
	.type	function, %function
function:
	.cfi_startproc
	push	{r4, r11, lr}
	.cfi_def_cfa_offset 12
	.cfi_offset r4, -12
	.cfi_offset r11, -8
	.cfi_offset lr, -4
	vpush	{d8}
	.cfi_def_cfa_offset 20
	.cfi_offset d8, -20
	add	r11, sp, #16
	.cfi_def_cfa r11, 4
	vpop	{d8}
	.cfi_restore d8
	pop	{r4, r11, pc}
	.cfi_endproc
	.size	function, .-function
