// A library for gdb 13, to be preloaded. On processors with AMX, gdb's buffer for vector registers
// is too small, and the kernel refuses to set a part of them. This ptrace sets all of them: those
// after gdb's buffer as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

long ptrace(enum __ptrace_request request, ...) {
	va_list arguments;
	va_start(arguments, request);
	pid_t pid = va_arg(arguments, pid_t);
	void *address = va_arg(arguments, void *), *data = va_arg(arguments, void *);
	va_end(arguments);
	long (*original)(int, ...) = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
	static char buffer[1 << 14];
	struct iovec all = {buffer, sizeof buffer}, *set = data;
	if (request != PTRACE_SETREGSET || address != (void *)NT_X86_XSTATE ||
			original(PTRACE_GETREGSET, pid, address, &all) != 0 || set->iov_len >= all.iov_len)
		return original(request, pid, address, data);
	memcpy(buffer, set->iov_base, set->iov_len);
	return original(PTRACE_SETREGSET, pid, address, &all);
}
