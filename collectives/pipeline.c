/* SPDX-License-Identifier: MIT */
/*
 * Broadcast and reduce of long vectors in pieces, in as few rounds as possible
 * (circulant.h): between the leaders of the nodes, from the root's node or to
 * it. A leader passes a piece on inside its node, or collects it there, while
 * the next pieces travel. The last piece is passed on in parts, so that it is
 * read while it is written.
 *
 * In round i of a broadcast a leader p, with skip s[i] of that round,
 *
 *   waits for the piece of round i - 2, and for the piece of round i - 1 if
 *   round i sends it on
 *   sends a piece to leader p + s[i]
 *   receives a piece from leader p - s[i], for which it waits later
 *
 * A reduction has the same rounds in reverse order, with sender and receiver
 * swapped.
 *
 * The wait for round i - 2 (BCL_ROUND_LAG) keeps a leader with nothing else to
 * wait for from running ahead. Its pieces would delay pieces that are due
 * earlier.
 *
 * Pieces longer than the eager limit have their place in a window (schedule.h).
 * When the operation begins, a leader grants its window to all members that
 * will send to it, in the order in which they will. Where cards work alone
 * short pieces are put as well, so that no processor copies them.
 */
#include "collectives/builders.h"
#include "collectives/circulant.h"

enum {
	LAST_PART = 4096, /* bytes */
};

/* The peers of a member in a round. */
struct partners {
	bool sends, receives;
	unsigned to, from;
};

struct pipeline {
	struct bcl_schedule *schedule;
	unsigned root;	/* leader of the own node */
	bool speaks;	/* the caller is the leader */
	unsigned shift; /* the group's place of the plan's member 0 */
	struct bcl_group leaders;
	struct bcl_circulant plan;
	size_t length, piece;
	struct partners (*partners)(const struct pipeline *pipeline,
				    unsigned round);
	bool granted; /* pieces are put where they belong */
	unsigned to[BCL_CIRCULANT_PERIOD_MAX]; /* windows granted by receivers,
						  by round of a period */
};

static struct partners broadcast_partners(const struct pipeline *pipeline,
					  unsigned i)
{
	struct bcl_circulant_round round =
		bcl_circulant_round(&pipeline->plan, i);

	return (struct partners){
		.sends = round.to != 0,
		.receives = pipeline->plan.me != 0,
		.to = round.to,
		.from = round.from,
	};
}

/* The round of the broadcast that round i of a reduction reverses. */
static struct bcl_circulant_round round_of(const struct pipeline *pipeline,
					   unsigned i)
{
	return bcl_circulant_round(&pipeline->plan,
				   pipeline->plan.rounds - 1 - i);
}

static struct partners reduce_partners(const struct pipeline *pipeline,
				       unsigned i)
{
	struct bcl_circulant_round round = round_of(pipeline, i);

	return (struct partners){
		.sends = pipeline->plan.me != 0,
		.receives = round.to != 0,
		.to = round.from,
		.from = round.to,
	};
}

static void init(struct pipeline *pipeline, struct bcl_schedule *schedule,
		 const struct bcl_call *call, size_t piece, size_t element)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group leaders = bcl_group_leaders(team, call->root);
	unsigned n = leaders.size,
		 root_node = bcl_layout_node(&team->layout, call->root);
	size_t count;

	piece = bcl_pipeline_piece(call->length, piece, element);
	/* Make all pieces equally long, as far as elements permit. */
	count = (call->length + piece - 1) / piece;
	if (count)
		piece = (call->length / element + count - 1) / count * element;
	*pipeline = (struct pipeline){
		.schedule = schedule,
		.root = bcl_group_rank(&leaders, leaders.me),
		.shift = root_node,
		.leaders = leaders,
		.length = call->length,
		.piece = piece,
		.partners = call->operation == BCL_OPERATION_REDUCE
				    ? reduce_partners
				    : broadcast_partners,
		.granted = call->length && (piece > BCL_UNGRANTED_MAX ||
					    bcl_cards_work_alone(team)),
	};
	pipeline->speaks = team->rank == pipeline->root;
	bcl_circulant_init(&pipeline->plan, n, (leaders.me + n - root_node) % n,
			   (unsigned)((call->length + piece - 1) / piece));
}

static unsigned rank_of(const struct pipeline *pipeline, unsigned member)
{
	unsigned n = pipeline->plan.size;

	return bcl_group_rank(&pipeline->leaders,
			      (member + pipeline->shift) % n);
}

static size_t begin_of(const struct pipeline *pipeline, int i)
{
	return (size_t)i * pipeline->piece;
}

static size_t length_of(const struct pipeline *pipeline, int i)
{
	return bcl_min_size(pipeline->piece,
			    pipeline->length - begin_of(pipeline, i));
}

/* Send piece i in a round. offset: in the receiver's window. */
static void send_piece(const struct pipeline *pipeline, unsigned round,
		       unsigned member, const unsigned char *vector, int i,
		       size_t offset)
{
	unsigned rank = rank_of(pipeline, member);
	const unsigned char *piece;

	if (i == BCL_CIRCULANT_NONE)
		return;
	piece = vector + begin_of(pipeline, i);
	if (pipeline->granted)
		bcl_step_put(
			pipeline->schedule, rank, piece, length_of(pipeline, i),
			pipeline->to[round % pipeline->plan.period], offset);
	else
		bcl_step_send(pipeline->schedule, rank, piece,
			      length_of(pipeline, i));
}

/* Receive piece i, at `to` unless the sender puts it into the window. */
static void receive_piece(const struct pipeline *pipeline, unsigned member,
			  void *to, int i)
{
	unsigned rank = rank_of(pipeline, member);

	if (i == BCL_CIRCULANT_NONE)
		return;
	if (pipeline->granted)
		bcl_step_receive(pipeline->schedule, rank, NULL, 0);
	else
		bcl_step_receive(pipeline->schedule, rank, to,
				 length_of(pipeline, i));
}

/* ---- windows --------------------------------------------------------------
 * A member has the same peers in the same round of each period. */

/* memory: where pieces arrive. NULL: no pieces arrive. */
static void open_window(struct pipeline *pipeline, void *memory, size_t length)
{
	unsigned window = 0, i;
	struct partners in;

	if (!pipeline->granted)
		return;
	for (i = 0; i < pipeline->plan.period; i++) {
		in = pipeline->partners(pipeline, i);
		if (in.sends)
			pipeline->to[i] = bcl_step_granted(
				pipeline->schedule, rank_of(pipeline, in.to));
	}
	if (memory)
		window = bcl_step_window(pipeline->schedule, memory, length);
	for (i = 0; i < pipeline->plan.period; i++) {
		in = pipeline->partners(pipeline, i);
		if (in.receives)
			bcl_step_grant(pipeline->schedule,
				       rank_of(pipeline, in.from), window);
	}
}

static void await_round(const struct pipeline *pipeline, unsigned i)
{
	bcl_step_await(pipeline->schedule, bcl_round_lane(i));
}

/* ---- broadcast ----------------------------------------------------------- */

/* last: this is the last piece of all. */
static void pass_on(const struct pipeline *pipeline, unsigned char *vector,
		    int i, bool last)
{
	size_t most = last ? LAST_PART : pipeline->piece, begin, end, length;

	if (i == BCL_CIRCULANT_NONE ||
	    !bcl_intranode_pipelines(pipeline->schedule->team, NULL))
		return;
	begin = begin_of(pipeline, i);
	end = begin + length_of(pipeline, i);
	for (; begin < end; begin += length) {
		length = bcl_min_size(most, end - begin);
		bcl_intranode_broadcast(pipeline->schedule, pipeline->root,
					vector + begin, length);
	}
}

/*
 * Post the receive of round i. Nobody sends a piece to the root, so it would
 * run ahead. The leader whose turn it would be sends the root a message of no
 * bytes instead.
 */
static void post_receive(const struct pipeline *pipeline, unsigned char *vector,
			 unsigned i)
{
	struct bcl_circulant_round round;

	if (i >= pipeline->plan.rounds)
		return;
	round = bcl_circulant_round(&pipeline->plan, i);
	bcl_step_lane(pipeline->schedule, bcl_round_lane(i));
	if (round.receive != BCL_CIRCULANT_NONE)
		receive_piece(pipeline, round.from,
			      vector + begin_of(pipeline, round.receive),
			      round.receive);
	else if (!pipeline->plan.me)
		bcl_step_receive(pipeline->schedule,
				 rank_of(pipeline, round.from), NULL, 0);
	bcl_step_lane(pipeline->schedule, 0);
}

/* Round i at a leader, up to where the next round's piece can be sent. */
static void broadcast_round(const struct pipeline *pipeline,
			    unsigned char *vector, unsigned i)
{
	struct bcl_circulant_round round =
		bcl_circulant_round(&pipeline->plan, i);

	if (!i)
		post_receive(pipeline, vector, i);
	post_receive(pipeline, vector, i + 1);
	if (i >= BCL_ROUND_LAG)
		await_round(pipeline, i - BCL_ROUND_LAG);
	if (i && pipeline->plan.me && round.send != BCL_CIRCULANT_NONE &&
	    round.send == bcl_circulant_round(&pipeline->plan, i - 1).receive)
		await_round(pipeline, i - 1);
	send_piece(pipeline, i, round.to, vector, round.send,
		   begin_of(pipeline, round.send));
	if (pipeline->plan.me && !round.to)
		bcl_step_send(pipeline->schedule, rank_of(pipeline, 0), NULL,
			      0);
}

void bcl_build_broadcast_pipeline(struct bcl_schedule *schedule,
				  const struct bcl_call *call, unsigned piece)
{
	unsigned char *vector = call->receive;
	struct pipeline pipeline;
	unsigned i, rounds;

	init(&pipeline, schedule, call, piece, 1);
	rounds = pipeline.plan.rounds;
	if (pipeline.speaks)
		open_window(&pipeline, pipeline.plan.me ? vector : NULL,
			    call->length);
	for (i = 0; i < rounds + BCL_ROUND_LAG; i++) {
		if (pipeline.speaks && i < rounds)
			broadcast_round(&pipeline, vector, i);
		else if (pipeline.speaks)
			await_round(&pipeline, i - BCL_ROUND_LAG);
		if (!pipeline.plan.me && i < pipeline.plan.pieces)
			pass_on(&pipeline, vector, (int)i,
				i + 1 == pipeline.plan.pieces);
		if (pipeline.plan.me && i >= BCL_ROUND_LAG)
			pass_on(&pipeline, vector,
				bcl_circulant_round(&pipeline.plan,
						    i - BCL_ROUND_LAG)
					.receive,
				i + 1 == rounds + BCL_ROUND_LAG);
	}
	if (bcl_intranode_pipelines(schedule->team, NULL))
		return;
	bcl_step_round(schedule);
	bcl_intranode_broadcast(schedule, pipeline.root, vector, call->length);
}

/* ---- reduction: the broadcast backwards ---------------------------------- */

struct sum {
	const struct bcl_call *call;
	unsigned char *vector;	/* of leaders; NULL at other members */
	unsigned char *arrived; /* room for pieces that arrive */
	unsigned places; /* pieces that fit: of a few rounds, or of all */
	bool collected[2 * BCL_PIPELINE_PIECES]; /* by piece: the node's own
						    part is summed up */
	/* Rounds in which a piece came before the node's own part was summed
	 * up: a list for each piece, by round + 1; 0: end. */
	unsigned came[2 * BCL_PIPELINE_PIECES];
	unsigned next[2 * BCL_PIPELINE_PIECES + BCL_CIRCULANT_PERIOD_MAX];
};

/* The piece that arrives in round i. */
static int piece_in(const struct pipeline *pipeline, unsigned i)
{
	return round_of(pipeline, i).send;
}

static unsigned char *arrived_in(const struct pipeline *pipeline,
				 const struct sum *sum, unsigned i)
{
	return sum->arrived + begin_of(pipeline, (int)(i % sum->places));
}

static void post_sum(const struct pipeline *pipeline, const struct sum *sum,
		     unsigned i)
{
	int piece;

	if (i >= pipeline->plan.rounds)
		return;
	piece = piece_in(pipeline, i);
	bcl_step_lane(pipeline->schedule, bcl_round_lane(i));
	receive_piece(pipeline, round_of(pipeline, i).to,
		      arrived_in(pipeline, sum, i), piece);
	bcl_step_lane(pipeline->schedule, 0);
}

/* Add the piece of round i to the vector. */
static void add_piece(const struct pipeline *pipeline, const struct sum *sum,
		      unsigned i)
{
	const struct bcl_reduction *reduction = sum->call->reduction;
	int piece = piece_in(pipeline, i);

	bcl_step_combine(pipeline->schedule, reduction,
			 arrived_in(pipeline, sum, i),
			 sum->vector + begin_of(pipeline, piece),
			 length_of(pipeline, piece) / reduction->element);
}

/* Sum up the node's own part of piece i, then add what came of the piece
 * before. */
static void collect_piece(const struct pipeline *pipeline, struct sum *sum,
			  int i)
{
	const struct bcl_call *call = sum->call;
	size_t begin;
	unsigned came;

	if (i == BCL_CIRCULANT_NONE || sum->collected[i])
		return;
	begin = begin_of(pipeline, i);
	sum->collected[i] = true;
	bcl_intranode_reduce_piece(pipeline->schedule, pipeline->root,
				   call->send + begin,
				   sum->vector ? sum->vector + begin : NULL,
				   length_of(pipeline, i), call->reduction);
	for (came = sum->came[i]; came; came = sum->next[came - 1])
		add_piece(pipeline, sum, came - 1);
}

/* Wait for round i and add its piece, at once or when the node's own part is
 * there. */
static void combine_round(const struct pipeline *pipeline, struct sum *sum,
			  unsigned i)
{
	int piece = piece_in(pipeline, i);

	await_round(pipeline, i);
	if (piece == BCL_CIRCULANT_NONE)
		return;
	if (sum->collected[piece]) {
		add_piece(pipeline, sum, i);
		return;
	}
	sum->next[i] = sum->came[piece];
	sum->came[piece] = i + 1;
}

/* True if the piece that arrives in round i - 1 is sent on in round i. */
static bool follows(const struct pipeline *pipeline, unsigned i)
{
	int piece = round_of(pipeline, i).receive;

	return i && piece != BCL_CIRCULANT_NONE &&
	       piece == piece_in(pipeline, i - 1);
}

/* Round i at a leader, up to where the next round's piece can be sent. */
static void reduce_round(const struct pipeline *pipeline, struct sum *sum,
			 unsigned i)
{
	struct bcl_circulant_round round = round_of(pipeline, i);

	if (!i)
		post_sum(pipeline, sum, i);
	if (i >= BCL_ROUND_LAG && !follows(pipeline, i - 1))
		combine_round(pipeline, sum, i - BCL_ROUND_LAG);
	if (follows(pipeline, i))
		combine_round(pipeline, sum, i - 1);
	post_sum(pipeline, sum, i + 1);
	send_piece(pipeline, i, round.from, sum->vector, round.receive,
		   begin_of(pipeline, (int)i));
}

static void begin_sum(struct pipeline *pipeline, struct sum *sum)
{
	const struct bcl_call *call = sum->call;
	struct bcl_schedule *schedule = pipeline->schedule;
	size_t room = 0;
	unsigned i;

	if (pipeline->speaks) {
		sum->vector = pipeline->plan.me
				      ? bcl_step_scratch(schedule, call->length)
				      : call->receive;
		sum->places = pipeline->granted ? pipeline->plan.rounds
						: BCL_ROUND_LAG + 1;
		room = sum->places * pipeline->piece;
		sum->arrived = bcl_step_scratch(schedule, room);
	}
	if (!bcl_intranode_pipelines(schedule->team, call->reduction)) {
		bcl_intranode_reduce(schedule, pipeline->root, call->send,
				     sum->vector, call->length,
				     call->reduction);
		for (i = 0; i < pipeline->plan.pieces; i++)
			sum->collected[i] = true;
	}
	if (pipeline->speaks)
		open_window(pipeline, sum->arrived, room);
}

void bcl_build_reduce_pipeline(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned piece)
{
	struct sum sum = { .call = call };
	struct pipeline pipeline;
	unsigned i, rounds;
	bool late;

	init(&pipeline, schedule, call, piece, call->reduction->element);
	rounds = pipeline.plan.rounds;
	bcl_assert(pipeline.plan.pieces <= 2 * BCL_PIPELINE_PIECES);
	begin_sum(&pipeline, &sum);
	/* late: this member sends every piece, and has room for all that comes
	 * of a piece until then. So the node's own part is collected just
	 * before the piece is sent, one piece in a round. */
	late = pipeline.granted && pipeline.plan.me;
	for (i = 0; i < rounds; i++) {
		struct bcl_circulant_round round = round_of(&pipeline, i);

		collect_piece(&pipeline, &sum, round.receive);
		if (pipeline.speaks)
			reduce_round(&pipeline, &sum, i);
		if (!late)
			collect_piece(&pipeline, &sum, round.send);
	}
	if (!pipeline.speaks)
		return;
	for (i = rounds > BCL_ROUND_LAG ? rounds - BCL_ROUND_LAG : 0;
	     i < rounds; i++)
		if (i + 1 == rounds || !follows(&pipeline, i + 1))
			combine_round(&pipeline, &sum, i);
}
