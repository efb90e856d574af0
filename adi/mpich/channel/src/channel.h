/* SPDX-License-Identifier: MIT */
/*
 * The channel ch3:bcl: carries MPICH's packets as packets of BCL's abstract
 * device interface.
 *
 * On the wire a ch3 packet is a BCL packet. The type of the BCL packet is the
 * length of the ch3 header, in words of 8 bytes; the payload follows the
 * header. Payload that does not fit goes on in packets of type BCL_CH3_MORE,
 * with no other packet of the connection in between. A packet of type
 * BCL_CH3_SHORT is a message of few bytes (struct bcl_ch3_short). A packet of
 * type BCL_CH3_ENVELOPE tells the sender's rank and group, or carries a packet
 * of a connection that a port has made (struct envelope in link.c).
 *
 * All code of the channel runs with MPICH's global lock held.
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

/* A message without a request at the sender: the match and the data. With up to
 * 8 bytes of data the message fits in the line of a pair. */
struct bcl_ch3_short {
	MPIDI_Message_match match;
	char data[];
};

enum {
	BCL_CH3_SHORT_MAX = BCL_MESSAGE_MAX - sizeof(MPIDI_Message_match),
};

/* ---- channel.c ---- */

extern struct bcl_adi *bcl_ch3_adi;

/* A status as a recoverable error code of MPI. */
int bcl_ch3_error(enum bcl_status status);
/* The error code for a malformed packet. */
int bcl_ch3_nonsense(void);

/* ---- link.c: processes at the other end ---- */

/* Another process. The connection of the process's rank and all connections
 * made by ports go over the link. */
struct bcl_ch3_link {
	struct bcl_peer *peer;
	MPIDI_VC_t *vc;	   /* connection of the rank; NULL: not known yet */
	MPIDI_VC_t *ports; /* connections that ports have made */
};

/* Gives the connection a link. Connects if need be. */
int bcl_ch3_link_open(MPIDI_VC_t *vc);
/* Makes a connection to the port `port_tag` of the process with this
 * address. */
int bcl_ch3_link_call(MPIDI_VC_t *vc, const void *address, size_t length,
		      int port_tag);
void bcl_ch3_link_close(MPIDI_VC_t *vc);

/* Sends as bcl_adi_packet_send() does. If `now`: as bcl_adi_packet_try(),
 * without a cookie. */
enum bcl_status bcl_ch3_link_send(MPIDI_VC_t *vc, unsigned words,
				  const void *header, const struct iovec *iov,
				  unsigned niov, uint64_t cookie, int now);
/* Room for payload in a packet of this connection, bytes. */
size_t bcl_ch3_link_room(const MPIDI_VC_t *vc, unsigned words);
/* Returns true if a payload of this length needs and fits a long packet. A long
 * packet cannot leave at once. */
int bcl_ch3_link_long_room(const MPIDI_VC_t *vc, unsigned words, size_t length);

/* The functions that the ADI calls. */
void bcl_ch3_link_receive(void *arg, struct bcl_peer *peer, unsigned type,
			  const void *packet, size_t length);
void bcl_ch3_link_complete(void *arg, uint64_t cookie, enum bcl_status status);
void bcl_ch3_link_changed(void *arg, struct bcl_peer *peer,
			  enum bcl_status status);

/* ---- node.c: which ranks share memory ---- */

/* Called with the processes of the job, before communicators are made. */
int bcl_ch3_node_open(MPIDI_PG_t *pg, int rank);
/* Returns true if all processes of an intracommunicator are ranks of this job
 * and node. */
int bcl_ch3_are_here(MPIR_Comm *comm);

/* ---- port.c: business cards ---- */

int bcl_ch3_card_write(char *card, int length);
int bcl_ch3_card_read(const char *card, void *address, size_t *length);

/* ---- send.c ---- */

/* Sends a message without a ch3 packet and without a request, at most
 * BCL_CH3_SHORT_MAX bytes of data. Returns true if the message has left, and
 * false if ch3 has to send it. */
int bcl_ch3_leaves_short(const MPIDI_VC_t *vc, MPIDI_Message_match match,
			 const void *data, size_t length);
/* The packet with this connection as its cookie has left. */
void bcl_ch3_sent(MPIDI_VC_t *vc, enum bcl_status status);
/* A message whose memory was lent to the library has left. */
void bcl_ch3_lent(MPIR_Request *request, enum bcl_status status);
/* The other end is lost: ends all queued requests. */
void bcl_ch3_send_failed(MPIDI_VC_t *vc, enum bcl_status status);

/* ---- direct.c: messages without requests ---- */

/* MPI_Recv() waits without a request. The message is handed over by
 * bcl_ch3_direct_take(). */
struct bcl_ch3_direct {
	int waiting;
	MPIDI_Message_match match;
	int32_t tag_mask; /* bits of the tag that must match */
	char *buffer;
	size_t room; /* bytes */
	size_t length;
	int taken; /* the message is in the buffer */
};

extern struct bcl_ch3_direct bcl_ch3_direct;

/* Called while MPI_Recv() waits. If this is the awaited message, copies the
 * message and returns true. Ends the wait in either case. */
int bcl_ch3_direct_take(const MPIDI_Message_match *match, const char *data,
			size_t length);

/* MPI_Recv() goes on with a request: something came that only ch3 knows how to
 * handle, or a connection is lost. */
static inline void bcl_ch3_direct_end(void)
{
	if (!bcl_ch3_direct.waiting)
		return;
	bcl_ch3_direct.waiting = FALSE;
	MPIDI_CH3_Progress_signal_completion();
}

/* ---- rendezvous.c ---- */

/* Meaning of a cookie, in the lowest two bits. The rest is a pointer. */
enum {
	BCL_CH3_SENT,	   /* connection: its packet has left */
	BCL_CH3_ANNOUNCED, /* request to send: the receiver has pulled */
	BCL_CH3_PULLED,	   /* request to receive: the pull is done */
	BCL_CH3_LENT,	   /* request to send: all of the message has left */
};

void bcl_ch3_rendezvous_open(MPIDI_VC_t *vc);
/* The connection leads to another node. */
void bcl_ch3_rendezvous_far(MPIDI_VC_t *vc);
void bcl_ch3_announced(MPIR_Request *request, enum bcl_status status);
void bcl_ch3_pulled(MPIR_Request *request, enum bcl_status status);
int bcl_ch3_announcement(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
			 intptr_t *length, MPIR_Request **result);
int bcl_ch3_cancelled(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		      intptr_t *length, MPIR_Request **result);

/* ---- answer.c ---- */

/* Called before a packet leaves: notes the request if the packet asks for an
 * answer. bcl_ch3_ask_no_more(): the packet was not sent. */
void bcl_ch3_ask(MPIDI_VC_t *vc, const void *packet);
void bcl_ch3_ask_no_more(const void *packet);
/* The other end is lost before the answer. */
void bcl_ch3_answers_failed(MPIDI_VC_t *vc, enum bcl_status status);
void bcl_ch3_answers_open(MPIDI_CH3_PktHandler_Fcn **handlers);

/* ---- receive.c ---- */

int bcl_ch3_receive_open(void);
void bcl_ch3_receive(MPIDI_VC_t *vc, unsigned words, const void *packet,
		     size_t length);
void bcl_ch3_receive_short(MPIDI_VC_t *vc, const void *packet, size_t length);
void bcl_ch3_receive_failed(MPIDI_VC_t *vc, enum bcl_status status);
/* Copies the data of a short message to the user. */
void bcl_ch3_copy(char *to, const char *from, size_t length);

/* ---- collective.c ---- */

/* Packet handler: a communicator is revoked. */
int bcl_ch3_revoked(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		    intptr_t *length, MPIR_Request **request);

/* ---- pending.c: collective operations that do not block ---- */

/* Completes operations that are over. Returns true if there were any. */
int bcl_ch3_pending_progress(void);
/* Returns true if there are operations that the library has refused so far. */
int bcl_ch3_pending_waits(void);

/* ---- team.c ---- */

/* Called before the first communicator is made; at the end of MPI_Init(); and
 * when all processes are about to leave. */
int bcl_ch3_teams_prepare(void);
int bcl_ch3_teams_open(void);
void bcl_ch3_teams_close(void);

/* ---- tool.c ---- */

int bcl_ch3_tool_open(void);

/* ---- progress.c ---- */

int bcl_ch3_progress_open(void);
void bcl_ch3_progress_close(void);
/* Keeps the first error that a packet's handler met, for the next call of the
 * progress engine to return. MPI_SUCCESS: does nothing. */
void bcl_ch3_complain(int mpi_errno);

#endif
