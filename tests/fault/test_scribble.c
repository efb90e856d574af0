/* SPDX-License-Identifier: MIT */
/*
 * A storm: the ranks of a job exchange messages, run collectives, compute and
 * sleep. Meanwhile another process of the same user, the scribbler, writes
 * random words into the ranks' shared memory. A rank may get an error, or data
 * that the scribbler wrote over. But a while after the scribbler's last word
 * each rank gets on or has an error, and the job ends.
 *
 * The scribbler changes only words that the library keeps about messages, never
 * a message itself: no rank could notice a changed message (CAVEATS.md).
 *
 * Usage: test_scribble [SEED]
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bcl/adi.h>
#include <bcl/coll.h>

#include "collectives/node.h"
#include "tests/tier.h"
#include "tests/unit/counter.h"
#include "tests/unit/need.h"
#include "transport/boot/boot.h"
#include "transport/boot/fork.h"
#include "transport/context.h"
#include "transport/shm/segment.h"

enum {
	RANKS = 4,
	POSITION = 4,  /* byte of a header */
	BULK = 200000, /* bytes, at most, of a message */
	SECONDS = 60,  /* a job counts as hanging after this time */
	REFUSED = 3,   /* exit status: a call of the library failed */
	FILES = 256,   /* mapped by the scribbler */
	STORMS = 8,    /* ten times as many in the long tier */
	STROKES = 300, /* words written in a storm */
	IN_A_ROW = 16, /* without a pause, at most */
	PAUSE = 2000,  /* us, at most */
};

static struct shared {
	_Atomic unsigned round[RANKS]; /* the current round of each */
	_Atomic unsigned last;	       /* the last round of all ranks */
	_Atomic unsigned audits;
} * shared;

static uint64_t dice;

static uint64_t draw(uint64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % below;
}

/* ---- a rank ---- */

static bool refused(enum bcl_status status)
{
	return status != BCL_OK;
}

/* Exchange messages with both neighbours. */
static bool exchange(struct bcl_adi *adi, size_t length, unsigned round)
{
	static uint8_t out[BULK], in[2][BULK];
	unsigned me = bcl_adi_rank(adi), i;
	const int sides[] = { (int)((me + 1) % RANKS),
			      (int)((me + RANKS - 1) % RANKS) };
	struct bcl_adi_request *requests[4];

	pattern_fill(out, length, round + me);
	for (i = 0; i < 2; i++) {
		if (refused(bcl_adi_irecv(adi, in[i], length, sides[i],
					  (int)round, 1, &requests[i])) ||
		    refused(bcl_adi_isend(adi, out, length, sides[i],
					  (int)round, 1, &requests[2 + i])))
			return false;
	}
	return !refused(bcl_adi_waitall(adi, requests, 4, NULL));
}

static bool collect(struct bcl_team *team, unsigned round)
{
	uint64_t one = 1, sum;

	switch (round % 3) {
	case 0:
		return !refused(bcl_barrier(team));
	case 1:
		return !refused(bcl_broadcast(team, &one, sizeof(one),
					      round / 3 % RANKS));
	default:
		return !refused(
			bcl_allreduce(team, &one, &sum, 1,
				      bcl_reduction(BCL_SUM, BCL_UINT64)));
	}
}

/* False: the rank got an error. All ranks play the same rounds. */
static bool play(struct bcl_adi *adi, struct bcl_team *team, unsigned rank)
{
	static const size_t lengths[] = { 8, 40, 1000, 4000, 60000, BULK };
	unsigned round;

	for (round = 0; round <= shared->last; round++) {
		shared->round[rank] = round;
		if (!exchange(adi, lengths[round % 6], round) ||
		    !collect(team, round))
			return false;
		/* as if the rank computed; the remaining ranks go to sleep */
		if (round % 16 == rank)
			usleep(50000);
	}
	return true;
}

static int rank_main(unsigned rank)
{
	struct bcl_team *team;
	struct bcl_adi *adi;
	bool right;

	alarm(SECONDS);
	setenv("BCL_RAILS", "none", 1);
	setenv("BCL_PEER_TIMEOUT", "1s", 1);
	setenv("BCL_LOG", "error", 1);
	/* a small ring: senders can be short of room */
	setenv("BCL_RING_SLOTS", "256", 1);
	if (bcl_adi_open(NULL, &adi) || bcl_team_world(adi, &team))
		return REFUSED;
	right = play(adi, team, rank);
	shared->audits +=
		(unsigned)counter_of(bcl_adi_context(adi), "shm.audits");
	bcl_team_free(team);
	bcl_adi_close(adi);
	return right ? 0 : REFUSED;
}

/* ---- the scribbler ---- */

static struct file {
	ino_t number;
	uint8_t *memory;
	size_t size;
	bool pair; /* false: a node's segment */
} files[FILES];
static unsigned nfiles;

static void map_file(const char *path, bool pair)
{
	struct file *file = &files[nfiles];
	struct stat about;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned i;

	if (fd < 0 && errno == EPERM) {
		puts("needs CAP_CHECKPOINT_RESTORE, to open what others map");
		exit(77);
	}
	need(fd >= 0 && !fstat(fd, &about));
	for (i = 0; i < nfiles && files[i].number != about.st_ino; i++)
		;
	if (i == nfiles && nfiles < FILES) {
		file->memory = mmap(NULL, (size_t)about.st_size,
				    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		file->number = about.st_ino;
		file->size = (size_t)about.st_size;
		file->pair = pair;
		nfiles += file->memory != MAP_FAILED;
	}
	close(fd);
}

/* Map the segments that a rank shares. The paths come from /proc: ranks keep no
 * descriptors of segments. */
static void map_files(pid_t pid)
{
	char line[512], range[64], path[400];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	need(maps);
	while (fgets(line, sizeof(line), maps)) {
		bool pair = strstr(line, "memfd:bcl-pair");

		if ((!pair && !strstr(line, "memfd:bcl-memory")) ||
		    sscanf(line, "%63s", range) != 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%s", (int)pid,
			 range);
		map_file(path, pair);
	}
	fclose(maps);
}

/* A random word of a pair. In a header only the position changes: the rest
 * belongs to the message. */
static uint8_t *place_in_pair(const struct file *file)
{
	struct bcl_segment_head *head = (void *)file->memory;
	unsigned side = (unsigned)draw(2);

	switch (draw(8)) {
	case 0:
		return (uint8_t *)&head->half[side].header + POSITION;
	case 1:
		return (uint8_t *)&head->index[side].consumed;
	case 2:
		return (uint8_t *)&head->index[side] + draw(64) * 4;
	case 3:
		return (uint8_t *)&head->claims[side][draw(4)].word;
	case 4:
		return (uint8_t *)&head->claims[side][draw(4)].done;
	case 5:
		return (uint8_t *)&head->bells[side].bits;
	case 6:
		return (uint8_t *)&head->rma[side][draw(BCL_RMA_REQUESTS)]
			.state;
	default:
		return file->memory + sizeof(*head) +
		       draw(512) * BCL_SLOT_SIZE + POSITION;
	}
}

/* A word of a flag line, or the first word of a slot: the rest is payload. */
static uint8_t *place_in_node(const struct file *file)
{
	struct bcl_node node;

	bcl_node_init(&node, 0, RANKS, file->memory);
	if (draw(2))
		return node.flags + draw(RANKS) * node.stride + draw(2) * 8;
	return node.slots + draw(RANKS * BCL_NODE_SLOTS) * 64;
}

static void scribble(void)
{
	const struct file *file = &files[draw(nfiles)];
	bool pair = file->pair;
	_Atomic uint32_t *place =
		(void *)(pair ? place_in_pair(file) : place_in_node(file));

	switch (draw(pair ? 3 : 2)) {
	case 0:
		atomic_store(place, 0);
		break;
	case 1:
		atomic_store(place, (uint32_t)draw(UINT32_MAX));
		break;
	default:
		atomic_fetch_add(place, (uint32_t)draw(33) - 16);
	}
}

static void scribble_all(void)
{
	unsigned strokes = 0, n;

	while (strokes < STROKES) {
		for (n = (unsigned)draw(IN_A_ROW); n; n--, strokes++)
			scribble();
		usleep((useconds_t)draw(PAUSE));
	}
}

/* ---- a storm ---- */

static void await_rounds(unsigned least)
{
	for (unsigned rank = 0; rank < RANKS; rank++)
		while (shared->round[rank] < least)
			usleep(1000);
}

static bool end_well(const pid_t *pids, unsigned *losses)
{
	bool right = true;
	int status;

	for (unsigned rank = 0; rank < RANKS; rank++) {
		need(waitpid(pids[rank], &status, 0) == pids[rank]);
		if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
			++*losses;
		else if (status)
			right = false;
		if (WIFSIGNALED(status))
			printf("rank %u ended by signal %d%s\n", rank,
			       WTERMSIG(status),
			       WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
	}
	return right;
}

static bool storm(uint64_t seed, unsigned *losses)
{
	struct bcl_boot_job *job;
	unsigned last = 0, rank;
	pid_t pids[RANKS];
	bool right;

	dice = seed * 2 + 1;
	memset(shared, 0, sizeof(*shared));
	shared->last = UINT32_MAX;
	need(!bcl_boot_job_open(RANKS, &job));
	fflush(NULL);
	for (rank = 0; rank < RANKS; rank++) {
		pids[rank] = fork();
		if (!pids[rank]) {
			need(!bcl_boot_job_enter(job, rank));
			exit(rank_main(rank));
		}
	}
	await_rounds(8);
	nfiles = 0;
	for (rank = 0; rank < RANKS; rank++)
		map_files(pids[rank]);
	/* a segment of each pair of neighbours, and the node's */
	need(nfiles > RANKS);
	scribble_all();
	/* ranks are never more than 2 * RANKS rounds apart */
	for (rank = 0; rank < RANKS; rank++)
		if (last < shared->round[rank])
			last = shared->round[rank];
	shared->last = last + 2 * RANKS;
	right = end_well(pids, losses);
	while (nfiles--)
		munmap(files[nfiles].memory, files[nfiles].size);
	bcl_boot_job_close(job);
	if (!right)
		printf("seed %llu\n", (unsigned long long)seed);
	return right;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	unsigned storms = argc > 1 ? 1 : tier_long() ? 10 * STORMS : STORMS;
	unsigned losses = 0, audits = 0;
	bool right = true;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(shared != MAP_FAILED);
	for (uint64_t seed = first; seed < first + storms; seed++) {
		right &= storm(seed, &losses);
		audits += shared->audits;
	}
	printf("%u storms, %u ranks lost another, %u audits\n", storms, losses,
	       audits);
	/* without losses and audits the storms harmed nothing */
	need(argc > 1 || (losses && audits));
	return right ? 0 : 1;
}
