/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "env/env.h"
#include "transport/boot/boot.h"
#include "transport/boot/fork.h"

#define must(condition)                                            \
	do {                                                       \
		if (!(condition)) {                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, \
				#condition);                       \
			_exit(1);                                  \
		}                                                  \
	} while (0)

static void fill(uint8_t *value, size_t length, unsigned rank)
{
	for (size_t i = 0; i < length; i++)
		value[i] = (uint8_t)(i * 7 + rank * 31);
}

/* Every rank puts values of several lengths and reads everybody's. */
static void exchange(struct bcl_boot *boot)
{
	static const size_t lengths[] = { 0, 1, 500, BCL_BOOT_VALUE_MAX };
	uint8_t value[BCL_BOOT_VALUE_MAX], got[BCL_BOOT_VALUE_MAX];
	char name[BCL_BOOT_NAME_MAX];
	size_t length;

	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		fill(value, lengths[i], boot->rank);
		must(!bcl_boot_put(boot, name, value, lengths[i]));
	}
	must(!bcl_boot_fence(boot));
	for (unsigned rank = 0; rank < boot->size; rank++) {
		for (unsigned i = 0; i < 4; i++) {
			snprintf(name, sizeof(name), "v%u", i);
			fill(value, lengths[i], rank);
			must(!bcl_boot_get(boot, rank, name, got, sizeof(got),
					   &length));
			must(length == lengths[i]);
			must(!memcmp(got, value, length));
		}
	}
	must(bcl_boot_get(boot, 0, "v2", got, 499, &length) ==
	     BCL_ERR_TRUNCATED);
	must(bcl_boot_get(boot, 0, "nothing", got, sizeof(got), &length) ==
	     BCL_ERR_EMPTY);
	must(bcl_boot_get(boot, boot->size, "v0", got, sizeof(got), &length) ==
	     BCL_ERR_ARG);
	must(bcl_boot_put(boot, "No", got, 1) == BCL_ERR_ARG);
	must(bcl_boot_put(boot, "much", got, BCL_BOOT_VALUE_MAX + 1) ==
	     BCL_ERR_ARG);
}

static int rank_main(unsigned rank, void *arg)
{
	uint8_t key[BCL_KEY_SIZE], of_zero[BCL_KEY_SIZE];
	struct bcl_boot *boot;
	size_t length;

	must(!bcl_boot_open(&bcl_env_linux, &boot));
	must(boot->rank == rank && boot->size == *(unsigned *)arg);
	must(boot->local_ranks == boot->size);
	exchange(boot);
	must(!bcl_boot_key(boot, key));
	must(!bcl_boot_get(boot, 0, "key", of_zero, sizeof(of_zero), &length));
	must(!memcmp(key, of_zero, BCL_KEY_SIZE));
	bcl_boot_close(boot);
	return 0;
}

START_TEST(ranks_forked_by_a_parent)
{
	unsigned size = 5;

	ck_assert_int_eq(bcl_boot_job_run(size, rank_main, &size), 0);
}
END_TEST

/* ---- a space that the program lends ---- */

enum {
	LENT_VALUE = 100, /* characters */
};

static enum bcl_status lent_put(void *arg, const char *key, const char *value)
{
	must(strlen(value) <= LENT_VALUE);
	return bcl_boot_put(arg, key, value, strlen(value) + 1);
}

static enum bcl_status lent_get(void *arg, const char *key, char *value,
				size_t size)
{
	const char *rank = strchr(key, '-') + 1;
	size_t length;

	return bcl_boot_get(arg, (unsigned)atoi(rank), key, value, size,
			    &length);
}

static enum bcl_status lent_fence(void *arg)
{
	return bcl_boot_fence(arg);
}

static int lending_rank(unsigned rank, void *arg)
{
	struct bcl_boot_space space = {
		.struct_size = sizeof(space),
		.rank = rank,
		.size = *(unsigned *)arg,
		.value_max = LENT_VALUE,
		.put = lent_put,
		.get = lent_get,
		.fence = lent_fence,
	};
	struct bcl_boot *inner, *boot;

	must(!bcl_boot_open(&bcl_env_linux, &inner));
	space.arg = inner;
	must(!bcl_boot_lend(&space, &boot));
	must(boot->rank == rank && boot->size == space.size);
	exchange(boot);
	bcl_boot_close(boot);
	bcl_boot_close(inner);
	return 0;
}

START_TEST(a_space_is_lent)
{
	unsigned size = 3;

	ck_assert_int_eq(bcl_boot_job_run(size, lending_rank, &size), 0);
}
END_TEST

START_TEST(spaces_that_make_no_sense)
{
	const struct bcl_boot_space good = { .struct_size = sizeof(good),
					     .size = 1,
					     .value_max = 64 };
	struct bcl_boot_space space;
	struct bcl_boot *boot;

	ck_assert_int_eq(bcl_boot_lend(&good, &boot), BCL_OK);
	bcl_boot_close(boot);
	space = good;
	space.struct_size--;
	ck_assert_int_eq(bcl_boot_lend(&space, &boot), BCL_ERR_ARG);
	space = good;
	space.rank = 1;
	ck_assert_int_eq(bcl_boot_lend(&space, &boot), BCL_ERR_ARG);
	space = good;
	space.value_max = 63;
	ck_assert_int_eq(bcl_boot_lend(&space, &boot), BCL_ERR_ARG);
}
END_TEST

static int dying_rank(unsigned rank, void *arg)
{
	struct bcl_boot *boot;

	(void)arg;
	must(!bcl_boot_open(&bcl_env_linux, &boot));
	must(!bcl_boot_fence(boot));
	if (rank == 1)
		raise(SIGKILL);
	must(bcl_boot_fence(boot) == BCL_ERR_BOOT);
	bcl_boot_close(boot);
	return 0;
}

START_TEST(a_rank_that_dies_fails_the_fence)
{
	ck_assert_int_eq(bcl_boot_job_run(3, dying_rank, NULL), 1);
}
END_TEST

static int leaving_rank(unsigned rank, void *arg)
{
	struct bcl_boot *boot;

	(void)arg;
	must(!bcl_boot_open(&bcl_env_linux, &boot));
	/* who arrives last ends while the others still wake up */
	if (rank == 0)
		usleep(20000);
	must(!bcl_boot_fence(boot));
	bcl_boot_close(boot);
	return 0;
}

START_TEST(a_rank_that_ends_after_the_fence_harms_nobody)
{
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(bcl_boot_job_run(4, leaving_rank, NULL), 0);
}
END_TEST

START_TEST(a_job_of_one)
{
	struct bcl_boot *boot;
	uint8_t key[BCL_KEY_SIZE] = { 0 }, zero[BCL_KEY_SIZE] = { 0 };

	unsetenv("BCL_BOOT");
	ck_assert_int_eq(bcl_boot_open(&bcl_env_linux, &boot), BCL_OK);
	ck_assert_str_eq(boot->kind->name, "single");
	ck_assert_uint_eq(boot->rank, 0);
	ck_assert_uint_eq(boot->size, 1);
	exchange(boot);
	ck_assert_int_eq(bcl_boot_key(boot, key), BCL_OK);
	ck_assert_mem_ne(key, zero, BCL_KEY_SIZE);
	bcl_boot_close(boot);
}
END_TEST

START_TEST(what_cannot_be_joined)
{
	static const char *const wrong[] = { "nonsense", "fork:", "fork:9999:0",
					     "fork:0:0", "pmi",	  "single:2" };
	struct bcl_boot *boot;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		setenv("BCL_BOOT", wrong[i], 1);
		ck_assert_int_eq(bcl_boot_open(&bcl_env_linux, &boot),
				 BCL_ERR_BOOT);
	}
}
END_TEST

/* ---- a launcher that speaks PMI-1, in a child ---- */

struct exchange_line {
	const char *expected, *answer;
};

/* Answers each line as the script says; ends with 1 at another one. */
static void launcher(int fd, const struct exchange_line *script)
{
	char line[4096];

	for (; script->expected; script++) {
		size_t n = 0;

		while (n < sizeof(line) - 1 && read(fd, line + n, 1) == 1 &&
		       line[n] != '\n')
			n++;
		line[n] = 0;
		if (strncmp(line, script->expected, strlen(script->expected))) {
			fprintf(stderr, "launcher: %s, not %s\n", line,
				script->expected);
			_exit(1);
		}
		if (write(fd, script->answer, strlen(script->answer)) < 0)
			_exit(1);
	}
	_exit(0);
}

static void talk_to(const struct exchange_line *script, struct bcl_boot **boot,
		    enum bcl_status expected)
{
	char text[16];
	int fds[2];
	pid_t child;

	ck_assert_int_eq(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[0]);
		launcher(fds[1], script);
	}
	close(fds[1]);
	snprintf(text, sizeof(text), "%d", fds[0]);
	unsetenv("BCL_BOOT");
	setenv("PMI_FD", text, 1);
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "2", 1);
	ck_assert_int_eq(bcl_boot_open(&bcl_env_linux, boot), expected);
}

#define PMI_BEGIN                                                              \
	{ "cmd=init pmi_version=1 pmi_subversion=1",                           \
	  "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n" },      \
		{ "cmd=get_maxes",                                             \
		  "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=65\n" }, \
	{                                                                      \
		"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_7\n"         \
	}

START_TEST(pmi_splits_values)
{
	static const struct exchange_line script[] = {
		PMI_BEGIN,
		{ "cmd=put kvsname=kvs_7 key=a-1-0 value="
		  "00000021000102030405060708090a0b0c0d0e0f"
		  "101112131415161718191a1b",
		  "cmd=put_result rc=0 msg=success\n" },
		{ "cmd=put kvsname=kvs_7 key=a-1-1 value=1c1d1e1f20",
		  "cmd=put_result rc=0 msg=success\n" },
		{ "cmd=barrier_in", "cmd=barrier_out\n" },
		{ "cmd=get kvsname=kvs_7 key=b-0-0",
		  "cmd=get_result rc=0 msg=success value=000000037f\n" },
		{ "cmd=get kvsname=kvs_7 key=b-0-1",
		  "cmd=get_result rc=0 value=80ff\n" },
		{ "cmd=get kvsname=kvs_7 key=c-0-0",
		  "cmd=get_result rc=-1 msg=key_c-0-0_not_found\n" },
		{ "cmd=finalize", "cmd=finalize_ack\n" },
		{ NULL, NULL },
	};
	struct bcl_boot *boot;
	uint8_t value[33];
	size_t length;

	for (uint8_t i = 0; i < sizeof(value); i++)
		value[i] = i;
	talk_to(script, &boot, BCL_OK);
	ck_assert_uint_eq(boot->rank, 1);
	ck_assert_uint_eq(boot->size, 2);
	ck_assert_int_eq(bcl_boot_put(boot, "a", value, 33), BCL_OK);
	ck_assert_int_eq(bcl_boot_fence(boot), BCL_OK);
	ck_assert_int_eq(bcl_boot_get(boot, 0, "b", value, 3, &length), BCL_OK);
	ck_assert_uint_eq(length, 3);
	ck_assert_mem_eq(value, "\x7f\x80\xff", 3);
	ck_assert_int_eq(bcl_boot_get(boot, 0, "c", value, 3, &length),
			 BCL_ERR_EMPTY);
	bcl_boot_close(boot);
}
END_TEST

START_TEST(pmi_launcher_misbehaves)
{
	static const struct exchange_line scripts[][5] = {
		{ { "cmd=init", "cmd=response_to_init rc=-1\n" } },
		{ { "cmd=init", "what?\n" } },
		{ { NULL, NULL } }, /* is gone */
		{ { "cmd=init", "cmd=response_to_init rc=0\n" },
		  { "cmd=get_maxes", "cmd=maxes vallen_max=10\n" } },
		{ { "cmd=init", "cmd=response_to_init rc=0\n" },
		  { "cmd=get_maxes", "cmd=maxes vallen_max=1024\n" },
		  { "cmd=get_my_kvsname", "cmd=my_kvsname\n" } },
	};
	struct bcl_boot *boot;

	for (unsigned i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		talk_to(scripts[i], &boot, BCL_ERR_BOOT);
}
END_TEST

static const char *const damaged[] = {
	"cmd=get_result rc=0 value=0000\n",
	"cmd=get_result rc=0 value=000000020\n",
	"cmd=get_result rc=0 value=0000000201020304\n",
	"cmd=get_result rc=0 value=00000002xx00\n",
};

START_TEST(pmi_values_that_are_damaged)
{
	struct exchange_line script[] = {
		PMI_BEGIN,
		{ "cmd=get", damaged[_i] },
		{ "cmd=", "cmd=get_result rc=-1\n" },
		{ NULL, NULL },
	};
	struct bcl_boot *boot;
	uint8_t value[8];
	size_t length;

	talk_to(script, &boot, BCL_OK);
	ck_assert_int_eq(bcl_boot_get(boot, 0, "a", value, 8, &length),
			 BCL_ERR_BOOT);
	bcl_boot_close(boot);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot");
	TCase *tcase = tcase_create("boot");

	tcase_add_test(tcase, ranks_forked_by_a_parent);
	tcase_add_test(tcase, a_space_is_lent);
	tcase_add_test(tcase, spaces_that_make_no_sense);
	tcase_add_test(tcase, a_rank_that_dies_fails_the_fence);
	tcase_add_test(tcase, a_rank_that_ends_after_the_fence_harms_nobody);
	tcase_add_test(tcase, a_job_of_one);
	tcase_add_test(tcase, what_cannot_be_joined);
	tcase_add_test(tcase, pmi_splits_values);
	tcase_add_test(tcase, pmi_launcher_misbehaves);
	tcase_add_loop_test(tcase, pmi_values_that_are_damaged, 0,
			    sizeof(damaged) / sizeof(*damaged));
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
