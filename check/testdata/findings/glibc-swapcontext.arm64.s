// wrong return address: glibc, swapcontext; x30 is used for another address.
	.globl	f, here
f:	.cfi_startproc
	stp	xzr, x30, [x0, #184]
	adr	x30, 1f
here:	str	x30, [x0, #424]
	ldr	x30, [x0, #192]
	ret
1:	nop
	ret
	.cfi_endproc
	.size	f, .-f
