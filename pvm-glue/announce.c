/* SPDX-License-Identifier: MIT */
/* Entries in PVM's mailbox by which the members of groups say that they have
 * the glue. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "pvm-glue/group.h"

/* As in <pvm3.h>. */
struct pvmmboxinfo {
	char *name;
	int entries;
	int *indices;
	int *owners;
	int *flags;
};

/* Other members wait for a message from this task, and there is no memory for
 * it. */
static void abort_without_memory(void)
{
	say_and_abort("no memory to tell the members of a group that there is "
		      "none for the group");
}

static void class_name(char *name, size_t length)
{
	snprintf(name, length, "bcl-pvm-groups-3-%x",
		 (unsigned)*libpvm.pvmmydsig);
}

/* The own entry. Valid if `tid` is the own tid: the process may have enrolled
 * again as another task. */
static struct {
	int tid;
	int index;
} entry;
static int serial; /* of the own latest freeze */

static void withdraw_entry(void)
{
	char name[64];

	class_name(name, sizeof(name));
	if (entry.tid == *libpvm.pvmmytid &&
	    libpvm.pvm_delinfo(name, entry.index, 0) == PVM_NO_MEMORY)
		abort_without_memory();
	entry.tid = 0;
}

static bool make_entry(void)
{
	enum {
		RAW = 1,
		MULTI_INSTANCE = 2
	};
	int before, index = -1, id = libpvm.pvm_mkbuf(RAW);
	char name[64];

	if (id <= 0)
		return false;
	serial = serial == INT_MAX ? 1 : serial + 1;
	before = libpvm.pvm_setsbuf(id);
	class_name(name, sizeof(name));
	if (!libpvm.pvm_pkbyte((char *)&serial, sizeof(serial), 1))
		index = libpvm.pvm_putinfo(name, id, MULTI_INSTANCE);
	libpvm.pvm_setsbuf(before);
	libpvm.pvm_freebuf(id);
	if (index < 0)
		return false;
	entry.tid = *libpvm.pvmmytid;
	entry.index = index;
	return true;
}

struct pmsg *group_announce(void)
{
	struct pmsg *farewell;

	withdraw_entry();
	farewell = libpvm_message(sizeof(struct group_key));
	if (farewell && !make_entry()) {
		libpvm.umbuf_free(farewell);
		farewell = NULL;
	}
	return farewell;
}

/* Serial number in an entry; 0: no entry. */
static int read_entry(char *name, int index)
{
	int number = 0, before = libpvm.pvm_setrbuf(0);
	int id = libpvm.pvm_recvinfo(name, index, 0);
	const struct pmsg *message;

	if (id == PVM_NO_MEMORY)
		abort_without_memory();
	message = id > 0 ? libpvm.midtobuf(id) : NULL;
	if (message && libpvm_length(message) == sizeof(number))
		libpvm_copy(message, 0, (char *)&number);
	libpvm.pvm_setrbuf(before);
	if (id > 0)
		libpvm.pvm_freebuf(id);
	return number;
}

/* Index of a task's entry; -1: no entry. */
static int entry_of(int tid, const struct pvmmboxinfo *class)
{
	for (int i = 0; i < class->entries; i++) {
		if (class->owners[i] == tid)
			return class->indices[i];
	}
	return -1;
}

int group_agree(char *name, int size)
{
	struct pvmmboxinfo *class;
	char class_of_ours[64];
	int i, n, result, index, leaders = -1;

	class_name(class_of_ours, sizeof(class_of_ours));
	result = libpvm.pvm_getmboxinfo(class_of_ours, &n, &class);
	if (result == PVM_NO_MEMORY)
		abort_without_memory();
	if (result < 0 || n != 1)
		return 0;
	for (i = size - 1; i >= 0; i--) {
		index = entry_of(libpvm_member(name, i), class);
		if (index < 0)
			return 0;
		leaders = index;
	}
	return read_entry(class_of_ours, leaders);
}
