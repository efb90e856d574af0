/* SPDX-License-Identifier: MIT */
/*
 * Sleep and wake-up of a port (transport/wait.c; transport/shm/sleep.c;
 * bcl_host_sleep() in transport/card/queues.c). The owner of the port looks at
 * its queues, announces that it sleeps, looks again and sleeps on its group,
 * without a time-out, as a program does with bcl_arm() and poll(). Senders in
 * other processes publish messages and then load `attention`. The card writes
 * events under its lock and then loads `sleeping`; the owner or the helper runs
 * the card. Names are the code's.
 *
 * The stores of each thread wait in the store buffer of the thread, in order,
 * until memory takes them. Fences, locked instructions and system calls empty
 * the buffer first, as on x86. The owner's membarrier empties the buffers of
 * the senders, one after another.
 *
 *  - the owner gets every message, event and change of a node, so no wake-up is
 *    lost. The owner may sleep only while something is still to come
 */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 2 /* of each sender */
#endif
#ifndef FRAMES
#define FRAMES 1 /* each becomes an event of the port */
#endif
#ifndef CHANGES
#define CHANGES 1 /* of nodes, found by a timer of the card */
#endif
#ifndef BARRIER
#define BARRIER 1 /* 1: there is membarrier; 0: each sender has a fence */
#endif
#define OWNER SENDERS
#define HELPER (SENDERS + 1)
#define THREADS (SENDERS + 2)
#define ALL_EVENTS (SENDERS * MESSAGES + FRAMES + CHANGES)

/* ---- memory ---- */

#define PUBLISHED(sender) (sender)
#define ATTENTION(sender) (SENDERS + (sender))
#define EVENTS (2 * SENDERS)   /* completion queue */
#define SLEEPING (EVENTS + 1)    /* indices->sleeping */
byte memory[2 * SENDERS + 2];
chan buffer[THREADS] = [4] of { byte, byte }; /* address, value */
hidden byte address, value;

/* BCL_ATTENTION_SLEEPING: a bit of `attention`, below the count of sleeps */
#define ATTENTION_SLEEPING 1

bit object; /* port->object: 1: written, and not cleared */
bit card_lock;
byte frames, sent_frames; /* in the rail; sent */
byte due_timers, sent_changes;	  /* timers of the card; all that became due */
byte changes, events;	  /* under the lock */
byte received;

inline drain(thread)
{
	do
	:: buffer[thread]?address, value -> memory[address] = value
	:: empty(buffer[thread]) -> break
	od;
	address = 0
}

inline wake()
{
	d_step { drain(_pid); object = 1 }
}

/* ---- the card, run by the thread that has the lock ---- */

inline lock()
{
	d_step { !card_lock -> drain(_pid); card_lock = 1 }
}

inline unlock()
{
	d_step { drain(_pid); card_lock = 0 }
}

/* bcl_inproc_poll(), if the lock is free: a frame, or else a timer */
inline poll_card()
{
	if
	:: d_step { !card_lock -> drain(_pid); card_lock = 1 };
		if
		:: frames ->
			frames--;
			events++;
			buffer[_pid]!EVENTS, events;
			if
			:: memory[SLEEPING] -> wake() /* bcl_nic_port_wake() */
			:: else
			fi
		:: !frames && due_timers ->
			due_timers--;
			d_step { drain(_pid); changes++ };
			if
			:: memory[SLEEPING] -> wake() /* hal_node() */
			:: else
			fi
		:: !frames && !due_timers
		fi;
		unlock()
	:: card_lock
	fi
}

/* ---- the senders ---- */

active [SENDERS] proctype sender()
{
	byte n, attention, woken;

	for (n : 1 .. MESSAGES) {
		/* bcl_pair_publish(), bcl_pair_kick(), bcl_pair_attend() */
		buffer[_pid]!PUBLISHED(_pid), n;
		if
		:: !BARRIER -> d_step { drain(_pid) }
		:: BARRIER
		fi;
		attention = memory[ATTENTION(_pid)];
		if
		:: (attention & ATTENTION_SLEEPING) && attention != woken ->
			woken = attention;
			wake()
		:: else
		fi
	}
}

/* ---- the owner ---- */

#define IS_READY(sender) (memory[PUBLISHED(sender)] != seen[sender])

/* bcl_port_stash(): the pairs, the card's queue, the changes of nodes */
inline stash()
{
	for (i : 0 .. SENDERS - 1) {
		if
		:: IS_READY(i) ->
			seen[i]++;
			received++;
			found = 1
		:: else
		fi
	}
	if
	:: memory[EVENTS] != seen_events ->
		seen_events++;
		received++;
		found = 1
	:: else
	fi;
	if
	:: changes != seen_changes ->
		seen_changes++;
		received++;
		found = 1
	:: else
	fi
}

/* bcl_watch_set(): all attention words, one after another */
inline watch_set(word)
{
	for (i : 0 .. SENDERS - 1) {
		buffer[_pid]!ATTENTION(i), word
	}
}

inline barrier()
{
	d_step { drain(_pid) };
	if
	:: BARRIER ->
		for (i : 0 .. SENDERS - 1) {
			d_step { drain(i) }
		}
	:: !BARRIER
	fi
}

/* is_ready() of all pairs */
inline any_ready()
{
	for (i : 0 .. SENDERS - 1) {
		if
		:: IS_READY(i) -> found = 1
		:: else
		fi
	}
}

active proctype owner()
{
	byte i, sleeps, seen[SENDERS], seen_events, seen_changes;
	bit found;

	assert(_pid == OWNER);
	do
	:: received == ALL_EVENTS -> break
	:: else ->
		found = 0;
		stash();
		if
		:: found
		:: !found ->
			/* bcl_port_arm() */
			buffer[_pid]!SLEEPING, 1;
			lock();
			unlock();
			sleeps = sleeps + 2;
			watch_set(sleeps + ATTENTION_SLEEPING);
			barrier();
			any_ready();
			poll_card();
			if
			:: found
			:: !found -> stash()
			fi;
			if
			:: found
			:: !found -> object || frames /* env->wait() */
			fi;
			/* bcl_port_disarm() */
			watch_set(0);
			buffer[_pid]!SLEEPING, 0;
			d_step { drain(_pid); object = 0 };
			poll_card()
		fi
	od
}

/* transport/helper.c: looks now and then, whether or not the owner sleeps */
active proctype helper()
{
	assert(_pid == HELPER);
end:	do
	:: frames || due_timers -> poll_card()
	od
}

active proctype world()
{
	byte i;
end:	do
	:: d_step { sent_frames < FRAMES -> sent_frames++; frames++ }
	:: d_step { sent_changes < CHANGES -> sent_changes++; due_timers++ }
	:: d_step { buffer[0]?address, value -> memory[address] = value }
	:: d_step {
		buffer[SENDERS - 1]?address, value -> memory[address] = value
	   }
	:: d_step { buffer[OWNER]?address, value -> memory[address] = value }
	:: d_step { buffer[HELPER]?address, value -> memory[address] = value }
	od
}

/* If a wake-up is lost this process is blocked for ever. */
active proctype user()
{
	received == ALL_EVENTS
}

ltl all_received { <> (received == ALL_EVENTS) }
