/* SPDX-License-Identifier: MIT */
/* One call of a collective operation, on its way to an algorithm. */
#ifndef BCL_COLLECTIVES_CALL_H
#define BCL_COLLECTIVES_CALL_H

#include "collectives/select.h"
#include "collectives/team.h"

struct bcl_call {
	enum bcl_operation operation;
	const unsigned char *send; /* in place: where the own block is */
	unsigned char *receive;
	size_t length; /* bytes: of the vector, or of a block */
	unsigned root;
	const struct bcl_reduction *reduction;

	/* alltoallv only */
	const size_t *send_lengths, *send_offsets;
	const size_t *receive_lengths, *receive_offsets;
};

/* The team's choices have changed. */
void bcl_call_prepare(struct bcl_team *team);

/* The call as it was made, without the operation's own checks. */
enum bcl_status bcl_call_run(struct bcl_team *team,
			     const struct bcl_call *call);
enum bcl_status bcl_call_start(struct bcl_team *team,
			       const struct bcl_call *call,
			       struct bcl_adi_request **request);

#endif
