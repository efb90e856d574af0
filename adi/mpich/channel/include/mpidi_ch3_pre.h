/* SPDX-License-Identifier: MIT */
/* What ch3 has to know of the channel before it declares its own types. */
#ifndef MPIDI_CH3_PRE_H_INCLUDED
#define MPIDI_CH3_PRE_H_INCLUDED

#include <stdint.h>

#define MPIDI_DEV_IMPLEMENTS_KVS

/* What the channel keeps for a communicator. */
typedef struct {
	struct bcl_team *team; /* NULL: collective operations are MPICH's */
	int asked;	       /* whether there is to be one (team.c) */
} MPIDI_CH3I_CH_comm_t;

/* mpid_coll.h comes later: mpidi_ch3_post.h */
#define MPID_COLL_H_INCLUDED

/* What the channel keeps for a virtual connection. */
typedef struct MPIDI_CH3I_VC {
	struct bcl_ch3_link *link; /* NULL: nothing was sent or received yet */
	struct MPIR_Request *sendq_head, *sendq_tail;
	struct MPIR_Request *recv_active; /* its payload is coming */
	struct MPIR_Request *asking;	  /* first of those in answer.c */
	int sending; /* a packet's memory is still the library's */
	int failure; /* enum bcl_status of that packet, when it is not */
	int going;   /* the queue is being sent: see go_on() in send.c */
	int heard;   /* a packet has come since a long one left */

	/* of a connection that a port made, before there is a group */
	struct MPIDI_VC *next; /* of the same link */
	uint32_t number;
	int called; /* from here */
} MPIDI_CH3I_VC;

#define MPIDI_CH3_VC_DECL struct MPIDI_CH3I_VC ch;

enum {
	BCL_CH3_TICKET = 40, /* BCL_PACKET_TICKET */
};

struct bcl_ch3_request {
	/* of a message that is being sent */
	unsigned words; /* of pending_pkt; 0: it has left */
	size_t at;	/* bytes of iov[0] that have left */

	/* that an answer completes (answer.c) */
	struct MPIR_Request **asking; /* what points to it; NULL: it does not */
	struct MPIR_Request *next_asking;

	/* of a long one (rendezvous.c) */
	void *piece;   /* packed; NULL: it is the user's memory */
	int announced; /* it is, to us or by us */
	uint8_t ticket[BCL_CH3_TICKET];
};

#define MPIDI_CH3_REQUEST_DECL struct bcl_ch3_request ch;
#define MPIDI_CH3_REQUEST_INIT(request)                           \
	((request)->ch.piece = NULL, (request)->ch.announced = 0, \
	 (request)->ch.asking = NULL)

#define MPIDI_CH3_PKT_ENUM BCL_CH3_PKT_ANNOUNCE

/* A long message, which the receiver may pull; begins as a sent one does. */
#define MPIDI_CH3_PKT_DEFS                      \
	struct bcl_ch3_announcement {           \
		MPIDI_CH3_Pkt_type_t type;      \
		MPIDI_Message_match match;      \
		MPI_Request sender_req_id;      \
		intptr_t data_sz;               \
		uint8_t ticket[BCL_CH3_TICKET]; \
	};
#define MPIDI_CH3_PKT_DECL struct bcl_ch3_announcement bcl_announcement;

/* What the channel keeps for a window whose memory it shares. */
#define MPIDI_CH3_WIN_DECL struct bcl_ch3_segment *segment;

typedef struct MPIDI_CH3I_Progress_state {
	unsigned completion_count;
} MPIDI_CH3I_Progress_state;

#define MPIDI_CH3_PROGRESS_STATE_DECL MPIDI_CH3I_Progress_state ch;

extern volatile unsigned int MPIDI_CH3I_progress_completion_count;

/* A completion: who sleeps in the library, in another thread, shall see it. */
extern volatile int bcl_ch3_asleep;
void bcl_ch3_wake(void);
#define MPIDI_CH3I_PROGRESS_WAKEUP      \
	do {                            \
		if (bcl_ch3_asleep)     \
			bcl_ch3_wake(); \
	} while (0)

#endif
