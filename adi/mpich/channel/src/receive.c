/* SPDX-License-Identifier: MIT */
/* Receiving: hands packets to ch3's handlers, and copies payload to the buffers
 * that the handlers name. */
#include "channel.h"

static MPIDI_CH3_PktHandler_Fcn *handlers[MPIDI_CH3_PKT_END_ALL + 1];

int bcl_ch3_receive_open(void)
{
	int mpi_errno =
		MPIDI_CH3_PktHandler_Init(handlers, MPIDI_CH3_PKT_END_CH3 + 1);

	handlers[BCL_CH3_PKT_ANNOUNCE] = bcl_ch3_announcement;
	handlers[MPIDI_CH3_PKT_REVOKE] = bcl_ch3_revoked;
	bcl_ch3_answers_open(handlers);
	return mpi_errno;
}

static size_t copy_payload(MPIR_Request *request, const char *from,
			   size_t length)
{
	size_t done = 0;

	while (done < length &&
	       request->dev.iov_offset < (size_t)request->dev.iov_count) {
		struct iovec *iov = &request->dev.iov[request->dev.iov_offset];
		size_t n = length - done;

		if (n > iov->iov_len)
			n = iov->iov_len;
		memcpy(iov->iov_base, from + done, n);
		iov->iov_base = (char *)iov->iov_base + n;
		iov->iov_len -= n;
		done += n;
		if (!iov->iov_len)
			request->dev.iov_offset++;
	}
	return done;
}

static int is_full(const MPIR_Request *request)
{
	size_t i = request->dev.iov_offset;

	while (i < (size_t)request->dev.iov_count &&
	       !request->dev.iov[i].iov_len)
		i++;
	return i == (size_t)request->dev.iov_count;
}

/* Copies payload to the request that waits for payload. */
static void feed(MPIDI_VC_t *vc, const char *data, size_t length)
{
	MPIR_Request *request = vc->ch.recv_active;
	int complete = FALSE, mpi_errno = MPI_SUCCESS;
	size_t n;

	for (;;) {
		n = copy_payload(request, data, length);
		data += n;
		length -= n;
		if (!is_full(request))
			break;
		request->dev.iov_offset = 0;
		complete = TRUE;
		if (request->dev.OnDataAvail)
			mpi_errno = request->dev.OnDataAvail(vc, request,
							     &complete);
		else
			mpi_errno = MPID_Request_complete(request);
		if (mpi_errno || complete)
			break;
	}
	if (complete || mpi_errno)
		vc->ch.recv_active = NULL;
	if (!mpi_errno && length)
		mpi_errno = bcl_ch3_nonsense();
	bcl_ch3_complain(mpi_errno);
}

/* The packet may lie in memory that the peer can change: its type is read
 * once. */
static MPIDI_CH3_PktHandler_Fcn *handler_of(const MPIDI_CH3_Pkt_t *packet)
{
	unsigned type = *(const volatile MPIDI_CH3_Pkt_type_t *)&packet->type;

	return type < MPIDI_CH3_PKT_END_ALL ? handlers[type] : NULL;
}

void bcl_ch3_receive(MPIDI_VC_t *vc, unsigned words, const void *packet,
		     size_t length)
{
	MPIDI_CH3_Pkt_t *header = (MPIDI_CH3_Pkt_t *)packet;
	const char *data = (const char *)packet + 8 * words;
	MPIDI_CH3_PktHandler_Fcn *handler = NULL;
	MPIR_Request *request = NULL;
	intptr_t taken;
	int mpi_errno;

	if ((words == BCL_CH3_MORE) != !!vc->ch.recv_active ||
	    words > BCL_CH3_WORDS_MAX || length < 8 * words ||
	    (words && !(handler = handler_of(header)))) {
		bcl_ch3_complain(bcl_ch3_nonsense());
		return;
	}
	if (words == BCL_CH3_MORE) {
		feed(vc, data, length);
		return;
	}
	taken = (intptr_t)(length - 8 * words);
	mpi_errno = handler(vc, header, (void *)data, &taken, &request);
	if (mpi_errno) {
		bcl_ch3_complain(mpi_errno);
		return;
	}
	if (request) {
		request->dev.iov_offset = 0;
		vc->ch.recv_active = request;
		feed(vc, data + taken, length - 8 * words - (size_t)taken);
	}
	bcl_ch3_direct_end();
}

/* n <= 16; calls no other function. */
static void copy_short(char *to, const char *from, size_t n)
{
	if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else {
		while (n--)
			*to++ = *from++;
	}
}

void bcl_ch3_copy(char *to, const char *from, size_t length)
{
	if (length <= MPIDI_EAGER_SHORT_SIZE)
		copy_short(to, from, length);
	else
		memcpy(to, from, length);
}

/* Returns true if the buffer is of a predefined type and has room for the
 * message. */
static int fits_buffer(const MPIR_Request *request, size_t length)
{
	MPI_Datatype type = request->dev.datatype;

	return HANDLE_IS_BUILTIN(type) &&
	       (size_t)request->dev.user_count *
			       MPIR_Datatype_get_basic_size(type) >=
		       length;
}

/* Copies the data of a short message to its request. */
static int take_short(MPIDI_VC_t *vc, MPIR_Request *request, int found,
		      const char *data, size_t length)
{
	intptr_t taken = (intptr_t)length;
	int complete = TRUE, mpi_errno = MPI_SUCCESS;

	if (found && fits_buffer(request, length)) {
		bcl_ch3_copy(request->dev.user_buf, data, length);
		request->dev.OnDataAvail = NULL;
	} else if (found && length) {
		mpi_errno = MPIDI_CH3U_Receive_data_found(request, (void *)data,
							  &taken, &complete);
	} else if (length) {
		mpi_errno = MPIDI_CH3U_Receive_data_unexpected(
			request, (void *)data, &taken, &complete);
	}
	if (mpi_errno)
		return mpi_errno;
	if (complete)
		return MPID_Request_complete(request);
	/* longer than the buffer: feed() fills the buffer and drops the rest */
	request->dev.iov_offset = 0;
	vc->ch.recv_active = request;
	feed(vc, data + taken, length - (size_t)taken);
	return MPI_SUCCESS;
}

/* Does the work of ch3's handler of a short eager message, but without a ch3
 * packet: copies the data straight to the receive buffer. */
void bcl_ch3_receive_short(MPIDI_VC_t *vc, const void *packet, size_t length)
{
	const struct bcl_ch3_short *message = packet;
	const size_t head = offsetof(struct bcl_ch3_short, data);
	MPIDI_Message_match match;
	MPIR_Request *request;
	int found;

	if (vc->ch.recv_active || length < head) {
		bcl_ch3_complain(bcl_ch3_nonsense());
		return;
	}
	match = message->match;
	length -= head;
	if (bcl_ch3_direct.waiting &&
	    bcl_ch3_direct_take(&match, message->data, length))
		return;
	request = MPIDI_CH3U_Recvq_FDP_or_AEU(&match, &found);
	if (!request) {
		bcl_ch3_complain(bcl_ch3_error(BCL_ERR_NOMEM));
		return;
	}
	/* the communicator was revoked */
	if (!found && !MPIR_cc_get(request->cc))
		return;
	request->status.MPI_SOURCE = match.parts.rank;
	request->status.MPI_TAG = match.parts.tag;
	MPIR_STATUS_SET_COUNT(request->status, length);
	request->dev.sender_req_id = MPI_REQUEST_NULL;
	request->dev.recv_data_sz = (intptr_t)length;
	MPIDI_Request_set_msg_type(request, MPIDI_REQUEST_EAGER_MSG);
	bcl_ch3_complain(take_short(vc, request, found, message->data, length));
}

void bcl_ch3_receive_failed(MPIDI_VC_t *vc, enum bcl_status status)
{
	MPIR_Request *request = vc->ch.recv_active;

	if (!request)
		return;
	vc->ch.recv_active = NULL;
	request->status.MPI_ERROR = bcl_ch3_error(status);
	MPID_Request_complete(request);
}
