// wrong CFA: inline assembly that pushes (libgcrypt, gdb, Valgrind).
	.globl	f, here
f:	.cfi_startproc
	pushf
here:	pop	%rax
	ret
	.cfi_endproc
	.size	f, .-f
