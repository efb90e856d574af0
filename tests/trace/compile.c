/* SPDX-License-Identifier: MIT */
/*
 * A trace written by hand becomes a pcapng file: compile TEXT FILE
 *
 *  card a           a card, with interfaces for records and two rails
 *  connect a b      the handshake of both, by rail 0
 *  include good     the lines of good.trace beside this file
 *  repeat 9 LINE    the line nine times; # is the number of each, from 1
 *  10 a request port=1 card=b peer_port=2 number=0 length=3 op=1
 *  11 a>b data / system msg=1 port=1 to=2 text=abc
 *
 * A line begins with its time in us, or with a dot: 1 us after the line before.
 * Then a card and one of its records (record.h), or a frame: a>b is sent by a
 * and comes to b half a us later, a>|b is lost, a|>b comes to b only. Fields
 * are named like those of struct bcl_record, and of the headers in wire.h. A
 * frame's conn, seq, ack, done and base are what they should be, unless they
 * are given; those of DATA count up. Segments follow, each behind a slash;
 * `port` and `to` are its ports, `text` its payload, `values` and `bits` those
 * of VERDICT and SACK. damage: a bit of the frame that comes is turned;
 * unsealed: it is sealed for no connection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/card_abi.h>

#include "env/crc32c.h"
#include "wire/pcapng.h"
#include "wire/trace.h"

enum {
	CARDS = 8,
	RAILS = 2,
	WORDS = 64,
	LINE = 512,
};

struct towards {
	uint32_t seq, ack, done, base;
};

struct card {
	char name[16];
	unsigned host, rails[RAILS]; /* interfaces */
	uint32_t life;
	struct towards to[CARDS];
};

static struct card cards[CARDS];
static unsigned ncards;
static struct bcl_pcapng file;
static uint64_t now; /* ns */
static const char *where;
static unsigned line_number;

static void __attribute__((noreturn)) fail(const char *what, const char *word)
{
	fprintf(stderr, "%s:%u: %s '%s'\n", where, line_number, what, word);
	exit(2);
}

static unsigned card_find(const char *name, size_t length)
{
	unsigned i;

	for (i = 0; i < ncards; i++)
		if (strlen(cards[i].name) == length &&
		    !strncmp(cards[i].name, name, length))
			return i;
	fail("no such card", name);
}

static uint64_t card_id(unsigned card)
{
	return 0xca4d0000 + card;
}

/* How a life of `of` names its connection with one of `peer`, on rail 0. */
static uint32_t conn_id(unsigned of, unsigned peer)
{
	return 0x10000 + of * 0x1000 + peer * 0x100 + cards[of].life * 0x20 +
	       cards[peer].life * 4;
}

/* ---- words ---- */

static char *words[WORDS];
static unsigned nwords;

static void split(char *line)
{
	char *word;

	nwords = 0;
	for (word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		if (nwords == WORDS)
			fail("too many words before", word);
		words[nwords++] = word;
	}
}

/* The value of key= among words[first..end); NULL: not given. */
static const char *given(unsigned first, unsigned end, const char *key)
{
	size_t length = strlen(key);
	unsigned i;

	for (i = first; i < end; i++)
		if (!strncmp(words[i], key, length) && words[i][length] == '=')
			return words[i] + length + 1;
	return NULL;
}

static uint64_t value(unsigned first, unsigned end, const char *key,
		      uint64_t otherwise)
{
	const char *text = given(first, end, key);
	char *rest;
	uint64_t number;

	if (!text)
		return otherwise;
	number = strtoull(text, &rest, 0);
	if (!*rest && rest != text)
		return number;
	return card_id(card_find(text, strlen(text)));
}

static bool flag(unsigned first, unsigned end, const char *word)
{
	unsigned i;

	for (i = first; i < end; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

static unsigned number_of(const char *const *names, unsigned n,
			  const char *word)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], word))
			return i;
	return 0;
}

#define NUMBER_OF(names, word) \
	number_of(names, sizeof(names) / sizeof(*(names)), word)

/* ---- records ---- */

static const char *const records[] = {
	[BCL_RECORD_OPENED] = "opened",
	[BCL_RECORD_CLOSED] = "closed",
	[BCL_RECORD_CRASHED] = "crashed",
	[BCL_RECORD_PORT_OPENED] = "port_opened",
	[BCL_RECORD_PORT_CLOSED] = "port_closed",
	[BCL_RECORD_REQUEST] = "request",
	[BCL_RECORD_COMPLETED] = "completed",
	[BCL_RECORD_DELIVERED] = "delivered",
	[BCL_RECORD_RING] = "ring",
	[BCL_RECORD_NODE] = "node",
	[BCL_RECORD_MEMORY] = "memory",
	[BCL_RECORD_UNSEEN] = "unseen",
};

static void begin_life(unsigned card, uint32_t life)
{
	unsigned i;

	cards[card].life = life;
	memset(cards[card].to, 0, sizeof(cards[card].to));
	for (i = 0; i < CARDS; i++)
		cards[i].to[card] = (struct towards){ 0 };
}

static void put_record(unsigned card)
{
	const char *text = given(2, nwords, "text");
	struct bcl_record_wire wire;
	struct bcl_record record = {
		.kind = (uint8_t)NUMBER_OF(records, words[1]),
		.op = (uint8_t)value(2, nwords, "op", 0),
		.type = (uint8_t)value(2, nwords, "type", 0),
		.port = (uint16_t)value(2, nwords, "port", 0),
		.peer_port = (uint16_t)value(2, nwords, "peer_port", 0),
		.number = (uint32_t)value(2, nwords, "number", 0),
		.length = (uint32_t)value(2, nwords, "length", 0),
		.target = (uint32_t)value(2, nwords, "target", 0),
		.arg32 = (uint32_t)value(2, nwords, "arg32", 0),
		.freed = (uint32_t)value(2, nwords, "freed", 0),
		.status = (uint16_t)value(2, nwords, "status", 0),
		.card = value(2, nwords, "card", 0),
		.value = value(2, nwords, "value", 0),
	};

	if (!record.kind)
		fail("no record", words[1]);
	if (text) {
		record.flags = BCL_RECORD_DIGEST;
		record.length = (uint32_t)strlen(text);
		record.digest = bcl_crc32c(0, text, record.length);
	}
	if (flag(2, nwords, "early"))
		record.flags |= BCL_RECORD_EARLY;
	if (record.kind == BCL_RECORD_OPENED) {
		if (!record.card)
			record.card = card_id(card);
		begin_life(card, (uint32_t)record.value);
	}
	bcl_record_encode(&record, &wire);
	bcl_pcapng_packet(&file, cards[card].host, now, BCL_PCAPNG_NO_DIRECTION,
			  &(struct iovec){ &wire, sizeof(wire) }, 1);
}

/* ---- frames ---- */

static const char *const kinds[] = {
	[BCL_FRAME_HELLO] = "hello",   [BCL_FRAME_HELLO_ACK] = "hello_ack",
	[BCL_FRAME_REFUSE] = "refuse", [BCL_FRAME_RESET] = "reset",
	[BCL_FRAME_DATA] = "data",     [BCL_FRAME_ACK] = "ack",
	[BCL_FRAME_PING] = "ping",     [BCL_FRAME_BYE] = "bye",
	[BCL_FRAME_PARK] = "park",
};

static const char *const ops[] = {
	[BCL_SEG_SYSTEM] = "system",
	[BCL_SEG_CHANNEL] = "channel",
	[BCL_SEG_PUT] = "put",
	[BCL_SEG_PUT_NOTIFY] = "put_notify",
	[BCL_SEG_GET] = "get",
	[BCL_SEG_GET_REPLY] = "get_reply",
	[BCL_SEG_FETCH_ADD] = "fetch_add",
	[BCL_SEG_COMPARE_SWAP] = "compare_swap",
	[BCL_SEG_ATOMIC_REPLY] = "atomic_reply",
	[BCL_SEG_SACK] = "sack",
	[BCL_SEG_VERDICT] = "verdict",
	[BCL_SEG_ROOM] = "room",
	[BCL_SEG_WITHDRAW] = "withdraw",
	[BCL_SEG_RAIL_DOWN] = "rail-down",
};

/* The words of a segment; its payload goes to `to`. Returns its bytes. */
static unsigned fill_segment(unsigned first, unsigned end,
			     struct bcl_segment_header *header, uint8_t *to)
{
	const char *text = given(first, end, "text");
	const char *values = given(first, end, "values");
	const char *bits = given(first, end, "bits");
	unsigned op = NUMBER_OF(ops, words[first]), length = 0, n = 0, i;

	if (text) {
		length = (unsigned)strlen(text);
		memcpy(to, text, length);
	} else if (values) {
		for (n = 0; values[n]; n++)
			to[n / 2] |= (uint8_t)((values[n] - '0') << n % 2 * 4);
		length = (n + 1) / 2;
	} else if (bits) {
		for (n = 0; bits[n]; n++)
			to[n / 8] |= (uint8_t)((bits[n] == '1') << n % 8);
		length = (n + 7) / 8;
	}
	i = (unsigned)value(first, end, "length", length);
	*header = (struct bcl_segment_header){
		.op = (uint8_t)(op ? op : value(first, end, "op", 99)),
		.type = (uint8_t)value(first, end, "type", 0),
		.length = bcl_put16((uint16_t)i),
		.src_port = bcl_put16((uint16_t)value(first, end, "port", 0)),
		.dst_port = bcl_put16((uint16_t)value(first, end, "to", 0)),
		.msg = bcl_put32((uint32_t)value(first, end, "msg", 0)),
		.prev = bcl_put32((uint32_t)value(first, end, "prev", 0)),
		.offset = bcl_put32((uint32_t)value(first, end, "offset", 0)),
		.total = bcl_put32((uint32_t)value(
			first, end, "total", op < BCL_SEG_SACK ? length : 0)),
		.target = bcl_put32((uint32_t)value(first, end, "target", 0)),
		.arg32 = bcl_put32((uint32_t)value(first, end, "arg32", n)),
		.targ64 = bcl_put64(value(first, end, "targ64", 0)),
	};
	return length;
}

/* All segments behind word `first`, into bytes behind the frame header. */
static unsigned fill_segments(unsigned first, uint8_t *frame)
{
	unsigned at = sizeof(struct bcl_frame_header), end, length = 0;
	struct bcl_segment_header header;

	while (first < nwords) {
		for (end = first; end < nwords && strcmp(words[end], "/");
		     end++)
			;
		at = (at + 7) / 8 * 8;
		length = fill_segment(first, end, &header,
				      frame + at + sizeof(header));
		memcpy(frame + at, &header, sizeof(header));
		at += (unsigned)sizeof(header) + length;
		first = end + 1;
	}
	return at < BCL_FRAME_MIN ? BCL_FRAME_MIN : at;
}

static unsigned fill_hello(unsigned from, unsigned to, unsigned rail,
			   unsigned end, uint8_t *frame)
{
	bool answer = !strcmp(words[2], "hello_ack");
	struct bcl_hello hello = {
		.card = bcl_put64(value(3, end, "own", card_id(from))),
		.incarnation =
			bcl_put64(value(3, end, "life", cards[from].life)),
		.peer_incarnation =
			bcl_put64(value(3, end, "peer_incarnation",
					answer ? cards[to].life : 0)),
		.conn = bcl_put32((uint32_t)value(3, end, "id",
						  conn_id(from, to) | rail)),
		.window = bcl_put32(1 << 20),
		.max_frame = bcl_put16(1472),
		.features = bcl_put16(BCL_FEATURE_PCRC),
		.first_msg = bcl_put32((uint32_t)value(3, end, "first_msg", 1)),
		.first_seq = bcl_put32((uint32_t)value(3, end, "first_seq", 1)),
		.rail = (uint8_t)rail,
		.nonce = bcl_put64(now + 1),
	};

	memcpy(frame + sizeof(struct bcl_frame_header), &hello, sizeof(hello));
	return sizeof(struct bcl_frame_header) + sizeof(hello);
}

static void put_frame(unsigned card, unsigned rail,
		      enum bcl_pcapng_flags direction, uint8_t *frame,
		      unsigned length)
{
	uint8_t ethernet[14 + sizeof(struct bcl_ether_prefix)] = {
		[12] = BCL_ETHERTYPE >> 8,
		[13] = BCL_ETHERTYPE & 255,
	};
	const struct bcl_ether_prefix prefix = {
		.length = bcl_put16((uint16_t)length),
	};
	const struct iovec pieces[] = {
		{ ethernet, sizeof(ethernet) },
		{ frame, length },
	};

	memcpy(ethernet + 14, &prefix, sizeof(prefix));
	bcl_pcapng_packet(&file, cards[card].rails[rail], now, direction,
			  pieces, 2);
}

/* Any, as long as each connection has its own. */
static uint32_t seal_of(const struct bcl_frame_header *header)
{
	unsigned kind = header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);

	return kind > BCL_FRAME_RESET
		       ? 0x5ea10000 + (bcl_get32(header->conn) & ~3u)
		       : 0;
}

static void seal(struct bcl_frame_header *header, const uint8_t *frame,
		 unsigned length)
{
	header->pcrc = bcl_put32(bcl_crc32c(0, frame + BCL_HEADERS_SIZE,
					    length - BCL_HEADERS_SIZE));
	header->hcrc = bcl_put32(bcl_crc32c_headers(frame) ^ seal_of(header));
}

/* words[1] is the way, words[2] the kind; the rest are fields. */
static void make_frame(unsigned from, unsigned to, bool sent, bool came)
{
	static uint8_t frame[BCL_FRAME_MAX];
	struct bcl_frame_header *header = (void *)frame;
	struct towards *own = &cards[from].to[to], *back = &cards[to].to[from];
	unsigned kind = NUMBER_OF(kinds, words[2]), end = 3, length, rail;
	uint32_t seq;

	while (end < nwords && strcmp(words[end], "/"))
		end++;
	if (!kind)
		kind = (unsigned)value(3, end, "kind", 0);
	rail = (unsigned)value(3, end, "rail", 0);
	memset(frame, 0, sizeof(frame));
	length = kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK
			 ? fill_hello(from, to, rail, end, frame)
			 : fill_segments(end + 1, frame);
	own->done = (uint32_t)value(3, end, "done", own->done ? own->done : 1);
	own->base = (uint32_t)value(3, end, "base", own->base ? own->base : 1);
	own->seq = own->seq ? own->seq : 1;
	back->ack = back->ack ? back->ack : 1;
	own->ack = own->ack ? own->ack : 1;
	seq = (uint32_t)value(3, end, "seq", own->seq);
	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->version = BCL_WIRE_VERSION;
	header->kind = (uint8_t)(kind | BCL_FRAME_PCRC);
	header->conn = bcl_put32((uint32_t)value(
		3, end, "conn",
		kind == BCL_FRAME_HELLO ? 0 : conn_id(to, from) | rail));
	header->card = bcl_put64(value(3, end, "card", card_id(to)));
	header->seq = bcl_put32(seq);
	header->ack = bcl_put32((uint32_t)value(3, end, "ack", own->ack));
	header->done = bcl_put32(own->done);
	header->base = bcl_put32(own->base);
	seal(header, frame, length);
	if (flag(3, end, "forge"))
		frame[length - 1] ^= 1;
	if (flag(3, end, "unsealed"))
		header->hcrc = bcl_put32(bcl_crc32c_headers(frame));
	if (kind == BCL_FRAME_DATA && seq == own->seq && sent)
		own->seq++;
	if (sent)
		put_frame(from, rail, BCL_PCAPNG_OUTBOUND, frame, length);
	now += 500;
	if (flag(3, end, "damage"))
		frame[length - 1] ^= 1;
	else if (kind == BCL_FRAME_DATA && came && seq == back->ack)
		back->ack++;
	if (came)
		put_frame(to, rail, BCL_PCAPNG_INBOUND, frame, length);
}

/* a>b, a>|b, a|>b */
static bool way(unsigned *from, unsigned *to, bool *sent, bool *came)
{
	const char *word = words[1], *arrow = strchr(word, '>');
	size_t left;

	if (!arrow)
		return false;
	left = (size_t)(arrow - word);
	*sent = left == 0 || arrow[-1] != '|';
	*came = arrow[1] != '|';
	*from = card_find(word, left - !*sent);
	arrow += *came ? 1 : 2;
	*to = card_find(arrow, strlen(arrow));
	return true;
}

/* ---- lines ---- */

static void add_card(const char *name)
{
	struct card *card = &cards[ncards];
	char about[BCL_PCAPNG_TEXT];
	unsigned r;

	if (ncards == CARDS)
		fail("too many cards before", name);
	snprintf(card->name, sizeof(card->name), "%s", name);
	snprintf(about, sizeof(about), BCL_TRACE_HOST, card_id(ncards));
	card->host = file.interfaces;
	bcl_pcapng_interface(&file, BCL_PCAPNG_RECORD, name, about);
	for (r = 0; r < RAILS; r++) {
		snprintf(about, sizeof(about), BCL_TRACE_RAIL, card_id(ncards),
			 r);
		card->rails[r] = file.interfaces;
		bcl_pcapng_interface(&file, BCL_PCAPNG_ETHERNET, name, about);
	}
	ncards++;
}

static void compile(char *line);

static void connect_cards(const char *a, const char *b)
{
	static const char *const lines[] = {
		". %s>%s hello",
		". %s>%s hello_ack",
		". %s>%s ping",
		". %s>%s ack",
	};
	char line[LINE];
	unsigned i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(line, sizeof(line), lines[i], i % 2 ? b : a,
			 i % 2 ? a : b);
		compile(line);
	}
}

static void read_lines(const char *name);

static void include(const char *name)
{
	char path[LINE], here[LINE];
	const char *outer = where;
	unsigned number = line_number;
	char *slash;

	snprintf(here, sizeof(here), "%s", where);
	slash = strrchr(here, '/');
	*(slash ? slash : here) = 0;
	snprintf(path, sizeof(path), "%.200s/%.200s.trace", here, name);
	read_lines(path);
	where = outer;
	line_number = number;
}

static void repeat(const char *text)
{
	const char *hash;
	char line[LINE];
	unsigned times, i;
	int head;

	if (sscanf(text, "repeat %u %n", &times, &head) != 1)
		fail("repeat what", text);
	text += head;
	hash = strchr(text, '#');
	for (i = 1; i <= times; i++) {
		if (hash)
			snprintf(line, sizeof(line), "%.*s%u%s",
				 (int)(hash - text), text, i, hash + 1);
		else
			snprintf(line, sizeof(line), "%s", text);
		compile(line);
	}
}

static void compile(char *line)
{
	unsigned from, to;
	bool sent, came;
	char *rest;

	if (*line == '#')
		return;
	if (!strncmp(line, "repeat ", 7)) {
		repeat(line);
		return;
	}
	split(line);
	if (nwords == 0)
		return;
	if (nwords == 2 && !strcmp(words[0], "card")) {
		add_card(words[1]);
		return;
	}
	if (nwords == 2 && !strcmp(words[0], "include")) {
		include(words[1]);
		return;
	}
	if (nwords == 3 && !strcmp(words[0], "connect")) {
		connect_cards(words[1], words[2]);
		return;
	}
	if (!strcmp(words[0], ".")) {
		now = now / 1000 * 1000 + 1000;
	} else {
		now = strtoull(words[0], &rest, 10) * 1000;
		if (*rest)
			fail("no time", words[0]);
	}
	if (nwords < 3)
		fail("half a line behind", words[0]);
	if (way(&from, &to, &sent, &came)) {
		make_frame(from, to, sent, came);
		return;
	}
	from = card_find(words[1], strlen(words[1]));
	memmove(words + 1, words + 2, (nwords - 2) * sizeof(*words));
	nwords--;
	put_record(from);
}

static void read_lines(const char *name)
{
	FILE *stream = fopen(name, "r");
	char line[LINE];

	if (!stream) {
		perror(name);
		exit(2);
	}
	where = name;
	line_number = 0;
	while (fgets(line, sizeof(line), stream)) {
		line_number++;
		compile(line);
	}
	fclose(stream);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: compile TEXT FILE\n");
		return 2;
	}
	if (!bcl_pcapng_open(&file, argv[2])) {
		perror(argv[2]);
		return 2;
	}
	read_lines(argv[1]);
	if (file.broken) {
		perror(argv[2]);
		return 2;
	}
	bcl_pcapng_close(&file);
	return 0;
}
