/* SPDX-License-Identifier: MIT */
/*
 * A message copied once, by the receiver alone, with process_vm_readv(): side
 * 1 announces a buffer by a word, side 0 reads it and answers by a word in
 * the same line. One message is under way at a time.
 *
 * The time of hot and cold messages is taken over the whole exchange. If side
 * 1 rewrites its buffer before each message, that is not the transfer's time:
 * then it runs from the announcement, whose time side 1 leaves beside it. If
 * side 1 computes after each announcement, it runs from when that has come.
 */
#include "ref.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

struct meeting {
	_Atomic uint64_t announced; /* messages, by side 1 */
	_Atomic uint64_t taken;	    /* messages, by side 0 */
	uint64_t time;		    /* of the announcement, ns */
	uint64_t memory;	    /* address in side 1 */
	uint64_t pid;		    /* of side 1 */
};

static void make_memory(struct ref *ref)
{
	struct meeting *m = ref->shared;

	ref->own = ref_memory(ref);
	if (ref->side) {
		/* Yama would let only ancestors in. */
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		m->memory = (uintptr_t)ref->own;
		m->pid = (uint64_t)getpid();
	}
}

static void announce(struct ref *ref, size_t size, size_t messages)
{
	const char *buffers = ref_string(ref, "buffers");
	int rewrite = !strcmp(buffers, "rewritten");
	int away = !strcmp(buffers, "away");
	struct meeting *m = ref->shared;
	uint64_t n = atomic_load_explicit(&m->announced, memory_order_relaxed);

	while (messages--) {
		if (rewrite)
			memset(ref->own, (int)n, size);
		m->time = ref_now();
		/* Pairs with the acquire in take(). */
		atomic_store_explicit(&m->announced, ++n, memory_order_release);
		if (away)
			ref_compute(ref_away_ns(size));
		ref_await(&m->taken, n);
	}
}

/* Returns ns until the message is here, since it was announced (away: since
 * the announcement came). */
static uint64_t take(struct ref *ref, size_t size, int away)
{
	struct meeting *m = ref->shared;
	uint64_t n = atomic_load_explicit(&m->taken, memory_order_relaxed) + 1;
	size_t at = ref_offset(ref, size, n);
	struct iovec to = { (unsigned char *)ref->own + at, size };
	struct iovec from = { .iov_len = size };
	uint64_t begin, time;

	ref_await(&m->announced, n);
	from.iov_base = (void *)(uintptr_t)(m->memory + at);
	begin = away ? ref_now() : m->time;
	if (process_vm_readv((pid_t)m->pid, &to, 1, &from, 1, 0) !=
	    (ssize_t)size)
		ref_exit(ref,
			 errno == EPERM || errno == ENOSYS ? REF_SKIPPED : 1,
			 "process_vm_readv: %s", strerror(errno));
	time = ref_now() - begin;
	/* Pairs with the acquire in announce(). */
	atomic_store_explicit(&m->taken, n, memory_order_release);
	return time;
}

static void transfer(struct ref *ref)
{
	size_t size = ref_number(ref, "size"), batch = ref_batch(size), i;
	size_t samples = ref_number(ref, "samples"), s;
	const char *buffers = ref_string(ref, "buffers");
	int away = !strcmp(buffers, "away");
	int whole = !away && strcmp(buffers, "rewritten");

	if (ref->side) {
		announce(ref, size, (samples + 1) * batch);
		return;
	}
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now(), copying = 0;

		for (i = 0; i < batch; i++)
			copying += take(ref, size, away);
		if (whole)
			copying = ref_now() - start;
		if (s)
			ref_sample(ref,
				   (double)(size * batch) / (double)copying);
	}
}

static const struct ref_program program = {
	.name = "attach",
	.unit = "GB/s",
	.about = "bandwidth of messages that the receiver copies out of the "
		 "sender",
	.sides = 2,
	.shared = sizeof(struct meeting),
	.open = make_memory,
	.round = transfer,
	.param = { { "size", "64K", "bytes of a message" },
		   { "buffers", "hot",
		     "hot: one pair; cold: rotate 64 MB; rewritten; away: side "
		     "1 computes" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
