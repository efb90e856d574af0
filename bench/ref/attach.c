/* SPDX-License-Identifier: MIT */
/*
 * A message that only the receiver copies, once, with process_vm_readv(). Side
 * 1 announces a buffer by a word. Side 0 reads the buffer and answers by a word
 * in the same line. One message is in flight at a time.
 *
 * For hot and cold buffers the time covers the whole exchange. With "rewritten"
 * side 1 fills the buffer before each message. This is not part of the
 * transfer, so the time begins with the announcement, and side 1 stores the
 * moment beside the word. With "away" side 1 computes after each announcement,
 * and the time begins when side 0 sees the announcement.
 */
#include "ref.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

struct meeting {
	_Atomic uint64_t announced; /* messages; side 1 counts */
	_Atomic uint64_t taken;	    /* messages; side 0 counts */
	uint64_t time;		    /* of the announcement, ns */
	uint64_t memory;	    /* address in side 1 */
	uint64_t pid;		    /* of side 1 */
};

static void make_memory(struct ref *ref)
{
	struct meeting *m = ref->shared;

	ref->own = ref_memory(ref);
	if (ref->side) {
		/* By default Yama lets only ancestors attach. */
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		m->memory = (uintptr_t)ref->own;
		m->pid = (uint64_t)getpid();
	}
}

static void announce_messages(struct ref *ref, size_t size, size_t messages)
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
		/* Pairs with the acquire in take_message(). */
		atomic_store_explicit(&m->announced, ++n, memory_order_release);
		if (away)
			ref_compute(ref_away_ns(size));
		ref_await(&m->taken, n);
	}
}

/* Copies the next message. Returns the ns since the announcement; with `away`,
 * the ns since side 0 saw the announcement. */
static uint64_t take_message(struct ref *ref, size_t size, int away)
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
	/* Pairs with the acquire in announce_messages(). */
	atomic_store_explicit(&m->taken, n, memory_order_release);
	return time;
}

static void transfer_messages(struct ref *ref)
{
	size_t size = ref_number(ref, "size"), batch = ref_batch(size), i;
	size_t samples = ref_number(ref, "samples"), s;
	const char *buffers = ref_string(ref, "buffers");
	int away = !strcmp(buffers, "away");
	int whole = !away && strcmp(buffers, "rewritten");

	if (ref->side) {
		announce_messages(ref, size, (samples + 1) * batch);
		return;
	}
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now(), copying = 0;

		for (i = 0; i < batch; i++)
			copying += take_message(ref, size, away);
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
	.round = transfer_messages,
	.param = { { "size", "64K", "bytes of a message" },
		   { "buffers", "hot",
		     "hot: one pair; cold: rotate 64 MB; rewritten; away: side "
		     "1 computes" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
