/* SPDX-License-Identifier: MIT */
/*
 * The pair line and the rings of a pair (transport/shm/slot.h, pair.h, pair.c).
 * Two sides send messages to each other: by the half of the line if the half is
 * free, with the bytes of a long message in a box, and otherwise by the ring.
 * Either side may crash between any two stores. Stores become visible in
 * program order. Names are the code's.
 *
 * Bounds: the sizes below. Positions and slots wrap. The raw bytes of a message
 * of two slots look like a header that is expected in the next lap.
 *
 *  - messages arrive in order, each once and whole, by the line, by a box or by
 *    the ring
 *  - a received message stays in place until the next receive
 *  - no writer waits for ever, whatever the lengths are. All messages that a
 *    side sent before it crashed are received
 */
#ifndef MESSAGES
#define MESSAGES 3 /* of side 0 */
#endif
#ifndef ANSWERS
#define ANSWERS 3 /* of side 1 */
#endif
#ifndef FIRST
#define FIRST 0 /* position of the first message: even */
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef RESERVES
#define RESERVES 0 /* 1: a side may reserve more room than it sends */
#endif
#define LONGEST 2 /* slots */
#define ZERO_SLOTS 2	  /* BCL_ZERO_SLOTS */
#define PUBLISH_SLOTS 2 /* BCL_PUBLISH_SLOTS */
#ifndef SLOTS
#define SLOTS (PUBLISH_SLOTS + 2 * LONGEST)
#endif
#define LAPS (2 * SLOTS) /* slots are counted modulo LAPS */
#define POSITIONS 16
#define ALL(side) (side == 0 -> MESSAGES : ANSWERS)
/* How far a message in the half, or in the ring, advances the position. */
#define HEADER_HALF 3
#define HEADER_RING 2

typedef slot_data {
	byte header; /* position + 1; 0: no message */
	bit ack;
	byte slots; /* of the message */
	byte message
};
typedef ring {
	slot_data slot[SLOTS]
};
slot_data half[2]; /* slots: 1 if the message is in the box of the turn */
byte box[4];   /* the message, by side and turn */
ring rings[2];	 /* by the writer */
byte consumer[2]; /* by the reader: slots of the peer's ring that were read */
byte sent[2], received[2]; /* messages */
byte newest[2]; /* the message received last */
bit crashed[2];
byte crashes;

#define TURN(position) ((position + POSITIONS) % 2)
#define MINUS(a, b) (((a) + LAPS - (b)) % LAPS)
#define BOX(side, position) box[2 * (side) + TURN(position)]
#define IN rings[1 - _pid].slot[head % SLOTS]
#define OUT(i) rings[_pid].slot[(tail + (i)) % SLOTS]

/* The bytes of the second slot may look like a header of the next lap. */
inline write_raw()
{
	if
	:: OUT(1).header = (next + 3 * HEADER_RING) % POSITIONS + 1
	:: OUT(1).header = (next + 4 * HEADER_RING) % POSITIONS + 1
	:: OUT(1).header = (next + 5 * HEADER_RING) % POSITIONS + 1
	fi
}

/* bcl_pair_zero() */
inline zero_ahead(n)
{
	if
	:: MINUS(zeroed, tail) > n
	:: else ->
		OUT(n).header = 0;
		zeroed = (tail + n + 1) % LAPS;
		if
		:: n < ZERO_SLOTS && MINUS(zeroed, limit) < SLOTS ->
			OUT(n + 1).header = 0;
			zeroed = (zeroed + 1) % LAPS
		:: else
		fi
	fi
}

/* A message of n slots by the ring: bcl_pair_publish() */
inline send_ring(n)
{
	OUT(0).message = sent[_pid] + 1;
	if
	:: n == 2 ->
		OUT(1).message = sent[_pid] + 1;
		write_raw()
	:: else
	fi;
	zero_ahead(n);
	d_step {
		OUT(0).ack = ack;
		OUT(0).slots = n;
		OUT(0).header = next + 1;
		sent[_pid]++;
		tail = (tail + n) % LAPS;
		next = (next + HEADER_RING) % POSITIONS
	}
}

/* bcl_pair_reserve() of two slots, then bcl_pair_commit() of one. The user may
 * have written bytes behind that look like the next header. */
inline send_reserved()
{
	zeroed = tail;
	OUT(1).header = (next + HEADER_RING) % POSITIONS + 1;
	send_ring(1)
}

/* A message by the half, perhaps with the box: bcl_pair_publish_half() */
inline send_half()
{
	half[_pid].message = sent[_pid] + 1;
	if
	:: n = 0
	:: n = 1; BOX(_pid, next) = sent[_pid] + 1
	fi;
	d_step {
		half[_pid].slots = n;
		half[_pid].ack = ack;
		half[_pid].header = next + 1;
		sent[_pid]++;
		next = (next + HEADER_HALF) % POSITIONS
	}
}

/* Reads the index of the peer if the room that is known is not enough. */
inline has_room(n)
{
	d_step {
		if
		:: MINUS(tail, limit) + n >= SLOTS -> limit = consumer[1 - _pid]
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
	assert(!boxed || BOX(1 - _pid, want - HEADER_HALF) == received[_pid])
}

/* bcl_pair_receive() */
inline receive()
{
	if
	:: length -> /* the last message was in place until now */
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
		want = (want + HEADER_HALF) % POSITIONS;
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
			:: MINUS(head, published) >= PUBLISH_SLOTS ->
				published = head;
				consumer[_pid] = head
			:: else
			fi;
			acked = IN.ack;
			length = IN.slots;
			want = (want + HEADER_RING) % POSITIONS;
			d_step {
				received[_pid]++;
				newest[_pid] = IN.message;
				check(received[_pid])
			}
		:: else
		fi
	fi
}

#define READY (half[1 - _pid].header == want + 1 || \
	       rings[1 - _pid].slot[(head + length) % SLOTS].header == want + 1)
#define PEER_DONE (crashed[1 - _pid] || sent[1 - _pid] == ALL(1 - _pid))

active [2] proctype side()
{
	byte next = FIRST, tail, zeroed;
	byte limit; /* of room: the `consumer` of the peer when last read */
	byte want = FIRST, head, published; /* receiving */
	byte length; /* slots of the message in place; 0: none */
	byte n;
	bit boxed; /* the message received last is in a box */
	bit acked, ack;

	do
	:: sent[_pid] < ALL(_pid) && acked == TURN(next) -> send_half()
	:: sent[_pid] < ALL(_pid) && !crashed[1 - _pid] ->
		n = 1;
		if
		:: n = 2
		:: acked != TURN(next)
		fi;
		has_room(n);
		if
		:: MINUS(tail, limit) + n < SLOTS -> send_ring(n)
		:: RESERVES && n == 2 && MINUS(tail, limit) + n < SLOTS ->
			send_reserved()
		:: else ->
			/* ring full: AGAIN, until a message or room comes */
			READY || crashed[1 - _pid] ||
			MINUS(tail, consumer[1 - _pid]) + n < SLOTS
		fi
	:: READY -> receive()
	:: PEER_DONE && !READY && received[_pid] == sent[1 - _pid] &&
	   (sent[_pid] == ALL(_pid) || crashed[1 - _pid]) -> break
	od unless { crashed[_pid] };
end:	skip
}

active proctype crash()
{
end:	do
	:: d_step { crashes < CRASHES -> crashes++; crashed[0] = 1 }
	od
}

/* If a side waits for ever this process is blocked for ever. */
active proctype user()
{
	(crashed[0] || received[0] == sent[1]) &&
	(sent[1] == ANSWERS || crashed[0]) &&
	received[1] == sent[0] && (sent[0] == MESSAGES || crashed[0])
}

#define IN_ORDER(side) (newest[side] == received[side])

ltl exactly_once_in_order {
	[] (IN_ORDER(0) && IN_ORDER(1)) &&
	<> [] (received[1] == sent[0] &&
	       (crashed[0] || (sent[0] == MESSAGES &&
			       received[0] == ANSWERS)))
}
