/* SPDX-License-Identifier: MIT */
/* Receives: their patterns, and how they start. */
#ifndef BCL_ADI_RECEIVE_H
#define BCL_ADI_RECEIVE_H

#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/request.h"
#include "adi/unexpected.h"

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

/* ---- start.c ---- */

/* Posts the receive, or receives a message that has come already. */
void bcl_adi_start_receive(struct bcl_adi *adi, struct bcl_adi_request *request,
			   uint64_t key, enum bcl_match_class class);

/* Receives a message that has come already. Returns false if there is none. */
bool bcl_adi_receive_kept(struct bcl_adi *adi, struct bcl_adi_request *request,
			  uint64_t key, enum bcl_match_class class);
/* Returns false if no rank will send a message for the receive; then the
 * request is complete. */
bool bcl_adi_may_come(struct bcl_adi *adi, struct bcl_adi_request *request,
		      uint64_t key, enum bcl_match_class class);

/* Returns true if the rank was opened and is not gone. */
static inline bool bcl_adi_is_open(const struct bcl_adi *adi, unsigned rank)
{
	const struct bcl_adi_peer *peer = bcl_adi_known(adi, rank);

	return peer && !peer->gone;
}

/* Returns true if, as far as is known, a rank may send a message for the
 * receive. */
static inline bool bcl_adi_has_sender(const struct bcl_adi *adi, uint64_t key,
				      enum bcl_match_class class)
{
	return class & BCL_MATCH_ANY_SOURCE
		       ? !bcl_adi_is_alone(adi)
		       : bcl_likely(
				 bcl_adi_is_open(adi, bcl_match_source(key)));
}

/* bcl_adi_start_receive(), in line. */
static inline void __attribute__((always_inline))
bcl_adi_post_receive(struct bcl_adi *adi, struct bcl_adi_request *request,
		     uint64_t key, enum bcl_match_class class)
{
	if (bcl_unlikely(adi->match.oldest) &&
	    bcl_adi_receive_kept(adi, request, key, class))
		return;
	if (bcl_unlikely(!bcl_adi_has_sender(adi, key, class)) &&
	    !bcl_adi_may_come(adi, request, key, class))
		return;
	request->state = BCL_REQUEST_POSTED;
	bcl_match_post(&adi->match, &request->receive, key, class);
	if (bcl_unlikely(adi->nholds))
		bcl_adi_want(adi, key, class);
}

#endif
