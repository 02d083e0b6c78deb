// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Writes its own core to the file that its argument names, in the kernel's format,
// because qemu-user writes no cores for riscv64 and sparc64. It crashes in nested
// functions, and again in the handler of that signal; the core is of the second crash.

#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <ucontext.h>
#include "ready.h"

enum { MOST = 128 };

static const char *path;
static char text[1 << 16], auxv[4096];
static ElfW(Phdr) segments[1 + MOST];

static long slurp(const char *name, char *to, long size)
{
	long all = 0, n;
	int fd = open(name, O_RDONLY);
	while ((n = read(fd, to + all, size - 1 - all)) > 0)
		all += n;
	close(fd);
	to[all] = 0;
	return all;
}

static void note(FILE *f, int type, const void *data, int size)
{
	ElfW(Nhdr) n = {5, size, type};
	fwrite(&n, sizeof n, 1, f);
	fwrite("CORE\0\0\0", 8, 1, f);
	fwrite(data, size, 1, f);
	fwrite("\0\0\0", -size & 3, 1, f);
}

// general sets the general registers of a signal's context.
static void general(unsigned long *to, const void *context)
{
#if defined __sparc__
	// The third argument of a handler leads to siginfo_t, which pt_regs follow: the
	// globals and outs, tstate, tpc, tnpc, y. The other registers are the register window,
	// which flushw stores at the start of the signal's frame.
	const unsigned long *regs = (const unsigned long *)((const char *)context + 128);
	__asm__ volatile("flushw" ::: "memory");
	memcpy(to, regs, 16 * sizeof *to);
	memcpy(to + 16, (const char *)context - 192, 16 * sizeof *to);
	memcpy(to + 32, regs + 16, 4 * sizeof *to);
#else
	memcpy(to, ((const ucontext_t *)context)->uc_mcontext.__gregs, sizeof(elf_gregset_t));
#endif
}

static void dump(int signal, const void *context)
{
	extern const ElfW(Ehdr) __ehdr_start; // of the program
	struct elf_prstatus status = {.pr_pid = getpid(), .pr_cursig = signal};
	struct elf_prpsinfo info = {.pr_pid = getpid(), .pr_fname = "selfcore"};
	ElfW(Ehdr) header = __ehdr_start;
	FILE *f = fopen(path, "w");
	int n = 1;
	long count = slurp("/proc/self/auxv", auxv, sizeof auxv);

	header.e_type = ET_CORE;
	header.e_phoff = sizeof header;
	header.e_entry = header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	strcpy(info.pr_psargs, path);
	general((unsigned long *)&status.pr_reg, context);
	slurp("/proc/self/maps", text, sizeof text);
	fseek(f, sizeof header + sizeof segments, SEEK_SET);
	segments[0].p_type = PT_NOTE;
	segments[0].p_offset = ftell(f);
	note(f, NT_PRSTATUS, &status, sizeof status);
	note(f, NT_PRPSINFO, &info, sizeof info);
	note(f, NT_AUXV, auxv, count);
	segments[0].p_filesz = ftell(f) - segments[0].p_offset;
	for (char *line = strtok(text, "\n"); line && n <= MOST; line = strtok(0, "\n")) {
		ElfW(Phdr) *p = &segments[n];
		unsigned long start, end;
		char perms[5];
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3)
			continue;
		*p = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = start, .p_memsz = end - start, .p_offset = ftell(f), .p_align = 1,
			.p_flags = (perms[0] == 'r' ? PF_R : 0) | (perms[1] == 'w' ? PF_W : 0) | (perms[2] == 'x' ? PF_X : 0)};
		n++;
		if (perms[0] == 'r' && (perms[1] == 'w' || perms[2] != 'x' || !strchr(line, '/')))
			p->p_filesz = fwrite((void *)start, 1, end - start, f);
	}
	header.e_phnum = n;
	rewind(f);
	fwrite(&header, sizeof header, 1, f);
	fwrite(segments, sizeof segments[0], n, f);
	fclose(f);
	abort();
}

// On SPARC a load at the end would be in the delay slot of the return, where the register
// window is already that of the caller, which call frame information does not
// describe.
NOINLINE long fault(const long *p)
{
#ifdef __sparc__
	__asm__ volatile("flushw"); // so that a debugger finds the windows on the stack
#endif
	return after(*p);
}

NOINLINE void handler(int signal, siginfo_t *info, void *context)
{
	static int second;
	(void)info;
	if (second++)
		dump(signal, context);
	after(fault(0));
}

NOINLINE long inner(long n)  { return after(fault(0)) + n; }
NOINLINE long middle(long n) { return after(inner(n + 1)) + n; }
NOINLINE long outer(long n)  { return after(middle(n + 1)) + n; }

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};

	(void)argc;
	path = argv[1];
	sigaction(SIGSEGV, &action, 0);
	return (int)after(outer(1));
}
