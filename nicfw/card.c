/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The card: its inputs (bcl_card_*), and the turn of the engines. */
#include <nicfw/card.h>

#include <nicfw/assemble.h>
#include <nicfw/burst.h>
#include <nicfw/conn.h>
#include <nicfw/contact.h>
#include <nicfw/control.h>
#include <nicfw/dma.h>
#include <nicfw/gate.h>
#include <nicfw/inbound.h>
#include <nicfw/launch.h>
#include <nicfw/node.h>
#include <nicfw/port.h>
#include <nicfw/rails.h>
#include <nicfw/recv.h>
#include <nicfw/sdma.h>
#include <nicfw/send.h>
#include <nicfw/timer.h>

enum {
	CONTROL_BUDGET = 64,
	EXPECTED = 16, /* messages of a list that bcl_card_expected() reads */
};

/*
 * Every input begins here. After a long time without any input the silence was
 * the host's own: peers get their full time anew.
 */
static void wake_up(struct bcl_card *card, uint64_t now)
{
	if (now - card->now > card->config.peer_timeout / 2)
		card->back_at = now;
	card->now = now;
}

/*
 * All inputs but the most urgent ones begin here, and first apply the
 * acknowledgements in card->answered.
 */
static void begin_input(struct bcl_card *card, uint64_t now)
{
	wake_up(card, now);
	if (card->answered.conn)
		bcl_nic_recv_answers(card);
}

/* Run the engines and set *next. */
static void run_engines(struct bcl_card *card, unsigned budget,
			struct bcl_card_next *next)
{
	if (!nic_list_empty(&card->gates))
		bcl_nic_gate_open(card);
	if (card->now >= card->starving_at && !nic_list_empty(&card->starving))
		bcl_nic_port_feed(card);
	if (card->now >= card->wanting_at && !nic_list_empty(&card->wanting))
		bcl_nic_contact_serve(card);
	if (!nic_list_empty(&card->intake))
		bcl_nic_sdma_intake(card, &budget);
	if (!nic_list_empty(&card->active) || !nic_list_empty(&card->working) ||
	    !nic_list_empty(&card->waiting))
		bcl_nic_send(card, &budget);
	if (!nic_list_empty(&card->news))
		bcl_nic_port_wake(card);
	next->more = budget == 0 || card->answered.conn;
	next->deadline = card->nheap ? card->heap[0]->due : NIC_NEVER;
	if (!nic_list_empty(&card->starving) &&
	    card->starving_at < next->deadline)
		next->deadline = card->starving_at;
	if (!nic_list_empty(&card->wanting) &&
	    card->wanting_at < next->deadline)
		next->deadline = card->wanting_at;
}

/*
 * The owner may have written any count there. The count is wrong if it exceeds
 * the ring, or takes back entries that may be read by now.
 */
static bool made_more(struct bcl_card *card, struct nic_port *port,
		      uint32_t made)
{
	uint32_t left = made - port->taken;

	if (left > port->nrequests || left < port->made - port->taken) {
		nic_count(card, submits_wrong);
		return false;
	}
	port->made = made;
	return true;
}

void bcl_card_doorbell(struct bcl_card *card, uint16_t number, uint32_t made,
		       uint64_t now, unsigned budget,
		       struct bcl_card_next *next)
{
	struct nic_port *port = nic_port_find(card, number);

	wake_up(card, now);
	/* A short message leaves before any other work. */
	if (port && made_more(card, port, made))
		bcl_nic_sdma_rung(card, port, &budget);
	if (card->answered.conn)
		bcl_nic_recv_answers(card);
	run_engines(card, budget, next);
}

void bcl_card_frames(struct bcl_card *card, unsigned rail,
		     const struct bcl_rx_frame *frames, unsigned n,
		     uint64_t now, unsigned budget, struct bcl_card_next *next)
{
	unsigned i;

	wake_up(card, now);
	for (i = 0; i < n && rail < BCL_RAILS_MAX; i++) {
		bcl_nic_recv(card, rail, &frames[i]);
		if (i + 1 < n)
			i += bcl_nic_burst(card, rail, &frames[i], n - i - 1);
	}
	run_engines(card, budget, next);
}

void bcl_card_drained(struct bcl_card *card, unsigned rail, uint64_t now,
		      unsigned budget, struct bcl_card_next *next)
{
	struct nic_conn *conn;

	begin_input(card, now);
	while (rail < BCL_RAILS_MAX &&
	       (conn = nic_list_first(&card->drain, struct nic_conn, drain))) {
		nic_list_remove(&conn->drain);
		nic_conn_work(card, conn, NIC_WORK_ACK << rail);
	}
	run_engines(card, budget, next);
}

void bcl_card_transmit_ready(struct bcl_card *card, unsigned rail, uint64_t now,
			     unsigned budget, struct bcl_card_next *next)
{
	begin_input(card, now);
	if (rail < BCL_RAILS_MAX)
		bcl_nic_send_ready(card, rail);
	run_engines(card, budget, next);
}

/* The owner of the job continues. */
static void job_done(struct bcl_card *card, const struct nic_job *job,
		     enum bcl_dma_result result)
{
	struct nic_port *port = job->object;

	switch ((enum nic_job_kind)job->kind) {
	case NIC_JOB_INTAKE:
		if (!port->closed)
			bcl_nic_sdma_fetched(card, port, result);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_FREED:
		port->freed_due = 0;
		if (!port->closed && result == BCL_DMA_DONE)
			bcl_nic_port_freed(card, port, NIC_BLOCKS);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_SLEEPING:
		port->sleeping_due = 0;
		if (!port->closed && result == BCL_DMA_DONE)
			bcl_nic_port_slept(card, port);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_FETCH:
		bcl_nic_launch_dma_done(card, job->buffer, result);
		break;
	case NIC_JOB_STORE:
		bcl_nic_assemble_stored(card, job->object, job->buffer, result);
		break;
	}
}

void bcl_card_dma_done(struct bcl_card *card, uint32_t cookie,
		       enum bcl_dma_result result, uint64_t now,
		       unsigned budget, struct bcl_card_next *next)
{
	struct nic_job job;

	begin_input(card, now);
	if (bcl_nic_dma_end(card, cookie, &job))
		job_done(card, &job, result);
	run_engines(card, budget, next);
}

void bcl_card_timer(struct bcl_card *card, uint64_t now, unsigned budget,
		    struct bcl_card_next *next)
{
	begin_input(card, now);
	for (; budget && card->nheap && card->heap[0]->due <= now; budget--)
		bcl_nic_timer(card, card->heap[0]);
	run_engines(card, budget, next);
}

void bcl_card_node_gone(struct bcl_card *card, uint32_t index, unsigned rail,
			enum bcl_status why, uint64_t now, unsigned budget,
			struct bcl_card_next *next)
{
	struct nic_node *node = nic_node_at(card, index);
	struct nic_conn *conn = node ? node->conn : NULL;

	begin_input(card, now);
	if (conn && rail < BCL_RAILS_MAX &&
	    conn->window[rail].state != NIC_RAIL_OFF &&
	    bcl_nic_rails_refused(card, conn, rail))
		bcl_nic_contact_end(card, conn, why);
	run_engines(card, budget, next);
}

enum bcl_status bcl_card_control(struct bcl_card *card,
				 const struct bcl_control *control,
				 uint64_t now, uint32_t *result,
				 struct bcl_card_next *next)
{
	enum bcl_status status;

	begin_input(card, now);
	status = bcl_nic_control(card, control, result);
	run_engines(card, CONTROL_BUDGET, next);
	return status;
}

/* Bytes that the first EXPECTED messages of a list request from the peer. */
static uint64_t requested_bytes(const struct nic_link *list)
{
	const struct nic_message *message;
	const struct nic_link *link = list->next;
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; i < EXPECTED && link != list; i++, link = link->next) {
		message = bcl_container_of(link, struct nic_message, numbered);
		if (message->op == BCL_SEG_GET && !message->answering)
			bytes += message->length;
	}
	return bytes;
}

uint64_t bcl_card_expected(const struct bcl_card *card, unsigned rail)
{
	const struct nic_inbound *inbound;

	inbound = rail < BCL_RAILS_MAX ? card->rail[rail].arriving : NULL;
	if (!inbound)
		return 0;
	return inbound->total - inbound->received +
	       requested_bytes(&inbound->conn->awaiting) +
	       requested_bytes(&inbound->conn->numbered);
}

const uint64_t *bcl_card_counters(const struct bcl_card *card)
{
	return card->counters;
}

enum bcl_status bcl_card_node_info(const struct bcl_card *card, uint32_t index,
				   struct bcl_node_info *info)
{
	const struct nic_node *node = nic_node_at(card, index);
	const struct nic_conn *conn;
	unsigned rail;

	if (!node)
		return BCL_ERR_ARG;
	memset(info, 0, sizeof(*info));
	info->card = node->card;
	info->state = (enum bcl_node_state)node->state;
	info->status = (enum bcl_status)node->status;
	info->messages_queued = node->messages;
	conn = node->conn;
	if (!conn)
		return BCL_OK;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].state == NIC_RAIL_PROVED)
			info->rails |= 1u << rail;
	if (conn->small_rail < BCL_RAILS_MAX)
		info->rtt = conn->window[conn->small_rail].min_rtt;
	info->last_heard = conn->heard;
	info->frames_sent = conn->frames_sent;
	info->frames_received = conn->frames_received;
	info->retransmitted = conn->retransmitted;
	return BCL_OK;
}
