/* SPDX-License-Identifier: MIT */
/* Definitions that ch3 needs from the channel before its own types. */
#ifndef MPIDI_CH3_PRE_H_INCLUDED
#define MPIDI_CH3_PRE_H_INCLUDED

#include <stdint.h>

#define MPIDI_DEV_IMPLEMENTS_KVS

/* The channel's part of a communicator. */
typedef struct {
	/* of blocking operations: BCL_CH3_UNDECIDED until the first one. NULL:
	 * these operations are MPICH's */
	struct bcl_team *team;
	struct bcl_ch3_own *own; /* of other operations (collective.h); NULL
				  * until the first one */
} MPIDI_CH3I_CH_comm_t;

#define BCL_CH3_UNDECIDED ((struct bcl_team *)-1)

/* mpidi_ch3_post.h includes mpid_coll.h later */
#define MPID_COLL_H_INCLUDED

/* The channel's part of a virtual connection. */
typedef struct MPIDI_CH3I_VC {
	struct bcl_ch3_link *link; /* NULL: nothing was sent or received yet */
	struct MPIR_Request *sendq_head, *sendq_tail;
	struct MPIR_Request *recv_active; /* request whose payload is coming */
	struct MPIR_Request *asking;	  /* first request that waits for an
					   * answer (answer.c) */
	int sending; /* the library still uses the memory of a packet */
	int failure; /* enum bcl_status of the packet after `sending` */
	int going;   /* advance_queue() in send.c is sending the queue */

	/* of a connection that a port made, before there is a group */
	struct MPIDI_VC *next; /* of the same link */
	uint32_t number;
	int called; /* this process called */
} MPIDI_CH3I_VC;

#define MPIDI_CH3_VC_DECL struct MPIDI_CH3I_VC ch;

enum {
	BCL_CH3_TICKET = 40, /* BCL_PACKET_TICKET */
};

struct bcl_ch3_request {
	/* of a message that is being sent */
	unsigned words; /* of pending_pkt; 0: the header has left */
	size_t at;	/* bytes of iov[0] that have left */

	/* of a request that an answer completes (answer.c) */
	struct MPIR_Request **asking; /* pointer to this request in the list;
				       * NULL: no answer is due */
	struct MPIR_Request *next_asking;

	/* of a long message (rendezvous.c) */
	void *piece;   /* packed data; NULL: the user's memory */
	int announced; /* announced, by either side */
	uint8_t ticket[BCL_CH3_TICKET];
};

#define MPIDI_CH3_REQUEST_DECL struct bcl_ch3_request ch;
#define MPIDI_CH3_REQUEST_INIT(request)                           \
	((request)->ch.piece = NULL, (request)->ch.announced = 0, \
	 (request)->ch.asking = NULL)

#define MPIDI_CH3_PKT_ENUM BCL_CH3_PKT_ANNOUNCE

/* A long message that the receiver may pull. The fields up to data_sz are those
 * of the eager packet. */
#define MPIDI_CH3_PKT_DEFS                      \
	struct bcl_ch3_announcement {           \
		MPIDI_CH3_Pkt_type_t type;      \
		MPIDI_Message_match match;      \
		MPI_Request sender_req_id;      \
		intptr_t data_sz;               \
		uint8_t ticket[BCL_CH3_TICKET]; \
	};
#define MPIDI_CH3_PKT_DECL struct bcl_ch3_announcement bcl_announcement;

/* The channel's part of a window: the memory that the node shares. */
#define MPIDI_CH3_WIN_DECL struct bcl_ch3_segment *segment;

typedef struct MPIDI_CH3I_Progress_state {
	unsigned completion_count;
} MPIDI_CH3I_Progress_state;

#define MPIDI_CH3_PROGRESS_STATE_DECL MPIDI_CH3I_Progress_state ch;

extern volatile unsigned int MPIDI_CH3I_progress_completion_count;

/* A completion wakes a thread that sleeps in the library. */
extern volatile int bcl_ch3_asleep;
void bcl_ch3_wake(void);
#define MPIDI_CH3I_PROGRESS_WAKEUP      \
	do {                            \
		if (bcl_ch3_asleep)     \
			bcl_ch3_wake(); \
	} while (0)

#endif
