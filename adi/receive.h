/* SPDX-License-Identifier: MIT */
/* Receives: their patterns, and how they start. */
#ifndef BCL_ADI_RECEIVE_H
#define BCL_ADI_RECEIVE_H

#include "adi/job.h"
#include "adi/match.h"

/* Makes the pattern of a receive. Returns false if an argument is wrong. */
static inline bool bcl_adi_pattern(const struct bcl_adi *adi, int source,
				   int tag, unsigned context, uint64_t *key,
				   enum bcl_match_class *class)
{
	unsigned any = 0;

	if (source == BCL_ANY_SOURCE) {
		any = BCL_MATCH_ANY_SOURCE;
		source = 0;
	}
	if (tag == BCL_ANY_TAG) {
		any |= BCL_MATCH_ANY_TAG;
		tag = 0;
	}
	*class = any;
	*key = bcl_match_key(context, (unsigned)source, (unsigned)tag);
	return bcl_adi_valid(adi, source, tag, context);
}

/* Status of a receive of this pattern without a message. */
static inline struct bcl_adi_status
bcl_adi_unreceived(uint64_t key, enum bcl_match_class class)
{
	return (struct bcl_adi_status){
		.source = class & BCL_MATCH_ANY_SOURCE
				  ? BCL_ANY_SOURCE
				  : (int)bcl_match_source(key),
		.tag = class & BCL_MATCH_ANY_TAG ? BCL_ANY_TAG
						 : (int)bcl_match_tag(key),
	};
}

/* Posts the receive, or receives a message that has come already. */
void bcl_adi_start_receive(struct bcl_adi *adi, struct bcl_adi_request *request,
			   uint64_t key, enum bcl_match_class class);

#endif
