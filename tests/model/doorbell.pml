/* SPDX-License-Identifier: MIT */
/*
 * The card's lock and its doorbells (transport/card/inproc/turn.c, submit() in
 * path.c): owners of ports submit requests and ring, while a helper polls the
 * card. Who finds the lock taken asks its holder and leaves. Names are the
 * code's.
 *
 * Each thread's stores wait in its buffer, in order, until memory takes them;
 * locked instructions empty it first (as x86 does). So a load may be done
 * before an earlier store is seen. Bounds: the sizes below.
 *
 *  - one thread at a time is inside the card
 *  - every request is taken although nobody rings again: no doorbell is lost
 *  - all threads end: nobody serves others for ever
 */
#ifndef SEATS
#define SEATS 2 /* ports, each with its owner */
#endif
#ifndef REQUESTS
#define REQUESTS 2 /* of each owner */
#endif
#ifndef POLLS
#define POLLS 1 /* turns of the helper */
#endif
#define HELPER SEATS
#define THREADS (SEATS + 1)

mtype = { FREE, HELD, ASKED };

#define MADE(seat) (seat) /* indices->requests_made */
#define RUNG(seat) (SEATS + (seat))

byte memory[2 * SEATS];
chan buffer[THREADS] = [3] of { byte, byte }; /* where, what */
mtype lock = FREE;
byte inside;	   /* threads that think they have it */
byte taken[SEATS]; /* by the card */
byte ended;

hidden byte where, what;

inline drain()
{
	do
	:: buffer[_pid]?where, what -> memory[where] = what
	:: empty(buffer[_pid]) -> break
	od
}

inline try_lock()
{
	d_step {
		drain();
		got = (lock == FREE);
		lock = (got -> HELD : lock);
		inside = inside + got
	}
}

inline ask_or_lock()
{
	d_step {
		drain();
		got = (lock == FREE);
		lock = ASKED;
		inside = inside + got
	};
	if
	:: got -> lock = HELD
	:: !got
	fi
}

/* got: somebody asked */
inline let_go()
{
	d_step {
		drain();
		assert(inside == 1);
		inside--;
		got = (lock == ASKED);
		lock = FREE
	}
}

inline doorbell(seat)
{
	made = memory[MADE(seat)];
	assert(inside == 1);
	taken[seat] = made
}

inline take_rung(seat)
{
	d_step { drain(); memory[RUNG(seat)] = 0 }
}

inline serve_doorbells()
{
	for (i : 0 .. SEATS - 1) {
		if
		:: memory[RUNG(i)] -> take_rung(i); doorbell(i)
		:: else
		fi
	}
}

/* bcl_inproc_unlock() */
inline unlock()
{
	do
	:: let_go();
		if
		:: !got -> break
		:: got -> try_lock()
		fi;
		if
		:: !got -> ask_or_lock()
		:: got
		fi;
		if
		:: !got -> break
		:: got -> serve_doorbells()
		fi
	od
}

/* submit(), bcl_inproc_doorbell() */
inline submit(n)
{
	buffer[_pid]!MADE(_pid), n;
	try_lock();
	if
	:: got -> doorbell(_pid)
	:: !got ->
		buffer[_pid]!RUNG(_pid), 1;
		ask_or_lock();
		if
		:: got -> serve_doorbells()
		:: !got
		fi
	fi;
	if
	:: got -> unlock()
	:: !got
	fi
}

active [SEATS] proctype owner()
{
	byte i, n, made;
	bit got;

	for (n : 1 .. REQUESTS) {
		submit(n)
	}
	ended++
}

active proctype helper()
{
	byte i, n, made;
	bit got;

	for (n : 1 .. POLLS) {
		try_lock();
		if
		:: got -> unlock()
		:: !got
		fi
	}
	ended++
}

active proctype memory_takes()
{
	byte i;
end:	do
	:: d_step { buffer[0]?where, what -> memory[where] = what }
	:: d_step { buffer[1]?where, what -> memory[where] = what }
	:: d_step { buffer[THREADS - 1]?where, what -> memory[where] = what }
	od
}

#define ALL_ENDED (ended == THREADS)
#define ALL_TAKEN (taken[0] == REQUESTS && taken[SEATS - 1] == REQUESTS)

/* Blocked for ever if a doorbell is lost. */
active proctype user()
{
	ALL_ENDED;
	ALL_TAKEN
}

ltl all_taken { <> (ALL_ENDED && ALL_TAKEN) }
