/* SPDX-License-Identifier: MIT */
/*
 * Access to libpvm: its symbols, and its messages. See libpvm.h.
 */
#include "pvm-glue/libpvm.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum {
	/* bytes before the data: libpvm writes headers there if the message is
	 * sent on */
	HEAD_ROOM = 64,
};

struct libpvm libpvm;

static const struct {
	const char *name;
	size_t at;
} symbols[] = {
#define SYMBOL(name)                                 \
	{                                            \
#name, offsetof(struct libpvm, name) \
	}
	SYMBOL(mroute),	     SYMBOL(mesg_input),      SYMBOL(pvmmcast),
	SYMBOL(pvmendtask),  SYMBOL(pvm_getfds),      SYMBOL(pvm_mkbuf),
	SYMBOL(pvm_freebuf), SYMBOL(pvm_setsbuf),     SYMBOL(pvm_pkbyte),
	SYMBOL(midtobuf),    SYMBOL(umbuf_new),	      SYMBOL(umbuf_free),
	SYMBOL(fr_new),	     SYMBOL(pmsg_setenc),     SYMBOL(pvmmytid),
	SYMBOL(pvmmydsig),   SYMBOL(pvmrouteopt),     SYMBOL(pvmmyctx),
	SYMBOL(pvm_putinfo), SYMBOL(pvm_getmboxinfo), SYMBOL(pvm_pstat),
	SYMBOL(pvm_psend),   SYMBOL(pvm_precv),	      SYMBOL(pvm_recvf),
	SYMBOL(pvm_addmhf),  SYMBOL(pvmrxlist),	      SYMBOL(pvmtrc),
	SYMBOL(pvm_setrbuf), SYMBOL(pvm_recvinfo),    SYMBOL(pvm_delinfo),
#undef SYMBOL
};

void *libpvm_symbol(const char *name)
{
	static const char *const files[] = { "libpvm3.so.3", "libgpvm3.so.3" };
	void *file, *symbol = dlsym(RTLD_NEXT, name);

	for (size_t i = 0; !symbol && i < sizeof(files) / sizeof(*files); i++) {
		file = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);
		/* not closed, so that the symbol stays valid */
		if (file)
			symbol = dlsym(file, name);
	}
	return symbol;
}

const char *libpvm_load(void)
{
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *symbol = libpvm_symbol(symbols[i].name);

		if (!symbol)
			missing = symbols[i].name;
		memcpy((char *)&libpvm + symbols[i].at, &symbol,
		       sizeof(symbol));
	}
	return missing;
}

size_t libpvm_size_of(int type)
{
	static const size_t sizes[] = {
		[1] = 1,	     /* PVM_BYTE */
		[2] = sizeof(short), /* ..., in the order of <pvm3.h> */
		[3] = sizeof(int),
		[4] = sizeof(float),
		[5] = 2 * sizeof(float),
		[6] = sizeof(double),
		[7] = 2 * sizeof(double),
		[8] = sizeof(long),
		[9] = sizeof(short),
		[10] = sizeof(int),
		[11] = sizeof(long),
	};

	return type > 0 && type < (int)(sizeof(sizes) / sizeof(*sizes))
		       ? sizes[type]
		       : 0;
}

int libpvm_length(const struct pmsg *message)
{
	const struct frag *frag;
	int length = 0;

	for (frag = message->frags->next; frag != message->frags;
	     frag = frag->next)
		length += frag->length;
	return length;
}

void libpvm_copy(const struct pmsg *message, size_t from, char *to)
{
	const struct frag *frag;

	for (frag = message->frags->next; frag != message->frags;
	     frag = frag->next) {
		size_t length = (size_t)frag->length;

		if (from >= length) {
			from -= length;
			continue;
		}
		memcpy(to, frag->data + from, length - from);
		to += length - from;
		from = 0;
	}
}

struct pmsg *libpvm_message(int length)
{
	struct pmsg *message = libpvm.umbuf_new();
	struct frag *frag;

	if (!message)
		return NULL;
	frag = libpvm.fr_new(length + HEAD_ROOM);
	if (!frag) {
		libpvm.umbuf_free(message);
		return NULL;
	}
	frag->data += HEAD_ROOM;
	frag->length = length;
	frag->next = message->frags;
	frag->previous = message->frags->previous;
	frag->previous->next = frag;
	message->frags->previous = frag;
	message->length = length;
	return message;
}

int libpvm_route(int id, int tid, int tag, bool direct)
{
	struct timeval now = { 0 };
	int result, option = *libpvm.pvmrouteopt;

	if (option == PVM_ROUTE_DIRECT && !direct)
		*libpvm.pvmrouteopt = PVM_ALLOW_DIRECT;
	result = libpvm.mroute(id, tid, tag, &now);
	*libpvm.pvmrouteopt = option;
	return result;
}

int libpvm_member(char *group, int instance)
{
	int (*gettid)(char *, int) = libpvm_symbol("pvm_gettid");

	return gettid(group, instance);
}

/* True if a message made by libpvm has the layout that the glue knows. */
static bool looks_right(int id)
{
	const struct pmsg *message = libpvm.midtobuf(id);
	const struct frag *frag;

	if (!message || message->id != id ||
	    message->encoding != *libpvm.pvmmydsig || !message->frags ||
	    message->frags->memory)
		return false;
	frag = message->frags->next;
	return frag != message->frags && frag->next == message->frags &&
	       frag->previous == message->frags && frag->data >= frag->memory &&
	       frag->length == 3 && frag->room >= 3 &&
	       !memcmp(frag->data, "bcl", 3);
}

bool libpvm_is_known(void)
{
	enum {
		RAW = 1
	};
	int before, id = libpvm.pvm_mkbuf(RAW);
	char text[] = "bcl";
	bool known;

	if (id <= 0)
		return false;
	before = libpvm.pvm_setsbuf(id);
	known = !libpvm.pvm_pkbyte(text, 3, 1) && looks_right(id);
	libpvm.pvm_setsbuf(before);
	libpvm.pvm_freebuf(id);
	return known;
}
