/* SPDX-License-Identifier: MIT */
/*
 * outlive [VICTIM]: adds the numbers below a million in rounds. Rank VICTIM
 * dies amid a round. The other ranks make a team without it, share its numbers
 * among them, and repeat the round.
 *
 * cc outlive.c -o outlive $(pkg-config --cflags --libs bcl)
 *
 * After a death some ranks may have the sum of a round, and others an error. So
 * the ranks agree after each round whether all that live have the sum.
 */
#include <bcl/coll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LIMIT = 1000000,
	ROUNDS = 10
};

static void check(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "outlive: %s: %s\n", what, bcl_strstatus(status));
	exit(1);
}

/* The sum of this rank's numbers of a round. */
static uint64_t add(const struct bcl_team *team, unsigned round)
{
	unsigned end = LIMIT / ROUNDS * (round + 1), n;
	uint64_t sum = 0;

	for (n = LIMIT / ROUNDS * round + bcl_team_rank(team); n < end;
	     n += bcl_team_size(team))
		sum += n;
	return sum;
}

/* Sums up a round. Returns true if all ranks that live have the sum. */
static bool sum_up(struct bcl_team *team, uint64_t mine, uint64_t *sum)
{
	uint64_t have =
		bcl_allreduce(team, &mine, sum, 1,
			      bcl_reduction(BCL_SUM, BCL_UINT64)) == BCL_OK;

	check(bcl_team_agree(team, &have), "agree");
	return have;
}

static int usage(bool asked)
{
	fputs("usage: mpiexec -n RANKS outlive [VICTIM]\n"
	      "Adds the numbers below a million. Rank VICTIM dies meanwhile.\n"
	      "MPICH's mpiexec needs -disable-auto-cleanup, too.\n",
	      asked ? stdout : stderr);
	return asked ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct bcl_team *team, *smaller;
	uint64_t sum, total = 0;
	char *end = argv[argc - 1];
	unsigned round = 0;
	struct bcl_adi *adi;
	long victim = -1;

	if (argc == 2)
		victim = strtol(argv[1], &end, 10);
	if (argc > 2 || (argc == 2 && (*end || victim < 0)))
		return usage(argc == 2 && !strcmp(argv[1], "--help"));
	/* MPICH's mpiexec sends the signal at a death */
	signal(SIGUSR1, SIG_IGN);
	check(bcl_adi_open(NULL, &adi), "start");
	check(bcl_team_world(adi, &team), "team");
	while (round < ROUNDS) {
		if (victim == (long)bcl_adi_rank(adi) && round == ROUNDS / 2)
			_exit(1);
		if (sum_up(team, add(team, round), &sum)) {
			total += sum;
			round++;
			continue;
		}
		check(bcl_team_shrink(team, &smaller), "shrink");
		bcl_team_free(team);
		team = smaller;
	}
	if (bcl_team_rank(team) == 0)
		printf("%lu, added by %u of %u ranks\n", (unsigned long)total,
		       bcl_team_size(team), bcl_adi_size(adi));
	bcl_team_free(team);
	bcl_adi_close(adi);
	return 0;
}
