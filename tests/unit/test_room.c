/* SPDX-License-Identifier: MIT */
/* How much memory there is to take, by files like the system's. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/room.h"

static char root[] = "/tmp/bcl-room-XXXXXX";

/* All files that a test writes, so that the test can remove the files. */
static char written[32][256];
static unsigned nwritten;

static void note(const char *path)
{
	ck_assert_uint_lt(nwritten, 32);
	snprintf(written[nwritten++], sizeof(written[0]), "%s", path);
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *at = path + sizeof(root); (at = strchr(at, '/')); at++) {
		*at = 0;
		if (!mkdir(path, 0700))
			note(path);
		*at = '/';
	}
	note(path);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void begin(void)
{
	nwritten = 0;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("/proc/meminfo", "MemTotal:       9000 kB\n"
			     "MemFree:        1000 kB\n"
			     "MemAvailable:   5000 kB\n");
}

static void end(void)
{
	while (nwritten)
		remove(written[--nwritten]);
	ck_assert_int_eq(rmdir(root), 0);
}

START_TEST(host_alone)
{
	ck_assert_uint_eq(bcl_room(root), 5000 * 1024);
}
END_TEST

START_TEST(nothing_known)
{
	ck_assert_uint_eq(bcl_room("/nowhere"), UINT64_MAX);
}
END_TEST

/* The caches of files count as available. In each group around the process the
 * rest below the limit counts. */
START_TEST(version_2)
{
	put("/proc/self/cgroup", "0::/a/b\n");
	put("/sys/fs/cgroup/a/b/memory.max", "max\n");
	put("/sys/fs/cgroup/a/b/memory.current", "4000\n");
	ck_assert_uint_eq(bcl_room(root), 5000 * 1024);
	put("/sys/fs/cgroup/a/memory.max", "10000\n");
	put("/sys/fs/cgroup/a/memory.current", "6000\n");
	put("/sys/fs/cgroup/a/memory.stat", "anon 3000\n"
					    "inactive_file 1000\n"
					    "active_file 500\n");
	ck_assert_uint_eq(bcl_room(root), 5500);
	put("/sys/fs/cgroup/a/b/memory.max", "4500\n");
	ck_assert_uint_eq(bcl_room(root), 500);
	put("/sys/fs/cgroup/a/b/memory.max", "3000\n");
	ck_assert_uint_eq(bcl_room(root), 0);
}
END_TEST

START_TEST(version_1)
{
	put("/proc/self/cgroup", "9:cpu:/x\n4:memory:/job\n0::/\n");
	put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes",
	    "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "70000\n");
	ck_assert_uint_eq(bcl_room(root), 5000 * 1024);
	put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "100000\n");
	put("/sys/fs/cgroup/memory/job/memory.stat",
	    "inactive_file 1\nactive_file 1\n"
	    "total_inactive_file 20000\ntotal_active_file 7\n");
	ck_assert_uint_eq(bcl_room(root), 50007);
}
END_TEST

/* A container sees its own group as the root. */
START_TEST(container)
{
	put("/proc/self/cgroup", "0::/docker/0123\n");
	put("/sys/fs/cgroup/memory.max", "8000\n");
	put("/sys/fs/cgroup/memory.current", "1000\n");
	ck_assert_uint_eq(bcl_room(root), 7000);
}
END_TEST

START_TEST(a_part_is_left)
{
	uint64_t room = bcl_room("");

	ck_assert(bcl_room_for(1));
	if (room < UINT64_MAX)
		ck_assert(!bcl_room_for(room));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("room");
	TCase *tcase = tcase_create("room");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, host_alone);
	tcase_add_test(tcase, nothing_known);
	tcase_add_test(tcase, version_2);
	tcase_add_test(tcase, version_1);
	tcase_add_test(tcase, container);
	tcase_add_test(tcase, a_part_is_left);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
