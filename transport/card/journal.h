/* SPDX-License-Identifier: MIT */
/*
 * The journal of a card: records (wire/record.h) of what passes between
 * library and card. Both write their queues anyway (bcl/card_abi.h), and
 * whoever maps them may read them: the journal is a third who looks. So a card
 * without one does nothing for it.
 *
 * Its host looks before the card does whenever a doorbell rings, so that no
 * request is missed; before a frame leaves, so that what is acknowledged was
 * delivered before; and after frames came. All under one lock. A host that
 * writes the card's events itself may tell them instead, when the card does.
 */
#ifndef BCL_JOURNAL_H
#define BCL_JOURNAL_H

#include "transport/card/ops.h"
#include "transport/wire/record.h"

struct bcl_journal_port;

/* `put` writes a record, `card_of` tells the card id of a node. */
struct bcl_journal {
	void (*put)(void *arg, const struct bcl_record *record);
	uint64_t (*card_of)(void *arg, uint32_t node);
	void *arg;
	bool told; /* events are, by bcl_journal_event() */
	struct bcl_journal_port *ports;
};

void bcl_journal_open(struct bcl_journal *journal, uint64_t card,
		      uint64_t incarnation, uint32_t memory,
		      uint64_t peer_timeout);
/* kind CLOSED, or CRASHED. */
void bcl_journal_close(struct bcl_journal *journal, enum bcl_record_kind kind);

/* A port was opened; NOMEM. Its areas must be there until it is closed. */
enum bcl_status
bcl_journal_port_open(struct bcl_journal *journal,
		      const struct bcl_host_area areas[BCL_HOST_AREAS],
		      const struct bcl_control *control);
void bcl_journal_port_close(struct bcl_journal *journal, uint32_t number);

void bcl_journal_look(struct bcl_journal *journal);
/* The same; and the port's requests go to the card under the same lock. Others
 * that are seen may be those of a thread that has not rung yet. */
void bcl_journal_doorbell(struct bcl_journal *journal, uint32_t port);
/* What the event is about is in its place already. */
void bcl_journal_event(struct bcl_journal *journal, uint32_t port,
		       enum bcl_queue queue,
		       const struct bcl_completion *entry);
void bcl_journal_node(struct bcl_journal *journal, uint64_t card,
		      enum bcl_node_state state, enum bcl_status status);
void bcl_journal_memory(struct bcl_journal *journal, uint32_t used);

#endif
