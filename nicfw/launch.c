/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Launch runs of frames, and keep frames that the rail does not take. Without
 * BCL_HAL_GATHER frames wait for their payload and leave in the order of
 * building.
 */
#include <nicfw/launch.h>

#include <nicfw/conn.h>
#include <nicfw/dma.h>
#include <nicfw/frame.h>
#include <nicfw/message.h>
#include <nicfw/window.h>

bool bcl_nic_launch_rest(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, struct nic_flight *flight,
			 unsigned taken)
{
	struct nic_flight *rest =
		taken ? bcl_nic_window_part(card, flight, taken) : NULL;
	struct nic_flight *kept = rest ? rest : flight;

	card->rail[rail].busy = 1;
	if (flight->buffer) { /* the frame stays before later ones */
		flight->state = NIC_FLIGHT_BUILT;
		return false;
	}
	bcl_assert(kept->window->bytes >= kept->bytes);
	kept->state = NIC_FLIGHT_UNSENT;
	kept->window->bytes -= kept->bytes;
	kept->window->lost = 1;
	nic_conn_work(card, conn, NIC_WORK_LOST);
	return kept != flight;
}

void bcl_nic_launch_run(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind, struct bcl_tx_frame *run,
			struct nic_flight *flight)
{
	nic_frame_header(card, conn, rail, kind, run->head);
	nic_launch_seq(run->head, flight->seq);
	run->payload = flight->payload;
	run->seal = conn->peer_seal;
	run->last = nic_launch_ask(card, rail, &conn->window[rail]);
	card->counters[BCL_CARD_frames_sent] += run->frames - 1;
	conn->frames_sent += run->frames - 1;
	nic_launch_transmit(card, conn, rail, run, flight);
}

/* ---- without BCL_HAL_GATHER ---- */

/*
 * A fetch failed. Withdraw the only message of the frame, or the messages with
 * references, since only their memory can be the cause. Other messages are
 * retransmitted.
 */
static void fetch_failed(struct bcl_card *card, struct nic_buffer *buffer)
{
	struct nic_flight *flight = buffer->flight, *part;
	struct nic_conn *conn = buffer->conn;

	for (part = flight; part; part = part->more)
		if (nic_message_alive(conn, part) &&
		    (part->message->nref || !flight->more) &&
		    part->message->state != NIC_MESSAGE_WITHDRAWN)
			bcl_nic_message_fault(card, conn, part->message);
	flight->buffer = NULL;
	if (nic_list_empty(&flight->link)) {
		bcl_nic_message_reroute(card, conn, flight);
		bcl_nic_window_free(card, flight);
		return;
	}
	flight->window->bytes -= flight->bytes;
	flight->state = NIC_FLIGHT_LOST;
	flight->window->lost = 1;
	nic_conn_work(card, conn, NIC_WORK_LOST);
}

/* Transmit complete buffers, in the order of building. */
void bcl_nic_launch_fetched(struct bcl_card *card, unsigned rail)
{
	struct nic_rail *at = &card->rail[rail];
	struct bcl_tx_frame *frame = &card->out_frame;
	struct nic_buffer *buffer;
	struct nic_flight *flight;

	while (!at->busy &&
	       (buffer = nic_list_first(&at->fetched, struct nic_buffer,
					link)) &&
	       buffer->jobs == 0) {
		flight = buffer->flight;
		if (flight && buffer->fault) {
			fetch_failed(card, buffer);
		} else if (flight) {
			frame->head = buffer->bytes;
			frame->head_len = buffer->length;
			frame->nparts = 0;
			nic_launch(card, buffer->conn, rail, frame, flight);
			if (flight->state == NIC_FLIGHT_BUILT)
				return;
			flight->buffer = NULL;
		}
		nic_list_remove(&buffer->link);
		buffer->flight = NULL;
		nic_pool_put(&card->out, &buffer->link);
	}
}

void bcl_nic_launch_dma_done(struct bcl_card *card, struct nic_buffer *buffer,
			     enum bcl_dma_result result)
{
	bcl_assert(buffer->jobs);
	if (result == BCL_DMA_FAULT)
		buffer->fault = 1;
	if (--buffer->jobs == 0)
		bcl_nic_launch_fetched(card, buffer->rail);
}

struct nic_flight *bcl_nic_launch_next_new(const struct bcl_card *card,
					   const struct nic_conn *conn,
					   unsigned rail, uint32_t *index)
{
	const struct nic_buffer *buffer;
	struct nic_flight *flight;

	if (card->gather)
		return NULL;
	while (*index < card->config.buffers) {
		buffer = &card->buffer[(*index)++];
		flight = buffer->flight;
		if (flight && buffer->conn == conn && buffer->rail == rail &&
		    nic_list_empty(&flight->link))
			return flight;
	}
	return NULL;
}
