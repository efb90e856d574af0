/* SPDX-License-Identifier: MIT */
/*
 * The card protocol (nicfw/): messages of FLOWS flows from one card to
 * another, over a link that loses, duplicates and reorders frames and what
 * answers them. Two sequence spaces: frames (window.c), and messages
 * (message.c, flow.c, assemble.c, verdict.c), whose names are used here. What
 * one input of a card does is one step: no card is re-entered.
 *
 * Bounds: the sizes below. Reordering is free; FAULTS losses and duplications,
 * SPURIOUS early time-outs and RETRIES hopeless retries happen anywhere.
 * Numbers wrap; no frame is older than half their range.
 *
 *  - each flow's messages are delivered exactly once and in order
 *  - a send ends after its delivery, and all sends end, but for those to a
 *    port that is STOPPED: its owner reads nothing
 *  - numbers without a verdict and messages held are bounded
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
#define BLOCKS 1 /* of each port's system ring */
#endif
#ifndef STOPPED
#define STOPPED FLOWS /* none */
#endif
#ifndef FIRST
#define FIRST 1 /* number of either kind */
#endif
#ifndef AHEAD
#define AHEAD 2 /* BCL_MSG_AHEAD */
#endif
#ifndef WRAP
#define WRAP 32 /* numbers of either kind */
#endif
#if AHEAD == 2
#define MEMORY 4 /* BCL_MSG_MEMORY; divides WRAP */
#else
#define MEMORY 8
#endif
#define WINDOW 2 /* frames in flight */
#define WIRE 2 /* frames on their way, in each direction */
#define ALL (FLOWS * MESSAGES)
#define NOBODY ALL
#if STOPPED < FLOWS
#define SETTLED (ALL - MESSAGES + BLOCKS)
#else
#define SETTLED ALL
#endif

#define SINCE(a, b) (((a) + WRAP - (b)) % WRAP)
#define BEFORE(a, b) (SINCE(a, b) >= WRAP / 2)
#define FLOW(id) ((id) / MESSAGES)
#ifdef SHARED
#define PORT(flow) 0 /* that it leads to */
#else
#define PORT(flow) (flow)
#endif
#define IN_ORDER(flow) (newest[flow] == delivered[flow])

mtype = { QUEUED, SENT, PARKED, FINISHED, UNKNOWN, DELIVERED, REFUSED };

/* ---- the link ---- */

typedef data_frame {
	bit there;
	byte seq, msg, prev, base, id
};
typedef ack_frame {
	bit there, sack; /* sack: frame ack + 1 has arrived */
	byte ack, done, rooms; /* rooms: bit p: port p has room again */
	mtype verdict[AHEAD]   /* from done on */
};
data_frame data[WIRE];
ack_frame acks[WIRE];
bit ping;
byte faults, spurious, retries;

#define ROOM(wire) (!wire[0].there || !wire[1].there)
#define FREE(wire) (wire[0].there -> 1 : 0)
#define QUIET (!ping && !data[0].there && !data[1].there && \
	       !acks[0].there && !acks[1].there && !ack_due)

/* ---- the sender; message id is the id % MESSAGES th of FLOW(id) ---- */

typedef in_flight {
	bit there, sacked;
	byte seq, id, number
};
mtype state[ALL] = QUEUED;
byte number[ALL], prev[ALL]; /* 0: none */
byte queued[FLOWS] = MESSAGES, pending[FLOWS], last[FLOWS];
bit refused[FLOWS], room[FLOWS]; /* room: and told of room since */
byte next = FIRST, seq = FIRST;
byte oldest = FIRST; /* number without a verdict, or next */
byte finished;
in_flight flights[WINDOW];

/* ---- the receiver ---- */

typedef inbound {
	bit there;
	byte msg, prev, id
};
byte expected = FIRST, base = FIRST, done = FIRST, top = FIRST;
bit arrived; /* frame expected + 1 */
bit ack_due;
mtype verdicts[MEMORY] = UNKNOWN;
bit told = 1; /* the verdicts beyond `done` */
inbound held[AHEAD];
byte blocks[FLOWS], delivered[FLOWS], read[FLOWS];
byte newest[FLOWS]; /* 1 + the place in its flow of what was delivered last */
byte rooms, wanted; /* bit p: of port p: to be told of room; was refused */

hidden byte f, h, i, id, j, k, m, v, w;

/* ---- what the sender does ---- */

#define WAITS(flow) (refused[flow] && pending[flow] == 0)
#define LATE(flight) (flights[flight].there && !flights[flight].sacked)

/* What is in the frame now: nothing any more if its message has its verdict. */
inline transmit(which)
{
	id = flights[which].id;
	id = (number[id] == flights[which].number -> id : NOBODY);
	k = FREE(data);
	data[k].there = 1;
	data[k].seq = flights[which].seq;
	data[k].base = oldest;
	data[k].id = id;
	if
	:: id == NOBODY ->
		data[k].msg = 0;
		data[k].prev = 0
	:: else ->
		data[k].msg = number[id];
		data[k].prev = prev[id]
	fi
}

/* bcl_nic_send_alone, send_small: the first of a flow's queue. */
inline send_first(flow)
{
	id = flow * MESSAGES;
	do
	:: state[id] != QUEUED -> id++
	:: else -> break
	od;
	number[id] = next;
	next = (next + 1 == WRAP -> 1 : next + 1); /* 0 is none */
	prev[id] = last[flow];
	last[flow] = number[id];
	pending[flow]++;
	queued[flow]--;
	state[id] = SENT;
	w = FREE(flights);
	flights[w].there = 1;
	flights[w].sacked = 0;
	flights[w].seq = seq;
	flights[w].id = id;
	flights[w].number = number[id];
	seq = (seq + 1) % WRAP;
	transmit(w)
}

/* resend(): the refused go first, again. */
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

/* message.c: verdict(), bcl_nic_flow_park(), bcl_nic_flow_judged() */
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
	:: room[f] && WAITS(f) -> resend(f)
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

/* bcl_nic_message_done(), bcl_nic_window_ack(), then the segments */
inline take_ack(a)
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
		:: flights[w].there && BEFORE(flights[w].seq, acks[a].ack) ->
			flights[w].there = 0
		:: flights[w].there && acks[a].sack &&
		   flights[w].seq == (acks[a].ack + 1) % WRAP ->
			flights[w].sacked = 1
		:: else
		fi
	}
	if
	:: !flights[0].there ->
		flights[0].there = flights[1].there;
		flights[0].sacked = flights[1].sacked;
		flights[0].seq = flights[1].seq;
		flights[0].id = flights[1].id;
		flights[0].number = flights[1].number;
		flights[1].there = 0
	:: else
	fi;
	if
	:: !flights[0].there -> clear_flight(0)
	:: else
	fi;
	if
	:: !flights[1].there -> clear_flight(1)
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
		:: (acks[a].rooms & (1 << PORT(j))) && WAITS(j) -> resend(j)
		:: (acks[a].rooms & (1 << PORT(j))) && !WAITS(j) ->
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
		queued[_pid] && !refused[_pid] && ROOM(flights) && ROOM(data) &&
		SINCE(next, oldest) < AHEAD -> send_first(_pid)
	   }
	:: d_step { /* back-off is over, and there is room */
		WAITS(_pid) && QUIET && blocks[PORT(_pid)] < BLOCKS -> resend(_pid)
	   }
	:: d_step { /* or not */
		WAITS(_pid) && retries < RETRIES ->
		retries++;
		resend(_pid)
	   }
	od
}

active proctype timers()
{
end:	do
	:: d_step { QUIET && LATE(0) -> transmit(0) }
	:: d_step { QUIET && LATE(1) -> transmit(1) }
	:: d_step { spurious < SPURIOUS && LATE(0) && ROOM(data) ->
		spurious++;
		transmit(0)
	   }
	:: d_step { spurious < SPURIOUS && LATE(1) && ROOM(data) ->
		spurious++;
		transmit(1)
	   }
	:: d_step { /* no verdicts come */
		QUIET && !flights[0].there && !flights[1].there &&
		oldest != next -> ping = 1
	   }
	od
}

/* ---- what the receiver does ---- */

#define OF(number) verdicts[(number) % MEMORY]
/* Who is held leaves a block to what it waits for. */
#define LEAVES(before) (before != DELIVERED)

/* verdict.c: advance_done() */
inline advance()
{
	done = (BEFORE(done, base) -> base : done);
	do
	:: SINCE(done, base) < AHEAD && OF(done) == DELIVERED ->
		done = (done + 1) % WRAP
	:: else -> break
	od;
	top = (BEFORE(top, done) -> done : top)
}

inline take_base(its)
{
	if
	:: BEFORE(base, its) ->
		assert(SINCE(its, base) <= AHEAD + 1); /* 0 skipped */
		do
		:: base != its ->
			v = (base + AHEAD) % WRAP;
			/* nobody shall wait for 0, which is no message's */
			OF(v) = (v == 0 -> DELIVERED : UNKNOWN);
			base = (base + 1) % WRAP
		:: else -> break
		od;
		v = done;
		if
		:: v != top || BEFORE(v, base) -> advance()
		:: else
		fi;
		ack_due = (done != v -> 1 : ack_due)
	:: else
	fi
}

inline give(n, what)
{
	OF(n) = what;
	top = (BEFORE(n, top) -> top : (n + 1) % WRAP);
	if
	:: n == done && what == DELIVERED -> advance()
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

/* assemble.c: those that waited for this one, one behind the other. */
inline settle()
{
	h = 0;
	do
	:: h < AHEAD && held[h].there && held[h].prev == m ->
		if
		:: OF(m) == DELIVERED ->
			deliver(held[h].id);
			give(held[h].msg, DELIVERED)
		:: else ->
			blocks[PORT(FLOW(held[h].id))]--;
			give(held[h].msg, REFUSED)
		fi;
		m = held[h].msg;
		held[h].there = 0;
		held[h].msg = 0;
		held[h].prev = 0;
		held[h].id = 0;
		h = 0
	:: h < AHEAD && !(held[h].there && held[h].prev == m) -> h++
	:: else -> break
	od
}

/* bcl_nic_assemble(): a whole message */
inline assemble(n, earlier, whose)
{
	f = FLOW(whose);
	v = (earlier == 0 -> DELIVERED : OF(earlier));
	m = n;
	if
	:: BEFORE(n, base) -> skip /* the peer has its verdict */
	:: !BEFORE(n, base) && OF(n) != UNKNOWN ->
		told = 0;
		ack_due = 1
	:: !BEFORE(n, base) && OF(n) == UNKNOWN && v == REFUSED ->
		give(n, REFUSED);
		settle()
	:: !BEFORE(n, base) && OF(n) == UNKNOWN && v != REFUSED &&
	   blocks[PORT(f)] + LEAVES(v) >= BLOCKS ->
		wanted = wanted | (1 << PORT(f));
		give(n, REFUSED);
		settle()
	:: else ->
		assert(SINCE(n, base) < AHEAD);
		blocks[PORT(f)]++;
		if
		:: v == DELIVERED ->
			deliver(whose);
			give(n, DELIVERED);
			settle()
		:: else ->
			h = FREE(held);
			assert(!held[h].there);
			held[h].there = 1;
			held[h].msg = n;
			held[h].prev = earlier;
			held[h].id = whose
		fi
	fi
}

/* bcl_nic_recv(): window.c says whether the frame is new. */
inline take_data(a)
{
	take_base(data[a].base);
	if
	:: data[a].seq == expected ||
	   (data[a].seq == (expected + 1) % WRAP && !arrived) ->
		if
		:: data[a].id != NOBODY ->
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

/* What is there stands in the first places: fewer states. */
inline move_data(to, from)
{
	data[to].there = data[from].there;
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
	data[1].there = 0;
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
		acks[0].there = acks[1].there;
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
	acks[1].there = 0
}

/* bcl_nic_frame_ack() */
inline send_ack()
{
	k = FREE(acks);
	acks[k].there = 1;
	acks[k].ack = expected;
	acks[k].sack = arrived;
	acks[k].done = done;
	acks[k].rooms = rooms;
	for (j : 0 .. AHEAD - 1) {
		acks[k].verdict[j] =
			(j < SINCE(top, done) -> OF(done + j) : UNKNOWN)
	}
	ack_due = 0;
	told = 1;
	rooms = 0
}

active proctype receiver()
{
end:	do
	:: d_step { data[0].there -> take_data(0); drop_data(0) }
	:: d_step { data[1].there -> take_data(1); drop_data(1) }
	:: d_step { (ack_due || rooms) && ROOM(acks) -> send_ack() }
	:: d_step { ping -> ping = 0; ack_due = 1 }
	od
}

active proctype answers()
{
end:	do
	:: d_step { acks[0].there -> take_ack(0); drop_ack(0) }
	:: d_step { acks[1].there -> take_ack(1); drop_ack(1) }
	od
}

/* The owners of the ports give blocks back. */
inline free_block(which)
{
	read[which]++;
	blocks[PORT(which)]--;
	rooms = rooms | (wanted & (1 << PORT(which)));
	wanted = wanted & ~(1 << PORT(which))
}

active proctype readers()
{
end:	do
	:: d_step { read[0] < delivered[0] && STOPPED != 0 -> free_block(0) }
	:: d_step { FLOWS > 1 && read[FLOWS - 1] < delivered[FLOWS - 1] ->
		free_block(FLOWS - 1)
	   }
	od
}

active proctype noise()
{
end:	do
	:: d_step { faults < FAULTS && data[0].there -> faults++; drop_data(0) }
	:: d_step { faults < FAULTS && data[1].there -> faults++; drop_data(1) }
	:: d_step { faults < FAULTS && data[0].there -> faults++; take_data(0) }
	:: d_step { faults < FAULTS && data[1].there -> faults++; take_data(1) }
	:: d_step { faults < FAULTS && acks[0].there -> faults++; drop_ack(0) }
	:: d_step { faults < FAULTS && acks[1].there -> faults++; drop_ack(1) }
	:: d_step { faults < FAULTS && acks[0].there -> faults++; take_ack(0) }
	:: d_step { faults < FAULTS && acks[1].there -> faults++; take_ack(1) }
	od
}

/* Blocked for ever if a send does not end. */
active proctype user()
{
	finished == SETTLED
}

ltl exactly_once_in_order {
	[] (IN_ORDER(0) && IN_ORDER(FLOWS - 1)) && <> (finished == SETTLED)
}
