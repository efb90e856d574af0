/* SPDX-License-Identifier: MIT */
/* Every rank counts itself; all learn the sum. */
#include <bcl/coll.h>
#include <stdio.h>

int main(void)
{
	struct bcl_adi *adi;
	struct bcl_team *team;
	uint64_t one = 1, sum;

	if (bcl_adi_open(NULL, &adi) || bcl_team_world(adi, &team) ||
	    bcl_allreduce(team, &one, &sum, 1,
			  bcl_reduction(BCL_SUM, BCL_UINT64)))
		return 1;
	printf("rank %u of %u counts %lu\n", bcl_adi_rank(adi),
	       bcl_adi_size(adi), (unsigned long)sum);
	bcl_team_free(team);
	bcl_adi_close(adi);
}
