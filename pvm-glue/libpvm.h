/* SPDX-License-Identifier: MIT */
/*
 * The parts of libpvm 3.4 that the glue uses: the layout of messages in memory,
 * and functions below the public ones. All messages that a task sends go
 * through mroute(), all that it receives through mesg_input(). libpvm calls
 * both by dynamic symbols, so a library loaded before libpvm can interpose
 * them.
 */
#ifndef BCL_PVM_LIBPVM_H
#define BCL_PVM_LIBPVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

/* A piece of a message. The pieces form a ring; its head has no memory. */
struct frag {
	struct frag *next, *previous;
	char *memory;
	char *data; /* in the memory */
	int room;   /* of the memory */
	int length; /* of the data */
};

struct pmsg {
	struct pmsg *next, *previous;
	const void *coder;
	struct frag *frags, *current;
	int references;
	int id;
	int length;
	int context;
	int tag;
	int wait;
	int source;
	int destination;
	int encoding;
};

enum {
	PVM_IN_PLACE = 0x20000000,   /* encoding: memory of the user */
	PVM_GROUP_CONTEXT = 0x7fff0, /* of the glue; libgpvm3: 0x7fffc and on */
	PVM_SYSTEM_CONTEXT = 0x7fffe, /* and above: of libpvm */
	PVM_TASK_CONTEXT = 0x7ffff,   /* from libpvm to libpvm */

	PVM_DONT_ROUTE = 1, /* values of the route option */
	PVM_ALLOW_DIRECT = 2,
	PVM_ROUTE_DIRECT = 3,

	PVM_BAD_PARAMETER = -2, /* results */
	PVM_NO_MEMORY = -10,
	PVM_NO_GROUP = -19,
};

struct pvmmboxinfo;
/* True if a message has this source and tag. */
typedef int libpvm_match(int id, int tid, int tag);

/* Functions and variables of libpvm, by their own names. */
struct libpvm {
	int (*mroute)(int, int, int, struct timeval *);
	int (*mesg_input)(struct pmsg *);
	int (*pvmmcast)(int, int *, int, int);
	int (*pvmendtask)(void);
	int (*pvm_getfds)(int **);
	int (*pvm_mkbuf)(int);
	int (*pvm_freebuf)(int);
	int (*pvm_setsbuf)(int);
	int (*pvm_setrbuf)(int);
	int (*pvm_pkbyte)(char *, int, int);
	int (*pvm_psend)(int, int, void *, int, int);
	int (*pvm_precv)(int, int, void *, int, int, int *, int *, int *);
	libpvm_match *(*pvm_recvf)(libpvm_match *);
	int (*pvm_addmhf)(int, int, int, int (*)(int));
	int (*pvm_pstat)(int);
	int (*pvm_putinfo)(char *, int, int);
	int (*pvm_recvinfo)(char *, int, int);
	int (*pvm_delinfo)(char *, int, int);
	int (*pvm_getmboxinfo)(char *, int *, struct pvmmboxinfo **);
	struct pmsg *(*midtobuf)(int);
	struct pmsg *(*umbuf_new)(void);
	int (*umbuf_free)(struct pmsg *);
	struct frag *(*fr_new)(int);
	int (*pmsg_setenc)(struct pmsg *, int);
	int *pvmmytid;
	int *pvmmydsig;
	int *pvmmyctx;
	int *pvmrouteopt;
	struct pmsg **pvmrxlist; /* messages received and not taken yet */
	int *pvmtrc;		 /* first field: tid of the tracer */
};

extern struct libpvm libpvm;

/* A symbol of libpvm3 or libgpvm3. Part of the program may have loaded these
 * late, with RTLD_LOCAL. NULL: not found. */
void *libpvm_symbol(const char *name);
/* Find all symbols of `libpvm`. Returns NULL, or the name of a missing
 * symbol. */
const char *libpvm_load(void);
/* True if messages have the layout above. The task must have enrolled. */
bool libpvm_is_known(void);

/* A tid that names a task, neither a daemon nor a group of tasks. */
static inline bool libpvm_is_task(int tid)
{
	return !((unsigned)tid & 0xc0000000) && (tid & 0x3ffff);
}

/* Bytes of an element of a type of <pvm3.h>. 0: no such type, or no fixed
 * size. */
size_t libpvm_size_of(int type);
/* Bytes of a message. */
int libpvm_length(const struct pmsg *message);
/* Copy the bytes of a message, without the first `from`. */
void libpvm_copy(const struct pmsg *message, size_t from, char *to);
/* A message with one piece of `length` bytes; NULL: no memory. */
struct pmsg *libpvm_message(int length);
/* mroute() without waiting. direct = false: libpvm does not open a direct
 * route. */
int libpvm_route(int id, int tid, int tag, bool direct);
/* tid of a member of a group, from libgpvm3. */
int libpvm_member(char *group, int instance);

#endif
