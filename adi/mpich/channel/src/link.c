/* SPDX-License-Identifier: MIT */
/* Links: one per process at the other end, for the virtual connection of the
 * process's rank and for all connections made by ports. */
#include "channel.h"

enum kind {
	GREET, /* `number` is the sender's rank; the id of the sender's group
		* follows */
	CALL,  /* a new connection; the port's tag follows */
	PORT,  /* a packet of a connection that CALL made */
};

struct envelope {
	uint8_t kind;
	uint8_t words;	/* PORT: words of the header that follows */
	uint8_t called; /* PORT: the sender of the packet made the CALL */
	uint8_t spare;
	uint32_t number; /* of the connection, given by the caller */
};

/* The link of a peer; makes one if there is none. A link exists as long as a
 * connection goes over it. NULL: no memory. */
static struct bcl_ch3_link *link_of(struct bcl_peer *peer)
{
	struct bcl_ch3_link *link = bcl_peer_user(peer);

	if (link)
		return link;
	link = MPL_calloc(1, sizeof(*link), MPL_MEM_OTHER);
	if (link) {
		link->peer = peer;
		bcl_peer_set_user(peer, link);
	}
	return link;
}

/* ---- sending ---- */

static enum bcl_status submit(const struct bcl_ch3_link *link, unsigned type,
			      const void *header, size_t length,
			      const struct iovec *iov, unsigned niov,
			      uint64_t cookie, int now)
{
	if (now)
		return bcl_adi_packet_try(bcl_ch3_adi, link->peer, type, header,
					  length, iov, niov);
	return bcl_adi_packet_send(bcl_ch3_adi, link->peer, type, header,
				   length, iov, niov, cookie);
}

size_t bcl_ch3_link_room(const MPIDI_VC_t *vc, unsigned words)
{
	return BCL_MESSAGE_MAX - 8 * words -
	       (vc->pg ? 0 : sizeof(struct envelope));
}

int bcl_ch3_link_long_room(const MPIDI_VC_t *vc, unsigned words, size_t length)
{
	size_t longest = bcl_adi_packet_longest(vc->ch.link->peer);
	size_t room = bcl_ch3_link_room(vc, words);

	return length > room && length <= room + longest - BCL_MESSAGE_MAX;
}

enum bcl_status bcl_ch3_link_send(MPIDI_VC_t *vc, unsigned words,
				  const void *header, const struct iovec *iov,
				  unsigned niov, uint64_t cookie, int now)
{
	struct {
		struct envelope envelope;
		uint64_t header[BCL_CH3_WORDS_MAX];
	} wrapped;

	if (vc->pg)
		return submit(vc->ch.link, words, header, 8 * words, iov, niov,
			      cookie, now);
	wrapped.envelope = (struct envelope){
		.kind = PORT,
		.words = (uint8_t)words,
		.called = (uint8_t)vc->ch.called,
		.number = vc->ch.number,
	};
	if (words)
		memcpy(wrapped.header, header, 8 * words);
	return submit(vc->ch.link, BCL_CH3_ENVELOPE, &wrapped,
		      sizeof(wrapped.envelope) + 8 * words, iov, niov, cookie,
		      now);
}

static enum bcl_status send_envelope(const struct bcl_ch3_link *link,
				     enum kind kind, uint32_t number,
				     const void *behind, size_t length)
{
	const struct envelope envelope = { .kind = (uint8_t)kind,
					   .number = number };
	const struct iovec iov = { (void *)behind, length };

	return submit(link, BCL_CH3_ENVELOPE, &envelope, sizeof(envelope), &iov,
		      1, 0, 0);
}

/* ---- opening ---- */

static int find_peer(const MPIDI_VC_t *vc, struct bcl_peer **peer)
{
	uint8_t address[BCL_ADDRESS_MAX];
	char card[MPI_MAX_PORT_NAME];
	enum bcl_status status;
	size_t length;
	int mpi_errno;

	if (vc->pg == MPIDI_Process.my_pg) {
		status = bcl_adi_peer(bcl_ch3_adi, (unsigned)vc->pg_rank, peer);
	} else {
		mpi_errno = MPIDI_PG_GetConnString(vc->pg, vc->pg_rank, card,
						   sizeof(card));
		if (!mpi_errno)
			mpi_errno = bcl_ch3_card_read(card, address, &length);
		if (mpi_errno)
			return mpi_errno;
		status =
			bcl_adi_packet_peer(bcl_ch3_adi, address, length, peer);
	}
	return status ? bcl_ch3_error(status) : MPI_SUCCESS;
}

/* Binds the link and the connection of a rank of a group. */
static void bind_link(struct bcl_ch3_link *link, MPIDI_VC_t *vc)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	link->vc = vc;
	vc->ch.link = link;
	bcl_peer_info(link->peer, &info);
	if (info.level > 1)
		bcl_ch3_rendezvous_far(vc);
}

int bcl_ch3_link_open(MPIDI_VC_t *vc)
{
	const char *group = MPIDI_Process.my_pg->id;
	struct bcl_ch3_link *link;
	struct bcl_peer *peer;
	enum bcl_status status;
	int mpi_errno;

	if (vc->state == MPIDI_VC_STATE_MORIBUND) /* the other end was lost */
		return bcl_ch3_error(BCL_ERR_DEAD);
	mpi_errno = find_peer(vc, &peer);
	if (mpi_errno)
		return mpi_errno;
	link = link_of(peer);
	if (!link)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	bind_link(link, vc);
	status = send_envelope(link, GREET, (uint32_t)MPIDI_Process.my_pg_rank,
			       group, strlen(group) + 1);
	return status ? bcl_ch3_error(status) : MPI_SUCCESS;
}

static void add_port(struct bcl_ch3_link *link, MPIDI_VC_t *vc, uint32_t number,
		     int called)
{
	vc->ch.link = link;
	vc->ch.number = number;
	vc->ch.called = called;
	vc->ch.next = link->ports;
	link->ports = vc;
}

int bcl_ch3_link_call(MPIDI_VC_t *vc, const void *address, size_t length,
		      int port_tag)
{
	static uint32_t number;
	struct bcl_ch3_link *link;
	struct bcl_peer *peer;
	enum bcl_status status;

	status = bcl_adi_packet_peer(bcl_ch3_adi, address, length, &peer);
	if (status)
		return bcl_ch3_error(status);
	link = link_of(peer);
	if (!link)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	add_port(link, vc, ++number, TRUE);
	status = send_envelope(link, CALL, number, &port_tag, sizeof(port_tag));
	if (!status)
		return MPI_SUCCESS;
	bcl_ch3_link_close(vc);
	return bcl_ch3_error(status);
}

void bcl_ch3_link_close(MPIDI_VC_t *vc)
{
	struct bcl_ch3_link *link = vc->ch.link;
	MPIDI_VC_t **at;

	if (!link)
		return;
	vc->ch.link = NULL;
	if (link->vc == vc)
		link->vc = NULL;
	for (at = &link->ports; *at && *at != vc; at = &(*at)->ch.next)
		;
	if (*at)
		*at = vc->ch.next;
	if (link->vc || link->ports)
		return;
	if (bcl_ch3_adi)
		bcl_peer_set_user(link->peer, NULL);
	MPL_free(link);
}

/* ---- receiving ---- */

static void greeted(struct bcl_peer *peer, uint32_t rank, const char *group)
{
	struct bcl_ch3_link *link;
	MPIDI_PG_t *pg = NULL;
	MPIDI_VC_t *vc;

	MPIDI_PG_Find((void *)group, &pg);
	if (!pg || rank >= (uint32_t)pg->size) {
		bcl_ch3_complain(bcl_ch3_nonsense());
		return;
	}
	link = link_of(peer);
	if (!link) {
		bcl_ch3_complain(bcl_ch3_error(BCL_ERR_NOMEM));
		return;
	}
	MPIDI_PG_Get_vc_set_active(pg, (int)rank, &vc);
	bind_link(link, vc);
}

static void called(struct bcl_peer *peer, uint32_t number, int port_tag)
{
	MPIDI_VC_t *vc = MPL_malloc(sizeof(*vc), MPL_MEM_ADDRESS);
	struct bcl_ch3_link *link = vc ? link_of(peer) : NULL;

	if (!link) {
		MPL_free(vc);
		bcl_ch3_complain(bcl_ch3_error(BCL_ERR_NOMEM));
		return;
	}
	MPIDI_VC_Init(vc, NULL, 0);
	MPIDI_CHANGE_VC_STATE(vc, ACTIVE);
	add_port(link, vc, number, FALSE);
	bcl_ch3_complain(MPIDI_CH3I_Acceptq_enqueue(vc, port_tag));
}

static MPIDI_VC_t *find_port(const struct bcl_ch3_link *link,
			     const struct envelope *envelope)
{
	MPIDI_VC_t *vc = link->ports;

	while (vc && (vc->ch.number != envelope->number ||
		      vc->ch.called == envelope->called))
		vc = vc->ch.next;
	return vc;
}

static int opened(struct bcl_peer *peer, const struct envelope *envelope,
		  size_t length)
{
	const struct bcl_ch3_link *link = bcl_peer_user(peer);
	const void *behind = envelope + 1;
	MPIDI_VC_t *vc;
	int tag;

	if (length < sizeof(*envelope))
		return FALSE;
	length -= sizeof(*envelope);
	switch (envelope->kind) {
	case GREET:
		if (!memchr(behind, 0, length))
			return FALSE;
		greeted(peer, envelope->number, behind);
		return TRUE;
	case CALL:
		if (length != sizeof(tag))
			return FALSE;
		memcpy(&tag, behind, sizeof(tag));
		called(peer, envelope->number, tag);
		return TRUE;
	case PORT:
		vc = link ? find_port(link, envelope) : NULL;
		if (!vc)
			return FALSE;
		bcl_ch3_receive(vc, envelope->words, behind, length);
		return TRUE;
	}
	return FALSE;
}

void bcl_ch3_link_receive(void *arg, struct bcl_peer *peer, unsigned type,
			  const void *packet, size_t length)
{
	const struct bcl_ch3_link *link = bcl_peer_user(peer);

	(void)arg;
	if (type == BCL_CH3_SHORT && link && link->vc)
		bcl_ch3_receive_short(link->vc, packet, length);
	else if (type != BCL_CH3_ENVELOPE && link && link->vc)
		bcl_ch3_receive(link->vc, type, packet, length);
	else if (type != BCL_CH3_ENVELOPE || !opened(peer, packet, length))
		bcl_ch3_complain(bcl_ch3_nonsense());
}

void bcl_ch3_link_complete(void *arg, uint64_t cookie, enum bcl_status status)
{
	void *object = (void *)(uintptr_t)(cookie & ~(uint64_t)3);

	(void)arg;
	switch (cookie & 3) {
	case BCL_CH3_SENT:
		bcl_ch3_sent(object, status);
		break;
	case BCL_CH3_ANNOUNCED:
		bcl_ch3_announced(object, status);
		break;
	case BCL_CH3_PULLED:
		bcl_ch3_pulled(object, status);
		break;
	case BCL_CH3_LENT:
		bcl_ch3_lent(object, status);
		break;
	}
}

/* ---- losing ---- */

static void lose_connection(MPIDI_VC_t *vc, enum bcl_status status)
{
	bcl_ch3_link_close(vc);
	bcl_ch3_send_failed(vc, status);
	bcl_ch3_receive_failed(vc, status);
	bcl_ch3_answers_failed(vc, status);
	bcl_ch3_complain(
		MPIDI_CH3U_Handle_connection(vc, MPIDI_VC_EVENT_TERMINATED));
}

void bcl_ch3_link_changed(void *arg, struct bcl_peer *peer,
			  enum bcl_status status)
{
	const struct bcl_ch3_link *link;

	(void)arg;
	bcl_ch3_direct_end();
	while (status && (link = bcl_peer_user(peer)))
		lose_connection(link->ports ? link->ports : link->vc, status);
}
