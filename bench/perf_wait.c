/* SPDX-License-Identifier: MIT */
/*
 * Waiting: rank 0 computes, then sends. Rank 1 waits in a receive beside a
 * foreign job on the same CPU, and notes how late the message is.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "bench/perf_rank.h"

static const uint64_t compute_ns = 1000000;

struct perf_job {
	int begin;	       /* pipe: a byte begins a period of computing */
	int result;	       /* pipe: share of the CPU in the period, a
				* double */
	_Atomic uint32_t *end; /* shared: number of periods that have ended */
};

static uint64_t processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void run_job(const struct perf_job *job)
{
	uint32_t spells;
	char byte;

	for (spells = 0; read(job->begin, &byte, 1) == 1; spells++) {
		uint64_t start = ref_now(), used = processor_time();
		double share;

		/* Pairs with the release in perf_job_end(). */
		while (atomic_load_explicit(job->end, memory_order_acquire) ==
		       spells)
			;
		used = processor_time() - used;
		share = 100.0 * (double)used / (double)(ref_now() - start);
		if (write(job->result, &share, sizeof(share)) < 0)
			break;
	}
}

struct perf_job *perf_job_start(struct ref *ref)
{
	static struct perf_job job, ours;
	pid_t parent = getpid();
	int begin[2], result[2];

	job.end = mmap(NULL, sizeof(*job.end), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.end == MAP_FAILED || pipe(begin) || pipe(result))
		ref_exit(ref, 1, "foreign job: %s", strerror(errno));
	job.begin = begin[0];
	job.result = result[1];
	ours = (struct perf_job){ begin[1], result[0], job.end };
	switch (fork()) {
	case -1:
		ref_exit(ref, 1, "fork: %s", strerror(errno));
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			run_job(&job);
		_exit(0);
	}
	return &ours;
}

void perf_job_begin(struct perf_job *job)
{
	ssize_t n = write(job->begin, "", 1);

	(void)n; /* a failure shows in perf_job_end() */
}

double perf_job_end(struct perf_job *job)
{
	double share = 0;

	/* Pairs with the acquire in run_job(). */
	atomic_fetch_add_explicit(job->end, 1, memory_order_release);
	if (read(job->result, &share, sizeof(share)) != sizeof(share))
		share = 0;
	return share;
}

size_t perf_wake(struct perf_rank *rank)
{
	size_t samples = ref_number(rank->ref, "samples"), s;
	bool share = !strcmp(ref_string(rank->ref, "figure"), "share");
	double sample[REF_SAMPLES] = { 0 }, used = 0;
	uint64_t time;

	if (!perf_plays(rank))
		return 0;
	if (samples > REF_SAMPLES)
		ref_exit(rank->ref, 1, "at most %d samples", REF_SAMPLES);
	if (rank->job)
		perf_job_begin(rank->job);
	for (s = 0; s <= samples; s++) {
		if (rank->rank) {
			perf_receive(rank, &time, sizeof(time), 0);
			sample[s ? s - 1 : 0] =
				(double)(ref_now() - time) / 1000;
			continue;
		}
		ref_compute(compute_ns);
		time = ref_now();
		perf_send(rank, &time, sizeof(time), rank->partner);
	}
	if (rank->job)
		used = perf_job_end(rank->job);
	rank->ref->unit = share ? "%" : "us";
	perf_hand_over(rank, share ? &used : sample,
		       share ? 1 : (unsigned int)samples);
	return rank->rank ? 1 : samples;
}
