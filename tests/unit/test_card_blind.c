/* SPDX-License-Identifier: MIT */
/*
 * The card core against a stranger to the job. Cards 0 and 1 are connected, and
 * card 2 sends forged frames to both. A stranger has to guess the secrets of a
 * connection. The tests give card 2 all secrets but one, and the missing secret
 * keeps the forged frames out. In other tests card 2 has recorded all frames of
 * cards 0 and 1 and sends the frames again.
 */
#include "unit.h"

#include <stddef.h>
#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

enum {
	STRANGER = 2,
	KEPT = 4096,
	HEAD = sizeof(struct bcl_frame_header),
};

static struct {
	struct world *world;
	struct world_port *port[2];
	uint32_t node[2]; /* [i]: the peer, at card i */
} pair;

static struct world_frame kept[KEPT];
static unsigned nkept;

static bool keep(struct world *world, struct world_frame *frame)
{
	(void)world;
	if (nkept < KEPT)
		kept[nkept++] = *frame;
	return true;
}

static void setup(const struct world_config *config)
{
	unsigned i;

	nkept = 0;
	pair.world = world_new(config);
	pair.world->filter = keep;
	for (i = 0; i < 2; i++)
		pair.port[i] = world_port_open(pair.world, i, 1);
	pair.node[0] = world_connect(pair.world, 0, 1);
	world_run_for(pair.world, MS);
	pair.node[1] = world_connect(pair.world, 1, 0);
	world_run_for(pair.world, MS);
}

static unsigned kind_of(const struct world_frame *frame)
{
	return frame->bytes[3] & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
}

/* The last recorded frame of this kind to card 1. */
static const struct world_frame *last(unsigned kind)
{
	unsigned i = nkept;

	while (i > 0 && (kept[i - 1].to != 1 || kind_of(&kept[i - 1]) != kind))
		i--;
	ck_assert_uint_gt(i, 0);
	return &kept[i - 1];
}

static uint64_t counted(unsigned card, enum bcl_card_counter counter)
{
	return world_counter(pair.world, card, counter);
}

static void one_message(unsigned from)
{
	struct bcl_completion entry;

	ck_assert(world_send(pair.port[from], pair.node[from], 1, "x", 1, 0));
	world_run_for(pair.world, 400 * MS);
	ck_assert(world_sent(pair.port[from], &entry));
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert(world_received(pair.port[!from], &entry));
	world_block_free(pair.port[!from], entry.index);
	ck_assert(!world_received(pair.port[!from], &entry));
}

/* Cards 0 and 1 are still connected, and have learnt no address from card 2. */
static void undisturbed(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		const struct world_card *card = &pair.world->card[i];

		one_message(i);
		ck_assert_uint_eq(card->misled, 0);
		ck_assert_uint_eq(card->node[pair.node[i]].losses, 0);
		ck_assert_uint_eq(card->node[pair.node[i]].ups, 1);
	}
}

static void send_as_stranger(unsigned to, const uint8_t *frame, uint32_t length)
{
	world_inject(pair.world, STRANGER, to, 0, frame, length);
	world_run_for(pair.world, 50000);
}

/* The secrets of a connection: numbers in the frame header, and the seal, with
 * which the header checksum is xored. */
static const struct secret {
	size_t at;
	enum bcl_card_counter counter;
} secrets[] = {
	{ offsetof(struct bcl_frame_header, conn), BCL_CARD_dropped_conn },
	{ offsetof(struct bcl_frame_header, hcrc), BCL_CARD_dropped_hcrc },
	{ offsetof(struct bcl_frame_header, seq), BCL_CARD_dropped_numbers },
	{ offsetof(struct bcl_frame_header, ack), BCL_CARD_dropped_numbers },
	{ offsetof(struct bcl_frame_header, done), BCL_CARD_dropped_numbers },
	{ offsetof(struct bcl_frame_header, base), BCL_CARD_dropped_numbers },
};

/* Send card 1 a frame of this kind as card 0 could send next, with one secret
 * wrong by `off`. */
static void forge(unsigned kind, const struct secret *secret, uint32_t off)
{
	const struct world_frame *model = last(BCL_FRAME_DATA);
	uint32_t seal = world_seal_of(model->bytes);
	struct bcl_le32 field;
	struct bcl_frame_header *header;
	static uint8_t frame[BCL_FRAME_MAX];
	uint64_t before;

	memcpy(frame, model->bytes, model->length);
	header = (void *)frame;
	header->kind = (uint8_t)(kind | BCL_FRAME_PCRC);
	header->seq = bcl_put32(bcl_get32(header->seq) + 1);
	if (kind != BCL_FRAME_DATA)
		memset(frame + HEAD, 0, model->length - HEAD);
	if (secret->counter == BCL_CARD_dropped_hcrc) {
		seal += off;
	} else {
		memcpy(&field, frame + secret->at, sizeof(field));
		field = bcl_put32(bcl_get32(field) + off);
		memcpy(frame + secret->at, &field, sizeof(field));
	}
	world_seal(frame, BCL_HEADERS_SIZE, seal);
	before = counted(1, secret->counter);
	send_as_stranger(1, frame, BCL_HEADERS_SIZE);
	ck_assert_uint_eq(counted(1, secret->counter), before + 1);
}

START_TEST(every_secret_is_needed)
{
	static const uint8_t kinds[] = { BCL_FRAME_DATA, BCL_FRAME_ACK,
					 BCL_FRAME_PING, BCL_FRAME_BYE,
					 BCL_FRAME_PARK };
	static const uint32_t off[] = { 1u << 20, 1u << 31, 0u - (1u << 20) };
	const struct world_config config = { .seed = 1, .cards = 3 };
	const struct secret *secret = &secrets[_i];
	unsigned i, k;

	setup(&config);
	one_message(0);
	for (i = 0; i < sizeof(kinds); i++)
		for (k = 0; k < 3; k++)
			forge(kinds[i], secret, off[k]);
	undisturbed();
	world_free(pair.world);
}
END_TEST

/* RESET returns the headers of a frame of card 0. Here the headers are right
 * except for the seal, which a forger does not know. */
START_TEST(reset_needs_what_it_answers)
{
	const struct world_config config = { .seed = 1, .cards = 3 };
	uint8_t frame[HEAD + BCL_HEADERS_SIZE] = { 0 };
	struct bcl_frame_header *header = (void *)frame, *inner;
	uint64_t before;
	unsigned bit;

	setup(&config);
	one_message(0);
	memcpy(frame, last(BCL_FRAME_DATA)->bytes, HEAD);
	memcpy(frame + HEAD, last(BCL_FRAME_DATA)->bytes, BCL_HEADERS_SIZE);
	inner = (void *)(frame + HEAD);
	header->kind = BCL_FRAME_RESET | BCL_FRAME_PCRC;
	header->card = bcl_put64(0);
	for (bit = 0; bit < 32; bit++) {
		inner->hcrc.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
		world_seal(frame, sizeof(frame), 0);
		before = counted(0, BCL_CARD_dropped_conn);
		send_as_stranger(0, frame, sizeof(frame));
		ck_assert_uint_eq(counted(0, BCL_CARD_dropped_conn),
				  before + 1);
		inner->hcrc.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	world_seal(frame, BCL_HEADERS_SIZE, 0);
	before = counted(0, BCL_CARD_dropped_short);
	send_as_stranger(0, frame, BCL_HEADERS_SIZE);
	ck_assert_uint_eq(counted(0, BCL_CARD_dropped_short), before + 1);
	undisturbed();
	world_free(pair.world);
}
END_TEST

/* HELLO, HELLO_ACK and PING, with everything right but the proof. */
START_TEST(key_is_needed)
{
	static const uint8_t kinds[] = { BCL_FRAME_HELLO, BCL_FRAME_HELLO_ACK,
					 BCL_FRAME_PING };
	const struct world_config config = { .seed = 1, .cards = 3 };
	const uint8_t none[BCL_KEY_SIZE] = { 0 };
	uint8_t frame[HEAD + sizeof(struct bcl_hello)];
	struct bcl_hello *hello = (void *)(frame + HEAD);
	uint8_t kind = kinds[_i];
	unsigned i;

	setup(&config);
	last(BCL_FRAME_HELLO);
	for (i = 0; i < nkept; i++) {
		if (kind_of(&kept[i]) != kind || kept[i].length < sizeof(frame))
			continue;
		memcpy(frame, kept[i].bytes, sizeof(frame));
		hello->turn++;
		hello->first_seq = bcl_put32(1);
		world_prove(frame, sizeof(frame), none);
		world_seal(frame, sizeof(frame), world_seal_of(kept[i].bytes));
		send_as_stranger(kept[i].to, frame, sizeof(frame));
	}
	if (kind == BCL_FRAME_HELLO)
		ck_assert_uint_gt(counted(1, BCL_CARD_refuses_sent), 0);
	undisturbed();
	world_free(pair.world);
}
END_TEST

static bool no_answer(struct world *world, struct world_frame *frame)
{
	return keep(world, frame) && kind_of(frame) != BCL_FRAME_HELLO_ACK;
}

/* A stranger refuses a call. The stranger knows the connection id in the HELLO,
 * but not the nonce, so the caller goes on. Cards of an older version do not
 * know a nonce, either: the caller reports the reason of an older card if
 * nobody answers. */
START_TEST(refusal_needs_the_call)
{
	const struct world_config config = { .seed = 1,
					     .cards = 3,
					     .peer_timeout = SECOND };
	static const struct {
		enum bcl_status reason, end;
		uint32_t version;
	} refusals[] = {
		{ BCL_ERR_JOBKEY, BCL_ERR_UNREACHABLE, BCL_WIRE_VERSION },
		{ BCL_ERR_ISOLATED, BCL_ERR_UNREACHABLE, BCL_WIRE_NONCE - 1 },
		{ BCL_ERR_VERSION, BCL_ERR_UNREACHABLE, BCL_WIRE_VERSION },
		{ BCL_ERR_VERSION, BCL_ERR_VERSION, BCL_WIRE_NONCE - 1 },
	};
	const struct bcl_refuse body = {
		bcl_put32(refusals[_i].reason),
		bcl_put32(refusals[_i].version),
		bcl_put64(0),
	};
	uint8_t frame[BCL_HEADERS_SIZE] = { 0 };
	struct bcl_frame_header *header = (void *)frame;
	const struct bcl_hello *hello;
	const struct world_node *node;

	nkept = 0;
	pair.world = world_new(&config);
	pair.world->filter = no_answer;
	pair.port[0] = world_port_open(pair.world, 0, 1);
	pair.node[0] = world_connect(pair.world, 0, 1);
	hello = (const void *)(last(BCL_FRAME_HELLO)->bytes + HEAD);
	*header = (struct bcl_frame_header){
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_VERSION,
		.kind = BCL_FRAME_REFUSE,
		.conn = hello->conn,
		.card = bcl_put64(world_card_id(pair.world, 0)),
	};
	memcpy(frame + HEAD, &body, sizeof(body));
	world_seal(frame, sizeof(frame), 0);
	send_as_stranger(0, frame, sizeof(frame));
	node = &pair.world->card[0].node[pair.node[0]];
	ck_assert_uint_eq(counted(0, BCL_CARD_dropped_state), 1);
	ck_assert_int_eq(node->state, BCL_NODE_CONNECTING);
	world_run_for(pair.world, 2 * SECOND);
	ck_assert_int_eq(node->state, BCL_NODE_LOST);
	ck_assert_int_eq(node->status, refusals[_i].end);
	world_free(pair.world);
}
END_TEST

/* Card 2 sends recorded frames of cards 0 and 1 again, in any order and more
 * than once, while cards 0 and 1 go on talking. */
START_TEST(frames_again)
{
	uint64_t seed = world_seed((unsigned)_i);
	const struct world_config config = { .seed = seed,
					     .cards = 3,
					     .rails = 1 + seed % 2,
					     .pending = seed % 3 == 0,
					     .peer_timeout = SECOND };
	unsigned n, i, which;

	world_note(seed);
	setup(&config);
	undisturbed();
	world_run_for(pair.world, 2 * SECOND); /* PINGs, and HELLOs */
	n = nkept;
	ck_assert_uint_gt(n, 20);
	for (i = 0; i < 4 * n; i++) {
		which = world_random(pair.world, n);
		world_inject(pair.world, STRANGER, kept[which].to,
			     kept[which].rail, kept[which].bytes,
			     kept[which].length);
		world_run_for(pair.world, world_random(pair.world, 3000));
		if (i % 50 == 0)
			undisturbed();
	}
	world_run_for(pair.world, SECOND);
	undisturbed();
	world_free(pair.world);
	world_note(0);
}
END_TEST

static void new_life(void)
{
	world_kill(pair.world, 0);
	world_revive(pair.world, 0);
	pair.port[0] = world_port_open(pair.world, 0, 1);
	pair.node[0] = world_connect(pair.world, 0, 1);
}

/* Card 2 keeps sending a HELLO of a former life of card 0, and card 1 waits for
 * a proof of the former life. Card 0 calls in a new life and is answered in the
 * end: the copies do not prolong the wait. */
START_TEST(old_calls_keep_nobody_out)
{
	const struct world_config config = { .seed = 1, .cards = 3 };
	static struct world_frame old;
	unsigned i;

	setup(&config);
	old = *last(BCL_FRAME_HELLO);
	new_life();
	world_run_for(pair.world, MS);
	world_link(pair.world, 0, 1, 0, false);
	new_life();
	for (i = 0; i < 40; i++) {
		world_inject(pair.world, STRANGER, 1, 0, old.bytes, old.length);
		world_run_for(pair.world, 50 * MS);
		world_link(pair.world, 0, 1, 0, true);
	}
	ck_assert_int_eq(pair.world->card[0].node[pair.node[0]].state,
			 BCL_NODE_UP);
	one_message(0);
	ck_assert_uint_eq(pair.world->card[1].misled, 0);
	world_free(pair.world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blind");
	TCase *tcase = tcase_create("blind");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, every_secret_is_needed, 0,
			    sizeof(secrets) / sizeof(*secrets));
	tcase_add_test(tcase, reset_needs_what_it_answers);
	tcase_add_loop_test(tcase, key_is_needed, 0, 3);
	tcase_add_loop_test(tcase, refusal_needs_the_call, 0, 4);
	tcase_add_loop_test(tcase, frames_again, 0, (int)world_seeds(20));
	tcase_add_test(tcase, old_calls_keep_nobody_out);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
