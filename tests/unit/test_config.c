/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "env/config.h"
#include "env/env.h"
#include "env/log.h"

/* ---- a few environment variables, and a log that the test keeps ---- */

static char *variables[8];
static char last[512];
static unsigned lines;

static const char *variable(void *world, const char *name)
{
	size_t n = strlen(name);

	(void)world;
	for (char **v = variables; *v; v++)
		if (!strncmp(*v, name, n) && (*v)[n] == '=')
			return *v + n + 1;
	return NULL;
}

static char **all(void *world)
{
	(void)world;
	return variables;
}

static void log_line(void *world, const struct bcl_log_line *line)
{
	(void)world;
	snprintf(last, sizeof(last), "%s: %s", line->area, line->text);
	lines++;
}

static const struct bcl_env env = {
	.variable = variable,
	.variables = all,
	.log = log_line,
};

static struct bcl_config config;

static enum bcl_status with(char *first, char *second)
{
	variables[0] = first;
	variables[1] = first ? second : NULL;
	variables[2] = NULL;
	lines = 0;
	last[0] = 0;
	return bcl_config_read(&env, &config);
}

START_TEST(defaults)
{
	char text[BCL_CONFIG_TEXT_MAX];

	ck_assert_int_eq(with(NULL, NULL), BCL_OK);
	ck_assert_uint_eq(lines, 0);
	ck_assert_uint_eq(config.peer_timeout, 30000000000);
	ck_assert_uint_eq(config.eager_max, 65536);
	ck_assert_uint_eq(config.unexpected, 4 << 20);
	ck_assert(config.shm && config.attach && config.helper);
	ck_assert(!config.stats);
	/* each default must be in its range, and written as bcl_config_print()
	 * writes the value */
	for (unsigned i = 0; i < bcl_config_nentries; i++) {
		const struct bcl_config_entry *entry = &bcl_config_entries[i];

		ck_assert_int_eq(strncmp(entry->name, "BCL_", 4), 0);
		bcl_config_print(&config, entry, text, sizeof(text));
		ck_assert_str_eq(text, entry->standard);
		ck_assert_uint_gt(strlen(entry->text), 10);
	}
}
END_TEST

START_TEST(values)
{
	ck_assert_int_eq(with("BCL_PEER_TIMEOUT=1500ms", "BCL_SHM=off"),
			 BCL_OK);
	ck_assert_uint_eq(config.peer_timeout, 1500000000);
	ck_assert(!config.shm);
	ck_assert_int_eq(with("BCL_PEER_TIMEOUT=2min", "BCL_SPIN=0"), BCL_OK);
	ck_assert_uint_eq(config.peer_timeout, 120000000000);
	ck_assert_uint_eq(config.spin, 0);
	ck_assert_int_eq(with("BCL_UNEXPECTED=1G", "BCL_RING_SLOTS=512"),
			 BCL_OK);
	ck_assert_uint_eq(config.unexpected, 1 << 30);
	ck_assert_uint_eq(config.ring_slots, 512);
	ck_assert_int_eq(with("BCL_NODE=left", "BCL_FAULT=drop:1%,seed:7"),
			 BCL_OK);
	ck_assert_str_eq(config.node, "left");
	ck_assert_str_eq(config.fault, "drop:1%,seed:7");
	ck_assert_uint_eq(lines, 0);
}
END_TEST

START_TEST(wrong_values)
{
	static char *const wrong[] = {
		"BCL_PEER_TIMEOUT=30",
		"BCL_PEER_TIMEOUT=-1s",
		"BCL_PEER_TIMEOUT=1ms",
		"BCL_PEER_TIMEOUT=99999999999999min",
		"BCL_PEER_TIMEOUT=",
		"BCL_PEER_TIMEOUT=1 s",
		"BCL_UNEXPECTED=4X",
		"BCL_UNEXPECTED=18446744073709551616",
		"BCL_UNEXPECTED=20000000000G",
		"BCL_EAGER_MAX=70000",
		"BCL_RING_SLOTS=1k",
		"BCL_RING_SLOTS=1",
		"BCL_RING_SLOTS=255",
		"BCL_RING_SLOTS=65537",
		"BCL_RING_SLOTS=131072",
		"BCL_RING_SLOTS=300", /* no power of two */
		"BCL_RING_SLOTS=512 ",
		"BCL_RING_SLOTS=-512",
		"BCL_REQUESTS=0",
		"BCL_REQUESTS=100",
		"BCL_BLOCKS=300",
		"BCL_BLOCKS=0x100",
		"BCL_RAILS=upd", /* not a word of BCL_RAILS */
		"BCL_RAILS=udp,pakcet",
		"BCL_RAILS=udp,none",
		"BCL_RAILS=udp,",
		"BCL_RAILS=",
		"BCL_CARD=",
		"BCL_CARD=kernels",
		"BCL_CARD=auto,kernel",
		"BCL_SPIN=0.5us",
		"BCL_SPIN=2s",
		"BCL_COPY_BOTH=0",
		"BCL_SOCKET_BUFFER=2G",
		"BCL_STATS=2",
		"BCL_STATS=",
		"BCL_SHM=maybe",
		"BCL_LOG=loud",
		"BCL_LOG=",
		"BCL_LOG=debug,crad", /* would show nothing */
		"BCL_LOG=debug,",
		"BCL_LOG=debug,,shm",
	};
	char name[32];

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ck_assert_int_eq(with(wrong[i], NULL), BCL_ERR_ARG);
		ck_assert_uint_eq(lines, 1);
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(wrong[i], "="), wrong[i]);
		ck_assert_ptr_nonnull(strstr(last, name));
	}
}
END_TEST

START_TEST(the_range_is_told)
{
	with("BCL_PEER_TIMEOUT=1ms", NULL);
	ck_assert_str_eq(last, "config: BCL_PEER_TIMEOUT=1ms is out of its "
			       "range, 10ms to 1440min");
	with("BCL_PEER_TIMEOUT=1", NULL);
	ck_assert_str_eq(last, "config: BCL_PEER_TIMEOUT=1 is wrong: it takes "
			       "a time like 20us, 100ms, 30s, from 10ms to "
			       "1440min");
	with("BCL_RING_SLOTS=300", NULL);
	ck_assert_str_eq(last, "config: BCL_RING_SLOTS=300 is wrong: it takes "
			       "a power of two, from 256 to 65536");
	with("BCL_CARD=auto,kernel", NULL);
	ck_assert_str_eq(last, "config: BCL_CARD=auto,kernel is wrong: it "
			       "takes one of auto,kernel,process");
	with("BCL_SHM=maybe", NULL);
	ck_assert_str_eq(last, "config: BCL_SHM=maybe is wrong: it takes on or "
			       "off");
}
END_TEST

START_TEST(text_that_is_too_long)
{
	char text[16 + BCL_CONFIG_TEXT_MAX] = "BCL_NODE=";

	memset(text + 9, 'x', BCL_CONFIG_TEXT_MAX - 1);
	ck_assert_int_eq(with(text, NULL), BCL_OK);
	text[9 + BCL_CONFIG_TEXT_MAX - 1] = 'x';
	ck_assert_int_eq(with(text, NULL), BCL_ERR_ARG);
}
END_TEST

START_TEST(unknown_variables)
{
	ck_assert_int_eq(with("BCL_RAIL=udp", "BCLX=1"), BCL_OK);
	ck_assert_uint_eq(lines, 0);
	bcl_config_warn(&config);
	ck_assert_uint_eq(lines, 1);
	ck_assert_ptr_nonnull(strstr(last, "BCL_RAIL:"));
}
END_TEST

START_TEST(lists)
{
	ck_assert(bcl_config_listed("udp,packet", "udp"));
	ck_assert(bcl_config_listed("udp,packet", "packet"));
	ck_assert(!bcl_config_listed("udp,packet", "pack"));
	ck_assert(!bcl_config_listed("udp,packet", "udp,packet"));
	ck_assert(!bcl_config_listed("", "udp"));
}
END_TEST

static bool shown(enum bcl_log_level level, const char *area)
{
	lines = 0;
	bcl_log(&config, level, area, "x %d", 7);
	return lines == 1;
}

START_TEST(the_log_is_filtered)
{
	with(NULL, NULL);
	ck_assert(shown(BCL_LOG_ERROR, "shm") && shown(BCL_LOG_WARN, "shm"));
	ck_assert_str_eq(last, "shm: x 7");
	ck_assert(!shown(BCL_LOG_INFO, "shm"));
	with("BCL_LOG=error", NULL);
	ck_assert(shown(BCL_LOG_ERROR, "shm") && !shown(BCL_LOG_WARN, "shm"));
	with("BCL_LOG=debug", NULL);
	ck_assert(shown(BCL_LOG_DEBUG, "shm"));
	with("BCL_LOG=info,card,shm", NULL);
	ck_assert(shown(BCL_LOG_INFO, "shm") && shown(BCL_LOG_INFO, "card"));
	ck_assert(!shown(BCL_LOG_INFO, "udp") && shown(BCL_LOG_WARN, "udp"));
	ck_assert(!shown(BCL_LOG_DEBUG, "shm"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tcase = tcase_create("config");

	tcase_add_test(tcase, defaults);
	tcase_add_test(tcase, values);
	tcase_add_test(tcase, wrong_values);
	tcase_add_test(tcase, the_range_is_told);
	tcase_add_test(tcase, text_that_is_too_long);
	tcase_add_test(tcase, unknown_variables);
	tcase_add_test(tcase, lists);
	tcase_add_test(tcase, the_log_is_filtered);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
