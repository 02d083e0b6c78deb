// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Writes its own core to the file that its argument names, in the form of the
// kernel: qemu-user writes none for riscv64. It crashes in nested functions, and
// again in the handler of that signal; the core is of the second crash.

#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
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
static Elf64_Phdr segments[1 + MOST];

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
	Elf64_Nhdr n = {5, size, type};
	fwrite(&n, sizeof n, 1, f);
	fwrite("CORE\0\0\0", 8, 1, f);
	fwrite(data, size, 1, f);
	fwrite("\0\0\0", -size & 3, 1, f);
}

static void dump(int signal, const ucontext_t *context)
{
	struct elf_prstatus status = {.pr_pid = getpid(), .pr_cursig = signal};
	struct elf_prpsinfo info = {.pr_pid = getpid(), .pr_fname = "selfcore"};
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, .e_type = ET_CORE,
		.e_machine = EM_RISCV, .e_version = EV_CURRENT, .e_phoff = sizeof header, .e_ehsize = sizeof header,
		.e_phentsize = sizeof segments[0]};
	FILE *f = fopen(path, "w");
	int n = 1;
	long count = slurp("/proc/self/auxv", auxv, sizeof auxv);

	strcpy(info.pr_psargs, path);
	memcpy(&status.pr_reg, context->uc_mcontext.__gregs, sizeof status.pr_reg);
	slurp("/proc/self/maps", text, sizeof text);
	fseek(f, sizeof header + sizeof segments, SEEK_SET);
	segments[0].p_type = PT_NOTE;
	segments[0].p_offset = ftell(f);
	note(f, NT_PRSTATUS, &status, sizeof status);
	note(f, NT_PRPSINFO, &info, sizeof info);
	note(f, NT_AUXV, auxv, count);
	segments[0].p_filesz = ftell(f) - segments[0].p_offset;
	for (char *line = strtok(text, "\n"); line && n <= MOST; line = strtok(0, "\n")) {
		Elf64_Phdr *p = &segments[n];
		unsigned long start, end;
		char perms[5];
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3)
			continue;
		*p = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = start, .p_memsz = end - start, .p_offset = ftell(f), .p_align = 1,
			.p_flags = (perms[0] == 'r' ? PF_R : 0) | (perms[1] == 'w' ? PF_W : 0) | (perms[2] == 'x' ? PF_X : 0)};
		n++;
		if (perms[0] == 'r' && !(perms[2] == 'x' && strchr(line, '/')))
			p->p_filesz = fwrite((void *)start, 1, end - start, f);
	}
	header.e_phnum = n;
	rewind(f);
	fwrite(&header, sizeof header, 1, f);
	fwrite(segments, sizeof segments[0], n, f);
	fclose(f);
	abort();
}

NOINLINE long fault(const long *p)
{
	return *p;
}

NOINLINE void handler(int signal, siginfo_t *info, void *context)
{
	static int again;
	(void)info;
	if (again++)
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
