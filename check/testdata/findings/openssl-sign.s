// wrong CFA: OpenSSL, x25519-x86_64.pl; the release of the frame is added, not subtracted.
	.globl	f, here
f:	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	lea	-40(%rsp), %rsp
	.cfi_adjust_cfa_offset 40
	mov	40(%rsp), %rbx
	.cfi_restore %rbx
	lea	48(%rsp), %rsp
	.cfi_adjust_cfa_offset 48
here:	ret
	.cfi_endproc
	.size	f, .-f
