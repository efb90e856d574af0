/* SPDX-License-Identifier: MIT */
/*
 * Reduce to everyone by halving what is still to be summed up, and gather it
 * the same way back: ceil(log2(size)) rounds each, and each byte sent as seldom
 * as can be, for any number of members. J. L. Träff, "Optimal, non-pipelined
 * reduce-scatter and allreduce algorithms", arXiv 2410.14234 (2024).
 *
 * A member sums up what is for itself and those behind it: for `skip[k]` of
 * them before round k, those beyond skip[k - 1] then go to the member there.
 * Each has a vector that begins with its own block, so that what goes in a
 * round is never in two parts, and nobody late who had to send them.
 *
 * What is longer than the eager limit is put into windows (schedule.h): beside
 * the vector, where each round has its own place, then into it. A round is
 * granted when the one before is sent, so that nobody waits for a grant: what
 * came much earlier would be in the way of what is due.
 *
 * Members that speak for their nodes sum up there first what they send first,
 * in pieces beside the messages of the first round, and pass on likewise what
 * comes in the last one.
 */
#include "collectives/builders.h"

enum {
	ROUNDS_MAX = 32, /* either way */
	PIECES = BCL_HALVING_PIECES,
	/* Of the shortest are PIECES that grow by half, or to twice as much. */
	ALL_PIECES = 49,
	ALL_DOUBLED = 255,
	ARRIVING = 1, /* lane; each piece of a round has its own */
};

/* On the way down; on the way up to and from are exchanged. */
struct round {
	unsigned to, from;    /* virtual ranks, `skip` on and before */
	unsigned skip, count; /* blocks that go; as many come */
	bool granted;
};

struct halving {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	const struct bcl_reduction *reduction;
	unsigned me; /* virtual rank */
	bool by_node;
	bool pipelines; /* inside the node, where others may not */
	unsigned root;	/* rank that speaks for it */
	bool speaks;	/* it is the own rank */
	const unsigned char *send;
	unsigned char *receive, *vector, *beside;
	size_t length, largest; /* of the largest block */
	size_t own;		/* where the own block is in order */
	unsigned windows[2];	/* beside the vector, and the vector */
	unsigned nrounds;
	struct round rounds[ROUNDS_MAX];
};

/* Bytes of a vector that begins with the own block. */
struct piece {
	size_t begin, length;
};

/*
 * Virtual ranks, for the first round goes half of them on, with half of the
 * vector: that is the next member, and the next round goes to one of the next
 * four with half as much, as far as their number can be halved. Members that
 * are far apart, with thin links between them, exchange least.
 */
static unsigned vrank_of(unsigned n, unsigned member)
{
	unsigned vrank = 0;

	for (; n % 2 == 0; n /= 2, member /= 2)
		vrank += member % 2 * (n / 2);
	return vrank + member;
}

static unsigned member_of(unsigned n, unsigned vrank)
{
	unsigned member = 0, bit = 1;

	for (; n % 2 == 0; n /= 2, vrank %= n, bit *= 2)
		member += vrank / (n / 2) * bit;
	return member + vrank * bit;
}

/* Where the i-th block of a member's vector begins. */
static size_t begin_of(const struct halving *halving, unsigned vrank,
		       unsigned i)
{
	unsigned n = halving->group->size;
	size_t element = halving->reduction->element, length = halving->length;
	size_t own = bcl_block_begin(length, element, n, vrank);

	if (vrank + i <= n)
		return bcl_block_begin(length, element, n, vrank + i) - own;
	return length - own +
	       bcl_block_begin(length, element, n, vrank + i - n);
}

static struct piece blocks(const struct halving *halving, unsigned first,
			   unsigned count)
{
	size_t begin = begin_of(halving, halving->me, first);

	return (struct piece){
		begin, begin_of(halving, halving->me, first + count) - begin
	};
}

/* The first and the last round, the longest ones, are cut for nodes. */
static bool is_cut(const struct halving *halving, const struct round *round)
{
	return halving->by_node &&
	       round == &halving->rounds[halving->nrounds - 1];
}

/*
 * Pieces of what goes or comes in a round. Each is longer by half than the one
 * before, for inside a node bytes are summed up that much faster; or half as
 * long, for there they are passed on faster still. Returns how many.
 */
static unsigned cut(const struct halving *halving, const struct round *round,
		    struct piece whole, bool shrink,
		    struct piece pieces[PIECES])
{
	size_t element = halving->reduction->element, left = whole.length;
	size_t most = is_cut(halving, round) ? BCL_HALVING_PIECE : left;
	size_t lengths[PIECES];
	unsigned all = shrink ? ALL_DOUBLED : ALL_PIECES, n, i;

	if (most < left / all)
		most = left / all;
	for (n = 0; left; n++, most += shrink ? most : most / 2) {
		size_t length = (most + element - 1) / element * element;

		if (length > left || n + 1 == PIECES)
			length = left;
		lengths[n] = length;
		left -= length;
	}
	for (i = 0; i < n; i++) {
		pieces[i].begin = whole.begin;
		pieces[i].length = lengths[shrink ? n - 1 - i : i];
		whole.begin += pieces[i].length;
	}
	return n;
}

/* ---- in the order of blocks ----------------------------------------------
 */

/* Do it with a piece, which may be in two parts there. */
static void in_order(const struct halving *halving, struct piece piece,
		     void (*act)(const struct halving *halving, size_t place,
				 struct piece part))
{
	size_t place = (halving->own + piece.begin) % halving->length;
	size_t first = bcl_least(piece.length, halving->length - place);

	act(halving, place, (struct piece){ piece.begin, first });
	if (first < piece.length)
		act(halving, 0,
		    (struct piece){ piece.begin + first,
				    piece.length - first });
}

static void copy_in(const struct halving *halving, size_t place,
		    struct piece part)
{
	bcl_step_copy(halving->schedule, halving->vector + part.begin,
		      halving->send + place, part.length);
}

static void copy_out(const struct halving *halving, size_t place,
		     struct piece part)
{
	bcl_step_copy(halving->schedule, halving->receive + place,
		      halving->vector + part.begin, part.length);
}

static void collect(const struct halving *halving, size_t place,
		    struct piece part)
{
	bcl_inside_reduce_piece(
		halving->schedule, halving->root, halving->send + place,
		halving->speaks ? halving->vector + part.begin : NULL,
		part.length, halving->reduction);
}

static void pass_on(const struct halving *halving, size_t place,
		    struct piece part)
{
	bcl_inside_broadcast_piece(halving->schedule, halving->root,
				   halving->speaks
					   ? halving->vector + part.begin
					   : halving->receive + place,
				   part.length);
}

/* ---- between members ----------------------------------------------------- */

static unsigned rank_of(const struct halving *halving, unsigned vrank)
{
	return bcl_group_rank(halving->group,
			      member_of(halving->group->size, vrank));
}

static void open_windows(struct halving *halving, size_t room)
{
	if (!halving->rounds[halving->nrounds - 1].granted)
		return;
	halving->windows[0] =
		bcl_step_window(halving->schedule, halving->beside, room);
	halving->windows[1] = bcl_step_window(halving->schedule,
					      halving->vector, halving->length);
}

/* The i-th round, down and then up: tell from whom it comes. */
static void grant(const struct halving *halving, unsigned i)
{
	unsigned n = halving->nrounds;
	const struct round *round;

	if (i >= 2 * n || !halving->speaks)
		return;
	round = &halving->rounds[i < n ? n - 1 - i : i - n];
	if (round->granted)
		bcl_step_grant(
			halving->schedule,
			rank_of(halving, i < n ? round->from : round->to),
			halving->windows[i < n ? 0 : 1]);
}

/* The window of the member to which it goes. */
static unsigned granted(const struct halving *halving,
			const struct round *round, unsigned vrank)
{
	if (!round->granted || !halving->speaks)
		return 0;
	return bcl_step_granted(halving->schedule, rank_of(halving, vrank));
}

static void send(const struct halving *halving, const struct round *round,
		 unsigned vrank, struct piece piece, unsigned window,
		 size_t offset)
{
	const unsigned char *from = halving->vector + piece.begin;

	if (round->granted)
		bcl_step_put(halving->schedule, rank_of(halving, vrank), from,
			     piece.length, window, offset);
	else
		bcl_step_send(halving->schedule, rank_of(halving, vrank), from,
			      piece.length);
}

static void receive(const struct halving *halving, const struct round *round,
		    unsigned vrank, unsigned char *to, size_t length,
		    unsigned i)
{
	bcl_step_lane(halving->schedule, ARRIVING + i);
	bcl_step_receive(halving->schedule, rank_of(halving, vrank), to,
			 round->granted ? 0 : length);
	bcl_step_lane(halving->schedule, 0);
}

static void await(const struct halving *halving)
{
	unsigned i;

	for (i = 0; i < PIECES; i++)
		bcl_step_await(halving->schedule, ARRIVING + i);
}

/* ---- down ---------------------------------------------------------------- */

/* Where what comes in a round is beside the vector, at all members. */
static size_t place_of(const struct halving *halving, const struct round *round)
{
	unsigned behind = round->skip + round->count;

	return (halving->group->size - behind) * halving->largest;
}

static void receive_down(const struct halving *halving,
			 const struct round *round)
{
	unsigned char *place = halving->beside + place_of(halving, round);
	struct piece pieces[PIECES];
	unsigned n, i;

	n = cut(halving, round, blocks(halving, 0, round->count), false,
		pieces);
	for (i = 0; i < n; i++)
		receive(halving, round, round->from, place + pieces[i].begin,
			pieces[i].length, i);
}

static void send_down(const struct halving *halving, const struct round *round)
{
	size_t place = place_of(halving, round);
	unsigned window = granted(halving, round, round->to), n, i;
	struct piece pieces[PIECES];

	n = cut(halving, round, blocks(halving, round->skip, round->count),
		false, pieces);
	for (i = 0; i < n; i++) {
		if (halving->pipelines && is_cut(halving, round))
			in_order(halving, pieces[i], collect);
		if (halving->speaks)
			send(halving, round, round->to, pieces[i], window,
			     place + pieces[i].begin - pieces[0].begin);
	}
}

/* What has come of it, from round k on. */
static void combine(const struct halving *halving, struct piece part,
		    unsigned k)
{
	for (; k < halving->nrounds; k++) {
		const struct round *round = &halving->rounds[k];
		size_t came = blocks(halving, 0, round->count).length;
		size_t end = bcl_least(part.begin + part.length, came);

		if (part.begin < end)
			bcl_step_combine(halving->schedule, halving->reduction,
					 halving->beside +
						 place_of(halving, round) +
						 part.begin,
					 halving->vector + part.begin,
					 (end - part.begin) /
						 halving->reduction->element);
	}
}

/* Whatever is sent next is summed up when it is. */
static void go_down(const struct halving *halving)
{
	unsigned k;

	for (k = halving->nrounds; k-- > 0;) {
		const struct round *round = &halving->rounds[k];
		struct piece part =
			k ? blocks(halving, round[-1].skip, round[-1].count)
			  : blocks(halving, 0, 1);

		if (halving->speaks)
			receive_down(halving, round);
		if (halving->speaks || is_cut(halving, round))
			send_down(halving, round);
		grant(halving, halving->nrounds - k);
		if (halving->pipelines)
			in_order(halving, part, collect);
		if (!halving->speaks)
			continue;
		await(halving);
		combine(halving, part, k);
	}
}

/* ---- up ------------------------------------------------------------------ */

static void receive_up(const struct halving *halving, const struct round *round)
{
	struct piece pieces[PIECES];
	unsigned n, i;

	n = cut(halving, round, blocks(halving, round->skip, round->count),
		true, pieces);
	for (i = 0; i < n; i++)
		receive(halving, round, round->to,
			halving->vector + pieces[i].begin, pieces[i].length, i);
}

static void send_up(const struct halving *halving, const struct round *round)
{
	size_t place = begin_of(halving, round->from, round->skip);
	unsigned window = granted(halving, round, round->from), n, i;
	struct piece pieces[PIECES];

	n = cut(halving, round, blocks(halving, 0, round->count), true, pieces);
	for (i = 0; i < n; i++)
		send(halving, round, round->from, pieces[i], window,
		     place + pieces[i].begin);
}

/* What came before the last round, then its pieces. */
static void pass_all(const struct halving *halving)
{
	const struct round *round = &halving->rounds[halving->nrounds - 1];
	struct piece pieces[PIECES];
	unsigned n, i;

	in_order(halving, blocks(halving, 0, round->skip), pass_on);
	n = cut(halving, round, blocks(halving, round->skip, round->count),
		true, pieces);
	for (i = 0; i < n; i++) {
		if (halving->speaks)
			bcl_step_await(halving->schedule, ARRIVING + i);
		in_order(halving, pieces[i], pass_on);
	}
}

static void go_up(const struct halving *halving)
{
	unsigned k;

	for (k = 0; halving->speaks && k < halving->nrounds; k++) {
		const struct round *round = &halving->rounds[k];

		receive_up(halving, round);
		send_up(halving, round);
		grant(halving, halving->nrounds + k + 1);
		if (!halving->pipelines || !is_cut(halving, round))
			await(halving);
	}
	if (halving->pipelines)
		pass_all(halving);
}

static void plan(struct halving *halving)
{
	unsigned n = halving->group->size, me = halving->me;
	unsigned behind = n, skip, k;

	for (k = halving->nrounds; k-- > 0; behind = skip) {
		skip = (behind + 1) / 2;
		halving->rounds[k] = (struct round){
			.to = (me + skip) % n,
			.from = (me + n - skip) % n,
			.skip = skip,
			.count = behind - skip,
			.granted =
				(behind - skip) * halving->largest >
					BCL_UNGRANTED_MAX &&
				halving->nrounds - k <= BCL_SCHEDULE_GRANTS / 2,
		};
	}
}

void bcl_build_halving(struct bcl_schedule *schedule,
		       const struct bcl_group *group, bool by_node,
		       const void *send, void *receive, size_t length,
		       const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = vrank_of(n, group->me);
	size_t element = reduction->element;
	struct halving halving = {
		.schedule = schedule,
		.group = group,
		.reduction = reduction,
		.me = me,
		.by_node = by_node,
		.pipelines = by_node &&
			     bcl_inside_pipelines(schedule->team, reduction),
		.root = bcl_group_rank(group, group->me),
		.send = send,
		.receive = receive,
		.length = length,
		.largest = (length / element + n - 1) / n * element,
		.own = bcl_block_begin(length, element, n, me),
		.nrounds = bcl_log2_up(n),
	};
	struct piece whole = { 0, length };
	size_t room = n * halving.largest;

	if (!length)
		return;
	if (n == 1) {
		bcl_step_copy(schedule, receive, send, length);
		return;
	}
	halving.speaks = halving.root == schedule->team->rank;
	plan(&halving);
	if (halving.speaks) {
		halving.vector = bcl_step_scratch(schedule, length);
		halving.beside = bcl_step_scratch(schedule, room);
		open_windows(&halving, room);
		grant(&halving, 0);
	}
	if (!halving.pipelines)
		in_order(&halving, whole, copy_in);
	go_down(&halving);
	/* What overwrites what was sent comes from who has it. */
	go_up(&halving);
	if (halving.speaks)
		in_order(&halving, whole, copy_out);
	bcl_step_round(schedule);
}
