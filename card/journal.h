/* SPDX-License-Identifier: MIT */
/*
 * The journal of a card: records (wire/record.h) of everything that passes
 * between library and card. Library and card write their queues anyway
 * (bcl/card_abi.h), and the journal is one more reader of these queues. A card
 * without a journal pays nothing.
 *
 * The host of the card lets the journal look at the queues at three moments:
 *
 *  at each doorbell, before the card reads the requests: no request is missed
 *  before a frame leaves: a delivery is recorded before its acknowledgement
 *  after frames came
 *
 * The host calls all of these functions under one lock. A host that writes the
 * card's events itself may instead report each event as the card writes it.
 */
#ifndef BCL_JOURNAL_H
#define BCL_JOURNAL_H

#include "card/ops.h"
#include "wire/record.h"

struct bcl_journal_port;

/* `put` writes a record. `card_of` returns the card id of a node. */
struct bcl_journal {
	void (*put)(void *arg, const struct bcl_record *record);
	uint64_t (*card_of)(void *arg, uint32_t node);
	void *arg;
	bool told; /* the host reports events by bcl_journal_event() */
	struct bcl_journal_port *ports;
};

void bcl_journal_open(struct bcl_journal *journal, uint64_t card,
		      uint64_t incarnation, uint32_t memory,
		      uint64_t peer_timeout);
/* `kind` is CLOSED or CRASHED. */
void bcl_journal_close(struct bcl_journal *journal, enum bcl_record_kind kind);

/* The library opened a port. Fails with NOMEM. The areas must stay until the
 * port is closed. */
enum bcl_status
bcl_journal_port_open(struct bcl_journal *journal,
		      const struct bcl_host_area areas[BCL_AREAS],
		      const struct bcl_control *control);
void bcl_journal_port_close(struct bcl_journal *journal, uint32_t number);

void bcl_journal_look(struct bcl_journal *journal);
/*
 * Look at the queues; then, under the same lock, the host hands the requests of
 * `port` to the card. Requests of other ports get BCL_RECORD_EARLY: their
 * threads may not have rung yet.
 */
void bcl_journal_doorbell(struct bcl_journal *journal, uint32_t port);
/* The data of the event is in place before the call. */
void bcl_journal_event(struct bcl_journal *journal, uint32_t port,
		       enum bcl_queue queue,
		       const struct bcl_completion *entry);
void bcl_journal_node(struct bcl_journal *journal, uint64_t card,
		      enum bcl_node_state state, enum bcl_status status);
void bcl_journal_memory(struct bcl_journal *journal, uint32_t used);

#endif
