// wrong register: gcc -O2 -mavx2; the rules by rbp are kept after rbp is restored.
// The escapes say that rbp is saved at rbp+0, and that the CFA is in the slot at rbp-8.
	.globl	f, here
f:	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-32, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0
	push	%r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6
	sub	$56, %rsp
	call	g
	add	$56, %rsp
	pop	%r10
	.cfi_def_cfa %r10, 0
	pop	%rbp
here:	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	f, .-f
