/* SPDX-License-Identifier: MIT */
/*
 * The pair line and the rings of a pair (transport/shm/pair.h, pair.c): two
 * sides send each other messages, by their half of the line if it is free, the
 * bytes of long ones in a box, others by the ring; either side may crash between
 * any two stores.
 * Stores are seen in the order in which they are made. Names are the code's.
 *
 * Bounds: the sizes below. Positions and slots wrap. The raw bytes of a longer
 * message look like a header that is expected in the next lap.
 *
 *  - messages come in order, each once and whole, whichever way they take
 *  - what was received stays in place until the next receive
 *  - whatever the lengths are, no writer waits for ever; and what a side had
 *    published when it crashed is received
 */
#ifndef MESSAGES
#define MESSAGES 3 /* of side 0 */
#endif
#ifndef ANSWERS
#define ANSWERS 3 /* of side 1 */
#endif
#ifndef FIRST
#define FIRST 0 /* position: even */
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef RESERVES
#define RESERVES 0 /* room for more than is sent in the end */
#endif
#define LONGEST 2 /* slots */
#define ZERO 2	  /* BCL_ZERO_SLOTS */
#define PUBLISH 2 /* BCL_PUBLISH_SLOTS */
#ifndef SLOTS
#define SLOTS (PUBLISH + 2 * LONGEST)
#endif
#define LAPS (2 * SLOTS) /* slots are counted modulo this */
#define POSITIONS 16
#define ALL(side) (side == 0 -> MESSAGES : ANSWERS)
#define HALF 3 /* advance of the position */
#define RING 2

typedef place {
	byte header; /* position + 1; 0: none */
	bit ack;
	byte slots; /* from here on: of the header and the payload */
	byte message
};
typedef ring {
	place slot[SLOTS]
};
place half[2]; /* slots: 1 if the message is in the box of its turn */
byte box[4];   /* by side and turn: the message */
ring rings[2];	 /* by their writers */
byte consumer[2]; /* by the readers: slots of the other's ring */
byte published[2], received[2];
byte newest[2]; /* the message that was received last */
bit crashed[2];
byte crashes;

#define TURN(position) ((position + POSITIONS) % 2)
#define USED(a, b) (((a) + LAPS - (b)) % LAPS)
#define BOX(side, position) box[2 * (side) + TURN(position)]
#define IN rings[1 - _pid].slot[head % SLOTS]
#define OUT(i) rings[_pid].slot[(tail + (i)) % SLOTS]

/* Behind the first slot, what may look like a header of the next lap. */
inline write_raw()
{
	if
	:: OUT(1).header = (next + 3 * RING) % POSITIONS + 1
	:: OUT(1).header = (next + 4 * RING) % POSITIONS + 1
	:: OUT(1).header = (next + 5 * RING) % POSITIONS + 1
	fi
}

/* bcl_pair_zero() */
inline zero_ahead(n)
{
	if
	:: USED(zeroed, tail) > n
	:: else ->
		OUT(n).header = 0;
		zeroed = (tail + n + 1) % LAPS;
		if
		:: n < ZERO && USED(zeroed, limit) < SLOTS ->
			OUT(n + 1).header = 0;
			zeroed = (zeroed + 1) % LAPS
		:: else
		fi
	fi
}

/* bcl_pair_publish() */
inline send_ring(n)
{
	OUT(0).message = published[_pid] + 1;
	if
	:: n == 2 ->
		OUT(1).message = published[_pid] + 1;
		write_raw()
	:: else
	fi;
	zero_ahead(n);
	d_step {
		OUT(0).ack = ack;
		OUT(0).slots = n;
		OUT(0).header = next + 1;
		published[_pid]++;
		tail = (tail + n) % LAPS;
		next = (next + RING) % POSITIONS
	}
}

/* bcl_pair_reserve(), of room for two; bcl_pair_commit() of a shorter one,
 * behind which there may be what looks like the next one. */
inline send_reserved()
{
	zeroed = tail;
	OUT(1).header = (next + RING) % POSITIONS + 1;
	send_ring(1)
}

inline send_half()
{
	half[_pid].message = published[_pid] + 1;
	if
	:: n = 0
	:: n = 1; BOX(_pid, next) = published[_pid] + 1
	fi;
	d_step {
		half[_pid].slots = n;
		half[_pid].ack = ack;
		half[_pid].header = next + 1;
		published[_pid]++;
		next = (next + HALF) % POSITIONS
	}
}

/* has_room() */
inline look_for_room(n)
{
	d_step {
		if
		:: USED(tail, limit) + n >= SLOTS -> limit = consumer[1 - _pid]
		:: else
		fi
	}
}

inline check(which)
{
	assert(IN.message == which);
	assert(length < 2 ||
	       rings[1 - _pid].slot[(head + 1) % SLOTS].message == which)
}

inline check_box()
{
	assert(!boxed || BOX(1 - _pid, want - HALF) == received[_pid])
}

/* bcl_pair_receive() */
inline receive()
{
	if
	:: length -> /* the last one, in place until now */
		check(received[_pid]);
		head = (head + length) % LAPS;
		length = 0
	:: boxed ->
		check_box();
		boxed = 0
	:: else
	fi;
	if
	:: half[1 - _pid].header == want + 1 ->
		boxed = half[1 - _pid].slots;
		acked = half[1 - _pid].ack;
		ack = !ack;
		want = (want + HALF) % POSITIONS;
		d_step {
			received[_pid]++;
			newest[_pid] = half[1 - _pid].message;
			check_box();
			assert(newest[_pid] == received[_pid])
		}
	:: else ->
		if
		:: IN.header == want + 1 ->
			if
			:: USED(head, told) >= PUBLISH ->
				told = head;
				consumer[_pid] = head
			:: else
			fi;
			acked = IN.ack;
			length = IN.slots;
			want = (want + RING) % POSITIONS;
			d_step {
				received[_pid]++;
				newest[_pid] = IN.message;
				check(received[_pid])
			}
		:: else
		fi
	fi
}

#define THERE (half[1 - _pid].header == want + 1 || \
	       rings[1 - _pid].slot[(head + length) % SLOTS].header == want + 1)
#define PEER_DONE (crashed[1 - _pid] || published[1 - _pid] == ALL(1 - _pid))

active [2] proctype side()
{
	byte next = FIRST, tail, zeroed;
	byte limit; /* of room: the peer's `consumer`, as it was read */
	byte want = FIRST, head, told;	/* receiving */
	byte length;		/* slots of the message in place */
	byte n;
	bit boxed;		/* it is in a box */
	bit acked, ack;

	do
	:: published[_pid] < ALL(_pid) && acked == TURN(next) -> send_half()
	:: published[_pid] < ALL(_pid) && !crashed[1 - _pid] ->
		n = 1;
		if
		:: n = 2
		:: acked != TURN(next)
		fi;
		look_for_room(n);
		if
		:: USED(tail, limit) + n < SLOTS -> send_ring(n)
		:: RESERVES && n == 2 && USED(tail, limit) + n < SLOTS ->
			send_reserved()
		:: else ->
			/* full: AGAIN, until there is something new */
			THERE || crashed[1 - _pid] ||
			USED(tail, consumer[1 - _pid]) + n < SLOTS
		fi
	:: THERE -> receive()
	:: PEER_DONE && !THERE && received[_pid] == published[1 - _pid] &&
	   (published[_pid] == ALL(_pid) || crashed[1 - _pid]) -> break
	od unless { crashed[_pid] };
end:	skip
}

active proctype fate()
{
end:	do
	:: d_step { crashes < CRASHES -> crashes++; crashed[0] = 1 }
	od
}

/* Blocked for ever if somebody waits for ever. */
active proctype user()
{
	(crashed[0] || received[0] == published[1]) &&
	(published[1] == ANSWERS || crashed[0]) &&
	received[1] == published[0] && (published[0] == MESSAGES || crashed[0])
}

#define IN_ORDER(side) (newest[side] == received[side])

ltl exactly_once_in_order {
	[] (IN_ORDER(0) && IN_ORDER(1)) &&
	<> [] (received[1] == published[0] &&
	       (crashed[0] || (published[0] == MESSAGES &&
			       received[0] == ANSWERS)))
}
