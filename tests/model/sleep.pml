/* SPDX-License-Identifier: MIT */
/*
 * Sleep and wake-up of a port (transport/wait.c, shm/sleep.c, bcl_host_sleep()
 * in card/queues.c): its owner looks at its queues, says that it sleeps, looks
 * again and sleeps on its group, without a time-out, as bcl_arm() and poll()
 * do. Senders in other processes publish messages and look at `attention`;
 * the card writes events under its lock and looks at `sleeping`, whoever has
 * it run: the owner or the helper. Names are the code's.
 *
 * Each thread's stores wait in its buffer, in order, until memory takes them;
 * fences, locked instructions and system calls empty it first (as x86 does),
 * and the owner's membarrier empties the senders', one after the other.
 *
 *  - the owner gets every message, event and change of a node, so that no
 *    wake-up is lost; it may sleep only if something is still to come
 */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 2 /* of each sender */
#endif
#ifndef FRAMES
#define FRAMES 1 /* that become events of the port */
#endif
#ifndef CHANGES
#define CHANGES 1 /* of nodes, by a timer of the card */
#endif
#ifndef BARRIER
#define BARRIER 1 /* there is membarrier; 0: senders have a fence */
#endif
#define OWNER SENDERS
#define HELPER (SENDERS + 1)
#define THREADS (SENDERS + 2)
#define ALL (SENDERS * MESSAGES + FRAMES + CHANGES)

/* ---- memory ---- */

#define PUBLISHED(sender) (sender)
#define ATTENTION(sender) (SENDERS + (sender))
#define EVENTS (2 * SENDERS)   /* completion queue */
#define ASLEEP (EVENTS + 1)    /* indices->sleeping */
byte memory[2 * SENDERS + 2];
chan buffer[THREADS] = [4] of { byte, byte }; /* where, what */
hidden byte where, what;

#define SLEEPING 1 /* bit of `attention`; the count of sleeps is above */

bit object; /* written, not cleared */
bit card_lock;
byte frames, sent_frames; /* in the rail; put there */
byte due, sent_changes;	  /* timers of the card */
byte changes, events;	  /* under the lock */
byte received;

inline drain(thread)
{
	do
	:: buffer[thread]?where, what -> memory[where] = what
	:: empty(buffer[thread]) -> break
	od;
	where = 0
}

inline wake()
{
	d_step { drain(_pid); object = 1 }
}

/* ---- the card, for whoever has its lock ---- */

inline lock()
{
	d_step { !card_lock -> drain(_pid); card_lock = 1 }
}

inline unlock()
{
	d_step { drain(_pid); card_lock = 0 }
}

/* bcl_inproc_poll(), if the lock is free: a frame, or else what is due */
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
			:: memory[ASLEEP] -> wake() /* bcl_nic_port_wake() */
			:: else
			fi
		:: !frames && due ->
			due--;
			d_step { drain(_pid); changes++ };
			if
			:: memory[ASLEEP] -> wake() /* hal_node() */
			:: else
			fi
		:: !frames && !due
		fi;
		unlock()
	:: card_lock
	fi
}

/* ---- those who bring something ---- */

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
		:: (attention & SLEEPING) && attention != woken ->
			woken = attention;
			wake()
		:: else
		fi
	}
}

/* ---- the owner ---- */

#define READY(sender) (memory[PUBLISHED(sender)] != seen[sender])

/* bcl_port_stash(): the pairs, the card's queue, the news, the rails */
inline look()
{
	for (i : 0 .. SENDERS - 1) {
		if
		:: READY(i) ->
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

/* bcl_shm_sleep(), bcl_shm_awake(): all words, one after the other */
inline set_all(value)
{
	for (i : 0 .. SENDERS - 1) {
		buffer[_pid]!ATTENTION(i), value
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

inline ready_again()
{
	for (i : 0 .. SENDERS - 1) {
		if
		:: READY(i) -> found = 1
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
	:: received == ALL -> break
	:: else ->
		found = 0;
		look();
		if
		:: found
		:: !found ->
			/* bcl_port_arm() */
			buffer[_pid]!ASLEEP, 1;
			lock();
			unlock();
			sleeps = sleeps + 2;
			set_all(sleeps + SLEEPING);
			barrier();
			ready_again();
			poll_card();
			if
			:: found
			:: !found -> look()
			fi;
			if
			:: found
			:: !found -> object || frames /* env->wait() */
			fi;
			/* bcl_port_disarm() */
			set_all(0);
			buffer[_pid]!ASLEEP, 0;
			d_step { drain(_pid); object = 0 };
			poll_card()
		fi
	od
}

/* bcl_helper: looks in now and then, too, whoever is asleep */
active proctype helper()
{
	assert(_pid == HELPER);
end:	do
	:: frames || due -> poll_card()
	od
}

active proctype world()
{
	byte i;
end:	do
	:: d_step { sent_frames < FRAMES -> sent_frames++; frames++ }
	:: d_step { sent_changes < CHANGES -> sent_changes++; due++ }
	:: d_step { buffer[0]?where, what -> memory[where] = what }
	:: d_step { buffer[SENDERS - 1]?where, what -> memory[where] = what }
	:: d_step { buffer[OWNER]?where, what -> memory[where] = what }
	:: d_step { buffer[HELPER]?where, what -> memory[where] = what }
	od
}

/* Blocked for ever if a wake-up is lost. */
active proctype user()
{
	received == ALL
}

ltl all_received { <> (received == ALL) }
