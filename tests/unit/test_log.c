/* SPDX-License-Identifier: MIT */
/*
 * Lines for people must show the writer and the time. The standard error output
 * is a socket that keeps the bounds of writes, so each message is one write.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcl/adi.h>

#include "env/env.h"
#include "env/log.h"
#include "env/say.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"

enum {
	RANKS = 3,
};

#define TIME "bcl [0-2][0-9]:[0-5][0-9]:[0-6][0-9][.][0-9]{6} "

static int heard = -1;
static char line[4096];

static void listen_to_stderr(void)
{
	int pair[2];

	ck_assert(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
	close(pair[1]);
	heard = pair[0];
}

/* The next write. */
static bool hear(void)
{
	ssize_t n = recv(heard, line, sizeof(line) - 1, MSG_DONTWAIT);

	if (n < 0)
		return false;
	line[n] = 0;
	return true;
}

static bool matches(const char *pattern)
{
	regex_t regex;
	bool found;

	ck_assert(!regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB));
	found = !regexec(&regex, line, 0, NULL, 0);
	regfree(&regex);
	return found;
}

static void write_line(const char *text)
{
	struct bcl_config config;

	ck_assert(!bcl_config_read(&bcl_env_linux, &config));
	bcl_log(&config, BCL_LOG_WARN, "udp", "%s", text);
	ck_assert(hear());
}

START_TEST(a_process_without_a_rank_shows_its_number)
{
	char host[65] = "", pattern[256];

	unsetenv("BCL_NODE");
	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = 0;
	listen_to_stderr();
	write_line("it is 7");
	snprintf(pattern, sizeof(pattern),
		 "^" TIME "%s\\[%d\\]: warning: udp: it is 7\n$", host,
		 (int)getpid());
	ck_assert_msg(matches(pattern), "%s", line);
	ck_assert(!hear());
}
END_TEST

START_TEST(a_line_is_one_write_of_printable_bytes_with_a_bound)
{
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	listen_to_stderr();
	bcl_say("node0", "/3", text);
	ck_assert(hear());
	ck_assert_uint_eq(strlen(line), BCL_SAID_MAX);
	ck_assert_msg(matches("^" TIME "node0/3: x+\n$"), "%s", line);
	ck_assert(!hear());

	/* a name of 200 characters must leave room for the text */
	text[200] = 0;
	bcl_say(text, "/3", "here");
	ck_assert(hear() && matches("^" TIME "x{64}/3: here\n$"));

	setenv("BCL_NODE", "", 1);
	write_line("a\nb\033[2Jc");
	ck_assert_msg(matches("udp: a[?]b[?]\\[2Jc\n$"), "%s", line);
	ck_assert(!hear());
}
END_TEST

static int rank_main(unsigned rank, void *arg)
{
	struct bcl_adi *adi;
	char node[32];

	(void)arg;
	snprintf(node, sizeof(node), "node%u.example", rank);
	setenv("BCL_NODE", node, 1);
	if (bcl_adi_open(NULL, &adi))
		return 1;
	bcl_adi_close(adi);
	return rank == 1 ? 9 : 0;
}

/* Lines of a context while it is being opened, and lines of counters, too. */
START_TEST(lines_of_a_job_show_node_and_rank)
{
	static const char *const kinds[] = { "info: ", "info: stats: " };
	unsigned counts[RANKS][2] = { { 0 } }, rank, kind;
	char pattern[256];
	bool ended = false;

	setenv("BCL_LOG", "info", 1);
	setenv("BCL_STATS", "1", 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_RAILS", "udp", 1);
	listen_to_stderr();
	ck_assert_int_eq(bcl_boot_job_run(RANKS, rank_main, NULL), 1);
	while (hear()) {
		if (matches("/1: error: boot: ended with status 9\n$")) {
			ended = true;
			continue;
		}
		for (rank = 0; rank < RANKS; rank++) {
			snprintf(pattern, sizeof(pattern),
				 "^" TIME "node%u.example/%u: ", rank, rank);
			if (matches(pattern))
				break;
		}
		ck_assert_msg(rank < RANKS, "%s", line);
		for (kind = 0; kind < 2; kind++)
			counts[rank][kind] += !!strstr(line, kinds[kind]);
	}
	ck_assert(ended);
	for (rank = 0; rank < RANKS; rank++)
		ck_assert(counts[rank][1] > 1 &&
			  counts[rank][0] > counts[rank][1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_test(tcase, a_process_without_a_rank_shows_its_number);
	tcase_add_test(tcase,
		       a_line_is_one_write_of_printable_bytes_with_a_bound);
	tcase_add_test(tcase, lines_of_a_job_show_node_and_rank);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
