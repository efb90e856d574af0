/* SPDX-License-Identifier: MIT */
/*
 * Every rank counts itself; all ranks learn the sum.
 *
 * cc hello.c -o hello $(pkg-config --cflags --libs bcl)
 */
#include <bcl/coll.h>
#include <stdio.h>
#include <string.h>

static int usage(bool asked)
{
	fputs("usage: mpiexec -n RANKS hello\n"
	      "Every rank counts itself, and says what all have counted.\n",
	      asked ? stdout : stderr);
	return asked ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct bcl_adi *adi;
	struct bcl_team *team;
	uint64_t one = 1, sum;
	enum bcl_status status;

	if (argc > 1)
		return usage(!strcmp(argv[1], "--help"));
	status = bcl_adi_open(NULL, &adi);
	if (!status)
		status = bcl_team_world(adi, &team);
	if (!status)
		status = bcl_allreduce(team, &one, &sum, 1,
				       bcl_reduction(BCL_SUM, BCL_UINT64));
	if (status) {
		fprintf(stderr, "hello: %s\n", bcl_strstatus(status));
		return 1;
	}
	printf("rank %u of %u counts %lu\n", bcl_adi_rank(adi),
	       bcl_adi_size(adi), (unsigned long)sum);
	bcl_team_free(team);
	bcl_adi_close(adi);
	return 0;
}
