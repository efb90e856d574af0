/* SPDX-License-Identifier: MIT */
/*
 * The shared segment of a pair: one memfd, in which each word has one writer
 * (exceptions: claims, see claim.h; RMA requests, see rma_request.h; bells, see
 * bell.h). The size is fixed and sealed, so that no process can truncate the
 * file under another. The pages of the part that every pair needs are reserved
 * when the segment is made; the areas behind this part when they are first
 * used.
 *
 *	     0  the pair line: half[side] is written by `side`
 *	    64  the line beside it: rest[side] is written by `side`
 *	   256  struct bcl_index of side 0, then of side 1
 *	  1024  granted[side]: memory of `side` that the other side may use
 *	  4096  claims[side]: offers made by `side`
 *	 20480  rma[side]: RMA requests of `side`
 *	 22528  bells[side]: rung by `side`, see bell.h
 *	 26240  boxes[side]: two boxes written by `side`, see slot.h
 *	 45056  ring[side]: `slots` slots written by `side`
 *	        bounce[side]: BCL_BOUNCE_SIZE bytes written by `side`
 *	        RMA data[side]: BCL_RMA_AREA bytes, for requests of `side`
 *
 * Each process maps each ring twice in a row.
 */
#ifndef BCL_SHM_SEGMENT_H
#define BCL_SHM_SEGMENT_H

#include "transport/shm/claim.h"
#include "transport/shm/rma_request.h"
#include "transport/shm/pair.h"
#include "transport/shm/remote.h"

struct bcl_env;

enum {
	/* More than the longest message, the slot ahead of it, and the slots
	 * that the peer may have read and not published. */
	BCL_SEGMENT_SLOTS_MIN = 256,
	BCL_SEGMENT_SLOTS_MAX = 65536,
	BCL_BOUNCE_CHUNK = 1 << 14,
	/* Enough that the lines of a chunk have left the near cache of the
	 * writer when the reader comes to them: from that cache they would come
	 * more slowly. */
	BCL_BOUNCE_CHUNKS = 64,
	BCL_BOUNCE_SIZE = BCL_BOUNCE_CHUNK * BCL_BOUNCE_CHUNKS,
};

/* Words that one side writes. Lines of the two sides are kept apart in groups,
 * because processors fetch lines in twos. */
struct bcl_index {
	_Atomic uint32_t consumed; /* slots read of the other side's ring */
	uint32_t spare0[31];
	_Atomic uint32_t filled; /* chunks put into the own bounce area */
	_Atomic uint32_t busy;	 /* handle of the peer's memory in use */
	uint32_t spare1[14];
	_Atomic uint32_t drained; /* chunks taken from the peer's area */
	uint32_t spare2[15];
};

struct bcl_bell {
	_Atomic uint32_t bits; /* enum bcl_bell_bit */
	uint32_t spare[31];
};

struct bcl_segment_head {
	struct bcl_half half[2];
	struct bcl_rest rest[2];
	uint8_t spare0[128];
	struct bcl_index index[2];
	uint8_t spare1[256];
	_Atomic uint32_t granted[2][BCL_GRANTS];
	uint8_t spare2[1024];
	struct bcl_claim claims[2][BCL_CLAIMS];
	struct bcl_rma_request rma[2][BCL_RMA_REQUESTS];
	uint8_t spare3[2048 -
		       2 * BCL_RMA_REQUESTS * sizeof(struct bcl_rma_request)];
	struct bcl_bell bells[2];
	uint8_t spare4[2048 - 2 * sizeof(struct bcl_bell)];
	uint8_t spare5[1664];
	uint8_t boxes[2][2][BCL_BOX_SIZE];
	uint8_t spare6[20480 - 1664 - 4 * BCL_BOX_SIZE];
};

_Static_assert(sizeof(struct bcl_index) == 256, "index");
_Static_assert(offsetof(struct bcl_segment_head, rest) == BCL_SLOT_SIZE,
	       "rest");
_Static_assert(offsetof(struct bcl_segment_head, index) == 256, "index");
_Static_assert(offsetof(struct bcl_segment_head, granted) == 1024, "granted");
_Static_assert(offsetof(struct bcl_segment_head, claims) == 4096, "claims");
_Static_assert(offsetof(struct bcl_segment_head, bells) == 22528, "bells");
_Static_assert(offsetof(struct bcl_segment_head, boxes) == 26240, "boxes");
_Static_assert(sizeof(struct bcl_segment_head) == 45056, "head");

/* The areas behind the part that every pair needs. */
enum bcl_segment_area {
	BCL_SEGMENT_BOUNCE,
	BCL_SEGMENT_RMA,
};

struct bcl_segment {
	struct bcl_segment_head *head;
	struct bcl_slot *ring[2];
	uint8_t *bounce[2];
	uint8_t *rma[2];
	uint32_t slots;		   /* of a ring */
	int fd;			   /* -1: pages are reserved by address */
	_Atomic uint32_t reserved; /* areas with pages, a bit each */
};

/*
 * Make a segment, or map a segment that a peer made. slots: a power of two
 * within the bounds above. NOMEM: no space, no address space, or (map) the file
 * is not a sealed segment of that size; SYSTEM: no descriptors; ARG (map):
 * impossible number of slots. A map that succeeds takes fd over.
 */
enum bcl_status bcl_segment_create(const struct bcl_env *env, uint32_t slots,
				   struct bcl_segment *segment);
enum bcl_status bcl_segment_map(const struct bcl_env *env, int fd,
				uint32_t slots, struct bcl_segment *segment);
void bcl_segment_unmap(const struct bcl_env *env, struct bcl_segment *segment);

/* No process will be given the file any more: close the descriptor, if pages
 * can be reserved without it. */
void bcl_segment_settle(const struct bcl_env *env, struct bcl_segment *segment);

/* Reserve the pages of an area, once. Returns false if there are none left. For
 * any thread. */
bool bcl_segment_reserve(const struct bcl_env *env, struct bcl_segment *segment,
			 enum bcl_segment_area area, unsigned side);

/* Make `pair` the view of `side`. The caller sets attention and peer. */
void bcl_segment_pair(const struct bcl_segment *segment, unsigned side,
		      struct bcl_pair *pair);

/* Map memory of `size` bytes that a peer shares and cannot take away. NULL: the
 * file is not of this kind, or there is no room. */
void *bcl_file_map(const struct bcl_env *env, int fd, size_t size);
void bcl_file_unmap(const struct bcl_env *env, void *memory, size_t size);

/* The same for a page of BCL_PAGE bytes. */
void *bcl_page_map(const struct bcl_env *env, int fd, bool writable);
void bcl_page_unmap(const struct bcl_env *env, void *page);

enum {
	BCL_PAGE = 4096,
};

#endif
