/* SPDX-License-Identifier: MIT */
/*
 * Run a program where some system calls are not permitted, as in a container:
 *	without CALL... -- COMMAND...
 * CALL is attach, membarrier, packet (packet sockets) or segment (the option
 * that has datagrams cut); refused with EPERM.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define ANY(number) (number), offsetof(struct seccomp_data, nr), (number)

static const struct call {
	const char *name;
	unsigned number;
	size_t where; /* in struct seccomp_data, what must have that value */
	unsigned value;
} calls[] = {
	{ "attach", ANY(SYS_process_vm_readv) },
	{ "attach", ANY(SYS_process_vm_writev) },
	{ "membarrier", ANY(SYS_membarrier) },
	{ "packet", SYS_socket, ARGUMENT(0), AF_PACKET },
	{ "segment", SYS_setsockopt, ARGUMENT(2), UDP_SEGMENT },
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
	struct sock_filter filter[] = {
		load(offsetof(struct seccomp_data, nr)),
		unless(call->number, 3),
		load(call->where),
		unless(call->value, 1),
		end(SECCOMP_RET_ERRNO | EPERM),
		end(SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* 0: done, 77: not possible here, 2: nothing has that name. */
static int refuse_all(const char *name)
{
	int status = 2;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(name, calls[i].name))
			continue;
		if (refuse(&calls[i])) {
			perror("without: seccomp");
			return 77;
		}
		status = 0;
	}
	return status;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	for (i = 1; i < argc && strcmp(argv[i], "--") && !status; i++)
		status = refuse_all(argv[i]);
	if (status == 77)
		return 77;
	if (status || i + 1 >= argc) {
		fprintf(stderr, "usage: without CALL... -- COMMAND...\n");
		return 2;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
