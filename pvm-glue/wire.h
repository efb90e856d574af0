/* SPDX-License-Identifier: MIT */
/* Messages and notes of the glue, from task to task. Both sides have the same
 * byte order: PVM's signature of a machine includes the byte order, and tasks
 * compare signatures before they meet. */
#ifndef BCL_PVM_WIRE_H
#define BCL_PVM_WIRE_H

#include <bcl/bcl.h>

/* ---- by BCL ---- */

/* Types of messages. Upper half of the immediate value: the sender's tid. Lower
 * half: the number of messages that the sender gave to PVM for this receiver
 * before. */
enum {
	WIRE_DATA,  /* struct envelope, then the bytes of the message */
	WIRE_OFFER, /* struct offer: the receiver fetches the bytes */
	WIRE_WANT,  /* struct share: the sender asks to fetch the message */
	WIRE_HAVE,  /* struct share: answer, with a token to fetch by */
	WIRE_READY, /* the connection is up at the sender */
};

struct envelope {
	int32_t tag;
	int32_t context;
	int32_t wait;
	int32_t encoding;
};

/* How an offer to many tasks spreads. All 0: it does not. */
struct route {
	int32_t via; /* task to ask for the message; 0: fetch from the sender */
	uint32_t readers;  /* number of tasks that will ask the receiver */
	uint32_t serial;   /* of the sender, for each message to many */
	uint32_t patience; /* us to wait for `via` */
};

struct offer {
	struct envelope envelope;
	uint64_t length;
	uint8_t token[BCL_KEY_MAX];
	struct route route;
};

/* Names an offer to many tasks. Receivers may fetch the message from each
 * other. */
struct share {
	int32_t origin;
	uint32_t serial;
	uint8_t token[BCL_KEY_MAX]; /* HAVE */
};

/* ---- by PVM: notes ---- */

enum {
	NOTE_TAG = 0x62636c01, /* of all notes, in PVM_TASK_CONTEXT */
	NOTE_VERSION = 3,
};

enum note_kind {
	NOTE_ASK,    /* the sender's address; asks for the receiver's */
	NOTE_ANSWER, /* answer with the own address */
	NOTE_TELL,   /* what PVM brings from now on follows `count` by BCL */
};

struct note {
	/* The first three are in all versions, the length may differ. */
	uint32_t version;
	uint32_t kind;
	uint32_t signature; /* pvmmydsig */
	uint32_t count;	    /* messages sent by BCL until now */
	uint32_t length;    /* of the address */
	uint8_t address[BCL_ADDRESS_MAX];
};

#endif
