// wrong register: compiler-rt, __tsan_trace_switch_thunk; the rule of rbx is not restored.
	.globl	f, here
f:	.cfi_startproc
	sub	$256, %rsp
	.cfi_adjust_cfa_offset 256
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	mov	%rsp, %rbx
	call	g
	mov	%rbx, %rsp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	add	$256, %rsp
	.cfi_adjust_cfa_offset -256
here:	ret
	.cfi_endproc
	.size	f, .-f
