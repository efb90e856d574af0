/* SPDX-License-Identifier: MIT */
/*
 * Run a program where some system calls are not permitted, as in a container:
 *	without CALL... -- COMMAND...
 * CALL is attach, membarrier or packet (packet sockets); refused with EPERM.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct call {
	const char *name;
	unsigned number;
	int first_argument; /* -1: whatever it is */
} calls[] = {
	{ "attach", SYS_process_vm_readv, -1 },
	{ "attach", SYS_process_vm_writev, -1 },
	{ "membarrier", SYS_membarrier, -1 },
	{ "packet", SYS_socket, AF_PACKET },
};

static struct sock_filter load(size_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    (unsigned)offset);
}

static struct sock_filter unless(unsigned value, unsigned char skip)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0,
					    skip);
}

static struct sock_filter end(unsigned verdict)
{
	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
}

static int refuse(const struct call *call)
{
	const struct sock_filter filter[] = {
		load(offsetof(struct seccomp_data, nr)),
		unless(call->number, call->first_argument < 0 ? 1 : 3),
		load(offsetof(struct seccomp_data, args[0])),
		unless((unsigned)call->first_argument, 1),
		end(SECCOMP_RET_ERRNO | EPERM),
		end(SECCOMP_RET_ALLOW),
	};
	const struct sock_filter any[] = {
		filter[0],
		filter[1],
		filter[4],
		filter[5],
	};
	const struct sock_fprog program = {
		.len = call->first_argument < 0 ? 4 : 6,
		.filter = (void *)(call->first_argument < 0 ? any : filter),
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		for (size_t k = 0; k < sizeof(calls) / sizeof(*calls); k++)
			if (!strcmp(argv[i], calls[k].name) &&
			    refuse(&calls[k])) {
				perror("without: seccomp");
				return 77;
			}
	if (i + 1 >= argc) {
		fprintf(stderr, "usage: without CALL... -- COMMAND...\n");
		return 2;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
