/* SPDX-License-Identifier: MIT */
/*
 * The card writes completions and messages. The port reads both and gives
 * blocks back, or sleeps: nicfw/port.h, card/queues.h.
 */
#include <string.h>

#include "card/inproc/inproc.h"
#include "nicfw/port.h"
#include "tests/weak/weak.h"
#include "transport/card/inside.h"

enum {
	ENTRIES = 2, /* of each queue, and blocks */
	SHIFT = 1,
	MESSAGES = 5, /* two laps, and one message */
};

/* Of the card. */
static struct bcl_card card;
static struct nic_port nic;

/* Shared by card and port. */
static struct bcl_completion sends[ENTRIES], receives[ENTRIES];
static struct bcl_port_indices indices;
static uint8_t blocks[ENTRIES * (BCL_BLOCK_SIZE + BCL_BLOCK_SHORT)];
static _Atomic uint32_t news;
static _Atomic uint32_t woken;

/* Of the port. */
static struct bcl_host_port queues;
static struct bcl_port port = { .card = &queues };
static struct bcl_peer peer = { .state = BCL_PEER_UP };
static uint64_t freed;
static unsigned ended;

struct bcl_peer *bcl_peer_make(struct bcl_port *of, uint64_t id,
			       uint16_t number)
{
	(void)of;
	(void)id;
	(void)number;
	return &peer;
}

bool bcl_host_sent(struct bcl_port *of, const struct bcl_completion *completion,
		   struct bcl_event *event)
{
	(void)of;
	weak_assert(completion->cookie == ended);
	ended++;
	*event = (struct bcl_event){ .kind = BCL_EVENT_SENT };
	return true;
}

/* ---- the card in this process: the lock ---- */

static struct bcl_inproc host;
static struct bcl_context context;

static const struct bcl_env env = { .yield = weak_yield,
				    .barrier = weak_barrier };

static void exclusive(struct bcl_host *base, struct bcl_host_seat *seat,
		      void (*run)(void *arg), void *arg)
{
	bcl_inproc_lock(bcl_inproc_of(base), seat);
	run(arg);
	bcl_inproc_unlock(bcl_inproc_of(base), seat);
}

static const struct bcl_host_ops ops = { .exclusive = exclusive };

static void wake(void *of, uint16_t number)
{
	(void)of;
	(void)number;
	atomic_fetch_or_explicit(&woken, 1, memory_order_acq_rel);
}

/* ---- before each execution ---- */

static void set_up_card(void)
{
	memset(&card, 0, sizeof(card));
	memset(&nic, 0, sizeof(nic));
	card.gather = 1;
	card.hal.wake = wake;
	nic_list_init(&card.news);
	nic_list_init(&card.starving);
	nic_list_init(&nic.news);
	nic_list_init(&nic.starving);
	nic.nrequests = nic.nreceives = nic.ring[NIC_BLOCKS].n = ENTRIES;
	nic.sends_shift = nic.receives_shift = SHIFT;
	nic.at.sends = sends;
	nic.at.receives = receives;
	nic.at.indices = &indices;
}

static void set_up_queue(struct bcl_host_cq *queue,
			 struct bcl_completion *entries)
{
	*queue = (struct bcl_host_cq){ .next = entries,
				       .lap = 1,
				       .entries = entries,
				       .end = entries + ENTRIES };
}

static void set_up(void)
{
	set_up_card();
	memset(sends, 0, sizeof(sends));
	memset(receives, 0, sizeof(receives));
	memset(&indices, 0, sizeof(indices));
	memset(blocks, 0, sizeof(blocks));
	memset(&queues, 0, sizeof(queues));
	set_up_queue(&queues.sends, sends);
	set_up_queue(&queues.receives, receives);
	queues.news = &news;
	queues.indices = &indices;
	queues.blocks = blocks;
	queues.shorts = (struct bcl_host_ring){ .mask = ENTRIES - 1,
						.out_of_turn = &freed,
						.told = &indices.blocks_freed };
	freed = ended = 0;
	woken = 0;
	host.base.ops = &ops;
	host.setup.env = &env;
	host.lock = BCL_INPROC_FREE;
	context.card = &host.base;
	port.context = &context;
}

/* The bias of the card's lock is for the port. */
static void set_up_biased(void)
{
	set_up();
	memset(host.seats, 0, sizeof(host.seats));
	host.seats->bias = BCL_INPROC_BIASED;
	host.lock = BCL_INPROC_BIASED;
	queues.seat = host.seats;
}

/* ---- the threads ---- */

static void deliver(uint64_t number)
{
	struct bcl_completion entry = { .kind = BCL_CQ_SYSTEM,
					.targ64 = number,
					.length = sizeof(number) };
	uint32_t block = 0;

	weak_until(nic_port_block_take(&card, &nic, &nic.ring[NIC_BLOCKS],
				       &block));
	memcpy(blocks + bcl_block_at(ENTRIES, block, sizeof(number)), &number,
	       sizeof(number));
	entry.index = block;
	nic_port_event(&card, &nic, BCL_QUEUE_RECEIVES, &entry);
}

static void deliver_all(void)
{
	for (unsigned i = 0; i < MESSAGES; i++)
		deliver(i);
}

static void expect(const struct bcl_event *event, uint64_t number)
{
	weak_assert(event->kind == BCL_EVENT_MESSAGE);
	weak_assert(event->immediate == number);
	weak_assert(!memcmp(event->data, &number, sizeof(number)));
	bcl_host_release(&port);
}

static void receive_all(void)
{
	struct bcl_event event = { .length = 0 };

	for (unsigned i = 0; i < MESSAGES; i++) {
		weak_until(bcl_host_receive(&port, &event) == BCL_OK);
		expect(&event, i);
	}
}

/* The port sees the end of a send before the answer to the message. */
static void send_and_answer(void)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		struct bcl_completion entry = { .cookie = i };

		nic_port_event(&card, &nic, BCL_QUEUE_SENDS, &entry);
		deliver(i);
	}
}

static void receive_answers(void)
{
	struct bcl_event event = { .length = 0 };

	for (unsigned i = 0; i < ENTRIES;) {
		weak_until(bcl_host_receive(&port, &event) == BCL_OK);
		if (event.kind == BCL_EVENT_SENT)
			continue;
		weak_assert(ended > i);
		expect(&event, i++);
	}
}

static void deliver_and_wake(void)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		bcl_inproc_lock(&host, NULL);
		deliver(i);
		bcl_nic_port_wake(&card);
		bcl_inproc_unlock(&host, NULL);
	}
}

static void sleep_and_receive(void)
{
	struct bcl_event event = { .length = 0 };

	for (unsigned i = 0; i < ENTRIES; i++) {
		while (bcl_host_receive(&port, &event)) {
			bcl_host_sleep(&port, true);
			if (bcl_host_port_idle(&queues))
				weak_until(atomic_load_explicit(
					&woken, memory_order_acquire));
			bcl_host_sleep(&port, false);
			atomic_exchange_explicit(&woken, 0,
						 memory_order_acq_rel);
		}
		expect(&event, i);
	}
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "two laps", set_up, { deliver_all, receive_all }, NULL },
		{ "sends and answers",
		  set_up,
		  { send_and_answer, receive_answers },
		  NULL },
		{ "sleep",
		  set_up,
		  { deliver_and_wake, sleep_and_receive },
		  NULL },
		{ "sleep, the lock left to the sleeper",
		  set_up_biased,
		  { deliver_and_wake, sleep_and_receive },
		  NULL },
		{ .name = NULL },
	};

	return weak_main(tests);
}
