/* SPDX-License-Identifier: MIT */
/*
 * The card core against a peer that speaks the protocol and lies. The liar
 * answers requests that nobody made, asks for memory without permission,
 * contradicts earlier verdicts, withdraws messages, resets the connection, dies
 * and begins a new life, in every order. The frames of the liar have right
 * numbers and checksums.
 *
 * Card 0 is the victim. Card 1 connects honestly. Then the filter drops the
 * frames of card 1, and the liar sends frames in the name of card 1. Card 2 is
 * a fair peer, which must notice nothing.
 */
#include "unit.h"

#include <string.h>

#include <nicfw/conn.h>
#include <nicfw/node.h>

#include "card_world.h"

enum {
	MS = 1000000,
	SECRETS = 2048,
	SLOTS = 16,  /* for results of gets and atomics of card 0 */
	SLOT = 3000, /* bytes: several frames */
	ASKED = 64,  /* requests of card 0 in the liar's memory */
	COOKIES = 4096,
	STEPS = 250,
	BAD = 1,
	FAIR = 2, /* cards */
	PORT = 1,
	FAIR_PORT = 3,
	BAD_PORT = 2,
};

struct asked {
	struct bcl_segment_header segment;
};

struct liar {
	struct world *world;
	struct world_port *port, *fair, *other;
	uint32_t node, fair_node;
	bool speaks; /* false: card 1 speaks */

	/* the liar's numbers */
	struct bcl_frame_header header;
	uint32_t seq, ack, msg, done, base;
	uint32_t seal;	    /* of the liar's frames */
	uint32_t other_seq; /* of the last frame by rail 1 */
	struct asked asked[ASKED];
	unsigned nasked;

	/* memory of card 0 */
	uint8_t secret[SECRETS], constant[SECRETS], open[SECRETS];
	uint8_t slot[SLOTS][SLOT];
	uint32_t handle[3], slot_handle[SLOTS];
	uint64_t waits[SLOTS]; /* 1 + the cookie of its request; 0: free */
	uint8_t pending[COOKIES];
	unsigned cookies;
};

static struct liar *the; /* the liar of this run */

static uint32_t below(uint32_t n)
{
	return world_random(the->world, n);
}

/* ---- the liar hears and speaks ---- */

static void hear(const struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	const struct bcl_segment_header *segment =
		(const void *)(frame->bytes + sizeof(*header));
	uint32_t at = sizeof(*header);

	if ((header->kind & 0x3f) != BCL_FRAME_DATA)
		return;
	if (frame->rail)
		the->other_seq = bcl_get32(header->seq);
	else if (bcl_get32(header->seq) == the->ack)
		the->ack++;
	the->base = bcl_get32(header->done);
	for (; at + sizeof(*segment) <= frame->length;
	     at +=
	     sizeof(*segment) + (bcl_get16(segment->length) + 7u) / 8 * 8) {
		segment = (const void *)(frame->bytes + at);
		if (segment->op)
			the->asked[the->nasked++ % ASKED].segment = *segment;
	}
}

static bool listen(struct world *world, struct world_frame *frame)
{
	(void)world;
	if (frame->from == FAIR || frame->to == FAIR)
		return true;
	if (the->speaks && frame->to == BAD)
		hear(frame);
	return !the->speaks;
}

static void say(uint8_t kind, const struct bcl_segment_header *segment,
		const void *payload, uint32_t length)
{
	static uint8_t bytes[BCL_FRAME_MAX];
	struct bcl_frame_header header = the->header;
	struct bcl_segment_header filled = { 0 };

	if (segment)
		filled = *segment;
	filled.length = bcl_put16((uint16_t)length);
	header.kind = kind | BCL_FRAME_PCRC;
	header.seq = bcl_put32(the->seq);
	header.ack = bcl_put32(the->ack);
	header.done = bcl_put32(the->done);
	header.base = bcl_put32(the->base);
	the->seq += kind == BCL_FRAME_DATA;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &filled, sizeof(filled));
	if (length)
		memcpy(bytes + BCL_HEADERS_SIZE, payload, length);
	world_seal(bytes, BCL_HEADERS_SIZE + length, the->seal);
	world_inject(the->world, BAD, 0, 0, bytes, BCL_HEADERS_SIZE + length);
}

/* Send a message, or part of a message from an offset on. */
static void say_part(struct bcl_segment_header *segment, uint32_t offset,
		     uint32_t length)
{
	static const uint8_t lies[SLOT] = { 'l', 'i', 'e', 's' };

	segment->offset = bcl_put32(offset);
	say(BCL_FRAME_DATA, segment, lies, length);
}

/* Card 1 connects and falls silent. The liar continues with the numbers and the
 * seal of card 1. */
static void begin(void)
{
	struct nic_conn *conn = NULL;
	uint32_t i = 0, n = 0;

	the->speaks = false;
	the->node = world_connect(the->world, 0, BAD);
	for (; !conn && n < 400; n++) {
		world_run_for(the->world, MS);
		for (i = 0; i < WORLD_NODES && !conn; i++) {
			struct nic_node *node =
				&the->world->card[BAD].card->node[i];

			if (node->used && node->conn &&
			    node->card == world_card_id(the->world, 0) &&
			    node->conn->state == NIC_CONN_UP)
				conn = node->conn;
		}
	}
	ck_assert_msg(conn, "card 1 connects");
	world_run_for(the->world, MS);
	the->header = (struct bcl_frame_header){
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_VERSION,
		.conn = bcl_put32(conn->window[0].peer),
		.card = bcl_put64(world_card_id(the->world, 0)),
	};
	the->seal = conn->peer_seal;
	the->seq = conn->window[0].next;
	the->ack = conn->window[0].expected;
	the->msg = the->base = conn->next;
	the->done = conn->done;
	the->nasked = 0;
	the->speaks = true;
}

static bool lost(void)
{
	return the->world->card[0].node[the->node].state != BCL_NODE_UP;
}

static void begin_again(void)
{
	the->speaks = false;
	world_kill(the->world, BAD);
	world_run_for(the->world, 500 * (uint64_t)MS);
	world_revive(the->world, BAD);
	world_port_open(the->world, BAD, BAD_PORT);
	begin();
}

/* ---- lies ---- */

/* A request of card 0, most often a recent request. */
static struct asked *remember(void)
{
	unsigned n = the->nasked < ASKED ? the->nasked : ASKED;

	if (n > 6 && below(4))
		n = 6;
	return n ? &the->asked[(the->nasked - 1 - below(n)) % ASKED] : NULL;
}

static void judge(const struct asked *asked)
{
	uint8_t bits[8];
	struct bcl_segment_header verdict = { .op = BCL_SEG_VERDICT };
	unsigned i;

	for (i = 0; i < sizeof(bits); i++)
		bits[i] = (uint8_t)(below(6) | below(6) << 4);
	verdict.target = asked->segment.msg;
	verdict.arg32 = bcl_put32(1 + below(4));
	say(BCL_FRAME_ACK, &verdict, bits, sizeof(bits));
}

static void take_back(uint32_t msg)
{
	const struct bcl_segment_header withdraw = {
		.op = BCL_SEG_WITHDRAW,
		.msg = bcl_put32(msg),
	};

	say(BCL_FRAME_DATA, &withdraw, NULL, 0);
}

static void end_it(void);
static void shut_and_open(void);

/* Events between two fragments of a message of the liar. */
static void between(const struct asked *asked, uint32_t msg)
{
	switch (below(24)) {
	case 0:
	case 1:
	case 2:
	case 3:
		judge(asked);
		break;
	case 4:
	case 5:
		take_back(msg);
		break;
	case 6:
		shut_and_open();
		break;
	case 7:
		end_it();
		break;
	}
	world_run_for(the->world, below(100000));
}

static void answer(void)
{
	static const uint32_t status[] = { BCL_OK,	   BCL_OK,	 BCL_OK,
					   BCL_ERR_MEMORY, BCL_ERR_DEAD, 256 };
	const struct asked *asked = remember();
	struct bcl_segment_header reply = { 0 };
	uint32_t total, at, part;

	if (!asked)
		return;
	reply.op = asked->segment.op == BCL_SEG_GET ? BCL_SEG_GET_REPLY
						    : BCL_SEG_ATOMIC_REPLY;
	total = asked->segment.op == BCL_SEG_GET
			? bcl_get32(asked->segment.total)
			: 8;
	if (below(4) == 0)
		reply.op = BCL_SEG_GET_REPLY + BCL_SEG_ATOMIC_REPLY - reply.op;
	if (below(6) == 0)
		total = below(SLOT);
	reply.target = below(8) ? asked->segment.arg32
				: bcl_put32(below(8) | below(8) << 16);
	reply.arg32 = bcl_put32(status[below(6)]);
	reply.total = bcl_put32(total);
	reply.msg = bcl_put32(below(8) ? the->msg++ : the->msg - below(8));
	part = below(3) ? 1200 : total;
	for (at = 0; at == 0 || at < total; at += part ? part : 1) {
		say_part(&reply, at, total - at < part ? total - at : part);
		if (below(6) == 0)
			return;
		between(asked, bcl_get32(reply.msg));
	}
}

static void ask(void)
{
	static const uint8_t ops[] = { BCL_SEG_SYSTEM,	    BCL_SEG_CHANNEL,
				       BCL_SEG_PUT,	    BCL_SEG_PUT_NOTIFY,
				       BCL_SEG_GET,	    BCL_SEG_FETCH_ADD,
				       BCL_SEG_COMPARE_SWAP };
	struct bcl_segment_header asks = {
		.op = ops[below(7)],
		.src_port = bcl_put16(BAD_PORT),
		.dst_port = bcl_put16(below(10) ? PORT : (uint16_t)below(5)),
	};
	uint32_t total = below(4) ? below(64) : below(SLOT), at;

	if (asks.op == BCL_SEG_FETCH_ADD)
		total = 8;
	if (asks.op == BCL_SEG_COMPARE_SWAP)
		total = 16;
	asks.msg = bcl_put32(the->msg++);
	if (below(2))
		asks.prev = bcl_put32(the->msg - 1 - below(4));
	asks.total = bcl_put32(total);
	asks.target = bcl_put32(
		asks.op == BCL_SEG_CHANNEL ? below(2) : the->handle[below(3)]);
	asks.targ64 = bcl_put64(8 * below(SECRETS / 8));
	asks.arg32 = bcl_put32(below(100));
	if (asks.op == BCL_SEG_GET) {
		asks.type = (uint8_t)below(3);
		say_part(&asks, 0, 0);
		return;
	}
	for (at = 0; at == 0 || at < total; at += 1200) {
		if (below(8))
			say_part(&asks, at,
				 total - at < 1200 ? total - at : 1200);
		if (below(8) == 0)
			return;
	}
}

/* Ask card 0 for more replies than the liar may have at once. */
static void be_greedy(void)
{
	struct bcl_segment_header get = {
		.op = BCL_SEG_GET,
		.type = BCL_GET_MEMORY,
		.src_port = bcl_put16(BAD_PORT),
		.dst_port = bcl_put16(PORT),
		.total = bcl_put32(512),
		.target = bcl_put32(the->handle[1]),
	};
	unsigned n;

	for (n = 0; n < 100; n++) {
		get.msg = bcl_put32(the->msg++);
		say_part(&get, 0, 0);
		if (n % 16 == 0)
			world_run_for(the->world, 50000);
	}
}

/* Lie about arrived frames (SACK), a dead rail (RAIL_DOWN) or room (ROOM). */
static void hint(void)
{
	struct bcl_segment_header hint = { .op = BCL_SEG_ROOM };
	uint32_t own = bcl_get32(the->header.conn) & ~3u;
	uint8_t bits[16];

	hint.target = bcl_put32(BAD_PORT);
	switch (below(3)) {
	case 0:
		hint.op = BCL_SEG_SACK;
		hint.arg32 = bcl_put32(below(128));
		hint.targ64 = bcl_put64(below(100000));
		break;
	case 1:
		hint.op = BCL_SEG_RAIL_DOWN;
		hint.target = bcl_put32(own | 1);
		hint.arg32 = bcl_put32(below(64));
		hint.targ64 = bcl_put64(
			(the->other_seq - below(6)) | (uint64_t)below(4) << 32 |
			(uint64_t)below(4) << 40 | (uint64_t)below(2) << 48);
		break;
	}
	memset(bits, (int)below(256), sizeof(bits));
	say(BCL_FRAME_ACK, &hint, bits, sizeof(bits));
}

static void lie(void)
{
	switch (below(20)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		answer();
		break;
	case 5:
	case 6:
	case 7:
		if (the->nasked)
			judge(remember());
		break;
	case 8:
	case 9:
	case 10:
	case 11:
	case 12:
		ask();
		break;
	case 13:
		take_back(the->msg - below(6));
		break;
	case 14:
		if (below(4) == 0)
			be_greedy();
		break;
	case 15: /* claim earlier messages as delivered */
		if (the->nasked && below(2))
			the->done = bcl_get32(remember()->segment.msg);
		say(BCL_FRAME_PING, NULL, NULL, 0);
		break;
	case 16:
		hint();
		break;
	default:
		say(BCL_FRAME_ACK, NULL, NULL, 0);
	}
}

static void end_it(void)
{
	static const uint8_t kinds[] = { BCL_FRAME_BYE, BCL_FRAME_PARK };
	struct bcl_frame_header was = the->header;

	switch (below(4)) {
	case 0:
		the->header.conn = bcl_put32(bcl_get32(the->header.conn) ^
					     (below(8) << 2));
		say(BCL_FRAME_RESET, NULL, NULL, 0);
		the->header = was;
		break;
	case 1:
		begin_again();
		break;
	default:
		say(kinds[below(2)], NULL, NULL, 0);
	}
}

/* ---- card 0 and its fair peer ---- */

static void open_port(void)
{
	unsigned i;

	the->port = world_port_open(the->world, 0, PORT);
	the->handle[0] =
		world_memory(the->world, 0, PORT, the->secret, SECRETS, 0);
	the->handle[1] = world_memory(the->world, 0, PORT, the->constant,
				      SECRETS, BCL_MEM_REMOTE_READ);
	the->handle[2] =
		world_memory(the->world, 0, PORT, the->open, SECRETS, 7);
	for (i = 0; i < SLOTS; i++)
		the->slot_handle[i] = world_memory(the->world, 0, PORT,
						   the->slot[i], SLOT, 0);
	memset(the->waits, 0, sizeof(the->waits));
	memset(the->slot, 'f', sizeof(the->slot));
	memset(the->pending, 0, sizeof(the->pending));
}

static void request(void)
{
	static const uint8_t ops[] = { BCL_REQ_SYSTEM,	  BCL_REQ_PUT,
				       BCL_REQ_GET,	  BCL_REQ_GET,
				       BCL_REQ_FETCH_ADD, BCL_REQ_COMPARE_SWAP,
				       BCL_REQ_CHANNEL,	  BCL_REQ_FENCE };
	unsigned slot = below(SLOTS), cookie = the->cookies % COOKIES;
	struct bcl_request *r;

	if (the->waits[slot] || the->pending[cookie] || the->port->nfree < 8)
		return;
	r = world_request(the->port);
	r->op = ops[below(8)];
	r->node = the->node;
	r->dst_port = BAD_PORT;
	r->cookie = cookie;
	r->nref = r->op != BCL_REQ_FENCE;
	r->refs[0] = (struct bcl_memref){ 0, the->handle[0], below(SECRETS) };
	r->length = r->refs[0].length;
	r->inline_len = r->op == BCL_REQ_FETCH_ADD	? 8
			: r->op == BCL_REQ_COMPARE_SWAP ? 16
							: 0;
	if (r->op == BCL_REQ_GET || r->inline_len) {
		r->length = r->inline_len ? r->inline_len : below(SLOT);
		r->refs[0].length = r->length;
		r->refs[0].handle = the->slot_handle[slot];
		the->waits[slot] = 1 + cookie;
	}
	if (r->inline_len)
		r->refs[0].length = 8;
	the->pending[cookie] = 1;
	the->cookies++;
	world_submit(the->port, r);
}

/* When a request has ended, its slot belongs to the owner again. Nobody may
 * write there. */
static void check_slots(void)
{
	unsigned i, k;

	for (i = 0; i < SLOTS; i++) {
		for (k = 0; !the->waits[i] && k < SLOT; k++)
			if (the->slot[i][k] != 'f')
				ck_abort_msg("%u of slot %u was written", k, i);
	}
}

static void collect(void)
{
	struct bcl_completion entry;
	unsigned i;

	while (world_sent(the->port, &entry)) {
		ck_assert_uint_lt(entry.cookie, COOKIES);
		if (!the->pending[entry.cookie])
			ck_abort_msg("%u ended twice", (unsigned)entry.cookie);
		the->pending[entry.cookie] = 0;
		for (i = 0; i < SLOTS; i++) {
			if (the->waits[i] != 1 + entry.cookie)
				continue;
			the->waits[i] = 0;
			/* a slow DMA may still be in progress */
			if (the->world->config.pending)
				world_run_for(the->world, 5000);
			memset(the->slot[i], 'f', SLOT);
		}
	}
	while (world_received(the->port, &entry))
		if (entry.kind == BCL_CQ_SYSTEM || entry.kind == BCL_CQ_NOTIFY)
			world_block_free(the->port, entry.index);
	check_slots();
}

static void shut_and_open(void)
{
	world_port_close(the->port);
	if (the->world->config.pending)
		world_run_for(the->world, 5000);
	open_port();
}

/* Card 0 sends the fair peer a message, which takes no longer than without a
 * liar. */
static void be_fair(void)
{
	struct bcl_completion entry;
	unsigned ends = 0, came = 0, n;

	ck_assert(world_send(the->fair, the->fair_node, 1, "fair", 4, 1));
	for (n = 0; n < 50 && (!ends || !came); n++) {
		world_run_for(the->world, MS);
		while (world_sent(the->fair, &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			ends++;
		}
		while (world_received(the->other, &entry)) {
			world_block_free(the->other, entry.index);
			came++;
		}
	}
	ck_assert_msg(ends == 1 && came == 1, "a fair peer is served");
}

/* ---- storms ---- */

static void start(struct liar *liar, const struct world_config *config)
{
	the = liar;
	memset(liar, 0, sizeof(*liar));
	memset(liar->secret, 's', SECRETS);
	memset(liar->constant, 'c', SECRETS);
	liar->world = world_new(config);
	liar->world->filter = listen;
	open_port();
	liar->fair = world_port_open(liar->world, 0, FAIR_PORT);
	liar->other = world_port_open(liar->world, FAIR, 1);
	world_port_open(liar->world, BAD, BAD_PORT);
	liar->fair_node = world_connect(liar->world, 0, FAIR);
	begin();
}

static void check_memory(void)
{
	unsigned i;

	for (i = 0; i < SECRETS; i++)
		if (the->secret[i] != 's' || the->constant[i] != 'c')
			ck_abort_msg("byte %u was overwritten", i);
}

/* The pools of card 0 get back every entry that the liar held. */
static void finish(void)
{
	const struct world_card *card = &the->world->card[0];
	const uint32_t all = card->config.max_messages;
	const struct bcl_control disconnect = {
		.op = BCL_CTL_DISCONNECT,
		.node = the->node,
	};
	unsigned i;

	check_memory();
	the->speaks = false;
	world_kill(the->world, BAD);
	world_control(the->world, 0, &disconnect, NULL);
	world_run_for(the->world, 100 * (uint64_t)MS);
	collect();
	for (i = 0; i < COOKIES; i++)
		ck_assert_uint_eq(the->pending[i], 0);
	be_fair();
	world_run_for(the->world, 100 * (uint64_t)MS);
	ck_assert_uint_eq(card->card->messages.left, all);
	ck_assert_uint_eq(card->card->inbounds.left, all);
	ck_assert_uint_eq(card->card->flights.left, 4 * all);
	check_memory();
	world_free(the->world);
}

static void rage(void)
{
	unsigned step;

	for (step = 0; step < STEPS; step++) {
		if (lost() && below(4) == 0)
			begin_again();
		request();
		lie();
		if (below(2))
			lie();
		if (below(40) == 0)
			end_it();
		if (below(60) == 0)
			shut_and_open();
		if (below(30) == 0)
			be_fair();
		world_run_for(the->world, below(below(30) ? 60000 : 30 * MS));
		collect();
	}
}

static void add_up(uint64_t count[BCL_CARD_NCOUNTERS])
{
	unsigned i;

	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		count[i] +=
			world_counter(the->world, 0, (enum bcl_card_counter)i);
}

START_TEST(storms)
{
	static struct liar liar;
	uint64_t count[BCL_CARD_NCOUNTERS] = { 0 };
	unsigned seeds = world_seeds(60), s;

	for (s = 0; s < seeds; s++) {
		const uint64_t seed = world_seed(s);
		const struct world_config config = {
			.seed = seed,
			.cards = 3,
			.rails = 1 + seed / 2 % 2,
			.stripe = seed / 4 % 2,
			.pending = seed % 2,
			.wrap = seed % 3 == 0,
			.messages = seed % 5 ? 64 : 256,
			.peer_timeout = 400 * (uint64_t)MS,
		};

		world_note(seed);
		start(&liar, &config);
		rage();
		add_up(count);
		finish();
		world_note(0);
	}
	if (seeds < 20)
		return;
	ck_assert_uint_gt(count[BCL_CARD_messages_sent], 0);
	ck_assert_uint_gt(count[BCL_CARD_refusals_seen], 0);
	ck_assert_uint_gt(count[BCL_CARD_lost], 0);
	ck_assert_uint_gt(count[BCL_CARD_cancelled], 0);
	ck_assert_uint_gt(count[BCL_CARD_rails_lost], 0);
	ck_assert_uint_gt(count[BCL_CARD_refused_reply], 0);
	ck_assert_uint_gt(count[BCL_CARD_failed_memory], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card liar");
	TCase *tcase = tcase_create("liar");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, storms);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
