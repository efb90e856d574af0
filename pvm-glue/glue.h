/* SPDX-License-Identifier: MIT */
/*
 * The glue: a task's messages to other tasks go over BCL where both have it,
 * all else by libpvm's own routes. libpvm keeps matching, packing, groups,
 * notification; control stays with PVM's daemons.
 *
 * Order between the two ways from one task to another:
 * - a message by BCL says how many the sender has given to PVM for this
 *   receiver before; it is held until these have come;
 * - before the first that is given to PVM after some by BCL, PVM carries a
 *   note of ours, how many these were; what follows is held until these have
 *   come.
 * An offer counts when it has been read: one that was taken back, since its
 * receiver did not read it, is given to PVM, and nothing waits for the end of
 * the offer, which the sender may not live to tell.
 */
#ifndef BCL_PVM_GLUE_H
#define BCL_PVM_GLUE_H

#include <bcl/bcl.h>

#include "pvm-glue/libpvm.h"

#define INTERPOSED __attribute__((visibility("default")))

/* ---- task.c: other tasks ---- */

enum task_state {
	TASK_UNKNOWN, /* nothing was asked */
	TASK_ASKED,   /* it was sent our address by PVM */
	TASK_MET,     /* it has the glue, and `peer` is its port */
	TASK_STRANGE, /* it has another glue, or cannot be reached by BCL: see
		       * `refused` */
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
	bool up;      /* the peer is connected, */
	bool greeted; /* has been told so, */
	bool ready;   /* and has said so itself */

	/* to it */
	uint32_t sent;	  /* by BCL */
	uint32_t told;	  /* `sent`, as PVM has carried it */
	uint32_t given;	  /* to PVM */
	uint64_t asked;	  /* ns, when */
	bool full;	  /* there was no room for the latest short one */
	uint64_t absence; /* ns, of which it took no long one the last time, */
	uint64_t behind;  /* until then, ns, it is not waited for */

	/* from it */
	uint32_t taken;	  /* by BCL, delivered */
	uint32_t pending; /* by BCL, here, not delivered */
	bool over;	  /* the connection is: no more come by BCL */
	uint32_t counted; /* by PVM, delivered */
	uint32_t due;	  /* by BCL, before what comes by PVM */
	struct arrival *first, **last;
	struct held *held, **held_last; /* by PVM, not delivered */

	int entered; /* serial number of the latest group that it led us into */

	/* it is owed a note */
	bool owed;
	struct task *next_owed;
	uint8_t address[BCL_ADDRESS_MAX]; /* its own, if it has asked */
	size_t address_length;		  /* 0: it has not */
};

/* NULL: no memory. */
struct task *task_find(int tid);
void task_each(void (*call)(struct task *task));
void task_forget_all(void);

/* ---- endpoint.c: the task's own port ---- */

extern struct bcl_port *endpoint;

/* Why this process does not use BCL; NULL: it does, or may. */
extern const char *endpoint_passive;

/* Whether messages look as they are known to. */
bool endpoint_possible(void);
/* Whether messages may go by BCL; opens the port when the task has enrolled. */
bool endpoint_ready(void);
/* Waits until all is delivered. */
void endpoint_close(void);
/* Handle what has come; how many events. */
unsigned endpoint_poll(void);
/* Handle one event, if there is one: to look for the next in vain takes as long
 * as all else of a short message. */
bool endpoint_step(void);

/* ---- meet.c: notes from glue to glue, carried by PVM ---- */

/* The peer is connected. What is sent to it is lost if that is not so at its
 * own end: until it has said so messages go by PVM. */
void meet_up(struct task *task);
/* Tell it our address; soon: when PVM is not at work. */
void meet_ask(struct task *task);
void meet_ask_soon(struct task *task);
/* What comes by PVM from it shall wait for all that was sent by BCL. False: PVM
 * takes nothing now. */
bool meet_tell(struct task *task);
/* Whether the message is a note; then it is gone. */
bool meet_note(struct pmsg *message);
/* Send the notes that are owed. */
void meet_owed(void);
/* They are not, any more: the tasks go. */
void meet_close(void);

/* ---- send.c ---- */

enum fate {
	FATE_OPEN,
	FATE_READ,
	FATE_VOID, /* it was taken back, or the task is lost */
};

/* Memory that a task may fetch, while its fate is open. */
struct loan {
	struct loan *next;
	struct task *task;
	enum fate fate;
	uint8_t token[BCL_KEY_MAX];
};

/* Of each message to it by BCL. */
uint64_t send_immediate(const struct task *task);
/* Whether something may be sent by BCL now. */
bool send_reaches(const struct task *task);
/* By whichever way; as mroute(). */
int send_message(struct pmsg *message, int tid, int tag);
/* To others, by BCL: sent[i] says who got it that way. `routes`: one for each,
 * or NULL. */
void send_many(const struct pmsg *message, int tag, const int *tids, int n,
	       const struct route *routes, bool *sent);
/* A message will be given to PVM; false: not in order. */
bool send_otherwise(struct task *task);
/* PVM did not take it. */
void send_refused(struct task *task);
/* libpvm's mroute() or pvmmcast(), not opening routes where ours are. */
int send_stock(int id, int tid, int tag, bool direct);
/* The same with memory of the user's. */
void send_memory(const int *tids, int n, int tag, void *memory, int length,
		 bool *sent);
/* Ask a task for what was offered to many; false: it cannot be asked. */
bool send_want(struct task *task, const struct share *share);
/* Let it fetch that here. */
bool send_have(struct task *task, const struct share *share, const void *memory,
	       size_t length, struct loan *loan);
/* An offer has been read, or is void. */
void send_read(uint64_t cookie, enum bcl_status status);
bool send_pending(void);
/* What others fetch here they do not any more. */
void send_close(void);

/* ---- receive.c ---- */

/* How many messages were handed to libpvm. */
extern unsigned long received;

/* A message that has come cannot be refused: ends if there is no memory. */
void *need(void *memory);
void receive_event(const struct bcl_event *event);
void receive_pulled(uint64_t cookie, enum bcl_status status);
/* A message to itself waits for receive_own(). */
void receive_from_self(const struct pmsg *message,
		       const struct envelope *envelope);
void receive_own(void);
/* Fetch what was offered, as far as it goes. */
void receive_fetch(void);
/* Fetch from the sender what others do not give. */
void receive_give_up(void);
/* When to do so, if before `until`. */
uint64_t receive_patience(uint64_t until);
/* A long message is on its way. */
bool receive_pending(void);
/* A message that PVM brought. */
int receive_stock(struct pmsg *message);
/* Hand over what may be. */
void receive_settle(struct task *task);
/* It has sent so many messages by BCL; what is given to PVM then follows. */
void receive_due(struct task *task, uint32_t count);
/* The connection is lost: no more come by BCL. */
void receive_lost(struct task *task);
/* A new one, to a sender of so many messages before. */
void receive_again(struct task *task, uint32_t count);
/* What was not delivered never will be. */
void receive_close(void);

/* ---- share.c: what goes to many ---- */

/* How it spreads from us to so many others. */
void share_plan(const int *tids, int n, size_t length, struct route *routes);
/* It is here, and some will ask for it. */
void share_keep(int origin, const struct route *route, const void *memory,
		size_t length);
/* One does. */
void share_wanted(struct task *task, const struct share *share);
/* Let go of what nobody fetches any more. */
void share_tidy(void);
void share_close(void);

/* ---- buffer.c: the buffer of a pvm_precv() ---- */

/* A message that comes next may be received there, unless NULL; of its
 * `*length` bytes no more than then are left. buffer_filled() must follow. */
void *buffer_claim(int source, const struct envelope *envelope, size_t *length);
/* It has been, or cannot be. */
void buffer_filled(bool filled);
/* A message goes to libpvm. */
void buffer_pass(const struct pmsg *message);

/* ---- say.c: lines such as the library's log has ---- */

void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_and_abort(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* ---- wait.c ---- */

/* The program has our descriptor, too, and may sleep on it. */
extern bool watched;

uint64_t wait_now(void);
/* As mroute() without a message; `before` messages were received when it began.
 */
int wait_messages(unsigned long before, const struct timeval *limit);
/* As mroute() after a message has gone. */
int wait_after_send(unsigned long before);

#endif
