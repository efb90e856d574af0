/* SPDX-License-Identifier: MIT */
/*
 * The card's lock and its doorbells (card/inproc/lock.c, turn.c,
 * submit_request() in path.c): owners of ports submit requests and ring, while a helper
 * polls the card. Who finds the lock taken asks its holder and leaves. Who lets
 * it go may keep the bias: then the lock is its own until somebody else takes
 * it, with a barrier. An owner may hold a doorbell back (doorbell_batch.c): then it only
 * leaves its ring, for whoever serves doorbells next, if not itself. Names are
 * the code's.
 *
 * Each thread's stores wait in its buffer, in order, until memory takes them;
 * locked instructions empty it first (as x86 does). So a load may be done
 * before an earlier store is seen. Bounds: the sizes below.
 *
 *  - one thread at a time is inside the card
 *  - every request is taken although nobody rings again: no doorbell is lost,
 *    nor is one that was held back, once the helper finds the program away
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
#ifndef HOLDS
#define HOLDS 0 /* owners may hold doorbells back */
#endif
#define HELPER SEATS
#define THREADS (SEATS + 1)

#define FREE	     0
#define HELD	     1
#define ASKED	     2
#define BIASED(seat) (3 + (seat))

#define MADE(seat)   (seat) /* indices->requests_made */
#define RUNG(seat)   (SEATS + (seat))
#define INSIDE(seat) (2 * SEATS + (seat))

byte memory[3 * SEATS];
chan buffer[THREADS] = [3] of { byte, byte }; /* where, what */
byte lock = FREE;
byte inside;	   /* threads that think they have it */
byte taken[SEATS]; /* by the card */
byte ended;

hidden byte where, what;

inline drain(thread)
{
	do
	:: buffer[thread]?where, what -> memory[where] = what
	:: empty(buffer[thread]) -> break
	od
}

/* One processor after the other. */
inline barrier()
{
	for (i : 0 .. THREADS - 1) {
		d_step { drain(i) }
	}
}

/* The lock was left to `before`, and is ours now. */
inline take_bias()
{
	barrier();
	memory[INSIDE(before - BIASED(0))] == 0;
	inside++
}

inline take()
{
	d_step {
		drain(_pid);
		before = lock;
		got = (lock != HELD && lock != ASKED);
		lock = (got -> HELD : lock);
		inside = inside + (before == FREE)
	};
	if
	:: before >= BIASED(0) -> take_bias()
	:: else
	fi
}

/* For an owner; by its own bias: entered */
inline try_lock()
{
	buffer[_pid]!INSIDE(_pid), 1;
	if
	:: d_step { lock == BIASED(_pid) -> inside++; got = 1; entered = 1 }
	:: lock != BIASED(_pid) ->
		buffer[_pid]!INSIDE(_pid), 0;
		take()
	fi
}

inline ask_or_lock()
{
	d_step {
		drain(_pid);
		before = lock;
		got = (lock != HELD && lock != ASKED);
		lock = ASKED;
		inside = inside + (before == FREE)
	};
	if
	:: before >= BIASED(0) -> take_bias()
	:: else
	fi;
	if
	:: got -> d_step { drain(_pid); lock = HELD }
	:: !got
	fi
}

/* got: it is not left to us */
inline leave_to()
{
	if
	:: d_step {
		_pid < SEATS ->
		drain(_pid);
		assert(inside == 1);
		got = (lock != HELD);
		lock = (got -> lock : BIASED(_pid));
		inside = (got -> inside : inside - 1)
	}
	:: got = 1
	fi
}

/* got: somebody asked */
inline let_go()
{
	d_step {
		drain(_pid);
		assert(inside == 1);
		inside--;
		got = (lock == ASKED);
		lock = FREE
	}
}

/* A load finds the own store even if memory has not taken it. */
inline doorbell(seat)
{
	made = (seat == _pid -> n : memory[MADE(seat)]);
	assert(inside == 1);
	taken[seat] = made
}

inline take_rung(seat)
{
	d_step { drain(_pid); memory[RUNG(seat)] = 0 }
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

/* bcl_inproc_let_go() and bcl_inproc_serve_askers() */
inline let_go_all()
{
	leave_to();
	do
	:: !got -> break
	:: got -> let_go();
		if
		:: !got -> break
		:: got -> take()
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

inline unlock()
{
	if
	:: entered ->
		assert(inside == 1);
		inside--;
		entered = 0;
		buffer[_pid]!INSIDE(_pid), 0
	:: !entered -> let_go_all()
	fi
}

/* submit_request(), bcl_inproc_doorbell() */
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

/* bcl_doorbell_defer_in_batch(), bcl_inproc_defer(). Each time: whoever served the
 * one before has taken that ring back. */
inline hold(n)
{
	buffer[_pid]!MADE(_pid), n;
	buffer[_pid]!RUNG(_pid), 1
}

active [SEATS] proctype owner()
{
	byte i, n, made, before;
	bit got, entered;

	for (n : 1 .. REQUESTS) {
		if
		:: HOLDS -> hold(n)
		:: submit(n)
		fi
	}
	ended++
}

/* bcl_inproc_poll(), for no port: it serves doorbells because some may be held
 * back. */
inline poll()
{
	take();
	if
	:: got && HOLDS -> serve_doorbells(); let_go_all()
	:: got && !HOLDS -> let_go_all()
	:: !got
	fi
}

active proctype helper()
{
	byte i, n, made, before;
	bit got;

	for (n : 1 .. POLLS) {
		poll()
	}
	if
	:: HOLDS ->
		/* Away for so long that its stores are seen. */
		ended == SEATS;
		barrier();
		poll()
	:: !HOLDS
	fi;
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
