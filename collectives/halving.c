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
 * What is longer goes in two messages, if no processor has more to do for them.
 * Down, the first is that of which a part goes on in the next round, and the
 * other one comes while that is sent; up, it is what was there before the last
 * round, sent while that still comes. So nobody waits for all of a message
 * before the next begins.
 *
 * Members that speak for their nodes sum up there first what they send first,
 * in pieces beside the messages of the first round, and pass on likewise what
 * comes in the last one.
 *
 * Where links between members that are far apart are thin, a vector has two
 * parts. The second is some rounds behind, so that it goes near while the first
 * one goes far, and far when that one is near again.
 */
#include "collectives/builders.h"

enum {
	ROUNDS_MAX = 32, /* either way */
	PIECES = BCL_HALVING_PIECES,
	/* Of the shortest are PIECES that grow by half, or to twice as much. */
	ALL_PIECES = 49,
	ALL_DOUBLED = 255,
	PARTS = 2,
	MOST = PIECES + 1, /* pieces, with one more for what goes last */
	/* Lanes: of either range of every other round of a part; each piece of
	 * a round that is cut has its own. */
	ARRIVING = 1,
	ARRIVING_PIECES = ARRIVING + PARTS * 4,
	/* Bytes of a round that goes in two messages: more than is worth it,
	 * and no more than switches have queues for where both meet others. */
	SPLIT_MIN = 2048,
	SPLIT_MAX = 65536,
};

/* On the way down; on the way up to and from are exchanged. */
struct round {
	unsigned to, from;    /* virtual ranks, `skip` on and before */
	unsigned skip, count; /* blocks that go; as many come */
	bool granted;
	bool split; /* in two messages */
};

struct halving {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	const struct bcl_reduction *reduction;
	unsigned part;
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
	unsigned window; /* of the member that it goes to in this round */
};

/* Bytes of a vector that begins with the own block. */
struct piece {
	size_t begin, length;
};

/* What goes or comes in a round. */
struct pieces {
	unsigned first, n; /* of the first range; all */
	struct piece piece[MOST];
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

static struct piece whole(const struct halving *halving)
{
	return (struct piece){ 0, halving->length };
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
 * Two ranges of what goes or comes in a round, its blocks from `base` on. Down,
 * first that of which a part goes on in the next round; up, first that which
 * was there before the last round.
 */
static void split(const struct halving *halving, const struct round *round,
		  unsigned base, bool up, struct piece ranges[2])
{
	unsigned behind = up ? round->count : 0;

	if (round->split)
		behind = bcl_least(round[-1].skip, round->count);
	ranges[!up] = blocks(halving, base, behind);
	ranges[up] = blocks(halving, base + behind, round->count - behind);
}

/* Each is longer by half than the one before, for inside a node bytes are
 * summed up that much faster; or twice as long, in the other order, for there
 * they are passed on faster still. Returns how many. */
static unsigned cut_lengths(const struct halving *halving,
			    const struct round *round, size_t left, bool shrink,
			    size_t lengths[PIECES])
{
	size_t element = halving->reduction->element;
	size_t most = is_cut(halving, round) ? BCL_HALVING_PIECE : left;
	unsigned all = shrink ? ALL_DOUBLED : ALL_PIECES, n;

	if (most < left / all)
		most = left / all;
	for (n = 0; left; n++, most += shrink ? most : most / 2) {
		size_t length = (most + element - 1) / element * element;

		if (length > left || n + 1 == PIECES)
			length = left;
		lengths[n] = length;
		left -= length;
	}
	return n;
}

static struct pieces cut(const struct halving *halving,
			 const struct round *round, unsigned base, bool up)
{
	struct pieces pieces = { 0 };
	size_t lengths[PIECES];
	struct piece ranges[2], *range = ranges;
	unsigned n, i;

	split(halving, round, base, up, ranges);
	n = cut_lengths(halving, round, ranges[0].length + ranges[1].length, up,
			lengths);
	for (i = 0; i < n;) {
		struct piece *piece = &pieces.piece[pieces.n];
		size_t *left = &lengths[up ? n - 1 - i : i];

		if (!range->length) {
			range++;
			pieces.first = pieces.n;
		}
		piece->begin = range->begin;
		piece->length = bcl_least(*left, range->length);
		range->begin += piece->length;
		range->length -= piece->length;
		*left -= piece->length;
		i += !*left;
		pieces.n++;
	}
	if (range == ranges)
		pieces.first = pieces.n;
	return pieces;
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

/* Rounds are counted down, then up. */
static bool goes_up(const struct halving *halving, unsigned i)
{
	return i >= halving->nrounds;
}

static const struct round *round_of(const struct halving *halving, unsigned i)
{
	unsigned n = halving->nrounds;

	return &halving->rounds[i < n ? n - 1 - i : i - n];
}

/* Tell from whom it comes. */
static void grant(const struct halving *halving, unsigned i)
{
	bool up = goes_up(halving, i);
	const struct round *round;

	if (i >= 2 * halving->nrounds || !halving->speaks)
		return;
	round = round_of(halving, i);
	if (round->granted)
		bcl_step_grant(halving->schedule,
			       rank_of(halving, up ? round->to : round->from),
			       halving->windows[up]);
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
		 unsigned vrank, struct piece piece, size_t offset)
{
	const unsigned char *from = halving->vector + piece.begin;

	if (round->granted)
		bcl_step_put(halving->schedule, rank_of(halving, vrank), from,
			     piece.length, halving->window, offset);
	else
		bcl_step_send(halving->schedule, rank_of(halving, vrank), from,
			      piece.length);
}

static unsigned lane_of(const struct halving *halving,
			const struct round *round, const struct pieces *pieces,
			unsigned i)
{
	unsigned k = (unsigned)(round - halving->rounds);

	return is_cut(halving, round)
		       ? ARRIVING_PIECES + halving->part * MOST + i
		       : ARRIVING + halving->part * 4 + k % 2 * 2 +
				 (i >= pieces->first);
}

static void receive(const struct halving *halving, const struct round *round,
		    unsigned vrank, unsigned char *place,
		    const struct pieces *pieces)
{
	unsigned i;

	for (i = 0; i < pieces->n; i++) {
		bcl_step_lane(halving->schedule,
			      lane_of(halving, round, pieces, i));
		bcl_step_receive(halving->schedule, rank_of(halving, vrank),
				 place + pieces->piece[i].begin,
				 round->granted ? 0 : pieces->piece[i].length);
	}
	bcl_step_lane(halving->schedule, 0);
}

static void await(const struct halving *halving, const struct round *round,
		  const struct pieces *pieces, unsigned from, unsigned to)
{
	for (; from < to; from++)
		bcl_step_await(halving->schedule,
			       lane_of(halving, round, pieces, from));
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
	struct pieces pieces = cut(halving, round, 0, false);

	receive(halving, round, round->from,
		halving->beside + place_of(halving, round), &pieces);
}

static void send_down(struct halving *halving, const struct round *round)
{
	struct pieces pieces = cut(halving, round, round->skip, false);
	size_t begin = begin_of(halving, halving->me, round->skip);
	unsigned i;

	halving->window = granted(halving, round, round->to);
	for (i = 0; i < pieces.n; i++) {
		struct piece piece = pieces.piece[i];

		if (halving->pipelines && is_cut(halving, round))
			in_order(halving, piece, collect);
		if (halving->speaks)
			send(halving, round, round->to, piece,
			     place_of(halving, round) + piece.begin - begin);
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

static void begin_down(struct halving *halving, const struct round *round)
{
	if (halving->speaks)
		receive_down(halving, round);
	if (halving->speaks || is_cut(halving, round))
		send_down(halving, round);
}

/* What is needed next of a round, and the rest of the one before. */
static void await_down(const struct halving *halving, const struct round *round)
{
	struct pieces pieces = cut(halving, round, 0, false);

	await(halving, round, &pieces, 0, pieces.first);
	if (++round == halving->rounds + halving->nrounds)
		return;
	pieces = cut(halving, round, 0, false);
	await(halving, round, &pieces, pieces.first, pieces.n);
}

/* Whatever is sent next is summed up when it is. */
static void end_down(const struct halving *halving, const struct round *round)
{
	unsigned k = (unsigned)(round - halving->rounds);
	struct piece part = k ? blocks(halving, round[-1].skip, round[-1].count)
			      : blocks(halving, 0, 1);

	if (halving->pipelines)
		in_order(halving, part, collect);
	if (!halving->speaks)
		return;
	await_down(halving, round);
	combine(halving, part, k);
}

/* ---- up ------------------------------------------------------------------ */

static void send_up(const struct halving *halving, const struct round *round,
		    bool last)
{
	struct pieces pieces = cut(halving, round, 0, true);
	size_t place = begin_of(halving, round->from, round->skip);
	unsigned i = last ? pieces.first : 0;
	unsigned end = last ? pieces.n : pieces.first;

	for (; i < end; i++)
		send(halving, round, round->from, pieces.piece[i],
		     place + pieces.piece[i].begin);
}

static void await_up(const struct halving *halving, const struct round *round)
{
	struct pieces pieces = cut(halving, round, round->skip, true);

	await(halving, round, &pieces, 0, pieces.n);
}

/* First what came before the last round, then its first range and the other. */
static void pass(const struct halving *halving, unsigned turn)
{
	const struct round *last = &halving->rounds[halving->nrounds - 1];
	struct pieces pieces = cut(halving, last, last->skip, true);
	unsigned i = turn == 1 ? 0 : pieces.first;
	unsigned end = turn == 1 ? pieces.first : pieces.n;

	if (!turn) {
		in_order(halving, blocks(halving, 0, last->skip), pass_on);
		return;
	}
	for (; i < end; i++) {
		if (halving->speaks)
			await(halving, last, &pieces, i, i + 1);
		in_order(halving, pieces.piece[i], pass_on);
	}
}

static void begin_up(struct halving *halving, const struct round *round)
{
	struct pieces pieces;

	if (!halving->speaks)
		return;
	pieces = cut(halving, round, round->skip, true);
	receive(halving, round, round->to, halving->vector, &pieces);
	halving->window = granted(halving, round, round->from);
	send_up(halving, round, false);
}

static void end_up(const struct halving *halving, const struct round *round)
{
	const struct round *last = &halving->rounds[halving->nrounds - 1];

	if (halving->speaks && round->split) {
		await_up(halving, round - 1);
		send_up(halving, round, true);
	}
	if (round == last ? halving->pipelines : round[1].split)
		return;
	if (halving->speaks)
		await_up(halving, round);
}

/* ---- turns ----------------------------------------------------------------
 * A round is granted in the turn before its own, the first one in turn 0. In
 * the last turns what has come is passed on. */

enum {
	PASSING = 3,
};

static void begin_turn(struct halving *halving, unsigned i)
{
	if (!i && !halving->pipelines)
		in_order(halving, whole(halving), copy_in);
	if (i && i <= halving->nrounds)
		begin_down(halving, round_of(halving, i - 1));
	else if (i && i <= 2 * halving->nrounds)
		begin_up(halving, round_of(halving, i - 1));
	grant(halving, i);
}

static void go_on(struct halving *halving, unsigned i)
{
	if (i && i <= halving->nrounds)
		end_down(halving, round_of(halving, i - 1));
	else if (i && i <= 2 * halving->nrounds)
		end_up(halving, round_of(halving, i - 1));
}

static void end_turn(struct halving *halving, unsigned i)
{
	unsigned rounds = 2 * halving->nrounds;

	if (i > rounds && halving->pipelines)
		pass(halving, i - rounds - 1);
	if (i == rounds + PASSING && halving->speaks)
		in_order(halving, whole(halving), copy_out);
}

/* What overwrites on the way up what was sent comes from who has it. */
static void take_turns(struct halving *halving, unsigned parts, unsigned far)
{
	void (*const turns[])(struct halving *halving, unsigned i) = {
		begin_turn,
		go_on,
		end_turn,
	};
	unsigned lag = halving->nrounds - bcl_least(far, halving->nrounds);
	unsigned last = 2 * halving->nrounds + PASSING, turn, part, i;

	for (turn = 0; turn <= last + (parts - 1) * lag; turn++)
		for (i = 0; i < 3; i++)
			for (part = 0; part < parts; part++)
				if (turn - part * lag <= last)
					turns[i](&halving[part],
						 turn - part * lag);
}

static void plan(struct halving *halving, unsigned parts)
{
	unsigned n = halving->group->size, me = halving->me;
	bool splits = bcl_cards_work_alone(halving->schedule->team);
	unsigned grants = BCL_SCHEDULE_GRANTS / 2 / parts;
	unsigned behind = n, skip, k;

	for (k = halving->nrounds; k-- > 0; behind = skip) {
		size_t most;

		skip = (behind + 1) / 2;
		most = (behind - skip) * halving->largest;
		halving->rounds[k] = (struct round){
			.to = (me + skip) % n,
			.from = (me + n - skip) % n,
			.skip = skip,
			.count = behind - skip,
			.granted = most > BCL_UNGRANTED_MAX &&
				   halving->nrounds - k <= grants,
			.split = splits && k && most > SPLIT_MIN &&
				 most <= SPLIT_MAX,
		};
	}
}

/* A part of all vectors. */
static void prepare(struct halving *halving, unsigned parts)
{
	struct bcl_schedule *schedule = halving->schedule;
	unsigned n = halving->group->size;
	size_t element = halving->reduction->element, length = halving->length;
	size_t begin = bcl_block_begin(length, element, parts, halving->part);
	size_t end = bcl_block_begin(length, element, parts, halving->part + 1);

	length = end - begin;
	halving->send += begin;
	halving->receive += begin;
	halving->length = length;
	halving->largest = (length / element + n - 1) / n * element;
	halving->own = bcl_block_begin(length, element, n, halving->me);
	plan(halving, parts);
	if (!halving->speaks)
		return;
	halving->vector = bcl_step_scratch(schedule, length);
	halving->beside = bcl_step_scratch(schedule, n * halving->largest);
	open_windows(halving, n * halving->largest);
}

void bcl_build_halving(struct bcl_schedule *schedule,
		       const struct bcl_group *group, bool by_node,
		       const void *send, void *receive, size_t length,
		       const struct bcl_reduction *reduction, unsigned far)
{
	unsigned root = bcl_group_rank(group, group->me), part;
	unsigned parts = far ? PARTS : 1;
	struct halving halving[PARTS] = { {
		.schedule = schedule,
		.group = group,
		.reduction = reduction,
		.me = vrank_of(group->size, group->me),
		.by_node = by_node,
		.pipelines = by_node &&
			     bcl_inside_pipelines(schedule->team, reduction),
		.root = root,
		.speaks = root == schedule->team->rank,
		.send = send,
		.receive = receive,
		.length = length,
		.nrounds = bcl_log2_up(group->size),
	} };

	if (!length)
		return;
	if (group->size == 1) {
		bcl_step_copy(schedule, receive, send, length);
		return;
	}
	if (length / reduction->element < parts)
		parts = 1;
	for (part = parts; part-- > 0;) {
		halving[part] = halving[0];
		halving[part].part = part;
		prepare(&halving[part], parts);
	}
	take_turns(halving, parts, far);
	bcl_step_round(schedule);
}
