/* SPDX-License-Identifier: MIT */
/*
 * The glue: messages between two tasks go over BCL if both tasks have the glue,
 * all else goes by libpvm's own routes. Matching, packing, groups and
 * notification stay with libpvm, control stays with PVM's daemons.
 *
 * Order between the two ways from a sender to a receiver:
 *
 * - A message by BCL carries the number of messages that the sender gave to PVM
 *   for this receiver before. The receiver holds the message until that number
 *   has come.
 * - Before the sender gives PVM the first message after some by BCL, PVM
 *   carries a note of the glue with the number of messages sent by BCL. The
 *   receiver holds what PVM brings after the note until that number has come.
 *
 * An offer counts as sent when the receiver has read it. If the receiver does
 * not read it, the sender takes it back and gives the message to PVM. Nothing
 * waits for the end of an offer, because the sender may die before it can tell
 * the receiver.
 */
#ifndef BCL_PVM_GLUE_H
#define BCL_PVM_GLUE_H

#include <time.h>

#include <bcl/bcl.h>

#include "pvm-glue/libpvm.h"

#define INTERPOSED __attribute__((visibility("default")))

/* ---- task.c: other tasks ---- */

enum task_state {
	TASK_UNKNOWN, /* no note was sent */
	TASK_ASKED,   /* the own address was sent by PVM */
	TASK_MET,     /* the task has the glue, `peer` is its port */
	TASK_STRANGE, /* another version of the glue, or not reachable by BCL:
			 see `refused` */
};

struct arrival;
struct envelope;
struct held;
struct route;
struct share;

struct task {
	struct task *next;
	int tid;
	enum task_state state;
	enum bcl_status refused; /* STRANGE: why */
	struct bcl_peer *peer;
	bool up;      /* the peer is connected */
	bool greeted; /* WIRE_READY was sent to the peer */
	bool ready;   /* WIRE_READY came from the peer */

	/* messages to this task */
	uint32_t sent;	  /* by BCL */
	uint32_t told;	  /* `sent` in the last note to the task */
	uint32_t given;	  /* to PVM */
	uint64_t asked;	  /* ns: time of the last NOTE_ASK */
	bool full;	  /* no room for the latest short message */
	uint64_t absence; /* ns: length of the latest pause in long messages */
	uint64_t behind;  /* ns: end of the pause */

	/* messages from this task */
	uint32_t taken;	  /* by BCL, delivered */
	uint32_t pending; /* by BCL, arrived, not delivered */
	bool over;	  /* connection lost: no more by BCL */
	uint32_t counted; /* by PVM, delivered */
	uint32_t due;	  /* by BCL, due before the next by PVM */
	struct arrival *first, **last;
	struct held *held, **held_last; /* by PVM, not delivered */

	int entered; /* serial number of the latest group that this task led */

	/* a note is owed to this task */
	bool owed;
	struct task *next_owed;
	uint8_t address[BCL_ADDRESS_MAX]; /* of the task, from its NOTE_ASK */
	size_t address_length;		  /* 0: no NOTE_ASK to answer */
};

/* Finds or creates the task. NULL: no memory. */
struct task *task_find(int tid);
void task_each(void (*call)(struct task *task));
void task_forget_all(void);

/* True if messages may be sent to the task by BCL now. */
static inline bool task_reachable(const struct task *task)
{
	return task->state == TASK_MET && task->up && task->ready &&
	       *libpvm.pvmrouteopt != PVM_DONT_ROUTE;
}

/* The immediate value of a message to this task. */
static inline uint64_t task_immediate(const struct task *task)
{
	return (uint64_t)(uint32_t)*libpvm.pvmmytid << 32 | task->given;
}

/* ---- endpoint.c: the task's own port ---- */

/* The state of this process. libpvm, too, has one state for each process. */
struct glue {
	struct bcl_port *port; /* NULL: not open, or a forked child's */
	/* Why this process does not use BCL. NULL: BCL is used, or may be
	 * later. */
	const char *passive;
	/* Number of messages handed to libpvm, to a group or to a
	 * pvm_precv(). */
	unsigned long received;
	/* The program has the descriptor of the port and may sleep on it. */
	bool watched;
	unsigned fences; /* at the end of the task: tasks that have not yet told
			  * that all messages have come */
};

extern struct glue glue;

/* True if libpvm is a known version and the process may use BCL. */
bool endpoint_possible(void);
/* True if messages may go by BCL. Opens the port when the task has enrolled. */
bool endpoint_ready(void);
void endpoint_close(void);

/* ns of CLOCK_MONOTONIC. */
static inline uint64_t glue_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- meet.c: notes from glue to glue, carried by PVM ---- */

/* The peer is connected here. Messages to it are lost if the connection is not
 * up at its end, too. So messages go by PVM until the peer has sent
 * WIRE_READY. */
void meet_up(struct task *task);
/* Send the task the own address. meet_ask_soon(): when PVM is not at work. */
void meet_ask(struct task *task);
void meet_ask_soon(struct task *task);
/* Let the receiver deliver messages by PVM, from now on, after all that were
 * sent by BCL. False: PVM takes nothing now. */
bool meet_tell(struct task *task);
/* True if the message is a note. The note is handled and freed. */
bool meet_note(struct pmsg *message);
/* Send the notes that are owed to tasks. */
void meet_owed(void);
/* Forget all owed notes, because the tasks are freed. */
void meet_close(void);

/* ---- loan.c ---- */

enum fate {
	FATE_OPEN,
	FATE_READ,
	FATE_VOID, /* the offer was taken back, or the task is lost */
};

/* Memory that a task may fetch while fate is FATE_OPEN. */
struct loan {
	struct loan *next;
	struct task *task;
	enum fate fate;
	uint8_t token[BCL_KEY_MAX];
};

void loan_open(struct loan *loan, struct task *task);
/* The memory was not offered. */
void loan_close(struct loan *loan);
/* An offer was read, or is void. */
void loan_read(uint64_t cookie, enum bcl_status status);
/* True while a loan is open. */
bool loan_pending(void);
/* Take an offer back. False: the receiver is reading the memory. */
bool loan_withdraw(struct loan *loan);
/* Take all offers back. False: receivers are reading. */
bool loan_withdraw_all(void);

/* ---- send.c ---- */

/* Send a message by BCL or by PVM. Returns as mroute(). */
int send_message(struct pmsg *message, int tid, int tag);
/* Send a message to several other tasks by BCL. sent[i]: task i got the
 * message. routes: one for each task, or NULL. */
void send_many(const struct pmsg *message, int tag, const int *tids, int n,
	       const struct route *routes, bool *sent);
/* The caller is about to give PVM a message. False: the note about messages
 * sent by BCL could not be sent, and the message would break the order. */
bool send_otherwise(struct task *task);
/* PVM did not take the message of the last send_otherwise(). */
void send_refused(struct task *task);
/* As send_many(), for memory of the user. */
void send_memory(const int *tids, int n, int tag, void *memory, int length,
		 bool *sent);

/* ---- receive.c ---- */

void receive_event(const struct bcl_event *event);
void receive_pulled(uint64_t cookie, enum bcl_status status);
/* A message to the own task waits for receive_own(). */
void receive_from_self(const struct pmsg *message,
		       const struct envelope *envelope);
void receive_own(void);
/* Start fetching offered messages until the path accepts no more. */
void receive_fetch(void);
/* Fetch a message from its sender if the task asked for it has not answered in
 * time. */
void receive_give_up(void);
/* Time of the next receive_give_up(), but not after `until`. */
uint64_t receive_patience(uint64_t until);
/* True while a long message is being fetched. */
bool receive_pending(void);
/* A message that PVM brought. Result as mesg_input(). */
int receive_stock(struct pmsg *message);
/* Hand over all messages of the task that are due. */
void receive_settle(struct task *task);
/* The connection is lost: no more messages come by BCL. */
void receive_lost(struct task *task);
/* Free all messages that were not delivered. */
void receive_close(void);

/* ---- share.c: long messages to many tasks ---- */

/* Plan how a message of `length` bytes spreads from here to `n` tasks. */
void share_plan(const int *tids, int n, size_t length, struct route *routes);
/* Ask a task for a message that was offered to many. False: the task cannot be
 * asked. */
bool share_ask(struct task *task, const struct share *share);
/* A message from `origin` is here. Keep a copy if other tasks will ask for
 * it. */
void share_keep(int origin, const struct route *route, const void *memory,
		size_t length);
/* A task asks for a message. */
void share_wanted(struct task *task, const struct share *share);
/* Free copies that nobody will fetch any more. */
void share_tidy(void);
void share_close(void);

/* ---- buffer.c: the buffer of a pvm_precv() ---- */

enum buffer_state {
	BUFFER_IDLE,
	BUFFER_POSTED,
	BUFFER_CLAIMED,
	BUFFER_FILLED,
};

struct buffer {
	enum buffer_state state;
	int source, tag; /* or -1: any */
	void *memory;
	size_t room;
	/* of the message in the buffer */
	int its_source, its_tag, its_length;
};

/* Let the next message that matches fill the buffer, until buffer_leave().
 * False: an older message matches. */
bool buffer_post(struct buffer *buffer);
void buffer_leave(void);
/* Memory of a waiting pvm_precv() that may receive this message, which is
 * delivered next; NULL: none. *length is cut to the room there. buffer_filled()
 * must follow. */
void *buffer_claim(int source, const struct envelope *envelope, size_t *length);
/* The claimed memory has the message, or the message is void. */
void buffer_filled(bool filled);
/* A message goes to libpvm, where a waiting pvm_precv() may find it. */
void buffer_pass(const struct pmsg *message);

/* ---- say.c: lines in the form of the library's log ---- */

void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_and_abort(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Returns `memory`. Ends the process if it is NULL, because a message that has
 * come cannot be refused. */
static inline void *need(void *memory)
{
	if (memory)
		return memory;
	say_and_abort("no memory for a message that has come");
}

/* ---- events.c ---- */

/* Handle pending events. Returns their number. */
unsigned events_poll(void);
/* Handle one event. False: none was pending. A look in vain for the next event
 * costs as much as the rest of a short message. */
bool events_step(void);

/* ---- wait.c ---- */

/* As mroute() without a message. before: value of glue.received when the call
 * began. Returns the number of messages received since, or libpvm's error. */
int wait_messages(unsigned long before, const struct timeval *limit);
/* As mroute() after a message has gone. */
int wait_after_send(unsigned long before);

#endif
