/* SPDX-License-Identifier: MIT */
/*
 * The ADI's work per message, for adi-cost.sh to count instructions.
 *
 *   adi-cost receives N ROUNDS  N receives of different keys are posted; each
 *                               round matches one receive and posts it again
 *   adi-cost messages N ROUNDS  the same with unexpected messages
 *   adi-cost posted 0 ROUNDS    8 bytes to a posted receive in the same host
 *   adi-cost kept 0 ROUNDS      8 bytes, received after the message came
 *   adi-cost transport 0 ROUNDS 8 bytes by the transport alone
 *   adi-cost blocking 0 ROUNDS  8 bytes; the receiver has looked in vain
 *                               before: count the instructions of pass()
 *   adi-cost window 0 ROUNDS    8 bytes of a window of 64
 *   adi-cost packets N ROUNDS   packets of 24 bytes and of a piece of N; the
 *                               receiver has looked in vain before: count the
 *                               instructions of hand()
 */
#include <string.h>

#include <bcl/adi.h>

#include "adi/match.h"
#include "tests/unit/need.h"
#include "transport/boot/boot.h"
#include "transport/context.h"

/* ---- matching ---- */

enum {
	MOST = 10000,
	WINDOW = 64,
};

static struct bcl_match match;
static struct bcl_match_receive receives[MOST];
static struct bcl_match_message messages[MOST];
static uint64_t keys[MOST];
static unsigned order[MOST];

static void make_keys(unsigned n)
{
	unsigned i, j, swap;

	bcl_match_open(&match, &bcl_env_linux);
	for (i = 0; i < n; i++) {
		keys[i] = bcl_match_key(i % 3, i % 61, i);
		order[i] = i;
	}
	for (i = n; i-- > 1;) {
		j = (i * 2654435761u) % (i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

static void match_receives(unsigned n, unsigned rounds)
{
	struct bcl_match_receive *receive;
	unsigned i, k = 0;

	make_keys(n);
	for (i = 0; i < n; i++)
		bcl_match_post(&match, &receives[i], keys[i], 0);
	for (i = 0; i < rounds; i++) {
		receive = bcl_match_arrive(&match, keys[order[k]]);
		bcl_match_post(&match, receive, keys[order[k]], 0);
		if (++k == n)
			k = 0;
	}
}

static void match_messages(unsigned n, unsigned rounds)
{
	struct bcl_match_message *message;
	unsigned i, k = 0;

	make_keys(n);
	for (i = 0; i < n; i++)
		bcl_match_keep(&match, &messages[i], keys[i]);
	for (i = 0; i < rounds; i++) {
		message = bcl_match_find(&match, keys[order[k]], 0);
		bcl_match_take(&match, message);
		bcl_match_keep(&match, message, keys[order[k]]);
		if (++k == n)
			k = 0;
	}
}

/* ---- a job of two in one process ---- */

static struct {
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;
} published[2];

static enum bcl_status put(struct bcl_boot *boot, const char *name,
			   const void *value, size_t length)
{
	(void)name;
	memcpy(published[boot->rank].address, value, length);
	published[boot->rank].length = length;
	return BCL_OK;
}

static enum bcl_status get(struct bcl_boot *boot, unsigned rank,
			   const char *name, void *value, size_t size,
			   size_t *length)
{
	(void)boot;
	(void)name;
	need(published[rank].length <= size);
	*length = published[rank].length;
	memcpy(value, published[rank].address, *length);
	return BCL_OK;
}

static enum bcl_status fence(struct bcl_boot *boot)
{
	(void)boot;
	return BCL_OK;
}

static const struct bcl_boot_kind kind = {
	.name = "one process", .put = put, .get = get, .fence = fence
};
static struct bcl_boot boots[2];
static struct bcl_adi *adi[2];

static void open_job(void)
{
	struct bcl_adi_options options = { .struct_size = sizeof(options) };
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_peer *peer;
	unsigned i;

	need_equal(bcl_open(NULL, &options.context), BCL_OK);
	for (i = 0; i < 2; i++) {
		boots[i].kind = &kind;
		boots[i].rank = i;
		boots[i].size = 2;
		options.boot = &boots[i];
		need_equal(bcl_adi_open(&options, &adi[i]), BCL_OK);
	}
	for (i = 0; i < 2; i++) {
		need_equal(bcl_adi_peer(adi[i], 1 - i, &peer), BCL_OK);
		do {
			bcl_adi_progress(adi[0]);
			bcl_adi_progress(adi[1]);
			bcl_peer_info(peer, &info);
		} while (info.state != BCL_PEER_UP);
		need_equal(info.path, BCL_PATH_SHARED);
	}
}

/* Messages go there and back: each finds the pair line free. */
static void posted(unsigned n, unsigned rounds)
{
	struct bcl_adi_request *request;
	uint64_t number;
	unsigned i;

	(void)n;
	open_job();
	for (i = 0; i < rounds; i++) {
		need_equal(bcl_adi_irecv(adi[~i & 1], &number, 8, i & 1, 5, 1,
					 &request),
			   BCL_OK);
		need_equal(bcl_adi_send(adi[i & 1], &number, 8, ~i & 1, 5, 1),
			   BCL_OK);
		need_equal(bcl_adi_wait(adi[~i & 1], &request, NULL), BCL_OK);
	}
}

static void kept(unsigned n, unsigned rounds)
{
	uint64_t number;
	unsigned i;

	(void)n;
	open_job();
	for (i = 0; i < rounds; i++) {
		need_equal(bcl_adi_send(adi[i & 1], &number, 8, ~i & 1, 5, 1),
			   BCL_OK);
		bcl_adi_progress(adi[~i & 1]);
		need_equal(bcl_adi_recv(adi[~i & 1], &number, 8, i & 1, 5, 1,
					NULL),
			   BCL_OK);
	}
}

static void __attribute__((noinline)) pass(unsigned from, uint64_t *number)
{
	need_equal(bcl_adi_send(adi[from], number, 8, (int)!from, 5, 1),
		   BCL_OK);
	need_equal(bcl_adi_recv(adi[!from], number, 8, (int)from, 5, 1, NULL),
		   BCL_OK);
}

static void blocking(unsigned n, unsigned rounds)
{
	uint64_t number;
	unsigned i;

	(void)n;
	open_job();
	for (i = 0; i < rounds; i++) {
		bcl_adi_progress(adi[~i & 1]);
		pass(i & 1, &number);
	}
}

static void window(unsigned n, unsigned rounds)
{
	struct bcl_adi_request *sent[WINDOW], *received[WINDOW];
	uint64_t numbers[WINDOW];
	unsigned i, w;

	(void)n;
	open_job();
	for (i = 0; i < rounds; i += WINDOW) {
		for (w = 0; w < WINDOW; w++)
			need_equal(bcl_adi_irecv(adi[1], &numbers[w], 8, 0, 5,
						 1, &received[w]),
				   BCL_OK);
		for (w = 0; w < WINDOW; w++)
			need_equal(bcl_adi_isend(adi[0], &numbers[w], 8, 1, 5,
						 1, &sent[w]),
				   BCL_OK);
		need_equal(bcl_adi_waitall(adi[0], sent, WINDOW, NULL), BCL_OK);
		need_equal(bcl_adi_waitall(adi[1], received, WINDOW, NULL),
			   BCL_OK);
	}
}

static void transport(unsigned n, unsigned rounds)
{
	uint64_t number = 0;
	const struct iovec iov = { &number, sizeof(number) };
	struct bcl_peer *peers[2];
	struct bcl_event event;
	unsigned i;

	(void)n;
	open_job();
	for (i = 0; i < 2; i++)
		need_equal(bcl_adi_peer(adi[i], 1 - i, &peers[i]), BCL_OK);
	for (i = 0; i < rounds; i++) {
		need_equal(bcl_send(peers[i & 1], 1, 0, &iov, 1, 0), BCL_OK);
		need_equal(bcl_poll(bcl_adi_port(adi[~i & 1]), &event), BCL_OK);
		memcpy(&number, event.data, sizeof(number));
	}
}

static void received(void *arg, struct bcl_peer *peer, unsigned type,
		     const void *packet, size_t length)
{
	unsigned *n = arg;

	(void)peer;
	(void)type;
	(void)packet;
	(void)length;
	++*n;
}

static void __attribute__((noinline))
hand(unsigned from, struct bcl_peer *to, const struct iovec *piece)
{
	static const uint64_t header[3];

	need_equal(bcl_adi_packet_try(adi[from], to, 3, header, sizeof(header),
				      piece, !!piece->iov_len),
		   BCL_OK);
	need_equal(bcl_adi_packet_next(adi[!from]), BCL_OK);
}

static void __attribute__((noinline))
hand_word(unsigned from, struct bcl_peer *to, const struct iovec *piece)
{
	need_equal(bcl_adi_packet_word(adi[from], to, 3, 5, piece->iov_base,
				       piece->iov_len),
		   BCL_OK);
	need_equal(bcl_adi_packet_next(adi[!from]), BCL_OK);
}

static void pass_packets(unsigned n, unsigned rounds,
			 void (*pass)(unsigned from, struct bcl_peer *to,
				      const struct iovec *piece))
{
	static const struct bcl_adi_packet_ops ops = { .struct_size =
							       sizeof(ops),
						       .receive = received };
	static char data[MOST];
	const struct iovec piece = { data, n };
	struct bcl_peer *peers[2];
	unsigned i, come = 0;

	open_job();
	for (i = 0; i < 2; i++) {
		need_equal(bcl_adi_peer(adi[i], 1 - i, &peers[i]), BCL_OK);
		need_equal(bcl_adi_packet_open(adi[i], &ops, &come), BCL_OK);
	}
	for (i = 0; i < rounds; i++) {
		bcl_adi_packet_poll(adi[~i & 1]);
		pass(i & 1, peers[i & 1], &piece);
	}
	need_equal(come, rounds);
}

static void packets(unsigned n, unsigned rounds)
{
	pass_packets(n, rounds, hand);
}

static void words(unsigned n, unsigned rounds)
{
	pass_packets(n, rounds, hand_word);
}

static const struct {
	const char *name;
	void (*run)(unsigned n, unsigned rounds);
} cases[] = {
	{ "receives", match_receives },
	{ "messages", match_messages },
	{ "posted", posted },
	{ "kept", kept },
	{ "transport", transport },
	{ "blocking", blocking },
	{ "window", window },
	{ "packets", packets },
	{ "words", words },
};

int main(int argc, char **argv)
{
	unsigned i, n;

	if (argc != 4)
		return 2;
	n = (unsigned)atoi(argv[2]);
	need(n <= MOST);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		cases[i].run(n, (unsigned)atoi(argv[3]));
		return 0;
	}
	return 2;
}
