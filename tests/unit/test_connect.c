/* SPDX-License-Identifier: MIT */
/* How ports of one host find each other, and how connections end. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"
#include "transport/shm/host.h"
#include "transport/shm/port.h"

static void check_up(struct rank *rank, unsigned other, bool attach)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	ck_assert_int_eq(rank_connect(rank, other), BCL_OK);
	bcl_peer_info(rank->peers[other], &info);
	ck_assert_int_eq(info.path, BCL_PATH_SHARED);
	ck_assert_uint_eq(info.level, 1);
	ck_assert_msg(info.attach == attach, "%s", info.why);
}

/* Exchange one message each way. */
static void greet(struct rank *rank, unsigned other)
{
	struct bcl_event event;

	rank_send(rank, other, rank->me, "hello", 5);
	rank_expect(rank, BCL_EVENT_MESSAGE, &event);
	ck_assert_uint_eq(event.immediate, other);
	ck_assert_uint_eq(event.length, 5);
	ck_assert(!memcmp(event.data, "hello", 5));
	ck_assert_ptr_eq(event.peer, rank->peers[other]);
}

static void both_call(struct rank *rank)
{
	rank_barrier(rank); /* both ranks call at once */
	check_up(rank, !rank->me, true);
	greet(rank, !rank->me);
	ck_assert_uint_eq(rank_counter(rank, "core.peers_shared"), 1);
	ck_assert_uint_eq(rank_counter(rank, "core.peers_lost"), 0);
	rank_barrier(rank);
}

START_TEST(crossing)
{
	int i;

	for (i = 0; i < 20; i++)
		ranks_run(2, both_call, 0);
}
END_TEST

static void one_calls(struct rank *rank)
{
	struct bcl_event event;

	if (rank->me == 0) {
		check_up(rank, 1, true);
		rank_send(rank, 1, 7, NULL, 0);
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		ck_assert_uint_eq(event.immediate, 8);
	} else {
		rank_expect(rank, BCL_EVENT_PEER, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		rank->peers[0] = event.peer;
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		ck_assert_uint_eq(event.immediate, 7);
		ck_assert_ptr_eq(event.peer, rank->peers[0]);
		ck_assert_ptr_eq(rank_begin(rank, 0), event.peer);
		rank_send(rank, 0, 8, NULL, 0);
	}
	rank_barrier(rank);
}

START_TEST(called_only)
{
	ranks_run(2, one_calls, 0);
}
END_TEST

static void all_to_all(struct rank *rank)
{
	unsigned n = rank->all->n, i, sent = 0, up = 0, got = 0;
	struct bcl_event event;

	for (i = 0; i < n; i++)
		if (i != rank->me)
			rank_begin(rank, i);
	while (sent < n - 1 || got < n - 1 || up < n - 1) {
		rank_event(rank, &event);
		if (event.kind == BCL_EVENT_MESSAGE) {
			got++;
			continue;
		}
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_OK);
		up++;
		while (bcl_send(event.peer, 1, rank->me, NULL, 0, 0))
			;
		sent++;
	}
	rank_barrier(rank);
}

START_TEST(many)
{
	ranks_run(24, all_to_all, 0);
}
END_TEST

/* A peer sends messages and is killed. All messages must arrive. */
static void last_words(struct rank *rank)
{
	static uint8_t bytes[700];
	struct bcl_event event;
	uint64_t i, n = 60;

	if (rank->me == 0) {
		check_up(rank, 1, true);
		for (i = 0; i < n; i++)
			rank_send(rank, 1, i, bytes, sizeof(bytes));
		raise(SIGKILL);
	}
	rank_connect(rank, 0);
	usleep(200000);
	for (i = 0; i < n; i++) {
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		ck_assert_uint_eq(event.immediate, i);
	}
	rank_expect(rank, BCL_EVENT_PEER, &event);
	ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_send(rank->peers[0], 1, 0, NULL, 0, 0),
			 BCL_ERR_DEAD);
	ck_assert_uint_eq(rank_counter(rank, "core.peers_lost"), 1);
}

START_TEST(killed)
{
	ranks_run(2, last_words, 1);
}
END_TEST

/* The peer is killed and leaves a living child behind, which inherited the
 * peer's sockets. The port must notice the end of the peer nevertheless, and
 * while the child lives. */
static const char *rails;

static void dies_with_child(struct rank *rank)
{
	struct bcl_event event;
	unsigned i;

	setenv("BCL_NET", "lo", 1);
	setenv("BCL_RAILS", rails, 1);
	setenv("BCL_SHM", strcmp(rails, "none") ? "0" : "1", 1);
	rank_open(rank, NULL);
	rank_barrier(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	greet(rank, !rank->me);
	if (rank->me == 0) {
		if (!fork()) {
			for (i = 0;
			     i < 6000 && !atomic_load(&rank->all->signals[0]);
			     i++)
				usleep(10000);
			_exit(0);
		}
		raise(SIGKILL);
	}
	rank_expect(rank, BCL_EVENT_PEER, &event);
	ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	atomic_store(&rank->all->signals[0], 1);
}

START_TEST(child_survives)
{
	static const char *const all[] = { "none", "udp" };

	rails = all[_i];
	ranks_run_bare(2, dies_with_child, 1);
}
END_TEST

/* A port closes and opens again with the same number, several times. Both ranks
 * call. */
static void part_and_meet(struct rank *rank)
{
	struct bcl_port_options options = { .struct_size = sizeof(options),
					    .number = 5 };
	struct bcl_event event;
	size_t length;
	int i;

	for (i = 0; i < 5; i++) {
		if (rank->me == 0) {
			bcl_port_close(rank->port);
			ck_assert_int_eq(bcl_port_open(rank->context, &options,
						       &rank->port),
					 BCL_OK);
			bcl_port_address(rank->port, rank->all->rank[0].address,
					 &length);
		}
		rank_barrier(rank);
		check_up(rank, !rank->me, true);
		greet(rank, !rank->me);
		rank_barrier(rank);
		if (rank->me == 0) {
			bcl_peer_close(rank->peers[1]);
			rank_barrier(rank);
			continue;
		}
		/* no harm from closing the handle */
		rank_idle(rank, 20);
		rank_barrier(rank);
		rank_expect(rank, BCL_EVENT_PEER, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	}
}

START_TEST(again)
{
	ranks_run(2, part_and_meet, 0);
}
END_TEST

static void close_port(struct rank *rank)
{
	struct bcl_event event;

	check_up(rank, !rank->me, true);
	greet(rank, !rank->me);
	rank_barrier(rank);
	if (rank->me) {
		rank_expect(rank, BCL_EVENT_PEER, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	}
}

START_TEST(port_closes)
{
	ranks_run(2, close_port, 0);
}
END_TEST

/* ---- failures and fallbacks ---- */

enum {
	ADDRESS_KEY = 20, /* offset of the job's key in an address */
};

/* The address is enough to call a port of another job. With a wrong key in the
 * address the call must fail. */
static void other_job(struct rank *rank)
{
	const uint8_t keys[2][16] = { "one job", "another" };
	const struct bcl_context_options options = {
		.struct_size = sizeof(options),
		.job_key = keys[rank->me],
	};

	rank_open(rank, &options);
	rank_barrier(rank);
	if (rank->me == 0) {
		rank->all->rank[1].address[ADDRESS_KEY] ^= 1;
		ck_assert_int_eq(rank_connect(rank, 1), BCL_ERR_JOBKEY);
		rank->all->rank[1].address[ADDRESS_KEY] ^= 1;
	}
	rank_barrier(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	greet(rank, !rank->me);
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(job_key)
{
	ranks_run_bare(2, other_job, 0);
}
END_TEST

static void switched_off(struct rank *rank)
{
	if (rank->me == 0)
		setenv("BCL_ATTACH", "0", 1);
	rank_open(rank, NULL);
	rank_barrier(rank);
	check_up(rank, !rank->me, false);
	greet(rank, !rank->me);
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(attach_off)
{
	ranks_run_bare(2, switched_off, 0);
}
END_TEST

/* Rank 1 does not use shared memory and has no network, so no path is left. */
static void no_path(struct rank *rank)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	if (rank->me)
		setenv("BCL_SHM", "0", 1);
	setenv("BCL_RAILS", "none", 1);
	rank_open(rank, NULL);
	rank_barrier(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_ERR_NORAIL);
	bcl_peer_info(rank->peers[!rank->me], &info);
	if (rank->me == 0)
		ck_assert_msg(strstr(info.why, "no such port"), "%s", info.why);
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(not_there)
{
	ranks_run_bare(2, no_path, 0);
}
END_TEST

static uint64_t node_with(const char *variable, const char *value)
{
	struct bcl_context *context;
	uint64_t node;

	setenv(variable, value, 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	node = bcl_context_node(context);
	bcl_close(context);
	return node;
}

START_TEST(nodes)
{
	uint64_t host, other, alone;

	host = node_with("BCL_RAILS", "none");
	ck_assert_uint_eq(host, node_with("BCL_NODE", ""));
	other = node_with("BCL_NODE", "other");
	ck_assert_uint_ne(other, host);
	ck_assert_uint_eq(other, node_with("BCL_NODE", "other"));
	ck_assert_uint_eq(host, node_with("BCL_NODE", ""));
	alone = node_with("BCL_SHM", "0");
	ck_assert_uint_ne(alone, host);
	ck_assert_uint_ne(alone, node_with("BCL_SHM", "0"));
}
END_TEST

/* A process that is no port of the library calls. */
static void intruder(struct rank *rank)
{
	struct bcl_event event;

	check_up(rank, !rank->me, true);
	greet(rank, !rank->me);
	rank_barrier(rank);
	bcl_poll(rank->port, &event);
	rank_barrier(rank);
}

START_TEST(undisturbed)
{
	ranks_run(2, intruder, 0);
}
END_TEST

/* ---- callers without end ---- */

enum {
	CALLERS = 3 * BCL_SHM_SERVED,
};

static unsigned count_connections(const struct bcl_shm_port *shm)
{
	const struct bcl_connection *c = shm->connections;
	unsigned n = 0;

	for (; c; c = c->next)
		n++;
	return n;
}

/* A turn of the port must end, however many processes call. */
START_TEST(many_call)
{
	const struct bcl_env *env = &bcl_env_linux;
	struct bcl_context *context;
	struct bcl_port *port;
	int callers[CALLERS];
	unsigned turns;

	setenv("BCL_RAILS", "none", 1);
	setenv("BCL_HELPER", "0", 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
	for (unsigned i = 0; i < CALLERS; i++) {
		callers[i] = env->shm_host->call(NULL, context->card_id,
						 port->number);
		ck_assert_int_ge(callers[i], 0);
	}
	for (turns = 1; turns <= 3; turns++) {
		bcl_shm_service(port, env->now(NULL));
		ck_assert_uint_eq(count_connections(port->shm),
				  turns * BCL_SHM_SERVED);
	}
	for (unsigned i = 0; i < CALLERS; i++)
		close(callers[i]);
	bcl_close(context);
}
END_TEST

/* No descriptor is left, not even the spare descriptor. The port must stop
 * listening, so that no descriptor stays readable. Later descriptors are free
 * again. */
START_TEST(no_descriptor)
{
	const struct bcl_env *env = &bcl_env_linux;
	const struct bcl_shm_host *host = env->shm_host;
	struct rlimit limit, none = { 0 };
	struct bcl_context *context;
	struct bcl_port *port;
	int caller;

	setenv("BCL_RAILS", "none", 1);
	setenv("BCL_HELPER", "0", 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
	caller = host->call(NULL, context->card_id, port->number);
	ck_assert_int_ge(caller, 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	none.rlim_max = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	bcl_shm_service(port, env->now(NULL));
	ck_assert_ptr_null(host->group_next(NULL, port->shm->group));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	bcl_shm_service(port, env->now(NULL));
	ck_assert_uint_eq(count_connections(port->shm), 1);
	close(caller);
	bcl_close(context);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("connect");
	TCase *tc = tcase_create("connect");

	tcase_add_test(tc, crossing);
	tcase_add_test(tc, called_only);
	tcase_add_test(tc, many);
	tcase_add_test(tc, killed);
	tcase_add_loop_test(tc, child_survives, 0, 2);
	tcase_add_test(tc, again);
	tcase_add_test(tc, port_closes);
	tcase_add_test(tc, job_key);
	tcase_add_test(tc, attach_off);
	tcase_add_test(tc, not_there);
	tcase_add_test(tc, nodes);
	tcase_add_test(tc, undisturbed);
	tcase_add_test(tc, many_call);
	tcase_add_test(tc, no_descriptor);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
