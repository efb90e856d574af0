/* SPDX-License-Identifier: MIT */
/*
 * The end of a connection inside a host while both ports live (shm/leave.h).
 * The program of each side opens and closes the peer, sends and asks for
 * something, in any order; the words go through the rings, or wait in the
 * outbox while those are full. Names are the code's.
 *
 *  - a side lets go only when it has received all that was sent to it and when
 *    nothing is left that the other waits for
 *  - what a side finds behind the other's end of the socket, when all is read,
 *    is nothing but the end
 *  - when no program has the peer opened, both sides let go; while one has, the
 *    connection is kept, and nobody waits for a time-out
 */
#ifndef ACTIONS
#define ACTIONS 3 /* opens and closes of each program */
#endif
#ifndef MESSAGES
#define MESSAGES 1 /* of each program */
#endif
#ifndef REQUESTS
#define REQUESTS 1 /* likewise: answered by a word of the other's */
#endif
#ifndef MAILS
#define MAILS 1 /* likewise: served by the other, without a word */
#endif
#ifndef RING
#define RING 2
#endif

mtype = { MESSAGE, REQUEST, ANSWER, LEAVE, STAY, END };

chan ring[2] = [RING] of { mtype }; /* to that side */
chan outbox[2] = [4] of { mtype };  /* of that side */

bit opened[2], closed[2];
mtype said[2] = STAY, heard[2] = STAY;
bit leaving[2]; /* the other has a time to answer */
bit unanswered[2];
bit parted[2], gone[2];
bit asked[2], mailed[2];
byte sent[2], received[2];
byte finished; /* programs */
byte actions[2], messages[2], requests[2], mails[2]; /* left */

#define SETTLED                                        \
	((gone[0] && gone[1]) ||                       \
	 ((opened[0] || opened[1]) && !gone[0] && !gone[1] && \
	  !leaving[0] && !leaving[1]))
#define OTHER	 (1 - me)
#define IDLE	 (!asked[me] && !mailed[me])
#define BEGUN	 (said[me] == END || heard[me] == END)
#define ENDS	 (heard[me] == END || (heard[me] == LEAVE && !opened[me]))
#define OVER                                       \
	(said[me] == END && heard[me] == END && \
	 len(outbox[me]) == 0)
#define KEPT	 (opened[me] && !BEGUN)
#define STAYS	 (KEPT && (said[me] == LEAVE || unanswered[me]))
#define LEAVES	 (!KEPT && !ENDS && closed[me] && said[me] == STAY)
#define QUEUED	 (len(outbox[me]) > 0)

/* bcl_outbox_post() */
inline post(word)
{
	if
	:: len(outbox[me]) == 0 && len(ring[OTHER]) < RING ->
		ring[OTHER]!word
	:: else ->
		assert(len(outbox[me]) < 4);
		outbox[me]!word
	fi
}

inline say(word)
{
	said[me] = word;
	post(word)
}

inline part()
{
	parted[me] = 1;
	leaving[me] = 1
}

/* bcl_leave_progress() */
inline progress()
{
	if
	:: KEPT -> leaving[me] = 0
	:: else
	fi;
	if
	:: STAYS && !QUEUED ->
		unanswered[me] = 0;
		say(STAY)
	:: said[me] != END && (LEAVES || ENDS) ->
		leaving[me] = 1;
		if
		:: !IDLE || QUEUED
		:: IDLE && !QUEUED && !ENDS ->
			unanswered[me] = 0;
			say(LEAVE)
		:: IDLE && !QUEUED && ENDS ->
			part();
			unanswered[me] = 0;
			say(END)
		fi
	:: else
	fi
}

/* bcl_leave_take() */
inline take_leave()
{
	assert(heard[me] != END);
	heard[me] = LEAVE;
	unanswered[me] = 1
}

inline take_stay()
{
	assert(heard[me] != END);
	heard[me] = STAY;
	unanswered[me] = 0;
	if
	:: said[me] != END -> leaving[me] = 0
	:: else
	fi;
	assert(said[me] != END || leaving[me])
}

inline take_end()
{
	assert(heard[me] != END);
	heard[me] = END;
	asked[me] = 0; /* bcl_offers_end() */
	part()
}

/* An answer may wait in the outbox, but nothing is behind END. */
inline take_request()
{
	if
	:: said[me] == END
	:: said[me] != END -> post(ANSWER)
	fi
}

inline take_answer()
{
	assert(heard[me] != END && asked[me]);
	asked[me] = 0
}

/* ---- what each port's owner does ---- */

proctype owner(bit me)
{
end:	do
	:: atomic { !gone[me] && nempty(ring[me]) ->
		if
		:: ring[me]?MESSAGE -> received[me]++
		:: ring[me]?REQUEST -> take_request()
		:: ring[me]?ANSWER -> take_answer()
		:: ring[me]?LEAVE -> take_leave()
		:: ring[me]?STAY -> take_stay()
		:: ring[me]?END -> take_end()
		fi }
	:: atomic { !gone[me] && nempty(outbox[me]) && nfull(ring[OTHER]) ->
		if
		:: outbox[me]?ANSWER -> ring[OTHER]!ANSWER
		:: outbox[me]?LEAVE -> ring[OTHER]!LEAVE
		:: outbox[me]?STAY -> ring[OTHER]!STAY
		:: outbox[me]?END -> ring[OTHER]!END
		fi }
	:: atomic { !gone[me] &&
		    ((KEPT && leaving[me]) || (STAYS && !QUEUED) ||
		     (said[me] != END && (LEAVES || ENDS) &&
		      ((IDLE && !QUEUED) || !leaving[me]))) ->
		progress() }
	:: atomic { !gone[me] && mailed[OTHER] -> mailed[OTHER] = 0 }
	:: atomic { !gone[me] && OVER ->
		assert(received[me] == sent[OTHER]);
		assert(!mailed[OTHER] && !asked[OTHER]);
		gone[me] = 1 }
	/* the end of the socket, and all is read */
	:: atomic { !gone[me] && gone[OTHER] && empty(ring[me]) ->
		assert(said[me] == END && heard[me] == END);
		gone[me] = 1 }
	od
}

/* ---- what the programs do ---- */

proctype program(bit me)
{
	do
	:: atomic { actions[me] && opened[me] ->
		actions[me]--;
		opened[me] = 0;
		closed[me] = 1;
		if
		:: !parted[me] && !gone[me] -> progress()
		:: else
		fi }
	:: atomic { actions[me] && !opened[me] ->
		actions[me]--;
		opened[me] = 1;
		closed[me] = 0 }
	:: atomic { messages[me] && !parted[me] && nfull(ring[OTHER]) ->
		messages[me]--;
		sent[me]++;
		ring[OTHER]!MESSAGE }
	:: atomic { requests[me] && !parted[me] && !asked[me] &&
		    nfull(ring[OTHER]) ->
		requests[me]--;
		asked[me] = 1;
		ring[OTHER]!REQUEST }
	:: atomic { mails[me] && !parted[me] && !mailed[me] ->
		mails[me]--;
		mailed[me] = 1 }
	:: break
	od;
	/* from here on it only looks on; blocked for ever if it is neither */
	skip;
	d_step {
		actions[me] = 0;
		messages[me] = 0;
		requests[me] = 0;
		mails[me] = 0;
		finished++
	};
	SETTLED
}

init
{
	atomic {
		byte i;

		/* side 0 has called */
		opened[0] = 1;
		for (i : 0 .. 1) {
			actions[i] = ACTIONS;
			messages[i] = MESSAGES;
			requests[i] = REQUESTS;
			mails[i] = MAILS
		}
		run owner(0);
		run owner(1);
		run program(0);
		run program(1)
	}
}

ltl settled { <> (finished == 2 && SETTLED) }
