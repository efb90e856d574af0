/* SPDX-License-Identifier: MIT */
/*
 * bcl-pvm --check: a task on this host spawns a task on each host of the
 * virtual machine. The spawned task reports what it finds there; then the two
 * tasks meet like any two tasks.
 *
 * 	bcl-pvm-check LIBRARY		the first task
 * 	bcl-pvm-check LIBRARY answer	the spawned tasks
 */
#include <dlfcn.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pvm-glue/state.h"
#include "pvm-glue/wire.h"
#include "transport/card/card.h"

enum {
	TEXT = 256,
	PATIENCE = 10,	  /* s, for any answer */
	PAUSE = 10000000, /* ns between messages */

	TAG_FOUND = 1,
	TAG_PING,
	TAG_END, /* the first task has ended, or the check is over */
};

/* Error of libpvm's last call, for pvm_strerror(). Not in a header of
 * libpvm. */
extern int pvm_errno;

/* Findings of a task on its host. */
struct found {
	int version;	    /* of the glue; 0: no glue */
	char passive[TEXT]; /* why BCL is not used; empty: used */
	int network;	    /* the host has a network for BCL */
	int ring;	    /* with a packet ring */
	char no_ring[TEXT]; /* why no packet ring is there */
};

typedef int version_function(void);
typedef const char *passive_function(void);
typedef enum bcl_status path_function(int tid, struct bcl_peer_info *info);

/* ---- here ---- */

static void *of_glue(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void find_glue(struct found *found, const char *library)
{
	version_function *version = of_glue("bcl_pvm_version");
	passive_function *passive = of_glue("bcl_pvm_passive");
	const char *why = NULL;

	if (!version) {
		why = dlopen(library, RTLD_LAZY) ? "LD_PRELOAD does not name it"
						 : dlerror();
		snprintf(found->passive, TEXT, "no glue: %s", why);
		return;
	}
	found->version = version();
	if (found->version == NOTE_VERSION)
		why = passive();
	snprintf(found->passive, TEXT, "%s", why ? why : "");
}

/* Take the reason from the context's lines about packet rings. */
static void find_reason(struct found *found, const struct bcl_context *context)
{
	static const char about[] = "packet: ";
	char lines[BCL_HOST_LINES][BCL_HOST_LINE];
	unsigned n = bcl_host_describe(context, lines, BCL_HOST_LINES);

	for (unsigned i = 0; i < n; i++) {
		if (!strncmp(lines[i], about, strlen(about)))
			snprintf(found->no_ring, TEXT, "%s",
				 lines[i] + strlen(about));
	}
}

/* Open a context like that of the glue. */
static void find_network(struct found *found)
{
	struct bcl_context *context;

	snprintf(found->no_ring, TEXT, "no network");
	if (bcl_open(NULL, &context))
		return;
	found->network = context->card != NULL;
	for (unsigned r = 0; found->network && r < context->card->nends; r++)
		found->ring |= context->card->end[r].small;
	if (found->network && !found->ring)
		find_reason(found, context);
	bcl_close(context);
}

static struct found find_capabilities(const char *library)
{
	struct found found = { 0 };

	find_glue(&found, library);
	find_network(&found);
	return found;
}

/* ---- there ---- */

static void send_empty(int tid, int tag)
{
	pvm_initsend(PvmDataRaw);
	pvm_send(tid, tag);
}

static int answer_first_task(const char *library)
{
	struct found found = find_capabilities(library);
	int bytes, tag = 0, first = pvm_parent();

	pvm_notify(PvmTaskExit, TAG_END, 1, &first);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&found.version, 1, 1);
	pvm_pkint(&found.network, 1, 1);
	pvm_pkint(&found.ring, 1, 1);
	pvm_pkstr(found.passive);
	pvm_pkstr(found.no_ring);
	pvm_send(first, TAG_FOUND);
	while (tag != TAG_END) {
		pvm_bufinfo(pvm_recv(-1, -1), &bytes, &tag, NULL);
		if (tag == TAG_PING)
			send_empty(first, TAG_PING);
	}
	pvm_exit();
	return 0;
}

/* ---- from here to there ---- */

/* Wait for a message of the task with this tag. False: the task has ended, or
 * PATIENCE has passed. */
static bool await_message(int tid, int tag)
{
	struct timeval limit = { .tv_sec = PATIENCE };
	int bytes, got = 0, from = 0, buffer;

	while (got != tag || from != tid) {
		buffer = pvm_trecv(-1, -1, &limit);
		if (buffer <= 0)
			return false;
		pvm_bufinfo(buffer, &bytes, &got, &from);
		if (got == tid)
			return false;
	}
	return true;
}

/* True if no better path is to be expected. rings: both ends have a packet
 * ring. */
static bool is_best(const struct bcl_peer_info *info, bool rings)
{
	if (info->path != BCL_PATH_CARD)
		return true;
	/* no packet ring from a host to itself */
	if (!rings || info->level == 1)
		return info->rails;
	return info->ring;
}

/* Exchange messages until both tasks use the best path that both ends have. */
static enum bcl_status await_best_path(int tid, bool rings,
				       struct bcl_peer_info *info)
{
	path_function *path = of_glue("bcl_pvm_path");
	const struct timespec pause = { .tv_nsec = PAUSE };
	enum bcl_status status = BCL_ERR_AGAIN;
	time_t end = time(NULL) + PATIENCE;

	while (time(NULL) < end) {
		send_empty(tid, TAG_PING);
		if (!await_message(tid, TAG_PING))
			return BCL_ERR_DEAD;
		status = path(tid, info);
		if (status && status != BCL_ERR_AGAIN)
			break;
		if (!status && is_best(info, rings))
			break;
		nanosleep(&pause, NULL);
	}
	return status == BCL_ERR_AGAIN ? BCL_ERR_TIMEOUT : status;
}

static void print_path(const struct bcl_peer_info *info,
		       const struct found *here, const struct found *there)
{
	if (info->path != BCL_PATH_CARD)
		printf("%s\n", info->why);
	else if (info->ring)
		printf("packet ring: %s\n", info->why);
	else if (info->level == 1)
		printf("UDP: %s; no packet ring inside a host\n", info->why);
	else if (!here->ring)
		printf("UDP: %s; no packet ring here: %s\n", info->why,
		       here->no_ring);
	else if (!there->ring)
		printf("UDP: %s; no packet ring there: %s\n", info->why,
		       there->no_ring);
	else
		printf("UDP: %s; no frames come by packet ring\n", info->why);
}

static void print_refusal(enum bcl_status status, const struct found *here,
			  const struct found *there)
{
	const char *where = "";

	if (status == BCL_ERR_NORAIL && !here->network)
		where = " here";
	else if (status == BCL_ERR_NORAIL && !there->network)
		where = " there";
	printf("passive: %s%s\n", bcl_strstatus(status), where);
}

/* True if tasks there use BCL to tasks here. Prints the result. */
static bool compare_hosts(const char *host, int tid, const struct found *here,
			  const struct found *there)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	enum bcl_status status;

	printf("%s: ", host);
	if (there->passive[0]) {
		printf("passive: %s\n", there->passive);
		return false;
	}
	if (here->passive[0]) {
		printf("passive: here %s\n", here->passive);
		return false;
	}
	if (there->version != here->version) {
		printf("passive: version %d of the glue, here is %d\n",
		       there->version, here->version);
		return false;
	}
	status = await_best_path(tid, here->ring && there->ring, &info);
	if (status) {
		print_refusal(status, here, there);
		return false;
	}
	printf("glue version %d, libpvm3 is known: BCL by ", there->version);
	print_path(&info, here, there);
	return true;
}

static bool check_host(char *program, char *library, char *host,
		       const struct found *here)
{
	char word[] = "answer", *arguments[] = { library, word, NULL };
	struct found there = { 0 };
	bool uses = false;
	int tid = 0;

	if (pvm_spawn(program, arguments, PvmTaskHost, host, 1, &tid) != 1) {
		if (tid < 0)
			pvm_errno = tid;
		printf("%s: passive: cannot start %s there: %s\n", host,
		       program, pvm_strerror());
		return false;
	}
	pvm_notify(PvmTaskExit, tid, 1, &tid);
	if (await_message(tid, TAG_FOUND)) {
		pvm_upkint(&there.version, 1, 1);
		pvm_upkint(&there.network, 1, 1);
		pvm_upkint(&there.ring, 1, 1);
		pvm_upkstr(there.passive);
		pvm_upkstr(there.no_ring);
		uses = compare_hosts(host, tid, here, &there);
	} else {
		printf("%s: passive: a task there does not answer\n", host);
	}
	send_empty(tid, TAG_END);
	return uses;
}

int main(int argc, char **argv)
{
	int nhosts, narchs, without = 0;
	struct pvmhostinfo *hosts;
	struct found here;

	if (argc < 2)
		return 2;
	pvm_setopt(PvmAutoErr, 0);
	if (pvm_mytid() < 0) {
		fprintf(stderr, "bcl-pvm: no virtual machine runs here: %s\n",
			pvm_strerror());
		return 1;
	}
	if (argc > 2)
		return answer_first_task(argv[1]);
	here = find_capabilities(argv[1]);
	if (pvm_config(&nhosts, &narchs, &hosts) < 0)
		return 1;
	for (int i = 0; i < nhosts; i++)
		without +=
			!check_host(argv[0], argv[1], hosts[i].hi_name, &here);
	if (without)
		printf("%d of %d hosts do not use BCL\n", without, nhosts);
	pvm_exit();
	return without != 0;
}
