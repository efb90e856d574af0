/* SPDX-License-Identifier: MIT */
/*
 * The end of a connection inside a host while both ports live
 * (transport/shm/leave.h). The program of each side opens and closes the peer,
 * sends messages, and begins requests and accesses, in any order. The words
 * LEAVE, STAY and END go through the rings, and wait in the outbox while the
 * ring is full. Names are the code's.
 *
 *  - a side drops the connection only when the side has received all that the
 *    peer sent, and when the peer waits for nothing from the side
 *  - a side that has read all data, and then finds the end of the socket, has
 *    sent and heard END
 *  - when no program has the peer opened, both sides drop the connection. While
 *    one program has the peer opened, both sides keep the connection, and no
 *    side waits for a time-out
 */
#ifndef ACTIONS
#define ACTIONS 3 /* opens and closes of each program */
#endif
#ifndef MESSAGES
#define MESSAGES 1 /* of each program */
#endif
#ifndef REQUESTS
#define REQUESTS 1 /* of each program; the peer answers by a word */
#endif
#ifndef ACCESSES
#define ACCESSES 1 /* of each program; the peer serves them silently */
#endif
#ifndef RING
#define RING 2
#endif

mtype = { MESSAGE, REQUEST, ANSWER, LEAVE, STAY, END };

chan ring[2] = [RING] of { mtype }; /* to each side */
chan outbox[2] = [4] of { mtype };  /* of each side */

bit opened[2], closed[2];
mtype said[2] = STAY, heard[2] = STAY;
bit leaving[2]; /* the side waits for the peer, until a time-out */
bit unanswered[2];
bit parted[2], dropped[2];
bit awaits[2], accessing[2]; /* a request; an access */
byte sent[2], received[2];
byte finished; /* programs that do nothing any more */
byte actions[2], messages[2], requests[2], accesses[2]; /* to do */

#define AT_REST                                                    \
	((dropped[0] && dropped[1]) ||                             \
	 ((opened[0] || opened[1]) && !dropped[0] && !dropped[1] && \
	  !leaving[0] && !leaving[1]))
#define PEER	  (1 - me)
#define IS_IDLE	  (!awaits[me] && !accessing[me])
#define HAS_BEGUN (said[me] == END || heard[me] == END)
#define PEER_ENDS (heard[me] == END || (heard[me] == LEAVE && !opened[me]))
#define IS_OVER	  (said[me] == END && heard[me] == END && \
		   len(outbox[me]) == 0)
#define IS_KEPT	  (opened[me] && !HAS_BEGUN)
#define STAY_DUE  (IS_KEPT && (said[me] == LEAVE || unanswered[me]))
#define LEAVE_DUE (!IS_KEPT && !PEER_ENDS && closed[me] && said[me] == STAY)
#define WAITS	  (len(outbox[me]) > 0)

/* bcl_outbox_post() */
inline outbox_post(word)
{
	if
	:: len(outbox[me]) == 0 && len(ring[PEER]) < RING ->
		ring[PEER]!word
	:: else ->
		assert(len(outbox[me]) < 4);
		outbox[me]!word
	fi
}

inline send_word(word)
{
	said[me] = word;
	outbox_post(word)
}

inline part_peer()
{
	parted[me] = 1;
	leaving[me] = 1
}

/* bcl_leave_progress() */
inline leave_progress()
{
	if
	:: IS_KEPT -> leaving[me] = 0
	:: else
	fi;
	if
	:: STAY_DUE && !WAITS ->
		unanswered[me] = 0;
		send_word(STAY)
	:: said[me] != END && (LEAVE_DUE || PEER_ENDS) ->
		leaving[me] = 1;
		if
		:: !IS_IDLE || WAITS
		:: IS_IDLE && !WAITS && !PEER_ENDS ->
			unanswered[me] = 0;
			send_word(LEAVE)
		:: IS_IDLE && !WAITS && PEER_ENDS ->
			part_peer();
			unanswered[me] = 0;
			send_word(END)
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
	awaits[me] = 0; /* bcl_offers_end() */
	part_peer()
}

/* An answer may wait in the outbox, but nothing follows END. */
inline take_request()
{
	if
	:: said[me] == END
	:: said[me] != END -> outbox_post(ANSWER)
	fi
}

inline take_answer()
{
	assert(heard[me] != END && awaits[me]);
	awaits[me] = 0
}

/* ---- the owner of each port ---- */

proctype owner(bit me)
{
end:	do
	:: atomic { !dropped[me] && nempty(ring[me]) ->
		if
		:: ring[me]?MESSAGE -> received[me]++
		:: ring[me]?REQUEST -> take_request()
		:: ring[me]?ANSWER -> take_answer()
		:: ring[me]?LEAVE -> take_leave()
		:: ring[me]?STAY -> take_stay()
		:: ring[me]?END -> take_end()
		fi }
	:: atomic { !dropped[me] && nempty(outbox[me]) && nfull(ring[PEER]) ->
		if
		:: outbox[me]?ANSWER -> ring[PEER]!ANSWER
		:: outbox[me]?LEAVE -> ring[PEER]!LEAVE
		:: outbox[me]?STAY -> ring[PEER]!STAY
		:: outbox[me]?END -> ring[PEER]!END
		fi }
	:: atomic { !dropped[me] &&
		    ((IS_KEPT && leaving[me]) || (STAY_DUE && !WAITS) ||
		     (said[me] != END && (LEAVE_DUE || PEER_ENDS) &&
		      ((IS_IDLE && !WAITS) || !leaving[me]))) ->
		leave_progress() }
	:: atomic { !dropped[me] && accessing[PEER] -> accessing[PEER] = 0 }
	:: atomic { !dropped[me] && IS_OVER ->
		assert(received[me] == sent[PEER]);
		assert(!accessing[PEER] && !awaits[PEER]);
		dropped[me] = 1 }
	/* the side has read all, and finds the end of the socket */
	:: atomic { !dropped[me] && dropped[PEER] && empty(ring[me]) ->
		assert(said[me] == END && heard[me] == END);
		dropped[me] = 1 }
	od
}

/* ---- the programs ---- */

proctype program(bit me)
{
	do
	:: atomic { actions[me] && opened[me] ->
		actions[me]--;
		opened[me] = 0;
		closed[me] = 1;
		if
		:: !parted[me] && !dropped[me] -> leave_progress()
		:: else
		fi }
	:: atomic { actions[me] && !opened[me] ->
		actions[me]--;
		opened[me] = 1;
		closed[me] = 0 }
	:: atomic { messages[me] && !parted[me] && nfull(ring[PEER]) ->
		messages[me]--;
		sent[me]++;
		ring[PEER]!MESSAGE }
	:: atomic { requests[me] && !parted[me] && !awaits[me] &&
		    nfull(ring[PEER]) ->
		requests[me]--;
		awaits[me] = 1;
		ring[PEER]!REQUEST }
	:: atomic { accesses[me] && !parted[me] && !accessing[me] ->
		accesses[me]--;
		accessing[me] = 1 }
	:: break
	od;
	/* the program does nothing any more; blocked for ever if the
	 * connection is neither dropped nor kept */
	skip;
	d_step {
		actions[me] = 0;
		messages[me] = 0;
		requests[me] = 0;
		accesses[me] = 0;
		finished++
	};
	AT_REST
}

init
{
	atomic {
		byte i;

		/* the program of side 0 has opened the peer */
		opened[0] = 1;
		for (i : 0 .. 1) {
			actions[i] = ACTIONS;
			messages[i] = MESSAGES;
			requests[i] = REQUESTS;
			accesses[i] = ACCESSES
		}
		run owner(0);
		run owner(1);
		run program(0);
		run program(1)
	}
}

ltl at_rest { <> (finished == 2 && AT_REST) }
