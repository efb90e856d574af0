/* SPDX-License-Identifier: MIT */
/* Determines the seal of each connection by the frames sent, or by a majority
 * vote of the frames received; see seal.h. */
#include "tools/check/seal.h"

#include <stdlib.h>

enum {
	BUCKETS = 4096,
	RAIL = 3, /* bits of a connection id that hold the rail */
};

/*
 * Majority vote (Boyer, Moore, "MJRTY", 1981): a frame with the current
 * candidate adds a vote, any other frame takes one off. A seal that more than
 * half of the frames have is the candidate at the end.
 */
struct seal {
	struct seal *next;
	uint64_t card;
	uint32_t conn; /* without the rail */
	uint32_t seal;
	uint64_t votes;
	bool sent; /* only frames that were sent vote */
};

struct check_seals {
	struct seal *buckets[BUCKETS];
};

struct check_seals *check_seals_open(void)
{
	struct check_seals *seals = calloc(1, sizeof(*seals));

	if (!seals)
		abort();
	return seals;
}

void check_seals_close(struct check_seals *seals)
{
	struct seal *seal;
	unsigned i;

	for (i = 0; i < BUCKETS; i++)
		while ((seal = seals->buckets[i])) {
			seals->buckets[i] = seal->next;
			free(seal);
		}
	free(seals);
}

static unsigned seal_bucket(const struct check_frame *frame)
{
	return (unsigned)((frame->card ^ frame->conn >> 2) *
				  0x9e3779b97f4a7c15 >>
			  52);
}

static struct seal *find_seal(const struct check_seals *seals,
			      const struct check_frame *frame)
{
	uint32_t conn = frame->conn & ~(uint32_t)RAIL;
	struct seal *seal = seals->buckets[seal_bucket(frame)];

	while (seal && (seal->card != frame->card || seal->conn != conn))
		seal = seal->next;
	return seal;
}

void check_seals_note(struct check_seals *seals,
		      const struct check_frame *frame, bool sent)
{
	struct seal *seal = find_seal(seals, frame), **at;

	if (!check_is_sealed(frame->kind))
		return;
	if (!seal) {
		seal = calloc(1, sizeof(*seal));
		if (!seal)
			abort();
		at = &seals->buckets[seal_bucket(frame)];
		seal->card = frame->card;
		seal->conn = frame->conn & ~(uint32_t)RAIL;
		seal->next = *at;
		*at = seal;
	}
	if (sent && !seal->sent) {
		seal->sent = true;
		seal->votes = 0;
	}
	if (seal->sent && !sent)
		return;
	if (seal->votes == 0)
		seal->seal = frame->seal;
	if (seal->seal == frame->seal)
		seal->votes++;
	else
		seal->votes--;
}

bool check_seals_right(const struct check_seals *seals,
		       const struct check_frame *frame)
{
	const struct seal *seal = find_seal(seals, frame);

	return !check_is_sealed(frame->kind) ||
	       (seal && seal->seal == frame->seal);
}
