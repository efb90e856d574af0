/* SPDX-License-Identifier: MIT */
/*
 * A large message that both sides copy: shm/claim.h, as used by offer.c,
 * pull.c, fed.c and bounce.c. Messages really go through the pair.
 */
#include <string.h>

#include "tests/weak/ports.h"
#include "transport/shm/attach.h"
#include "transport/shm/message.h"

enum {
	PAGE = BCL_JOIN_PAGE, /* bytes of a chunk; only the first word counts */
	CHUNKS = 4,
	TOKEN = 1, /* type of the message with a token */
};

/* The memory that the sender offers and the memory that the data go to. */
static _Alignas(8) uint8_t offered[CHUNKS * PAGE], pulled[CHUNKS * PAGE];
static struct bcl_event last[2]; /* the event pushed last, by side */
static unsigned events[2], chunks;
static uint64_t unreadable;  /* the address of a chunk; 0: none */
static bool fed, taken_over; /* by the bounce area; the receiver reads, too */

/* ---- memory of the other process: here of the same process ---- */

enum bcl_status bcl_attach_read(const struct bcl_connection *c, void *local,
				uint64_t remote, size_t length)
{
	(void)c;
	weak_assert(length == PAGE);
	if (remote == unreadable)
		return BCL_ERR_MEMORY;
	memcpy(local, (const void *)remote, sizeof(uint64_t));
	return BCL_OK;
}

enum bcl_status bcl_attach_write(const struct bcl_connection *c,
				 const void *local, uint64_t remote,
				 size_t length)
{
	(void)c;
	weak_assert(length == PAGE);
	memcpy((void *)remote, local, sizeof(uint64_t));
	return BCL_OK;
}

/* ---- a port ---- */

enum bcl_status bcl_event_push(struct bcl_port *port,
			       const struct bcl_event *event)
{
	unsigned side = (unsigned)port->object;

	last[side] = *event;
	events[side]++;
	return BCL_OK;
}

static uint64_t *word_of(uint8_t *memory, unsigned chunk)
{
	return (uint64_t *)(void *)(memory + (size_t)chunk * PAGE);
}

static void set_up(unsigned n)
{
	ports_set_up();
	chunks = n;
	unreadable = 0;
	fed = false;
	taken_over = false;
	memset(events, 0, sizeof(events));
	for (unsigned side = 0; side < 2; side++)
		bcl_large_use(&sides[side].connection[0]);
	for (unsigned i = 0; i < CHUNKS; i++) {
		*word_of(offered, i) = i + 1;
		*word_of(pulled, i) = 0;
	}
}

static void set_up_two(void)
{
	set_up(2);
}

static void set_up_three(void)
{
	set_up(3);
}

static void set_up_four(void)
{
	set_up(CHUNKS);
}

static void set_up_unreadable(void)
{
	set_up(CHUNKS);
	unreadable = (uintptr_t)word_of(offered, 2);
}

static void set_up_fed(void)
{
	set_up(3);
	fed = true;
}

static void set_up_taken_over(void)
{
	set_up(2);
	fed = true;
	taken_over = true;
}

static unsigned steps_of(unsigned side)
{
	const struct bcl_large_tables *t =
		sides[side].connection[0].large.tables;

	return events[side] + t->pulls[0].mine + t->filled + t->drained;
}

/* A turn of the port. Returns true if the turn made progress. */
static bool turn(unsigned side)
{
	struct bcl_connection *c = &sides[side].connection[0];
	unsigned before = steps_of(side);
	struct bcl_event event;

	if (bcl_pair_receive(&c->pair, false, &event) == BCL_ERR_AGAIN)
		return true;
	if (bcl_offers_progress(c))
		return true;
	bcl_pulls_progress(c);
	return steps_of(side) != before;
}

/* Make progress until the side has `n` events. */
static void serve(unsigned side, unsigned n)
{
	while (events[side] < n)
		weak_until(turn(side));
}

/* ---- the side that offers ---- */

static void offer(struct bcl_token *token)
{
	struct bcl_connection *c = &sides[0].connection[0];

	weak_assert(!bcl_offer_make(c, BCL_OFFER_READ, offered,
				    (size_t)chunks * PAGE, 1, token));
	weak_assert(!bcl_pair_send(&c->pair, TOKEN, 0, token, sizeof(*token)));
}

static void offer_once(void)
{
	struct bcl_token token;

	offer(&token);
	serve(0, 1);
	weak_assert(last[0].kind == BCL_EVENT_READ);
	/* the memory is the user's again */
	for (unsigned i = 0; i < chunks; i++)
		*word_of(offered, i) = 0;
}

/* Withdraw the offer if the pull has not begun, and use the place for another
 * offer. */
static void withdraw(void)
{
	struct bcl_connection *c = &sides[0].connection[0];
	struct bcl_token token;

	offer(&token);
	if (bcl_offer_withdraw(c, &token) == BCL_OK) {
		c->large.tables->hint = 0;
		for (unsigned i = 0; i < chunks; i++)
			*word_of(offered, i) += 10;
		offer(&token);
	}
	serve(0, 1);
	weak_assert(last[0].kind == BCL_EVENT_READ);
}

/* ---- the side that pulls ---- */

/* Pull the offer that the next message names. */
static void pull(void)
{
	struct bcl_connection *c = &sides[1].connection[0];
	struct bcl_event event = { .length = 0 };
	struct bcl_pull_request request = {
		.kind = BCL_PULL_USER,
		.buffer = pulled,
		.length = (uint64_t)chunks * PAGE,
	};
	struct bcl_token token;

	weak_until(bcl_pair_receive(&c->pair, false, &event) == BCL_OK);
	memcpy(&token, event.data, sizeof(token));
	c->attach = !fed;
	weak_assert(!bcl_pull_begin(c, &token, &request));
	c->attach = !fed || taken_over;
}

static void expect(unsigned more)
{
	weak_assert(last[1].kind == BCL_EVENT_PULLED &&
		    last[1].status == BCL_OK);
	for (unsigned i = 0; i < chunks; i++) {
		weak_assert(*word_of(pulled, i) == i + 1 + more);
		*word_of(pulled, i) = 0; /* the memory is the user's again */
	}
}

static void pull_once(void)
{
	pull();
	serve(1, 1);
	expect(0);
}

static void pull_in_vain(void)
{
	pull();
	serve(1, 1);
	/* OK if the sender has copied the unreadable chunk */
	weak_assert(last[1].status == BCL_OK ||
		    last[1].status == BCL_ERR_MEMORY);
	for (unsigned i = 0; i < chunks; i++)
		*word_of(pulled, i) = 0;
}

static void pull_if_it_is_there(void)
{
	pull();
	serve(1, 1);
	if (last[1].status == BCL_OK) {
		expect(0);
		return;
	}
	weak_assert(last[1].status == BCL_ERR_CANCELLED);
	pull();
	serve(1, 2);
	expect(10);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "two chunks", set_up_two, { offer_once, pull_once }, NULL },
		{ "three chunks",
		  set_up_three,
		  { offer_once, pull_once },
		  NULL },
		{ "four chunks", set_up_four, { offer_once, pull_once }, NULL },
		{ "one cannot be read",
		  set_up_unreadable,
		  { offer_once, pull_in_vain },
		  NULL },
		{ "fed", set_up_fed, { offer_once, pull_once }, NULL },
		{ "fed, and taken over",
		  set_up_taken_over,
		  { offer_once, pull_once },
		  NULL },
		{ "withdrawn",
		  set_up_two,
		  { withdraw, pull_if_it_is_there },
		  NULL },
		{ .name = NULL },
	};

	return weak_main(tests);
}
