/* SPDX-License-Identifier: MIT */
/* The shared path when the system gives less than usual, and when a port has
 * more peers than the port polls. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"
#include "transport/shm/attach.h"
#include "transport/shm/port.h"

/* Make a system call fail from now on, in the process and in all threads that
 * start later. */
static void forbid(long call, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | ((uint32_t)error & 0xffff)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
			 0);
}

static bool may(const char *what)
{
	if (!geteuid())
		return true;
	printf("not root: %s is not tested\n", what);
	return false;
}

/* Exchange a large message each way. `attach`: the messages must go by
 * attach. */
static void exchange(struct rank *rank, bool attach)
{
	enum {
		LENGTH = 300000
	};
	static uint8_t out[LENGTH], in[LENGTH];
	unsigned other = !rank->me;
	uint8_t token[BCL_KEY_MAX];
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;
	unsigned left = 3;

	bcl_peer_info(rank->peers[other], &info);
	ck_assert_int_eq(info.path, BCL_PATH_SHARED);
	ck_assert_msg(info.attach == attach, "%s", info.why);
	ck_assert_msg(!!strstr(info.why, "double copy") == !attach, "%s",
		      info.why);
	memset(out, 7 + (int)rank->me, LENGTH);
	ck_assert_int_eq(bcl_offer(rank->peers[other], out, LENGTH, 1, token),
			 BCL_OK);
	rank_send(rank, other, 0, token, sizeof(token));
	while (left--) {
		rank_event(rank, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		if (event.kind != BCL_EVENT_MESSAGE)
			continue;
		memcpy(token, event.data, sizeof(token));
		ck_assert_int_eq(
			bcl_pull(rank->peers[other], token, in, LENGTH, 2),
			BCL_OK);
	}
	ck_assert_int_eq(in[0], 7 + (int)other);
	ck_assert_int_eq(in[LENGTH - 1], 7 + (int)other);
	if (!attach)
		ck_assert_uint_eq(rank_counter(rank, "shm.bytes_bounced"),
				  LENGTH);
	rank_barrier(rank);
}

/* ---- attach ---- */

static const struct {
	long call;
	int error;
} forbidden[] = {
	{ SYS_process_vm_readv, EPERM },
	{ SYS_process_vm_writev, EPERM },
	{ SYS_process_vm_readv, ENOSYS },
	{ SYS_madvise, EINVAL }, /* as for MADV_POPULATE_WRITE before 5.14 */
};
static int which;

static void without_call(struct rank *rank)
{
	bool attach = forbidden[which].call != SYS_process_vm_readv &&
		      forbidden[which].call != SYS_process_vm_writev;

	if (rank->me == 0)
		forbid(forbidden[which].call, forbidden[which].error);
	rank_open(rank, NULL);
	rank_barrier(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	exchange(rank, attach);
	rank_close(rank);
}

START_TEST(forbidden_call)
{
	which = _i;
	ranks_run_bare(2, without_call, 0);
}
END_TEST

/* A process id alone may be somebody else's. */
START_TEST(nonce)
{
	uint64_t nonce = 77, scratch = 0;
	struct bcl_context context = { .env = &bcl_env_linux };
	struct bcl_port port = { .context = &context };
	struct bcl_shm_port shm = { .port = &port };
	struct bcl_connection c = {
		.shm = &shm,
		.pid = getpid(),
		.its_nonce = 78,
		.its_nonce_address = (uintptr_t)&nonce,
		.its_scratch_address = (uintptr_t)&scratch,
	};

	ck_assert_int_eq(bcl_attach_prove(&c, 5), BCL_ERR_MEMORY);
	ck_assert_uint_eq(scratch, 0);
	c.its_nonce = 77;
	ck_assert_int_eq(bcl_attach_prove(&c, 5), BCL_OK);
	ck_assert_uint_eq(scratch, 5);
}
END_TEST

/* Run the rest of the rank in a child with other process ids. */
static void enter_namespace(void)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(unshare(CLONE_NEWPID), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		return;
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void in_namespace(struct rank *rank)
{
	if (rank->me == 0 || which)
		enter_namespace();
	rank_open(rank, NULL);
	rank_barrier(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	exchange(rank, false);
	rank_close(rank);
}

START_TEST(process_ids)
{
	which = _i;
	if (may("another process id namespace"))
		ranks_run_bare(2, in_namespace, 0);
}
END_TEST

/* ---- users ---- */

static void other_user(struct rank *rank)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	if (rank->me)
		ck_assert_int_eq(setuid(65534), 0);
	rank_open(rank, NULL);
	rank_barrier(rank);
	/* the ranks call in turn, so that calls do not cross */
	while (atomic_load(&rank->all->signals[0]) != rank->me)
		rank_idle(rank, 1);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_ERR_NORAIL);
	bcl_peer_info(rank->peers[!rank->me], &info);
	ck_assert_msg(strstr(info.why, "another user"), "%s", info.why);
	atomic_store(&rank->all->signals[0], 1);
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(users)
{
	if (may("another user"))
		ranks_run_bare(2, other_user, 0);
}
END_TEST

/* ---- descriptors and memory ---- */

static void limit_files(rlim_t *before)
{
	struct rlimit limit;
	int free = dup(0);

	ck_assert_int_ge(free, 0);
	close(free);
	getrlimit(RLIMIT_NOFILE, &limit);
	*before = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)free;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void restore_files(rlim_t before)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = before;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Rank 0 has no descriptor left: first other ranks call, then rank 0 calls. */
static void no_files(struct rank *rank)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;
	rlim_t before;

	rank_barrier(rank);
	if (rank->me == 0) {
		limit_files(&before);
		rank_barrier(rank);
		while (!atomic_load(&rank->all->signals[0]))
			rank_idle(rank, 1);
		ck_assert_uint_eq(rank_counter(rank, "shm.turned_away"), 1);
		ck_assert_int_eq(rank_connect(rank, 1), BCL_ERR_NORAIL);
		bcl_peer_info(rank->peers[1], &info);
		ck_assert_msg(strstr(info.why, "no descriptor left"), "%s",
			      info.why);
		restore_files(before);
		rank_barrier(rank);
		ck_assert_int_eq(rank_connect(rank, 1), BCL_OK);
	} else {
		rank_barrier(rank);
		ck_assert_int_eq(rank_connect(rank, 0), BCL_ERR_NORAIL);
		bcl_peer_info(rank->peers[0], &info);
		ck_assert_msg(strstr(info.why, "hung up"), "%s", info.why);
		atomic_store(&rank->all->signals[0], 1);
		rank_barrier(rank);
		do
			rank_expect(rank, BCL_EVENT_PEER, &event);
		while (event.status);
	}
	rank_barrier(rank);
}

START_TEST(descriptors)
{
	ranks_run(2, no_files, 0);
}
END_TEST

static void no_space(struct rank *rank)
{
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;

	if (rank->me == 0) {
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		ck_assert_int_eq(rank_connect(rank, 1), BCL_ERR_NORAIL);
		bcl_peer_info(rank->peers[1], &info);
		ck_assert_msg(strstr(info.why, "no memory"), "%s", info.why);
		limit.rlim_cur = RLIM_INFINITY;
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		ck_assert_int_eq(rank_connect(rank, 1), BCL_OK);
	} else {
		rank_expect(rank, BCL_EVENT_PEER, &event);
		ck_assert_int_eq(event.status, BCL_OK);
	}
	rank_barrier(rank);
}

START_TEST(space)
{
	ranks_run(2, no_space, 0);
}
END_TEST

/* No page is left for the segment: the ranks must not connect, and no rank may
 * get SIGBUS. */
static void no_page(struct rank *rank)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	if (rank->me == 0) {
		forbid(SYS_fallocate, ENOSPC);
		ck_assert_int_eq(rank_connect(rank, 1), BCL_ERR_NORAIL);
		bcl_peer_info(rank->peers[1], &info);
		ck_assert_msg(strstr(info.why, "no memory"), "%s", info.why);
	}
	rank_barrier(rank);
}

/* Pages are reserved by madvise() if the segment's descriptor is closed
 * already. For fallocate() the descriptor must stay open. */
static const struct {
	bool populate;
	long call;
	int error;
} later[] = {
	{ true, SYS_madvise, ENOMEM },
	{ false, SYS_fallocate, ENOSPC },
};

/* Later no page is left for the bounce area: the pull must fail. */
static void no_page_later(struct rank *rank)
{
	static uint8_t bytes[100000];
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;

	setenv("BCL_ATTACH", "0", 1);
	if (!later[which].populate)
		forbid(SYS_madvise, EINVAL);
	rank_open(rank, NULL);
	rank_barrier(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	ck_assert((rank->port->pairs[0]->connection->segment.fd < 0) ==
		  later[which].populate);
	if (rank->me) {
		ck_assert_int_eq(bcl_offer(rank->peers[0], bytes, sizeof(bytes),
					   1, token),
				 BCL_OK);
		rank_send(rank, 0, 0, token, sizeof(token));
	} else {
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		memcpy(token, event.data, sizeof(token));
		forbid(later[which].call, later[which].error);
		ck_assert_int_eq(bcl_pull(rank->peers[1], token, bytes,
					  sizeof(bytes), 2),
				 BCL_ERR_NOMEM);
	}
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(pages)
{
	ranks_run(2, no_page, 0);
	for (which = 0; which < 2; which++)
		ranks_run_bare(2, no_page_later, 0);
}
END_TEST

/* ---- a full ring ---- */

/* The port must refuse sends, and count refusals, until the peer reads. No
 * message may be lost. */
static void fill_ring(struct rank *rank)
{
	uint8_t bytes[200] = { 0 };
	const struct iovec iov = { bytes, sizeof(bytes) };
	struct bcl_event event;
	unsigned sent = 0, i;
	void *room;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	rank_barrier(rank);
	if (rank->me == 0) {
		struct bcl_peer *peer = rank->peers[1];

		while (!bcl_send(peer, 1, sent, &iov, 1, 0))
			sent++;
		ck_assert_int_eq(bcl_send(peer, 1, sent, &iov, 1, 0),
				 BCL_ERR_AGAIN);
		ck_assert_int_eq(bcl_reserve(peer, sizeof(bytes), &room),
				 BCL_ERR_AGAIN);
		ck_assert_uint_eq(rank_counter(rank, "shm.ring_full"), 3);
		atomic_store(&rank->all->signals[0], sent);
		rank_send(rank, 1, sent, bytes, sizeof(bytes));
	} else {
		while (!sent)
			sent = atomic_load(&rank->all->signals[0]);
		for (i = 0; i <= sent; i++) {
			rank_expect(rank, BCL_EVENT_MESSAGE, &event);
			ck_assert_uint_eq(event.immediate, i);
		}
		ck_assert_uint_eq(rank_counter(rank, "shm.ring_full"), 0);
	}
	rank_barrier(rank);
}

START_TEST(full_ring)
{
	ranks_run(2, fill_ring, 0);
}
END_TEST

/* ---- more peers than are polled ---- */

static void crowd(struct rank *rank)
{
	enum {
		EACH = 50
	};
	unsigned n = rank->all->n, i, turn;
	struct bcl_event event;

	if (rank->me) {
		ck_assert_int_eq(rank_connect(rank, 0), BCL_OK);
		rank_barrier(rank);
		for (i = 0; i < EACH; i++)
			rank_send(rank, 0, i, NULL, 0);
		/* one message at a time, to a receiver that sleeps */
		while (atomic_load(&rank->all->signals[0]) != rank->me)
			usleep(200);
		rank_send(rank, 0, 1000, NULL, 0);
		rank_barrier(rank);
		return;
	}
	for (i = 0; i < n - 1; i++) {
		rank_expect(rank, BCL_EVENT_PEER, &event);
		ck_assert_int_eq(event.status, BCL_OK);
	}
	while (rank->port->npairs > BCL_SHM_POLLED)
		rank_idle(rank, 10);
	ck_assert_uint_eq(rank->port->shm->nsilent, n - 1 - BCL_SHM_POLLED);
	rank_barrier(rank);
	for (i = 0; i < (n - 1) * EACH; i++)
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
	while (rank->port->npairs > BCL_SHM_POLLED)
		rank_idle(rank, 10);
	for (turn = 1; turn < n; turn++) {
		atomic_store(&rank->all->signals[0], turn);
		ck_assert_int_eq(bcl_wait(rank->port, UINT64_C(20000000000)),
				 BCL_OK);
		ck_assert_int_eq(bcl_poll(rank->port, &event), BCL_OK);
		ck_assert_uint_eq(event.immediate, 1000);
	}
	rank_barrier(rank);
}

START_TEST(silent_pairs)
{
	ranks_run(21, crowd, 0);
}
END_TEST

/* ---- log lines ---- */

static char said[2048];

static void hear(void *world, const struct bcl_log_line *line)
{
	size_t length = strlen(said);

	(void)world;
	snprintf(said + length, sizeof(said) - length, "%s\n", line->text);
}

static enum bcl_status open_heard(struct bcl_context **context)
{
	static struct bcl_env env;

	env = bcl_env_linux;
	env.log = hear;
	return bcl_context_open(&env, NULL, -1, context);
}

/* Calls that a container may refuse, and the words that the log must have. */
static const struct {
	const char *rails;
	long call;
	int error;
	enum bcl_status status;
	const char *said;
} refused[] = {
	{ "none", SYS_memfd_create, EPERM, BCL_ERR_SYSTEM, "memfd_create" },
	{ "none", SYS_memfd_create, ENOSYS, BCL_ERR_SYSTEM, "memfd_create" },
	{ "none", SYS_getrandom, EPERM, BCL_ERR_SYSTEM, "getrandom()" },
	{ "none", SYS_eventfd2, EPERM, BCL_ERR_SYSTEM,
	  "eventfd: Operation not permitted; BCL_HELPER=off" },
	{ "none", SYS_epoll_create1, EMFILE, BCL_ERR_SYSTEM,
	  "epoll: no descriptor is left; raise ulimit -n; BCL_HELPER=off" },
	{ "none", SYS_clone3, EAGAIN, BCL_ERR_SYSTEM,
	  "a thread: Resource temporarily unavailable; BCL_HELPER=off" },
	{ "none", SYS_membarrier, EPERM, BCL_OK, "no membarrier" },
	{ "udp", SYS_socket, EPERM, BCL_OK, "Operation not permitted" },
	{ "udp", SYS_bind, EACCES, BCL_OK, "Permission denied" },
};

START_TEST(refused_call_is_named)
{
	struct bcl_context *context;

	setenv("BCL_RAILS", refused[_i].rails, 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_LOG", "info", 1);
	forbid(refused[_i].call, refused[_i].error);
	ck_assert_int_eq(open_heard(&context), refused[_i].status);
	ck_assert_msg(!!strstr(said, refused[_i].said), "%s", said);
	if (refused[_i].status == BCL_OK)
		bcl_close(context);
}
END_TEST

/* The program opens ports until no descriptor is left. The log must name the
 * limit. */
START_TEST(descriptors_are_named)
{
	struct bcl_context *context;
	struct bcl_port *port;
	struct rlimit limit;
	enum bcl_status status;

	setenv("BCL_RAILS", "none", 1);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(open_heard(&context), BCL_OK);
	do
		status = bcl_port_open(context, NULL, &port);
	while (!status);
	ck_assert_int_eq(status, BCL_ERR_SYSTEM);
	ck_assert_msg(strstr(said, "ulimit -n"), "%s", said);
	bcl_close(context);
}
END_TEST

START_TEST(ports_are_named)
{
	struct bcl_context *context;
	struct bcl_port *port;
	enum bcl_status status;
	unsigned n = 0;

	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_NET", "lo", 1);
	ck_assert_int_eq(open_heard(&context), BCL_OK);
	while (!(status = bcl_port_open(context, NULL, &port)))
		n++;
	ck_assert_int_eq(status, BCL_ERR_NOMEM);
	ck_assert_uint_eq(n, 64);
	ck_assert_msg(strstr(said, "port 65 of 64"), "%s", said);
	bcl_close(context);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fallback");
	TCase *tc = tcase_create("fallback");

	tcase_add_loop_test(tc, forbidden_call, 0,
			    sizeof(forbidden) / sizeof(*forbidden));
	tcase_add_test(tc, nonce);
	tcase_add_loop_test(tc, process_ids, 0, 2);
	tcase_add_test(tc, users);
	tcase_add_test(tc, descriptors);
	tcase_add_test(tc, space);
	tcase_add_test(tc, pages);
	tcase_add_test(tc, full_ring);
	tcase_add_test(tc, silent_pairs);
	tcase_add_loop_test(tc, refused_call_is_named, 0,
			    sizeof(refused) / sizeof(*refused));
	tcase_add_test(tc, descriptors_are_named);
	tcase_add_test(tc, ports_are_named);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
