/* SPDX-License-Identifier: MIT */
/*
 * The card's lock and its doorbells (card/inproc/lock.c, inproc.h, turn.c;
 * submit_request() in transport/card/path.c). Owners of ports submit requests
 * and ring the card, while a helper polls the card. A thread that finds the
 * lock taken asks the holder and goes away. A thread that releases the lock may
 * keep the bias: then the thread enters and leaves by loads and stores, until
 * another thread takes the lock, with a barrier. An owner may defer a doorbell
 * (transport/card/doorbell_batch.c): then the owner only leaves its ring for
 * the next thread that serves doorbells, which may be the owner. Names are the
 * code's.
 *
 * The stores of each thread wait in the store buffer of the thread, in order,
 * until memory takes them. A locked instruction empties the buffer first, as on
 * x86. So a load may happen before an earlier store is visible. Bounds: the
 * sizes below.
 *
 *  - one thread at a time is inside the card
 *  - the card takes every request although no owner rings again: no doorbell is
 *    lost, and no deferred doorbell once the helper finds the program away
 *  - all threads end: no thread serves other threads for ever
 */
#ifndef SEATS
#define SEATS 2 /* ports, each with its owner */
#endif
#ifndef REQUESTS
#define REQUESTS 2 /* of each owner */
#endif
#ifndef POLLS
#define POLLS 1 /* by the helper */
#endif
#ifndef DEFERS
#define DEFERS 0 /* 1: owners may defer doorbells */
#endif
#define HELPER SEATS
#define THREADS (SEATS + 1)

#define FREE	     0
#define HELD	     1
#define ASKED	     2
#define BIASED(seat) (3 + (seat))

#define REQUESTS_MADE(seat)   (seat) /* indices->requests_made */
#define RUNG(seat)   (SEATS + (seat))
#define INSIDE(seat) (2 * SEATS + (seat))

byte memory[3 * SEATS];
chan buffer[THREADS] = [3] of { byte, byte }; /* address, value */
byte lock = FREE;
byte holders;	   /* threads that hold the lock, or entered by the bias */
byte taken[SEATS]; /* requests that the card has taken */
byte ended;

hidden byte address, value;

inline drain(thread)
{
	do
	:: buffer[thread]?address, value -> memory[address] = value
	:: empty(buffer[thread]) -> break
	od
}

/* The processors empty their store buffers one after another. */
inline barrier()
{
	for (i : 0 .. THREADS - 1) {
		d_step { drain(i) }
	}
}

/* The caller holds the lock. Before, the lock had the bias `before`. */
inline take_bias()
{
	barrier();
	memory[INSIDE(before - BIASED(0))] == 0;
	holders++
}

inline take()
{
	d_step {
		drain(_pid);
		before = lock;
		result = (lock != HELD && lock != ASKED);
		lock = (result -> HELD : lock);
		holders = holders + (before == FREE)
	};
	if
	:: before >= BIASED(0) -> take_bias()
	:: else
	fi
}

/* For an owner. entered: by the bias for its port */
inline try_lock()
{
	buffer[_pid]!INSIDE(_pid), 1;
	if
	:: d_step { lock == BIASED(_pid) -> holders++; result = 1; entered = 1 }
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
		result = (lock != HELD && lock != ASKED);
		lock = ASKED;
		holders = holders + (before == FREE)
	};
	if
	:: before >= BIASED(0) -> take_bias()
	:: else
	fi;
	if
	:: result -> d_step { drain(_pid); lock = HELD }
	:: !result
	fi
}

/* result: the lock has no bias for the caller */
inline leave_to()
{
	if
	:: d_step {
		_pid < SEATS ->
		drain(_pid);
		assert(holders == 1);
		result = (lock != HELD);
		lock = (result -> lock : BIASED(_pid));
		holders = (result -> holders : holders - 1)
	}
	:: result = 1
	fi
}

/* result: a thread asked */
inline let_go()
{
	d_step {
		drain(_pid);
		assert(holders == 1);
		holders--;
		result = (lock == ASKED);
		lock = FREE
	}
}

/* A load by an owner finds the store of the owner even in the store buffer. */
inline serve_doorbell(seat)
{
	made = (seat == _pid -> n : memory[REQUESTS_MADE(seat)]);
	assert(holders == 1);
	taken[seat] = made
}

inline clear_rung(seat)
{
	d_step { drain(_pid); memory[RUNG(seat)] = 0 }
}

inline serve_doorbells()
{
	for (i : 0 .. SEATS - 1) {
		if
		:: memory[RUNG(i)] -> clear_rung(i); serve_doorbell(i)
		:: else
		fi
	}
}

/* bcl_inproc_let_go(), bcl_inproc_serve_askers() */
inline release()
{
	leave_to();
	do
	:: !result -> break
	:: result -> let_go();
		if
		:: !result -> break
		:: result -> take()
		fi;
		if
		:: !result -> ask_or_lock()
		:: result
		fi;
		if
		:: !result -> break
		:: result -> serve_doorbells()
		fi
	od
}

inline unlock()
{
	if
	:: entered ->
		assert(holders == 1);
		holders--;
		entered = 0;
		buffer[_pid]!INSIDE(_pid), 0
	:: !entered -> release()
	fi
}

/* submit_request(), bcl_inproc_doorbell() */
inline submit_request(n)
{
	buffer[_pid]!REQUESTS_MADE(_pid), n;
	try_lock();
	if
	:: result -> serve_doorbell(_pid)
	:: !result ->
		buffer[_pid]!RUNG(_pid), 1;
		ask_or_lock();
		if
		:: result -> serve_doorbells()
		:: !result
		fi
	fi;
	if
	:: result -> unlock()
	:: !result
	fi
}

/*
 * bcl_doorbell_defer_in_batch(), bcl_inproc_defer(). For each deferred request:
 * a thread that served the doorbell of an earlier request has cleared the ring.
 */
inline defer(n)
{
	buffer[_pid]!REQUESTS_MADE(_pid), n;
	buffer[_pid]!RUNG(_pid), 1
}

active [SEATS] proctype owner()
{
	byte i, n, made, before;
	bit result, entered;

	for (n : 1 .. REQUESTS) {
		if
		:: DEFERS -> defer(n)
		:: submit_request(n)
		fi
	}
	ended++
}

/* bcl_inproc_poll(), for no port: the helper serves doorbells because owners
 * may have deferred some. */
inline poll()
{
	take();
	if
	:: result && DEFERS -> serve_doorbells(); release()
	:: result && !DEFERS -> release()
	:: !result
	fi
}

active proctype helper()
{
	byte i, n, made, before;
	bit result;

	for (n : 1 .. POLLS) {
		poll()
	}
	if
	:: DEFERS ->
		/* Long after the owners went away, memory has their stores. */
		ended == SEATS;
		barrier();
		poll()
	:: !DEFERS
	fi;
	ended++
}

active proctype commit_stores()
{
	byte i;
end:	do
	:: d_step { buffer[0]?address, value -> memory[address] = value }
	:: d_step { buffer[1]?address, value -> memory[address] = value }
	:: d_step {
		buffer[THREADS - 1]?address, value -> memory[address] = value
	   }
	od
}

#define ALL_ENDED (ended == THREADS)
#define ALL_TAKEN (taken[0] == REQUESTS && taken[SEATS - 1] == REQUESTS)

/* If a doorbell is lost this process is blocked for ever. */
active proctype user()
{
	ALL_ENDED;
	ALL_TAKEN
}

ltl all_taken { <> (ALL_ENDED && ALL_TAKEN) }
