/* SPDX-License-Identifier: MIT */
/*
 * The card protocol (nicfw/). One card sends the messages of FLOWS flows to
 * another card. The link loses, duplicates and reorders frames and
 * acknowledgements. There are two sequence spaces: frames (window.c, arrived.c)
 * and messages (message.c, flow.c, assemble.c, verdict.c). Names are the
 * code's. All that a card does with one input is one step, because no card is
 * re-entered.
 *
 * Bounds: the sizes below. Reordering is free. FAULTS losses and duplications,
 * SPURIOUS early time-outs and RETRIES hopeless retries happen at any step.
 * Numbers wrap; no frame is older than half their range.
 *
 *  - the messages of each flow are delivered exactly once and in order
 *  - a send ends after the delivery. All sends end, except the sends to a port
 *    that is STOPPED: the owner of that port reads nothing
 *  - the numbers without a verdict and the early messages are bounded
 */
#ifndef FLOWS
#define FLOWS 1
#endif
#ifndef MESSAGES
#define MESSAGES 3 /* of each flow */
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef SPURIOUS
#define SPURIOUS 1
#endif
#ifndef RETRIES
#define RETRIES 1
#endif
#ifndef BLOCKS
#define BLOCKS 1 /* in the system ring of each port */
#endif
#ifndef STOPPED
#define STOPPED FLOWS /* none */
#endif
#ifndef FIRST
#define FIRST 1 /* number of a frame and of a message */
#endif
#ifndef AHEAD
#define AHEAD 2 /* BCL_MSG_AHEAD */
#endif
#ifndef WRAP
#define WRAP 32 /* numbers of frames and of messages */
#endif
#if AHEAD == 2
#define MEMORY 4 /* BCL_MSG_MEMORY; divides WRAP */
#else
#define MEMORY 8
#endif
#define WINDOW 2 /* frames in flight */
#define WIRE 2 /* frames on the link, in each direction */
#define ALL (FLOWS * MESSAGES)
#define NO_MESSAGE ALL
#if STOPPED < FLOWS
#define TO_FINISH (ALL - MESSAGES + BLOCKS)
#else
#define TO_FINISH ALL
#endif

#define MINUS(a, b) (((a) + WRAP - (b)) % WRAP)
#define BEFORE(a, b) (MINUS(a, b) >= WRAP / 2)
#define FLOW(id) ((id) / MESSAGES)
#ifdef SHARED
#define PORT(flow) 0 /* the port to which the flow leads */
#else
#define PORT(flow) (flow)
#endif
#define IN_ORDER(flow) (newest[flow] == delivered[flow])

mtype = { QUEUED, SENT, PARKED, FINISHED, UNKNOWN, DELIVERED, REFUSED };

/* ---- the link ---- */

typedef data_frame {
	bit used;
	byte seq, msg, prev, base, id
};
typedef ack_frame {
	bit used, sack; /* sack: frame ack + 1 has arrived */
	byte ack, done, rooms; /* bit p of rooms: port p has room again */
	mtype verdict[AHEAD]   /* on number done, done + 1, ... */
};
data_frame data[WIRE];
ack_frame acks[WIRE];
bit ping;
byte faults, spurious, retries;

#define HAS_FREE(wire) (!wire[0].used || !wire[1].used)
#define FREE(wire) (wire[0].used -> 1 : 0)
#define QUIET (!ping && !data[0].used && !data[1].used && \
	       !acks[0].used && !acks[1].used && !ack_due)

/* ---- the sender; FLOW(id) has message id at place id % MESSAGES ---- */

typedef in_flight {
	bit used, sacked;
	byte seq, id, number
};
mtype state[ALL] = QUEUED;
byte number[ALL], prev[ALL]; /* 0: none */
byte queued[FLOWS] = MESSAGES, pending[FLOWS], last[FLOWS];
bit refused[FLOWS], room[FLOWS]; /* room: ROOM came after the refusal */
byte next = FIRST, next_seq = FIRST;
byte oldest = FIRST; /* number without a verdict; next if there is none */
byte finished;
in_flight flights[WINDOW];

/* ---- the receiver ---- */

typedef inbound {
	bit used;
	byte msg, prev, id
};
byte expected = FIRST, base = FIRST, done = FIRST, top = FIRST;
bit arrived; /* frame expected + 1 */
bit ack_due;
mtype verdicts[MEMORY] = UNKNOWN;
bit told = 1; /* all verdicts behind `done` were sent */
inbound early[AHEAD];
byte blocks[FLOWS], delivered[FLOWS], read[FLOWS];
byte newest[FLOWS]; /* 1 + place in the flow of the message delivered last */
byte rooms_ready, rooms; /* bit p: ROOM of port p is due; port p has refused */

hidden byte f, h, i, id, j, k, m, v, w;

/* ---- steps of the sender ---- */

#define MAY_RETRY(flow) (refused[flow] && pending[flow] == 0)
#define UNACKED(flight) (flights[flight].used && !flights[flight].sacked)

/* A retransmitted frame is empty if the message has a verdict by now. */
inline transmit(which)
{
	id = flights[which].id;
	id = (number[id] == flights[which].number -> id : NO_MESSAGE);
	k = FREE(data);
	data[k].used = 1;
	data[k].seq = flights[which].seq;
	data[k].base = oldest;
	data[k].id = id;
	if
	:: id == NO_MESSAGE ->
		data[k].msg = 0;
		data[k].prev = 0
	:: else ->
		data[k].msg = number[id];
		data[k].prev = prev[id]
	fi
}

/* bcl_nic_send_alone(), send_small(): the first message in the queue */
inline send_alone(flow)
{
	id = flow * MESSAGES;
	do
	:: state[id] != QUEUED -> id++
	:: else -> break
	od;
	number[id] = next;
	next = (next + 1 == WRAP -> 1 : next + 1); /* 0: no message */
	prev[id] = last[flow];
	last[flow] = number[id];
	pending[flow]++;
	queued[flow]--;
	state[id] = SENT;
	w = FREE(flights);
	flights[w].used = 1;
	flights[w].sacked = 0;
	flights[w].seq = next_seq;
	flights[w].id = id;
	flights[w].number = number[id];
	next_seq = (next_seq + 1) % WRAP;
	transmit(w)
}

/* resend(): refused messages go again, before new ones. */
inline resend(flow)
{
	for (i : flow * MESSAGES .. flow * MESSAGES + MESSAGES - 1) {
		if
		:: state[i] == PARKED ->
			state[i] = QUEUED;
			queued[flow]++
		:: else
		fi
	}
	refused[flow] = 0;
	room[flow] = 0;
	last[flow] = 0
}

/* verdict() in message.c; bcl_nic_flow_park(), bcl_nic_flow_judged() */
inline take_verdict(message, what)
{
	f = FLOW(message);
	pending[f]--;
	last[f] = (last[f] == number[message] -> 0 : last[f]);
	number[message] = 0;
	if
	:: what == DELIVERED ->
		assert(message % MESSAGES < delivered[f]);
		state[message] = FINISHED;
		finished++
	:: else ->
		state[message] = PARKED;
		refused[f] = 1
	fi;
	if
	:: room[f] && MAY_RETRY(f) -> resend(f)
	:: else
	fi
}

inline clear_flight(which)
{
	flights[which].sacked = 0;
	flights[which].seq = 0;
	flights[which].id = 0;
	flights[which].number = 0
}

/* answers() in recv.c, then notice() for the segments */
inline receive_ack(a)
{
	for (m : 0 .. ALL - 1) {
		if
		:: number[m] && BEFORE(number[m], acks[a].done) ->
			take_verdict(m, DELIVERED)
		:: else
		fi
	}
	for (w : 0 .. WINDOW - 1) {
		if
		:: flights[w].used && BEFORE(flights[w].seq, acks[a].ack) ->
			flights[w].used = 0
		:: flights[w].used && acks[a].sack &&
		   flights[w].seq == (acks[a].ack + 1) % WRAP ->
			flights[w].sacked = 1
		:: else
		fi
	}
	if
	:: !flights[0].used ->
		flights[0].used = flights[1].used;
		flights[0].sacked = flights[1].sacked;
		flights[0].seq = flights[1].seq;
		flights[0].id = flights[1].id;
		flights[0].number = flights[1].number;
		flights[1].used = 0
	:: else
	fi;
	if
	:: !flights[0].used -> clear_flight(0)
	:: else
	fi;
	if
	:: !flights[1].used -> clear_flight(1)
	:: else
	fi;
	for (j : 0 .. AHEAD - 1) {
		for (m : 0 .. ALL - 1) {
			if
			:: acks[a].verdict[j] != UNKNOWN && number[m] &&
			   number[m] == (acks[a].done + j) % WRAP ->
				take_verdict(m, acks[a].verdict[j])
			:: else
			fi
		}
	}
	for (j : 0 .. FLOWS - 1) { /* bcl_nic_flow_room() */
		if
		:: (acks[a].rooms & (1 << PORT(j))) && MAY_RETRY(j) -> resend(j)
		:: (acks[a].rooms & (1 << PORT(j))) && !MAY_RETRY(j) ->
			room[j] = refused[j]
		:: else
		fi
	}
	k = next;
	for (m : 0 .. ALL - 1) {
		if
		:: number[m] && BEFORE(number[m], k) -> k = number[m]
		:: else
		fi
	}
	oldest = k
}

active [FLOWS] proctype flow()
{
end:	do
	:: d_step {
		queued[_pid] && !refused[_pid] &&
		HAS_FREE(flights) && HAS_FREE(data) &&
		MINUS(next, oldest) < AHEAD -> send_alone(_pid)
	   }
	:: d_step { /* the back-off is over, and there is room */
		MAY_RETRY(_pid) && QUIET && blocks[PORT(_pid)] < BLOCKS ->
		resend(_pid)
	   }
	:: d_step { /* the back-off is over, and there is no room */
		MAY_RETRY(_pid) && retries < RETRIES ->
		retries++;
		resend(_pid)
	   }
	od
}

active proctype timers()
{
end:	do
	:: d_step { QUIET && UNACKED(0) -> transmit(0) }
	:: d_step { QUIET && UNACKED(1) -> transmit(1) }
	:: d_step { spurious < SPURIOUS && UNACKED(0) && HAS_FREE(data) ->
		spurious++;
		transmit(0)
	   }
	:: d_step { spurious < SPURIOUS && UNACKED(1) && HAS_FREE(data) ->
		spurious++;
		transmit(1)
	   }
	:: d_step { /* pings() in timer.c: verdicts are missing */
		QUIET && !flights[0].used && !flights[1].used &&
		oldest != next -> ping = 1
	   }
	od
}

/* ---- steps of the receiver ---- */

#define VERDICT_OF(number) verdicts[(number) % MEMORY]
/* An early message leaves a block for the message before. */
#define LEFT_FREE(before) (before != DELIVERED)

inline advance_done()
{
	done = (BEFORE(done, base) -> base : done);
	do
	:: MINUS(done, base) < AHEAD && VERDICT_OF(done) == DELIVERED ->
		done = (done + 1) % WRAP
	:: else -> break
	od;
	top = (BEFORE(top, done) -> done : top)
}

/* bcl_nic_verdict_base_slow() */
inline verdict_base(peer_base)
{
	if
	:: BEFORE(base, peer_base) ->
		assert(MINUS(peer_base, base) <= AHEAD + 1); /* 0 is skipped */
		do
		:: base != peer_base ->
			v = (base + AHEAD) % WRAP;
			/* no message has number 0, which counts as delivered */
			VERDICT_OF(v) = (v == 0 -> DELIVERED : UNKNOWN);
			base = (base + 1) % WRAP
		:: else -> break
		od;
		v = done;
		if
		:: v != top || BEFORE(v, base) -> advance_done()
		:: else
		fi;
		ack_due = (done != v -> 1 : ack_due)
	:: else
	fi
}

/* bcl_nic_verdict_give() */
inline verdict_give(n, verdict)
{
	VERDICT_OF(n) = verdict;
	top = (BEFORE(n, top) -> top : (n + 1) % WRAP);
	if
	:: n == done && verdict == DELIVERED -> advance_done()
	:: else -> told = 0
	fi;
	ack_due = 1
}

inline deliver(message)
{
	newest[FLOW(message)] = message % MESSAGES + 1;
	delivered[FLOW(message)]++;
	assert(IN_ORDER(FLOW(message)))
}

/* The verdicts on the messages that waited for message m, in order. */
inline give_verdicts()
{
	h = 0;
	do
	:: h < AHEAD && early[h].used && early[h].prev == m ->
		if
		:: VERDICT_OF(m) == DELIVERED ->
			deliver(early[h].id);
			verdict_give(early[h].msg, DELIVERED)
		:: else ->
			blocks[PORT(FLOW(early[h].id))]--;
			verdict_give(early[h].msg, REFUSED)
		fi;
		m = early[h].msg;
		early[h].used = 0;
		early[h].msg = 0;
		early[h].prev = 0;
		early[h].id = 0;
		h = 0
	:: h < AHEAD && !(early[h].used && early[h].prev == m) -> h++
	:: else -> break
	od
}

/* bcl_nic_assemble(), of a whole message */
inline assemble(n, predecessor, message)
{
	f = FLOW(message);
	v = (predecessor == 0 -> DELIVERED : VERDICT_OF(predecessor));
	m = n;
	if
	:: BEFORE(n, base) -> skip /* the peer knows the verdict */
	:: !BEFORE(n, base) && VERDICT_OF(n) != UNKNOWN ->
		told = 0;
		ack_due = 1
	:: !BEFORE(n, base) && VERDICT_OF(n) == UNKNOWN && v == REFUSED ->
		verdict_give(n, REFUSED);
		give_verdicts()
	:: !BEFORE(n, base) && VERDICT_OF(n) == UNKNOWN && v != REFUSED &&
	   blocks[PORT(f)] + LEFT_FREE(v) >= BLOCKS ->
		rooms = rooms | (1 << PORT(f));
		verdict_give(n, REFUSED);
		give_verdicts()
	:: else ->
		assert(MINUS(n, base) < AHEAD);
		blocks[PORT(f)]++;
		if
		:: v == DELIVERED ->
			deliver(message);
			verdict_give(n, DELIVERED);
			give_verdicts()
		:: else ->
			h = FREE(early);
			assert(!early[h].used);
			early[h].used = 1;
			early[h].msg = n;
			early[h].prev = predecessor;
			early[h].id = message
		fi
	fi
}

/* data() in recv.c: the frame may be a duplicate (arrived.c). */
inline receive_data(a)
{
	verdict_base(data[a].base);
	if
	:: data[a].seq == expected ||
	   (data[a].seq == (expected + 1) % WRAP && !arrived) ->
		if
		:: data[a].id != NO_MESSAGE ->
			assemble(data[a].msg, data[a].prev, data[a].id)
		:: else
		fi;
		if
		:: data[a].seq == expected ->
			expected = (expected + 1 + arrived) % WRAP;
			arrived = 0
		:: else -> arrived = 1
		fi
	:: else ->
		assert(BEFORE(data[a].seq, expected) ||
		       data[a].seq == (expected + 1) % WRAP)
	fi;
	ack_due = 1
}

/* Frames on the link take the first places, which makes fewer states. */
inline move_data(to, from)
{
	data[to].used = data[from].used;
	data[to].seq = data[from].seq;
	data[to].msg = data[from].msg;
	data[to].prev = data[from].prev;
	data[to].base = data[from].base;
	data[to].id = data[from].id
}

inline drop_data(a)
{
	if
	:: a == 0 -> move_data(0, 1)
	:: else
	fi;
	data[1].used = 0;
	data[1].seq = 0;
	data[1].msg = 0;
	data[1].prev = 0;
	data[1].base = 0;
	data[1].id = 0
}

inline drop_ack(a)
{
	if
	:: a == 0 ->
		acks[0].used = acks[1].used;
		acks[0].sack = acks[1].sack;
		acks[0].ack = acks[1].ack;
		acks[0].done = acks[1].done;
		acks[0].rooms = acks[1].rooms;
		for (j : 0 .. AHEAD - 1) {
			acks[0].verdict[j] = acks[1].verdict[j]
		}
	:: else
	fi;
	acks[1].sack = 0;
	acks[1].ack = 0;
	acks[1].done = 0;
	acks[1].rooms = 0;
	for (j : 0 .. AHEAD - 1) {
		acks[1].verdict[j] = UNKNOWN
	}
	acks[1].used = 0
}

/* bcl_nic_frame_ack() */
inline send_ack()
{
	k = FREE(acks);
	acks[k].used = 1;
	acks[k].ack = expected;
	acks[k].sack = arrived;
	acks[k].done = done;
	acks[k].rooms = rooms_ready;
	for (j : 0 .. AHEAD - 1) {
		acks[k].verdict[j] =
			(j < MINUS(top, done) -> VERDICT_OF(done + j) : UNKNOWN)
	}
	ack_due = 0;
	told = 1;
	rooms_ready = 0
}

active proctype receiver()
{
end:	do
	:: d_step { data[0].used -> receive_data(0); drop_data(0) }
	:: d_step { data[1].used -> receive_data(1); drop_data(1) }
	:: d_step { (ack_due || rooms_ready) && HAS_FREE(acks) -> send_ack() }
	:: d_step { ping -> ping = 0; ack_due = 1 }
	od
}

active proctype ack_receiver()
{
end:	do
	:: d_step { acks[0].used -> receive_ack(0); drop_ack(0) }
	:: d_step { acks[1].used -> receive_ack(1); drop_ack(1) }
	od
}

/* The owners of the ports free blocks. */
inline free_block(which)
{
	read[which]++;
	blocks[PORT(which)]--;
	rooms_ready = rooms_ready | (rooms & (1 << PORT(which)));
	rooms = rooms & ~(1 << PORT(which))
}

active proctype owners()
{
end:	do
	:: d_step { read[0] < delivered[0] && STOPPED != 0 -> free_block(0) }
	:: d_step { FLOWS > 1 && read[FLOWS - 1] < delivered[FLOWS - 1] ->
		free_block(FLOWS - 1)
	   }
	od
}

active proctype link_faults()
{
end:	do
	:: d_step { faults < FAULTS && data[0].used -> faults++; drop_data(0) }
	:: d_step { faults < FAULTS && data[1].used -> faults++; drop_data(1) }
	:: d_step { faults < FAULTS && data[0].used ->
		faults++; receive_data(0) }
	:: d_step { faults < FAULTS && data[1].used ->
		faults++; receive_data(1) }
	:: d_step { faults < FAULTS && acks[0].used -> faults++; drop_ack(0) }
	:: d_step { faults < FAULTS && acks[1].used -> faults++; drop_ack(1) }
	:: d_step { faults < FAULTS && acks[0].used ->
		faults++; receive_ack(0) }
	:: d_step { faults < FAULTS && acks[1].used ->
		faults++; receive_ack(1) }
	od
}

/* If a send does not end this process is blocked for ever. */
active proctype user()
{
	finished == TO_FINISH
}

ltl exactly_once_in_order {
	[] (IN_ORDER(0) && IN_ORDER(FLOWS - 1)) && <> (finished == TO_FINISH)
}
