/* SPDX-License-Identifier: MIT */
/* What tasks say to one another. Both sides have the same byte order: it is
 * part of PVM's signature of a machine, which is compared before they meet. */
#ifndef BCL_PVM_WIRE_H
#define BCL_PVM_WIRE_H

#include <bcl/bcl.h>

/* ---- by BCL ---- */

/* Types of messages; their immediate is the sender's tid and, in the lower
 * half, how many messages it has given to PVM before for this receiver. */
enum {
	WIRE_DATA,  /* an envelope and the message's bytes */
	WIRE_OFFER, /* struct offer: the bytes are to be fetched */
	WIRE_WANT,  /* struct share: who asks would fetch that from you */
	WIRE_HAVE,  /* struct share, by its token */
	WIRE_READY, /* the connection is up here */
};

struct envelope {
	int32_t tag;
	int32_t context;
	int32_t wait;
	int32_t encoding;
};

/* How an offer to many spreads. All 0: it does not. */
struct route {
	int32_t via;	   /* a task to be asked for it; 0: the sender only */
	uint32_t readers;  /* so many will ask the receiver */
	uint32_t serial;   /* the sender's */
	uint32_t patience; /* us, with `via` */
};

struct offer {
	struct envelope envelope;
	uint64_t length;
	uint8_t token[BCL_KEY_MAX];
	struct route route;
};

/* Of an offer to many, whose receivers may have it from one another. */
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
	NOTE_ASK,    /* this is my address, what is yours? */
	NOTE_ANSWER, /* this one */
	NOTE_TELL,   /* what PVM brings from now on was sent after `count` */
};

struct note {
	/* these three in all versions, which may differ in length */
	uint32_t version;
	uint32_t kind;
	uint32_t signature; /* pvmmydsig */
	uint32_t count;	    /* of messages sent by BCL until now */
	uint32_t length;    /* of the address */
	uint8_t address[BCL_ADDRESS_MAX];
};

#endif
