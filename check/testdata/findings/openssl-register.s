// wrong register: OpenSSL, sha1-mb-x86_64.pl; the row for push %rbp names rbx.
	.globl	f, here
f:	.cfi_startproc
	mov	%rsp, %rax
	.cfi_def_cfa %rax, 8
	push	%rbx
	.cfi_offset %rbx, -16
	push	%rbp
	.cfi_offset %rbx, -24
here:	mov	%rdi, %rbx
	call	g
	ud2
	.cfi_endproc
	.size	f, .-f
