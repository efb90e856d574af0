/* SPDX-License-Identifier: MIT */
/*
 * fuzz ONE OTHER SEED SECONDS: processes of two users make random calls of
 * /dev/bcl, and are killed at random moments, while random frames come by the
 * two interfaces. Afterwards no page is pinned, and no memory of the kernel is
 * missing. The fuzzer runs as the first program of a guest.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "kmod_user.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum {
	PROCESSES = FUZZ_CARDS / FUZZ_INTERFACES,
	USER = 1000,
	LEFT_OVER_KB = 2048, /* memory that the kernel may keep for itself */
};

static struct fuzz_dice dice;
static struct fuzz_job job;
static pid_t pids[PROCESSES], frames;
static unsigned born, killed, failed;

static pid_t start(void (*run)(const struct fuzz_job *), unsigned user)
{
	const struct rlimit limit = { 32 << 20, 32 << 20 };
	pid_t pid;

	job.seed = fuzz_next(&dice);
	pid = fork();
	CHECK(pid >= 0);
	if (pid)
		return pid;
	if (user) {
		CHECK(!setpgid(0, 0));
		CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
		CHECK(!setgid(user) && !setuid(user));
	}
	run(&job);
	_exit(0);
}

static void stop(pid_t pid)
{
	int status;

	kill(-pid, SIGKILL); /* its children too */
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	failed += WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
}

static long kb_of(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = -1;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			kb = atol(line + strlen(name));
	fclose(file);
	CHECK(kb >= 0);
	return kb;
}

/* Returns the size of the memory of the kernel. */
static long kernel_kb(void)
{
	return kb_of("VmallocUsed:") + kb_of("SUnreclaim:");
}

static void start_calls(unsigned i)
{
	job.place = i * FUZZ_INTERFACES;
	pids[i] = start(fuzz_calls, USER + i % 2);
}

/* True if enough calls, messages and frames were right. */
static bool is_enough(const struct fuzz_table *table)
{
	return table->frames > 100 && table->sent > 100 &&
	       table->received > 20 && table->calls[BCL_OK] > 1000;
}

/* Start and kill processes for a time, and longer until that is enough. */
static void fuzz_for(double seconds)
{
	const time_t end = time(NULL) + (time_t)seconds;
	unsigned i;

	frames = start(fuzz_frames, 0);
	for (i = 0; i < PROCESSES; i++)
		start_calls(i);
	while (time(NULL) < end || !is_enough(job.table)) {
		usleep(1000 * fuzz_below(&dice, 2000));
		i = fuzz_below(&dice, PROCESSES);
		stop(pids[i]);
		start_calls(i);
		born++;
	}
	for (i = 0; i < PROCESSES; i++)
		stop(pids[i]);
	stop(frames);
}

/* The kernel may finish some work after the end of a process. */
static void expect_all_back(long before)
{
	unsigned i;

	for (i = 0; i < 50; i++) {
		if (vmstat("nr_foll_pin_acquired") ==
			    vmstat("nr_foll_pin_released") &&
		    kernel_kb() <= before + LEFT_OVER_KB)
			return;
		usleep(100000);
	}
	printf("kernel's memory: %ld KB, was %ld KB\n", kernel_kb(), before);
	expect_no_pins();
	CHECK(kernel_kb() <= before + LEFT_OVER_KB);
}

int main(int argc, char **argv)
{
	struct fuzz_table *table;
	long before;
	unsigned i;

	CHECK(argc == 5);
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("fuzz: seed %s\n", argv[3]);
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(table != MAP_FAILED);
	dice = fuzz_dice_of(strtoull(argv[3], NULL, 0));
	job = (struct fuzz_job){ .table = table,
				 .interface = { argv[1], argv[2] } };
	fuzz_for(2); /* caches of the kernel fill */
	expect_no_pins();
	before = kernel_kb();
	fuzz_for(atof(argv[4]));
	expect_all_back(before);
	printf("fuzz: %u processes, %u killed, %u failed, %lu frames, %lu "
	       "sent, "
	       "%lu received; calls",
	       born, killed, failed, table->frames, table->sent,
	       table->received);
	for (i = 0; i < FUZZ_CARDS; i++)
		printf(" %lu", table->calls[i]);
	printf("\n");
	printf("%u checks passed\n", checks);
	return 0;
}
