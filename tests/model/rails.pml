/* SPDX-License-Identifier: MIT */
/*
 * Messages over two rails (nicfw/send.c, stripe.c, retransmit.c, message.c,
 * flow.c, rails.c, assemble.c). In one flow some messages take PARTS frames,
 * each by either rail; the other messages take one frame by the small rail. A
 * rail is lost at any step, with frames in flight, and comes back. Then the
 * sender retransmits a short message that was in flight. Of a long message the
 * sender retransmits the parts that did not arrive, as the receiver reports; or
 * the sender withdraws the message. The rail is lost when the receiver takes no
 * more frames of the rail: a frame that arrives between this step and the loss
 * at the sender might as well have arrived before, for the sender waits. Names
 * are the code's.
 *
 * A frame in flight arrives once, as tests/model/card.pml shows, at any time. A
 * frame of a lost rail may arrive late, or never. Once the receiver has
 * reported which parts of a long message arrived, no other part arrives by the
 * lost rail. The sender learns of a verdict at any time after the receiver has
 * given the verdict. Bounds: the sizes below.
 *
 *  - messages are delivered exactly once, in order and with all their parts
 *  - a send ends after the delivery; all sends end
 */
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef LONG
#define LONG 2 /* bit id: message id is long */
#endif
#ifndef BLOCKS
#define BLOCKS 2 /* in the system ring */
#endif
#ifndef LOSSES
#define LOSSES 1 /* of rails */
#endif
#ifndef RETRIES
#define RETRIES 0 /* hopeless retries, without room */
#endif
#ifndef FLIGHTS
#define FLIGHTS 3
#endif
#define PARTS 2
#define WHOLE 3	   /* bits of all parts */
#define NUMBERS 24 /* of messages; numbers do not wrap here */

#define IS_LONG(id) ((LONG >> (id)) & 1)
#define SMALL_RAIL (up[0] -> 0 : 1)
#define IS_UP (up[0] || up[1])

mtype = { QUEUED, SENDING, SENT, WITHDRAWN, PARKED, FINISHED };
mtype = { UNKNOWN, DELIVERED, REFUSED };
#define FREE 0
mtype = { IN_FLIGHT, ARRIVED, LATE }; /* LATE: the rail was lost */

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
bit resends[MESSAGES]; /* conn->resend */
byte parts[MESSAGES]; /* conn->parts: bits */
byte sent_prev[NUMBERS]; /* `prev` in the frames of each number */
byte pending, last, next = 1;
bit refused;
byte losses, retries, finished;

/* ---- the receiver ---- */

typedef inbound {
	bit used, early, withdrawn;
	byte id, prev, parts
};
mtype verdicts[NUMBERS] = UNKNOWN;
inbound inbounds[NUMBERS]; /* by number */
byte blocks, delivered, read, newest;

hidden byte f, i, id, j, m, n, v, w;

#define IN_ORDER (newest == delivered)
#define ALIVE(which) (number[flights[which].id] == flights[which].number)
/* nic_message_part() */
#define IS_PART(which) (ALIVE(which) && IS_LONG(flights[which].id) && \
			state[flights[which].id] != WITHDRAWN)
#define HAS_FLIGHT (flights[0].state == FREE || flights[1].state == FREE || \
		    flights[FLIGHTS - 1].state == FREE)

/* ---- steps of the sender ---- */

inline launch(message, by_rail, bits, withdrawal)
{
	f = 0;
	do
	:: flights[f].state != FREE -> f++
	:: else -> break
	od;
	flights[f].state = IN_FLIGHT;
	flights[f].rail = by_rail;
	flights[f].withdraw = withdrawal;
	flights[f].id = message;
	flights[f].number = number[message];
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

/* bcl_nic_flow_sendable(). A message that is being sent goes on. */
#define SENDABLE(id) (state[id] == SENDING || (state[id] == QUEUED && !refused))

/* send_flow(), nic_message_number(). A stripe goes by the rail `bulk`. */
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
	:: IS_LONG(id) && w == 0 /* perhaps no memory for a frame yet */
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
inline retransmit_message(message)
{
	resends[message] = 0;
	launch(message, SMALL_RAIL, (state[message] == WITHDRAWN -> 0 : WHOLE),
	       (state[message] == WITHDRAWN))
}

/* send_part(), bcl_nic_retransmit_parts() */
inline send_part(message, rail)
{
	j = parts[message] & 1;
	j = (j -> 1 : 2);
	parts[message] = parts[message] - j;
	launch(message, rail, j, 0)
}

/* For parts of a long message reroute_missing(), if the receiver has answered,
 * or give_up() of nicfw/rails.c, which withdraws the message. Otherwise
 * bcl_nic_message_reroute(). */
inline rail_down(which, answered)
{
	up[which] = 0;
	for (f : 0 .. FLIGHTS - 1) {
		if
		:: flights[f].rail == which && (flights[f].state == IN_FLIGHT ||
						flights[f].state == ARRIVED) ->
			id = flights[f].id;
			if
			:: answered && IS_PART(f) ->
				if
				:: flights[f].state == IN_FLIGHT ->
					parts[id] = parts[id] | flights[f].part
				:: else
				fi;
				flights[f].state = ARRIVED
			:: !answered && IS_PART(f) ->
				state[id] = WITHDRAWN;
				parts[id] = 0;
				refused = 1;
				resends[id] = 1
			:: ALIVE(f) &&
			   (!IS_LONG(id) || state[id] == WITHDRAWN) ->
				resends[id] = 1
			:: else
			fi;
			if
			:: flights[f].state == IN_FLIGHT ->
				flights[f].state = LATE
			:: else -> clear_flight(f)
			fi
		:: else
		fi
	}
	losses++
}

/* verdict() in message.c; bcl_nic_flow_park(), nic_flow_verdict() */
inline take_verdict(message)
{
	pending--;
	last = (last == number[message] -> 0 : last);
	resends[message] = 0;
	parts[message] = 0;
	if
	:: verdicts[number[message]] == DELIVERED ->
		assert(message < delivered);
		state[message] = FINISHED;
		finished++
	:: else ->
		state[message] = PARKED;
		refused = 1
	fi;
	number[message] = 0;
	moved[message] = 0;
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

/* Without losses the choice of the rail makes no difference. */
#define MAY_TAKE(rail) (up[rail] && (LOSSES > 0 || rail == 0))
#define HAS_SENDABLE (SENDABLE(0) || SENDABLE(1) || SENDABLE(MESSAGES - 1))
#define HAS_PART(id) (parts[id] && state[id] != WITHDRAWN)
#define HAS_VERDICT(id) (number[id] && verdicts[number[id]] != UNKNOWN)
#define MAY_RETRY (refused && pending == 0)
#define MAY_LOSE(rail) (up[rail] && losses < LOSSES)

active proctype sender()
{
end:	do
	:: d_step { HAS_SENDABLE && MAY_TAKE(0) && HAS_FLIGHT -> send_flow(0) }
	:: d_step { HAS_SENDABLE && MAY_TAKE(1) && HAS_FLIGHT -> send_flow(1) }
	:: d_step { resends[0] && IS_UP && HAS_FLIGHT -> retransmit_message(0) }
	:: d_step { resends[1] && IS_UP && HAS_FLIGHT -> retransmit_message(1) }
	:: d_step { resends[MESSAGES - 1] && IS_UP && HAS_FLIGHT ->
		retransmit_message(MESSAGES - 1)
	   }
	:: d_step { HAS_PART(0) && MAY_TAKE(0) && HAS_FLIGHT ->
		send_part(0, 0)
	   }
	:: d_step { HAS_PART(0) && MAY_TAKE(1) && HAS_FLIGHT ->
		send_part(0, 1)
	   }
	:: d_step { HAS_PART(1) && MAY_TAKE(0) && HAS_FLIGHT ->
		send_part(1, 0)
	   }
	:: d_step { HAS_PART(1) && MAY_TAKE(1) && HAS_FLIGHT ->
		send_part(1, 1)
	   }
	:: d_step { HAS_PART(MESSAGES - 1) && MAY_TAKE(0) && HAS_FLIGHT ->
		send_part(MESSAGES - 1, 0)
	   }
	:: d_step { HAS_PART(MESSAGES - 1) && MAY_TAKE(1) && HAS_FLIGHT ->
		send_part(MESSAGES - 1, 1)
	   }
	:: d_step { HAS_VERDICT(0) -> take_verdict(0) }
	:: d_step { HAS_VERDICT(1) -> take_verdict(1) }
	:: d_step { HAS_VERDICT(MESSAGES - 1) -> take_verdict(MESSAGES - 1) }
	:: d_step { MAY_RETRY && blocks < BLOCKS -> resend() }
	:: d_step { MAY_RETRY && retries < RETRIES -> retries++; resend() }
	od
}

active proctype rails()
{
end:	do
	:: d_step { MAY_LOSE(0) -> rail_down(0, 0) }
	:: d_step { MAY_LOSE(1) -> rail_down(1, 0) }
	:: d_step { MAY_LOSE(0) && up[1] -> rail_down(0, 1) }
	:: d_step { MAY_LOSE(1) && up[0] -> rail_down(1, 1) }
	:: d_step { !up[0] -> up[0] = 1 }
	:: d_step { !up[1] -> up[1] = 1 }
	od
}

/* ---- steps of the receiver ---- */

inline deliver(message)
{
	newest = message + 1;
	delivered++;
	assert(IN_ORDER)
}

#define VERDICT_BEFORE(n) \
	(inbounds[n].prev == 0 -> DELIVERED : verdicts[inbounds[n].prev])
#define IS_SUCCESSOR(n, m) \
	(inbounds[n].used && inbounds[n].early && inbounds[n].prev == m)

inline detach(which)
{
	inbounds[which].used = 0;
	inbounds[which].early = 0;
	inbounds[which].withdrawn = 0;
	inbounds[which].id = 0;
	inbounds[which].prev = 0;
	inbounds[which].parts = 0
}

/* decide_verdict(), conclude() for message m. v: the verdict */
inline decide_verdict()
{
	v = VERDICT_BEFORE(m);
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
		detach(m)
	:: else
	fi
}

/* successor(), give_verdicts(). v: the verdict on m; UNKNOWN: none yet */
inline give_verdicts()
{
	do
	:: v == UNKNOWN -> break
	:: else ->
		n = 1;
		do
		:: n < next && !IS_SUCCESSOR(n, m) -> n++
		:: else -> break
		od;
		if
		:: n == next -> v = UNKNOWN
		:: else ->
			inbounds[n].early = 0;
			if
			:: v == REFUSED || inbounds[n].parts == WHOLE ->
				m = n;
				decide_verdict()
			:: else -> v = UNKNOWN
			fi
		fi
	od;
	n = 0
}

inline refuse_message()
{
	verdicts[m] = REFUSED;
	v = REFUSED;
	give_verdicts()
}

/* bcl_nic_assemble() of the frame of flight f */
inline assemble()
{
	m = flights[f].number;
	if
	:: verdicts[m] != UNKNOWN /* a repeated verdict */
	:: verdicts[m] == UNKNOWN && inbounds[m].used ->
		if
		:: inbounds[m].parts != WHOLE && !inbounds[m].withdrawn ->
			assert((inbounds[m].parts & flights[f].part) == 0);
			inbounds[m].parts =
				inbounds[m].parts | flights[f].part;
			if
			:: inbounds[m].parts == WHOLE ->
				decide_verdict();
				give_verdicts()
			:: else
			fi
		:: else /* a duplicate by another rail */
		fi
	:: else -> /* open_inbound() */
		inbounds[m].prev = sent_prev[m];
		v = VERDICT_BEFORE(m);
		if
		:: v == REFUSED || blocks + (v != DELIVERED) >= BLOCKS ->
			inbounds[m].prev = 0;
			refuse_message()
		:: else ->
			blocks++;
			inbounds[m].used = 1;
			inbounds[m].early = (v == UNKNOWN);
			inbounds[m].id = flights[f].id;
			inbounds[m].parts = flights[f].part;
			if
			:: inbounds[m].parts == WHOLE ->
				decide_verdict();
				give_verdicts()
			:: else
			fi
		fi
	fi
}

/* bcl_nic_assemble_withdraw() */
inline assemble_withdraw()
{
	m = flights[f].number;
	if
	:: verdicts[m] != UNKNOWN
	:: verdicts[m] == UNKNOWN && inbounds[m].used ->
		inbounds[m].withdrawn = 1;
		decide_verdict();
		give_verdicts()
	:: else -> refuse_message()
	fi
}

inline receive(which)
{
	f = which;
	if
	:: flights[f].withdraw -> assemble_withdraw()
	:: else -> assemble()
	fi;
	if
	:: flights[f].state == IN_FLIGHT -> flights[f].state = ARRIVED
	:: else -> clear_flight(f)
	fi;
	m = 0;
	v = 0
}

#define CAN_ARRIVE(which) (flights[which].state == IN_FLIGHT || \
			   flights[which].state == LATE)
/* A frame of a message that has ended or is withdrawn is retransmitted without
 * payload: rebuild(), drop_payload() */
#define NO_PAYLOAD(which) (flights[which].state == IN_FLIGHT && \
	!flights[which].withdraw && \
	(!ALIVE(which) || state[flights[which].id] == WITHDRAWN))

active proctype receiver()
{
end:	do
	:: d_step { CAN_ARRIVE(0) -> receive(0) }
	:: d_step { CAN_ARRIVE(1) -> receive(1) }
	:: d_step { CAN_ARRIVE(FLIGHTS - 1) -> receive(FLIGHTS - 1) }
	:: d_step { NO_PAYLOAD(0) -> flights[0].state = ARRIVED }
	:: d_step { NO_PAYLOAD(1) -> flights[1].state = ARRIVED }
	:: d_step { NO_PAYLOAD(FLIGHTS - 1) ->
		flights[FLIGHTS - 1].state = ARRIVED
	   }
	od
}

/* Frames that never arrive, and the end of flights that arrived. */
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

active proctype owner()
{
end:	do
	:: d_step { read < delivered -> read++; blocks-- }
	od
}

/* If a send does not end this process is blocked for ever. */
active proctype user()
{
	finished == MESSAGES
}

ltl exactly_once_in_order { [] IN_ORDER && <> (finished == MESSAGES) }
