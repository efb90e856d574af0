/* SPDX-License-Identifier: MIT */
/*
 * How often a long message's bytes are copied from one task's buffer to the
 * other's: copies [HOST] prints it for each way to send. Counted are memcpy()
 * and its like, of this program, of libpvm and the glue, in both tasks.
 */
#include <dlfcn.h>
#include <pvm3.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

enum {
	BYTES = 1 << 20, /* of a message */
	ROUNDS = 20,

	DATA = 1, /* tags */
	COUNT,
	READY,
	RECEIVED,
};

static char buffer[BYTES];
static long copied;

/* ---- counting ---- */

#pragma GCC visibility push(default) /* before those of all libraries */
void *memmove(void *to, const void *from, size_t n);
void *memcpy(void *to, const void *from, size_t n);
ssize_t process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long n,
			 const struct iovec *theirs, unsigned long m,
			 unsigned long flags);
ssize_t process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long n,
			  const struct iovec *theirs, unsigned long m,
			  unsigned long flags);
#pragma GCC visibility pop

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void *memmove(void *to, const void *from, size_t n)
{
	static void *(*move)(void *, const void *, size_t);

	if (!move)
		*(void **)&move = find("memmove");
	copied += (long)n;
	return move(to, from, n);
}

void *memcpy(void *to, const void *from, size_t n)
{
	return memmove(to, from, n);
}

static ssize_t between(const char *name, pid_t pid, const struct iovec *ours,
		       unsigned long n, const struct iovec *theirs,
		       unsigned long m, unsigned long flags)
{
	ssize_t (*call)(pid_t, const struct iovec *, unsigned long,
			const struct iovec *, unsigned long, unsigned long);
	ssize_t moved;

	*(void **)&call = find(name);
	moved = call(pid, ours, n, theirs, m, flags);
	if (moved > 0)
		copied += moved;
	return moved;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long n,
			 const struct iovec *theirs, unsigned long m,
			 unsigned long flags)
{
	return between("process_vm_readv", pid, ours, n, theirs, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long n,
			  const struct iovec *theirs, unsigned long m,
			  unsigned long flags)
{
	return between("process_vm_writev", pid, ours, n, theirs, m, flags);
}

/* ---- ways ---- */

static void psend(int to)
{
	pvm_psend(to, DATA, buffer, BYTES, PVM_BYTE);
}

static void precv(int from)
{
	int tid, tag, length;

	pvm_precv(from, DATA, buffer, BYTES, PVM_BYTE, &tid, &tag, &length);
}

static void send_packed(int to)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkbyte(buffer, BYTES, 1);
	pvm_send(to, DATA);
}

static void receive_packed(int from)
{
	pvm_recv(from, DATA);
	pvm_upkbyte(buffer, BYTES, 1);
}

static const struct way {
	const char *name;
	void (*send)(int to), (*receive)(int from);
} ways[] = {
	{ "psend to precv", psend, precv },
	{ "packed", send_packed, receive_packed },
};

enum {
	WAYS = sizeof(ways) / sizeof(*ways),
};

static void pause_ms(int ms)
{
	const struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

/* Bytes copied in the other task. The receiver says that it is ready, and soon
 * is. */
static void serve(int parent)
{
	for (int i = 0; i < WAYS * ROUNDS; i++) {
		pvm_recv(parent, READY);
		pause_ms(5);
		copied = 0;
		ways[i / ROUNDS].send(parent);
		pvm_recv(parent, RECEIVED);
		pvm_initsend(PvmDataRaw);
		pvm_pklong(&copied, 1, 1);
		pvm_send(parent, COUNT);
	}
}

static long count_once(const struct way *way, int other)
{
	long ours;

	pvm_initsend(PvmDataRaw);
	pvm_send(other, READY);
	copied = 0;
	way->receive(other);
	pvm_initsend(PvmDataRaw);
	pvm_send(other, RECEIVED);
	ours = copied;
	pvm_recv(other, COUNT);
	pvm_upklong(&copied, 1, 1);
	return ours + copied;
}

int main(int argc, char **argv)
{
	int other, parent = (pvm_mytid(), pvm_parent());
	long bytes, least;

	if (parent >= 0) {
		serve(parent);
		pvm_exit();
		return 0;
	}
	if (pvm_spawn("copies", NULL, argc > 1 ? PvmTaskHost : 0,
		      argc > 1 ? argv[1] : NULL, 1, &other) != 1)
		return 2;
	for (const struct way *way = ways; way < ways + WAYS; way++) {
		least = -1;
		for (int i = 0; i < ROUNDS; i++) {
			bytes = count_once(way, other);
			if (least < 0 || bytes < least)
				least = bytes;
		}
		printf("%s: %.1f\n", way->name, (double)least / BYTES);
	}
	pvm_exit();
	return 0;
}
