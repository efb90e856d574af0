/* SPDX-License-Identifier: MIT */
/*
 * Allreduce by recursive halving and doubling, for any number of members and
 * commutative operators. On the way down, ceil(log2(size)) rounds, a member
 * gives away half of the blocks that it still has to sum up. On the way up it
 * gets the sums back. Each byte is sent as seldom as possible. halving_plan.h
 * has the sources and says what goes where. With four members:
 *
 *   down, round 1   0 <-> 1   2 <-> 3    half of the vector
 *         round 0   0 <-> 2   1 <-> 3    a quarter
 *   up,   round 0   0 <-> 2   1 <-> 3    the sum of a quarter
 *         round 1   0 <-> 1   2 <-> 3    the sum of half of the vector
 *
 * Messages longer than the eager limit are put into windows (schedule.h). Down,
 * the window is memory beside the vector, where each round has its own place;
 * up, the window is the vector. The receiver grants a round while it sends the
 * round before, so that no sender waits for a grant. With an earlier grant the
 * data of that round would delay the data of the round before.
 *
 * Where cards work alone, rounds of SPLIT_MIN to SPLIT_MAX bytes go in two
 * messages, except rounds[0], down and up. Down, the first message is the part
 * that goes on in the next round; the second message arrives while the first
 * part is sent on. Up, the first message is the part
 * that the member had before the last round, sent while the rest still arrives.
 * So no member waits for a whole message before it begins the next.
 *
 * Leaders sum up inside their nodes in pieces, first the piece that they send
 * first, beside the messages of the first round. They pass the result on inside
 * the nodes in the same way, beside the last round.
 *
 * Where links between far members are thin, the vector has two parts. The
 * second part is some rounds behind. So one part goes near while the other goes
 * far.
 */
#include "collectives/builders.h"
#include "collectives/halving_plan.h"

enum {
	PIECES = BCL_HALVING_PIECES,
	/* Bytes of PIECES pieces if each is half as long again as the piece
	 * before, or twice as long: in units of the shortest piece. */
	ALL_PIECES = 49,
	ALL_DOUBLED = 255,
	PARTS = 2,
	MOST = PIECES + 1, /* pieces: a range may end inside one */
	/* Lanes: a part has four, for the two ranges of even and of odd rounds.
	 * In a round that is cut, each piece has its own lane. */
	ARRIVING = 1,
	ARRIVING_PIECES = ARRIVING + PARTS * 4,
	/* Bytes of a round that goes in two messages. A shorter round is not
	 * worth it. In a longer round two senders could fill the queue of a
	 * switch at one receiver. */
	SPLIT_MIN = 2048,
	SPLIT_MAX = 65536,
};

struct halving {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	const struct bcl_reduction *reduction;
	unsigned part, parts;
	bool by_node;
	bool pipelines; /* the own node does; other nodes may not */
	unsigned root;	/* leader of the own node */
	bool speaks;	/* the caller is the leader */
	const unsigned char *send;
	unsigned char *receive, *vector, *beside;
	size_t length;
	struct bcl_halving_plan halves;
	unsigned windows[2]; /* of beside and vector */
	unsigned window;     /* window granted by this round's receiver */
};

/* The pieces that a member sends or receives in a round. */
struct pieces {
	unsigned first, n; /* of the first range; in total */
	struct bcl_piece piece[MOST];
};

static unsigned number_of(const struct halving *halving,
			  const struct bcl_halving_round *round)
{
	return (unsigned)(round - halving->halves.rounds);
}

static bool is_granted(const struct halving *halving,
		       const struct bcl_halving_round *round)
{
	unsigned grants = BCL_SCHEDULE_GRANTS / 2 / halving->parts;

	return round->most > BCL_UNGRANTED_MAX &&
	       halving->halves.nrounds - number_of(halving, round) <= grants;
}

/* True if the round goes in two messages. */
static bool is_split(const struct halving *halving,
		     const struct bcl_halving_round *round)
{
	return bcl_cards_work_alone(halving->schedule->team) &&
	       number_of(halving, round) && round->most > SPLIT_MIN &&
	       round->most <= SPLIT_MAX;
}

/* True for the first and the last round, the longest ones: they are cut into
 * pieces if members are leaders of nodes. */
static bool is_cut(const struct halving *halving,
		   const struct bcl_halving_round *round)
{
	return halving->by_node &&
	       number_of(halving, round) == halving->halves.nrounds - 1;
}

/* The part of `half` that is sent first, and the part that is sent last. */
static void split(const struct halving *halving,
		  const struct bcl_halving_round *round,
		  const struct bcl_half *half, bool up,
		  struct bcl_piece ranges[2])
{
	ranges[0] = half->all;
	ranges[1] = (struct bcl_piece){ 0 };
	if (!is_split(halving, round))
		return;
	ranges[up] = half->on;
	ranges[!up] = half->kept;
}

/* Lengths of the pieces of a round. Down, each piece is half as long again as
 * the piece before, because a node sums up bytes that much faster than they are
 * sent. Up (shrink), each is twice as long and the order is reversed, because a
 * node passes bytes on faster still. Returns the number of pieces. */
static unsigned cut_lengths(const struct halving *halving,
			    const struct bcl_halving_round *round, size_t left,
			    bool shrink, size_t lengths[PIECES])
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

static struct pieces cut_pieces(const struct halving *halving,
				const struct bcl_halving_round *round,
				const struct bcl_half *half, bool up)
{
	struct pieces pieces = { 0 };
	size_t lengths[PIECES];
	struct bcl_piece ranges[2], *range = ranges;
	unsigned n, i;

	split(halving, round, half, up, ranges);
	n = cut_lengths(halving, round, half->all.length, up, lengths);
	for (i = 0; i < n;) {
		struct bcl_piece *piece = &pieces.piece[pieces.n];
		size_t *left = &lengths[up ? n - 1 - i : i];

		bcl_assert(pieces.n < MOST);
		if (!range->length) {
			range++;
			pieces.first = pieces.n;
		}
		piece->begin = range->begin;
		piece->length = bcl_min_size(*left, range->length);
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

/* ---- in the order of blocks ---- */

/* Call act() for a piece, or for its two parts if the piece wraps around in the
 * order of blocks. */
static void in_order(const struct halving *halving, struct bcl_piece piece,
		     void (*act)(const struct halving *halving, size_t place,
				 struct bcl_piece part))
{
	size_t place = (halving->halves.begin + piece.begin) % halving->length;
	size_t first = bcl_min_size(piece.length, halving->length - place);

	act(halving, place, (struct bcl_piece){ piece.begin, first });
	if (first < piece.length)
		act(halving, 0,
		    (struct bcl_piece){ piece.begin + first,
					piece.length - first });
}

static void copy_in(const struct halving *halving, size_t place,
		    struct bcl_piece part)
{
	bcl_step_copy(halving->schedule, halving->vector + part.begin,
		      halving->send + place, part.length);
}

static void copy_out(const struct halving *halving, size_t place,
		     struct bcl_piece part)
{
	bcl_step_copy(halving->schedule, halving->receive + place,
		      halving->vector + part.begin, part.length);
}

static void reduce_part(const struct halving *halving, size_t place,
			struct bcl_piece part)
{
	bcl_intranode_reduce_piece(
		halving->schedule, halving->root, halving->send + place,
		halving->speaks ? halving->vector + part.begin : NULL,
		part.length, halving->reduction);
}

static void pass_on(const struct halving *halving, size_t place,
		    struct bcl_piece part)
{
	bcl_intranode_broadcast_piece(halving->schedule, halving->root,
				      halving->speaks
					      ? halving->vector + part.begin
					      : halving->receive + place,
				      part.length);
}

/* ---- between members ----------------------------------------------------- */

static unsigned rank_of(const struct halving *halving, unsigned member)
{
	return bcl_group_rank(halving->group, member);
}

static void open_windows(struct halving *halving)
{
	const struct bcl_halving_plan *halves = &halving->halves;

	if (!is_granted(halving, &halves->rounds[halves->nrounds - 1]))
		return;
	halving->windows[0] = bcl_step_window(halving->schedule,
					      halving->beside, halves->beside);
	halving->windows[1] = bcl_step_window(halving->schedule,
					      halving->vector, halving->length);
}

/* Rounds are counted on the way down, then up. */
static bool goes_up(const struct halving *halving, unsigned i)
{
	return i >= halving->halves.nrounds;
}

static const struct bcl_halving_round *round_of(const struct halving *halving,
						unsigned i)
{
	const struct bcl_halving_plan *halves = &halving->halves;
	unsigned n = halves->nrounds;

	return &halves->rounds[i < n ? n - 1 - i : i - n];
}

/* Grant the window of round i to the member that sends in this round. */
static void grant(const struct halving *halving, unsigned i)
{
	bool up = goes_up(halving, i);
	const struct bcl_halving_round *round;

	if (i >= 2 * halving->halves.nrounds || !halving->speaks)
		return;
	round = round_of(halving, i);
	if (is_granted(halving, round))
		bcl_step_grant(halving->schedule,
			       rank_of(halving, up ? round->to : round->from),
			       halving->windows[up]);
}

/* Receive the grant of the member that this round goes to. Returns its window;
 * 0 if the round is not granted. */
static unsigned granted(const struct halving *halving,
			const struct bcl_halving_round *round, unsigned member)
{
	if (!is_granted(halving, round) || !halving->speaks)
		return 0;
	return bcl_step_granted(halving->schedule, rank_of(halving, member));
}

static void send_piece(const struct halving *halving,
		       const struct bcl_halving_round *round, unsigned member,
		       struct bcl_piece piece, size_t offset)
{
	const unsigned char *from = halving->vector + piece.begin;

	if (is_granted(halving, round))
		bcl_step_put(halving->schedule, rank_of(halving, member), from,
			     piece.length, halving->window, offset);
	else
		bcl_step_send(halving->schedule, rank_of(halving, member), from,
			      piece.length);
}

static unsigned lane_of(const struct halving *halving,
			const struct bcl_halving_round *round,
			const struct pieces *pieces, unsigned i)
{
	unsigned k = number_of(halving, round);

	return is_cut(halving, round)
		       ? ARRIVING_PIECES + halving->part * MOST + i
		       : ARRIVING + halving->part * 4 + k % 2 * 2 +
				 (i >= pieces->first);
}

/* place: of the first byte of `half`. */
static void receive_half(const struct halving *halving,
			 const struct bcl_halving_round *round, unsigned member,
			 unsigned char *place, const struct bcl_half *half,
			 const struct pieces *pieces)
{
	bool put = is_granted(halving, round);
	unsigned i;

	for (i = 0; i < pieces->n; i++) {
		struct bcl_piece piece = pieces->piece[i];

		bcl_step_lane(halving->schedule,
			      lane_of(halving, round, pieces, i));
		bcl_step_receive(halving->schedule, rank_of(halving, member),
				 place + piece.begin - half->all.begin,
				 put ? 0 : piece.length);
	}
	bcl_step_lane(halving->schedule, 0);
}

static void await_pieces(const struct halving *halving,
			 const struct bcl_halving_round *round,
			 const struct pieces *pieces, unsigned from,
			 unsigned to)
{
	for (; from < to; from++)
		bcl_step_await(halving->schedule,
			       lane_of(halving, round, pieces, from));
}

/* ---- down ---------------------------------------------------------------- */

static struct pieces pieces_down(const struct halving *halving,
				 const struct bcl_halving_round *round)
{
	return cut_pieces(halving, round, &round->comes, false);
}

static void receive_down(const struct halving *halving,
			 const struct bcl_halving_round *round)
{
	struct pieces pieces = pieces_down(halving, round);

	receive_half(halving, round, round->from,
		     halving->beside + round->beside, &round->comes, &pieces);
}

static void send_down(struct halving *halving,
		      const struct bcl_halving_round *round)
{
	struct pieces pieces = cut_pieces(halving, round, &round->goes, false);
	unsigned i;

	halving->window = granted(halving, round, round->to);
	for (i = 0; i < pieces.n; i++) {
		struct bcl_piece piece = pieces.piece[i];

		if (halving->pipelines && is_cut(halving, round))
			in_order(halving, piece, reduce_part);
		if (halving->speaks)
			send_piece(halving, round, round->to, piece,
				   round->beside + piece.begin -
					   round->goes.all.begin);
	}
}

static size_t end_of(struct bcl_piece piece)
{
	return piece.begin + piece.length;
}

/* Add to `part` everything that arrived for it in round k and in the rounds
 * before, which have higher numbers. */
static void combine_part(const struct halving *halving, struct bcl_piece part,
			 unsigned k)
{
	for (; k < halving->halves.nrounds; k++) {
		const struct bcl_halving_round *round =
			&halving->halves.rounds[k];
		struct bcl_piece came = round->comes.all;
		size_t end = bcl_min_size(end_of(part), end_of(came));
		size_t begin =
			part.begin > came.begin ? part.begin : came.begin;

		if (begin < end)
			bcl_step_combine(halving->schedule, halving->reduction,
					 halving->beside + round->beside +
						 begin - came.begin,
					 halving->vector + begin,
					 (end - begin) /
						 halving->reduction->element);
	}
}

static void begin_down(struct halving *halving,
		       const struct bcl_halving_round *round)
{
	if (halving->speaks)
		receive_down(halving, round);
	if (halving->speaks || is_cut(halving, round))
		send_down(halving, round);
}

/* Wait for the range of a round that is needed next, and for the second range
 * of the round before. */
static void await_down(const struct halving *halving,
		       const struct bcl_halving_round *round)
{
	struct pieces pieces = pieces_down(halving, round);

	await_pieces(halving, round, &pieces, 0, pieces.first);
	if (++round == halving->halves.rounds + halving->halves.nrounds)
		return;
	pieces = pieces_down(halving, round);
	await_pieces(halving, round, &pieces, pieces.first, pieces.n);
}

/* Sum up the blocks that the next round sends, no more; after the last round,
 * the own block. */
static void end_down(const struct halving *halving,
		     const struct bcl_halving_round *round)
{
	unsigned k = number_of(halving, round);
	struct bcl_piece part = k ? round[-1].goes.all : halving->halves.own;

	if (halving->pipelines)
		in_order(halving, part, reduce_part);
	if (!halving->speaks)
		return;
	await_down(halving, round);
	combine_part(halving, part, k);
}

/* ---- up ------------------------------------------------------------------ */

static struct pieces pieces_up(const struct halving *halving,
			       const struct bcl_halving_round *round)
{
	return cut_pieces(halving, round, &round->goes, true);
}

static void send_up(const struct halving *halving,
		    const struct bcl_halving_round *round, bool last)
{
	struct pieces pieces = cut_pieces(halving, round, &round->comes, true);
	unsigned i = last ? pieces.first : 0;
	unsigned end = last ? pieces.n : pieces.first;

	for (; i < end; i++)
		send_piece(halving, round, round->from, pieces.piece[i],
			   round->there + pieces.piece[i].begin -
				   round->comes.all.begin);
}

static void await_up(const struct halving *halving,
		     const struct bcl_halving_round *round)
{
	struct pieces pieces = pieces_up(halving, round);

	await_pieces(halving, round, &pieces, 0, pieces.n);
}

static const struct bcl_halving_round *last_up(const struct halving *halving)
{
	return &halving->halves.rounds[halving->halves.nrounds - 1];
}

/* Pass the result on inside the node. Turn 0: all that came before the last
 * round. Turn 1: the first range of the last round. Turn 2: its second
 * range. */
static void pass_result(const struct halving *halving, unsigned turn)
{
	const struct bcl_halving_round *last = last_up(halving);
	struct pieces pieces = pieces_up(halving, last);
	unsigned i = turn == 1 ? 0 : pieces.first;
	unsigned end = turn == 1 ? pieces.first : pieces.n;

	if (!turn) {
		in_order(halving, last->stays, pass_on);
		return;
	}
	for (; i < end; i++) {
		if (halving->speaks)
			await_pieces(halving, last, &pieces, i, i + 1);
		in_order(halving, pieces.piece[i], pass_on);
	}
}

static void begin_up(struct halving *halving,
		     const struct bcl_halving_round *round)
{
	struct pieces pieces;

	if (!halving->speaks)
		return;
	pieces = pieces_up(halving, round);
	receive_half(halving, round, round->to,
		     halving->vector + round->goes.all.begin, &round->goes,
		     &pieces);
	halving->window = granted(halving, round, round->from);
	send_up(halving, round, false);
}

static void end_up(const struct halving *halving,
		   const struct bcl_halving_round *round)
{
	bool last = round == last_up(halving);

	if (halving->speaks && is_split(halving, round)) {
		await_up(halving, round - 1);
		send_up(halving, round, true);
	}
	if (last ? halving->pipelines : is_split(halving, round + 1))
		return;
	if (halving->speaks)
		await_up(halving, round);
}

/* ---- turns ----------------------------------------------------------------
 * A round is granted in the turn before its own, the first round in turn 0. In
 * the last turns the result is passed on inside the nodes. */

enum {
	PASSING = 3,
};

static void begin_turn(struct halving *halving, unsigned i)
{
	struct bcl_piece all = { 0, halving->length };

	if (!i && !halving->pipelines)
		in_order(halving, all, copy_in);
	if (i && i <= halving->halves.nrounds)
		begin_down(halving, round_of(halving, i - 1));
	else if (i && i <= 2 * halving->halves.nrounds)
		begin_up(halving, round_of(halving, i - 1));
	grant(halving, i);
}

static void finish_round(struct halving *halving, unsigned i)
{
	if (i && i <= halving->halves.nrounds)
		end_down(halving, round_of(halving, i - 1));
	else if (i && i <= 2 * halving->halves.nrounds)
		end_up(halving, round_of(halving, i - 1));
}

static void end_turn(struct halving *halving, unsigned i)
{
	struct bcl_piece all = { 0, halving->length };
	unsigned rounds = 2 * halving->halves.nrounds;

	if (i > rounds && halving->pipelines)
		pass_result(halving, i - rounds - 1);
	if (i == rounds + PASSING && halving->speaks)
		in_order(halving, all, copy_out);
}

/* A vector is overwritten on the way up where it was sent from on the way down.
 * The data comes from the member that received those bytes, so they have
 * left. */
static void take_turns(struct halving *halving, unsigned parts, unsigned far)
{
	void (*const turns[])(struct halving * halving, unsigned i) = {
		begin_turn,
		finish_round,
		end_turn,
	};
	unsigned lag = halving->halves.nrounds -
		       bcl_min_size(far, halving->halves.nrounds);
	unsigned last = 2 * halving->halves.nrounds + PASSING, turn, part, i;

	for (turn = 0; turn <= last + (parts - 1) * lag; turn++)
		for (i = 0; i < 3; i++)
			for (part = 0; part < parts; part++)
				if (turn - part * lag <= last)
					turns[i](&halving[part],
						 turn - part * lag);
}

/* Set up one part of the vectors. */
static void prepare(struct halving *halving, bool ring)
{
	const struct bcl_group *group = halving->group;
	struct bcl_schedule *schedule = halving->schedule;
	size_t element = halving->reduction->element, length = halving->length;
	size_t begin =
		bcl_block_begin(length, element, halving->parts, halving->part);
	size_t end = bcl_block_begin(length, element, halving->parts,
				     halving->part + 1);

	halving->send += begin;
	halving->receive += begin;
	halving->length = end - begin;
	bcl_halving_plan_init(&halving->halves, group->size, group->me,
			      halving->length, element, ring);
	if (!halving->speaks)
		return;
	halving->vector = halving->receive;
	if (halving->halves.begin)
		halving->vector = bcl_step_scratch(schedule, halving->length);
	halving->beside = bcl_step_scratch(schedule, halving->halves.beside);
	open_windows(halving);
}

void bcl_build_halving(struct bcl_schedule *schedule,
		       const struct bcl_group *group, bool by_node,
		       const void *send, void *receive, size_t length,
		       const struct bcl_reduction *reduction,
		       enum bcl_halving_way way)
{
	unsigned root = bcl_group_rank(group, group->me), part;
	bool ring = way == BCL_HALVING_RING;
	unsigned far = ring ? 0 : way, parts = far ? PARTS : 1;
	struct halving halving[PARTS] = { {
		.schedule = schedule,
		.group = group,
		.reduction = reduction,
		.by_node = by_node,
		.pipelines = by_node &&
			     bcl_intranode_pipelines(schedule->team, reduction),
		.root = root,
		.speaks = root == schedule->team->rank,
		.send = send,
		.receive = receive,
		.length = length,
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
		halving[part].parts = parts;
		prepare(&halving[part], ring);
	}
	take_turns(halving, parts, far);
	bcl_step_round(schedule);
}
