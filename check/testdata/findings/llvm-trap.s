// wrong CFA: clang; a trap that paths with and without a frame share has the row of the code before it.
	.globl f, here
f:	.cfi_startproc
	test	%edi, %edi
	js	here
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	call	abort
here:	ud2
	.cfi_endproc
	.size f, .-f
