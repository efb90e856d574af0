/* SPDX-License-Identifier: MIT */
/* Receiving: packets to ch3's handlers, payload to where they want it. */
#include "channel.h"

static MPIDI_CH3_PktHandler_Fcn *handlers[MPIDI_CH3_PKT_END_ALL + 1];

int bcl_ch3_receive_open(void)
{
	int mpi_errno =
		MPIDI_CH3_PktHandler_Init(handlers, MPIDI_CH3_PKT_END_CH3 + 1);

	handlers[BCL_CH3_PKT_ANNOUNCE] = bcl_ch3_announcement;
	bcl_ch3_answers_open(handlers);
	return mpi_errno;
}

static size_t copy(MPIR_Request *request, const char *from, size_t length)
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

/* Payload for the request that waits for it. */
static void feed(MPIDI_VC_t *vc, const char *data, size_t length)
{
	MPIR_Request *request = vc->ch.recv_active;
	int complete = FALSE, mpi_errno = MPI_SUCCESS;
	size_t n;

	for (;;) {
		n = copy(request, data, length);
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

static MPIDI_CH3_PktHandler_Fcn *handler_of(const MPIDI_CH3_Pkt_t *packet)
{
	return (unsigned)packet->type < MPIDI_CH3_PKT_END_ALL
		       ? handlers[packet->type]
		       : NULL;
}

void bcl_ch3_receive(MPIDI_VC_t *vc, unsigned words, const void *packet,
		     size_t length)
{
	MPIDI_CH3_Pkt_t *header = (MPIDI_CH3_Pkt_t *)packet;
	const char *data = (const char *)packet + 8 * words;
	MPIR_Request *request = NULL;
	intptr_t taken;
	int mpi_errno;

	if ((words == BCL_CH3_MORE) != !!vc->ch.recv_active ||
	    words > BCL_CH3_WORDS_MAX || length < 8 * words ||
	    (words && !handler_of(header))) {
		bcl_ch3_complain(bcl_ch3_nonsense());
		return;
	}
	if (words == BCL_CH3_MORE) {
		feed(vc, data, length);
		return;
	}
	vc->ch.heard = TRUE;
	taken = (intptr_t)(length - 8 * words);
	mpi_errno = handlers[header->type](vc, header, (void *)data, &taken,
					   &request);
	if (mpi_errno) {
		bcl_ch3_complain(mpi_errno);
		return;
	}
	if (request) {
		request->dev.iov_offset = 0;
		vc->ch.recv_active = request;
		feed(vc, data + taken, length - 8 * words - (size_t)taken);
	}
}

void bcl_ch3_receive_short(MPIDI_VC_t *vc, const void *packet, size_t length)
{
	const struct bcl_ch3_short *message = packet;
	const size_t head = offsetof(struct bcl_ch3_short, data);
	MPIR_Request *request;
	MPIDI_CH3_Pkt_t header;
	intptr_t taken = 0;

	if (vc->ch.recv_active || length < head || length > sizeof(*message)) {
		bcl_ch3_complain(bcl_ch3_nonsense());
		return;
	}
	header.eagershort_send.type = MPIDI_CH3_PKT_EAGERSHORT_SEND;
	header.eagershort_send.match = message->match;
	header.eagershort_send.data_sz = (intptr_t)(length - head);
	memcpy(header.eagershort_send.data, message->data, length - head);
	bcl_ch3_complain(MPIDI_CH3_PktHandler_EagerShortSend(vc, &header, NULL,
							     &taken, &request));
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
