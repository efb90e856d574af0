/* SPDX-License-Identifier: MIT */
/*
 * Messages over two rails (nicfw/send.c, stripe.c, retransmit.c, message.c, flow.c,
 * rails.c, assemble.c): one flow, some of whose messages take PARTS frames, each
 * by either rail, the others one by the small rail. A rail is lost at any step,
 * whatever is in flight there, and comes back; then a short message in flight is
 * sent again, and of a long one what did not come, which the receiver says, or
 * it is withdrawn. The rail is lost when the receiver takes no more by it: what
 * comes between that and the sender's loss might as well have come before, for
 * the sender waits. Names are the code's.
 *
 * A frame in flight comes once, as tests/model/card.pml shows, at any time; of
 * a lost rail that nobody was asked about it may still come, or not. A verdict is known to the sender at
 * any time after it was given. Bounds: the sizes below.
 *
 *  - messages are delivered exactly once, in order and with all their parts
 *  - a send ends after its delivery; all sends end
 */
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef LONG
#define LONG 2 /* bit id: message id is long */
#endif
#ifndef BLOCKS
#define BLOCKS 2 /* of the system ring */
#endif
#ifndef LOSSES
#define LOSSES 1 /* of rails */
#endif
#ifndef RETRIES
#define RETRIES 0 /* without room */
#endif
#ifndef FLIGHTS
#define FLIGHTS 3
#endif
#define PARTS 2
#define WHOLE 3	   /* bits of all parts */
#define NUMBERS 24 /* they do not wrap here */

#define IS_LONG(id) ((LONG >> (id)) & 1)
#define SMALL_RAIL (up[0] -> 0 : 1)
#define IS_UP (up[0] || up[1])

mtype = { QUEUED, SENDING, SENT, WITHDRAWN, PARKED, FINISHED };
mtype = { UNKNOWN, DELIVERED, REFUSED };
#define FREE 0
mtype = { FLYING, ARRIVED, LATE }; /* LATE: its rail was lost */

/* ---- the sender ---- */

typedef flight {
	mtype state;
	bit rail, withdraw;
	byte id, number, part /* bits */
};
flight flights[FLIGHTS];
bit up[2] = 1;
mtype state[MESSAGES] = QUEUED;
byte number[MESSAGES], moved[MESSAGES];
bit again[MESSAGES]; /* conn->again */
byte parts[MESSAGES]; /* conn->parts, bits */
byte sent_prev[NUMBERS]; /* in the frames of each number */
byte pending, last, next = 1;
bit refused;
byte losses, retries, finished;

/* ---- the receiver ---- */

typedef inbound {
	bit there, held, withdrawn;
	byte id, prev, parts
};
mtype verdicts[NUMBERS] = UNKNOWN;
inbound inbounds[NUMBERS]; /* by number */
byte blocks, delivered, read, newest;

hidden byte f, i, id, j, m, n, v, w;

#define IN_ORDER (newest == delivered)
#define ALIVE(which) (number[flights[which].id] == flights[which].number)
/* nic_message_part() */
#define PART(which) (ALIVE(which) && IS_LONG(flights[which].id) && \
		     state[flights[which].id] != WITHDRAWN)
#define HAS_FLIGHT (flights[0].state == FREE || flights[1].state == FREE || \
		    flights[FLIGHTS - 1].state == FREE)

/* ---- what the sender does ---- */

inline launch(whose, which_rail, bits, withdrawal)
{
	f = 0;
	do
	:: flights[f].state != FREE -> f++
	:: else -> break
	od;
	flights[f].state = FLYING;
	flights[f].rail = which_rail;
	flights[f].withdraw = withdrawal;
	flights[f].id = whose;
	flights[f].number = number[whose];
	flights[f].part = bits
}

inline clear_flight(which)
{
	flights[which].state = FREE;
	flights[which].rail = 0;
	flights[which].withdraw = 0;
	flights[which].id = 0;
	flights[which].number = 0;
	flights[which].part = 0
}

/* bcl_nic_flow_sendable(): one that is being sent goes on. */
#define SENDABLE(id) (state[id] == SENDING || (state[id] == QUEUED && !refused))

/* send_flow(), nic_message_number(); a stripe goes by the rail `bulk` */
inline send_flow(bulk)
{
	id = 0;
	do
	:: !SENDABLE(id) -> id++
	:: else -> break
	od;
	w = number[id];
	if
	:: w == 0 ->
		assert(next < NUMBERS);
		number[id] = next;
		next++;
		sent_prev[number[id]] = last;
		last = number[id];
		pending++;
		moved[id] = 0;
		state[id] = SENDING
	:: else
	fi;
	if
	:: IS_LONG(id) && w == 0 /* there may be no memory for its frame yet */
	:: IS_LONG(id) && w != 0 ->
		launch(id, bulk, 1 << moved[id], 0);
		moved[id]++;
		state[id] = (moved[id] == PARTS -> SENT : SENDING)
	:: else ->
		launch(id, SMALL_RAIL, WHOLE, 0);
		state[id] = SENT
	fi
}

/* bcl_nic_retransmit_messages() */
inline send_again(whose)
{
	again[whose] = 0;
	launch(whose, SMALL_RAIL, (state[whose] == WITHDRAWN -> 0 : WHOLE),
	       (state[whose] == WITHDRAWN))
}

/* bcl_nic_retransmit_parts() */
inline send_part(whose, rail)
{
	j = parts[whose] & 1;
	j = (j -> 1 : 2);
	parts[whose] = parts[whose] - j;
	launch(whose, rail, j, 0)
}

/* reroute_missing(), or give_up() of nicfw/rails.c, for what is part of a long
 * message; bcl_nic_message_reroute(), ..._withdraw() */
inline lose_rail(which, answered)
{
	up[which] = 0;
	for (f : 0 .. FLIGHTS - 1) {
		if
		:: flights[f].rail == which && (flights[f].state == FLYING ||
						flights[f].state == ARRIVED) ->
			id = flights[f].id;
			if
			:: answered && PART(f) ->
				if
				:: flights[f].state == FLYING ->
					parts[id] = parts[id] | flights[f].part
				:: else
				fi;
				flights[f].state = ARRIVED
			:: !answered && PART(f) ->
				state[id] = WITHDRAWN;
				parts[id] = 0;
				refused = 1;
				again[id] = 1
			:: ALIVE(f) && (!IS_LONG(id) || state[id] == WITHDRAWN) ->
				again[id] = 1
			:: else
			fi;
			if
			:: flights[f].state == FLYING -> flights[f].state = LATE
			:: else -> clear_flight(f)
			fi
		:: else
		fi
	}
	losses++
}

/* message.c: verdict(); bcl_nic_flow_park(), bcl_nic_flow_verdict() */
inline take_verdict(whose)
{
	pending--;
	last = (last == number[whose] -> 0 : last);
	again[whose] = 0;
	parts[whose] = 0;
	if
	:: verdicts[number[whose]] == DELIVERED ->
		assert(whose < delivered);
		state[whose] = FINISHED;
		finished++
	:: else ->
		state[whose] = PARKED;
		refused = 1
	fi;
	number[whose] = 0;
	moved[whose] = 0;
	j = 0;
	for (i : 0 .. MESSAGES - 1) {
		j = j + (state[i] == PARKED)
	}
	refused = (pending == 0 && j == 0 -> 0 : refused)
}

/* resend() */
inline resend()
{
	for (i : 0 .. MESSAGES - 1) {
		state[i] = (state[i] == PARKED -> QUEUED : state[i])
	}
	refused = 0;
	last = 0
}

/* While none is lost, which rail a stripe takes makes no difference. */
#define MAY_TAKE(rail) (up[rail] && (LOSSES > 0 || rail == 0))
#define HAS_SENDABLE (SENDABLE(0) || SENDABLE(1) || SENDABLE(MESSAGES - 1))
#define HAS_PART(id) (parts[id] && state[id] != WITHDRAWN)
#define KNOWN(id) (number[id] && verdicts[number[id]] != UNKNOWN)
#define WAITS (refused && pending == 0)
#define CAN_LOSE(rail) (up[rail] && losses < LOSSES)

active proctype sender()
{
end:	do
	:: d_step { HAS_SENDABLE && MAY_TAKE(0) && HAS_FLIGHT -> send_flow(0) }
	:: d_step { HAS_SENDABLE && MAY_TAKE(1) && HAS_FLIGHT -> send_flow(1) }
	:: d_step { again[0] && IS_UP && HAS_FLIGHT -> send_again(0) }
	:: d_step { again[1] && IS_UP && HAS_FLIGHT -> send_again(1) }
	:: d_step { again[MESSAGES - 1] && IS_UP && HAS_FLIGHT ->
		send_again(MESSAGES - 1)
	   }
	:: d_step { HAS_PART(0) && MAY_TAKE(0) && HAS_FLIGHT -> send_part(0, 0) }
	:: d_step { HAS_PART(0) && MAY_TAKE(1) && HAS_FLIGHT -> send_part(0, 1) }
	:: d_step { HAS_PART(1) && MAY_TAKE(0) && HAS_FLIGHT -> send_part(1, 0) }
	:: d_step { HAS_PART(1) && MAY_TAKE(1) && HAS_FLIGHT -> send_part(1, 1) }
	:: d_step { HAS_PART(MESSAGES - 1) && MAY_TAKE(0) && HAS_FLIGHT ->
		send_part(MESSAGES - 1, 0)
	   }
	:: d_step { HAS_PART(MESSAGES - 1) && MAY_TAKE(1) && HAS_FLIGHT ->
		send_part(MESSAGES - 1, 1)
	   }
	:: d_step { KNOWN(0) -> take_verdict(0) }
	:: d_step { KNOWN(1) -> take_verdict(1) }
	:: d_step { KNOWN(MESSAGES - 1) -> take_verdict(MESSAGES - 1) }
	:: d_step { WAITS && blocks < BLOCKS -> resend() }
	:: d_step { WAITS && retries < RETRIES -> retries++; resend() }
	od
}

active proctype rails()
{
end:	do
	:: d_step { CAN_LOSE(0) -> lose_rail(0, 0) }
	:: d_step { CAN_LOSE(1) -> lose_rail(1, 0) }
	:: d_step { CAN_LOSE(0) && up[1] -> lose_rail(0, 1) }
	:: d_step { CAN_LOSE(1) && up[0] -> lose_rail(1, 1) }
	:: d_step { !up[0] -> up[0] = 1 }
	:: d_step { !up[1] -> up[1] = 1 }
	od
}

/* ---- what the receiver does ---- */

inline deliver(whose)
{
	newest = whose + 1;
	delivered++;
	assert(IN_ORDER)
}

#define BEFORE(n) (inbounds[n].prev == 0 -> DELIVERED : verdicts[inbounds[n].prev])
#define WAITS_FOR(n, m) \
	(inbounds[n].there && inbounds[n].held && inbounds[n].prev == m)

inline forget(which)
{
	inbounds[which].there = 0;
	inbounds[which].held = 0;
	inbounds[which].withdrawn = 0;
	inbounds[which].id = 0;
	inbounds[which].prev = 0;
	inbounds[which].parts = 0
}

/* decide_verdict(), conclude(), for m; v: its verdict */
inline judge()
{
	v = BEFORE(m);
	v = (inbounds[m].withdrawn -> REFUSED : v);
	if
	:: v == DELIVERED ->
		assert(inbounds[m].parts == WHOLE);
		deliver(inbounds[m].id)
	:: v == REFUSED -> blocks--
	:: else
	fi;
	if
	:: v != UNKNOWN ->
		verdicts[m] = v;
		forget(m)
	:: else
	fi
}

/* successor(), give_verdicts(): m has its verdict v, perhaps */
inline follow()
{
	do
	:: v == UNKNOWN -> break
	:: else ->
		n = 1;
		do
		:: n < next && !WAITS_FOR(n, m) -> n++
		:: else -> break
		od;
		if
		:: n == next -> v = UNKNOWN
		:: else ->
			inbounds[n].held = 0;
			if
			:: v == REFUSED || inbounds[n].parts == WHOLE ->
				m = n;
				judge()
			:: else -> v = UNKNOWN
			fi
		fi
	od;
	n = 0
}

inline refuse()
{
	verdicts[m] = REFUSED;
	v = REFUSED;
	follow()
}

/* bcl_nic_assemble() of flight f */
inline assemble()
{
	m = flights[f].number;
	if
	:: verdicts[m] != UNKNOWN /* told again */
	:: verdicts[m] == UNKNOWN && inbounds[m].there ->
		if
		:: inbounds[m].parts != WHOLE && !inbounds[m].withdrawn ->
			assert((inbounds[m].parts & flights[f].part) == 0);
			inbounds[m].parts =
				inbounds[m].parts | flights[f].part;
			if
			:: inbounds[m].parts == WHOLE -> judge(); follow()
			:: else
			fi
		:: else /* the same message by another rail */
		fi
	:: else -> /* open_inbound() */
		inbounds[m].prev = sent_prev[m];
		v = BEFORE(m);
		if
		:: v == REFUSED || blocks + (v != DELIVERED) >= BLOCKS ->
			inbounds[m].prev = 0;
			refuse()
		:: else ->
			blocks++;
			inbounds[m].there = 1;
			inbounds[m].held = (v == UNKNOWN);
			inbounds[m].id = flights[f].id;
			inbounds[m].parts = flights[f].part;
			if
			:: inbounds[m].parts == WHOLE -> judge(); follow()
			:: else
			fi
		fi
	fi
}

/* bcl_nic_assemble_withdraw() */
inline take_withdraw()
{
	m = flights[f].number;
	if
	:: verdicts[m] != UNKNOWN
	:: verdicts[m] == UNKNOWN && inbounds[m].there ->
		inbounds[m].withdrawn = 1;
		judge();
		follow()
	:: else -> refuse()
	fi
}

inline receive(which)
{
	f = which;
	if
	:: flights[f].withdraw -> take_withdraw()
	:: else -> assemble()
	fi;
	if
	:: flights[f].state == FLYING -> flights[f].state = ARRIVED
	:: else -> clear_flight(f)
	fi;
	m = 0;
	v = 0
}

#define COMES(which) (flights[which].state == FLYING || \
		      flights[which].state == LATE)
/* Sent again it has nothing in it: rebuild(), drop_payload() */
#define HOLLOW(which) (flights[which].state == FLYING && \
	!flights[which].withdraw && \
	(!ALIVE(which) || state[flights[which].id] == WITHDRAWN))

active proctype receiver()
{
end:	do
	:: d_step { COMES(0) -> receive(0) }
	:: d_step { COMES(1) -> receive(1) }
	:: d_step { COMES(FLIGHTS - 1) -> receive(FLIGHTS - 1) }
	:: d_step { HOLLOW(0) -> flights[0].state = ARRIVED }
	:: d_step { HOLLOW(1) -> flights[1].state = ARRIVED }
	:: d_step { HOLLOW(FLIGHTS - 1) -> flights[FLIGHTS - 1].state = ARRIVED }
	od
}

/* Frames that never come, and what becomes of those that came. */
active proctype network()
{
end:	do
	:: d_step { flights[0].state == LATE || flights[0].state == ARRIVED ->
		clear_flight(0) }
	:: d_step { flights[1].state == LATE || flights[1].state == ARRIVED ->
		clear_flight(1) }
	:: d_step { flights[FLIGHTS - 1].state == LATE ||
		    flights[FLIGHTS - 1].state == ARRIVED ->
		clear_flight(FLIGHTS - 1) }
	od
}

active proctype reader()
{
end:	do
	:: d_step { read < delivered -> read++; blocks-- }
	od
}

/* Blocked for ever if a send does not end. */
active proctype user()
{
	finished == MESSAGES
}

ltl exactly_once_in_order { [] IN_ORDER && <> (finished == MESSAGES) }
