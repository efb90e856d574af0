/* SPDX-License-Identifier: MIT */
/*
 * The channel ch3:bcl: MPICH's packets travel as packets of BCL's abstract
 * device interface.
 *
 * On the wire a ch3 packet is a BCL packet whose type says how many words of 8
 * bytes its header has; its payload follows. What does not fit goes on in
 * packets of type BCL_CH3_MORE, next to one another. A packet of type
 * BCL_CH3_SHORT is a message of few bytes (struct bcl_ch3_short). One of type
 * BCL_CH3_ENVELOPE says who sends, or carries a packet of a connection that a
 * port has made (struct envelope in link.c).
 *
 * Everything here runs with MPICH's global lock held.
 */
#ifndef BCL_CH3_CHANNEL_H
#define BCL_CH3_CHANNEL_H

#include <bcl/adi.h>
#include <bcl/coll.h>

#include "mpidi_ch3_impl.h"

enum {
	BCL_CH3_MORE = 0,
	BCL_CH3_WORDS_MAX = 13,
	BCL_CH3_SHORT = 14,
	BCL_CH3_ENVELOPE = 15,
};

/* A message without a request at its sender: what it is matched by and its
 * data. With up to 8 bytes it fits in the line of a pair. */
struct bcl_ch3_short {
	MPIDI_Message_match match;
	char data[];
};

/* ---- channel.c ---- */

extern struct bcl_adi *bcl_ch3_adi;

/* A status as an error code of MPI, recoverable. */
int bcl_ch3_error(enum bcl_status status);
/* A packet that cannot be. */
int bcl_ch3_nonsense(void);

/* ---- link.c: processes at the other end ---- */

/* Another process, over which go the connection of its rank and those that
 * ports make. */
struct bcl_ch3_link {
	struct bcl_peer *peer;
	MPIDI_VC_t *vc;	   /* its rank's; NULL: not known yet */
	MPIDI_VC_t *ports; /* connections by ports */
};

/* Give the connection its link; connects. */
int bcl_ch3_link_open(MPIDI_VC_t *vc);
/* A connection to the port of a process with this address. */
int bcl_ch3_link_call(MPIDI_VC_t *vc, const void *address, size_t length,
		      int port_tag);
void bcl_ch3_link_close(MPIDI_VC_t *vc);

/* As bcl_adi_packet_send() and, without a cookie and if `now`,
 * bcl_adi_packet_try(). */
enum bcl_status bcl_ch3_link_send(MPIDI_VC_t *vc, unsigned words,
				  const void *header, const struct iovec *iov,
				  unsigned niov, uint64_t cookie, int now);
/* Payload that a packet of this connection has room for. */
size_t bcl_ch3_link_room(const MPIDI_VC_t *vc, unsigned words);
/* Has a longer one room for so many bytes? It cannot leave at once. */
int bcl_ch3_link_long_room(const MPIDI_VC_t *vc, unsigned words, size_t length);

/* The functions that the ADI calls. */
void bcl_ch3_link_receive(void *arg, struct bcl_peer *peer, unsigned type,
			  const void *packet, size_t length);
void bcl_ch3_link_complete(void *arg, uint64_t cookie, enum bcl_status status);
void bcl_ch3_link_changed(void *arg, struct bcl_peer *peer,
			  enum bcl_status status);

/* ---- node.c: which ranks share memory ---- */

/* With the processes of `pg`, before communicators are made. */
int bcl_ch3_node_open(MPIDI_PG_t *pg, int rank);
/* Is the other end a rank of this job on this node? */
int bcl_ch3_is_here(const MPIDI_VC_t *vc);
/* Are all processes of an intracommunicator? */
int bcl_ch3_are_here(MPIR_Comm *comm);

/* ---- port.c: business cards ---- */

int bcl_ch3_card_write(char *card, int length);
int bcl_ch3_card_read(const char *card, void *address, size_t *length);

/* ---- send.c ---- */

/* The packet that was sent with this connection as its cookie has left. */
void bcl_ch3_sent(MPIDI_VC_t *vc, enum bcl_status status);
/* A message whose memory was lent has left. */
void bcl_ch3_lent(MPIR_Request *request, enum bcl_status status);
/* The other end is lost: what is queued fails. */
void bcl_ch3_send_failed(MPIDI_VC_t *vc, enum bcl_status status);

/* ---- rendezvous.c ---- */

/* What a cookie means: its lowest bits; the rest is a pointer. */
enum {
	BCL_CH3_SENT,	   /* of a connection: its packet has left */
	BCL_CH3_ANNOUNCED, /* of a request to send */
	BCL_CH3_PULLED,	   /* of a request to receive */
	BCL_CH3_LENT,	   /* of a request to send: all of it has left */
};

void bcl_ch3_rendezvous_open(MPIDI_VC_t *vc);
/* It leads to another node. */
void bcl_ch3_rendezvous_far(MPIDI_VC_t *vc);
void bcl_ch3_announced(MPIR_Request *request, enum bcl_status status);
void bcl_ch3_pulled(MPIR_Request *request, enum bcl_status status);
int bcl_ch3_announcement(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
			 intptr_t *length, MPIR_Request **result);
int bcl_ch3_cancelled(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		      intptr_t *length, MPIR_Request **result);

/* ---- answer.c ---- */

/* Before a packet leaves that asks for an answer, as some do; it did not. */
void bcl_ch3_ask(MPIDI_VC_t *vc, const void *packet);
void bcl_ch3_ask_no_more(const void *packet);
/* The other end is lost, which would have answered. */
void bcl_ch3_answers_failed(MPIDI_VC_t *vc, enum bcl_status status);
void bcl_ch3_answers_open(MPIDI_CH3_PktHandler_Fcn **handlers);

/* ---- receive.c ---- */

int bcl_ch3_receive_open(void);
void bcl_ch3_receive(MPIDI_VC_t *vc, unsigned words, const void *packet,
		     size_t length);
void bcl_ch3_receive_short(MPIDI_VC_t *vc, const void *packet, size_t length);
void bcl_ch3_receive_failed(MPIDI_VC_t *vc, enum bcl_status status);

/* ---- collective.c ---- */

/* Packet handler: a communicator is revoked. */
int bcl_ch3_revoked(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		    intptr_t *length, MPIR_Request **request);

/* ---- team.c ---- */

/* Before the first communicator; when all that MPI_Init() does is done; and
 * when all processes are about to leave. */
int bcl_ch3_teams_prepare(void);
int bcl_ch3_teams_open(void);
void bcl_ch3_teams_close(void);

/* ---- tool.c ---- */

int bcl_ch3_tool_open(void);

/* ---- progress.c ---- */

int bcl_ch3_progress_open(void);
void bcl_ch3_progress_close(void);
/* An error that a packet's handler met, if it is one: returned by the next
 * call. */
void bcl_ch3_complain(int mpi_errno);

#endif
