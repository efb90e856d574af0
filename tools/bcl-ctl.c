/* SPDX-License-Identifier: MIT */
/*
 * bcl-ctl: shows the cards in the kernel, and changes, for an administrator,
 * what concerns cards of other processes.
 */
#include <bcl/bcl.h>
#include <bcl/card_device.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/ctl.h"
#include "wire/fault.h"

#define INTERFACES "/sys/module/bcl/parameters/interfaces"

static int usage(FILE *to)
{
	fprintf(to,
		"usage: bcl-ctl [cards]              list the cards\n"
		"       bcl-ctl card CARD            show a card\n"
		"       bcl-ctl interfaces           list the permitted ones\n"
		"       bcl-ctl interfaces NAME,...  permit these only\n"
		"       bcl-ctl interfaces all       permit all\n"
		"       bcl-ctl isolate CARD         cut a peer off, for all "
		"cards\n"
		"       bcl-ctl rejoin CARD          let the peer in again\n"
		"       bcl-ctl faults CARD|all drop:1%%,dup:1%%,reorder:1%%,"
		"corrupt:1%%,seed:7\n"
		"       bcl-ctl faults CARD|all off\n"
		"       bcl-ctl --help | --version\n");
	return to == stdout ? 0 : 2;
}

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "bcl-ctl: %s: %s\n", what, why);
	return 1;
}

int ctl_call(int fd, unsigned long call, void *argument)
{
	int result = ioctl(fd, call, argument);

	if (result >= 0)
		return result;
	if (errno == ENOTTY)
		complain(BCL_DEVICE_PATH, "the module has another version");
	else if (errno == EPERM)
		complain(BCL_DEVICE_PATH, "this needs CAP_NET_ADMIN");
	else
		complain(BCL_DEVICE_PATH, strerror(errno));
	return -1;
}

static int open_device(void)
{
	int fd = open(BCL_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		complain(BCL_DEVICE_PATH, "the kernel module bcl is not loaded "
					  "(modprobe bcl)");
	else
		complain(BCL_DEVICE_PATH, strerror(errno));
	return -1;
}

/* The number of a card as bcl-ctl prints it. Returns false after a report. */
static int read_card(const char *text, uint64_t *card)
{
	char *end;

	*card = strtoull(text, &end, 16);
	if (*card && !*end && *text != '-')
		return 1;
	complain(text, "is not the number of a card");
	return 0;
}

/* ---- commands ---- */

static int show(int fd, char **words)
{
	uint64_t card;

	return read_card(words[0], &card) ? ctl_show(fd, card) : 2;
}

static int list(int fd, char **words)
{
	(void)words;
	return ctl_list(fd);
}

static int isolate_peer(int fd, const char *word, unsigned rejoin)
{
	struct bcl_device_isolate call = { .rejoin = rejoin };
	int status;

	if (!read_card(word, &call.peer))
		return 2;
	status = ctl_call(fd, BCL_DEVICE_ISOLATE, &call);
	if (status < 0)
		return 1;
	if (status)
		return complain(word, rejoin ? "no card has isolated this peer"
					     : "no card knows this peer");
	printf("%u cards %s the peer\n", call.cards,
	       rejoin ? "let in" : "isolated");
	return 0;
}

static int isolate(int fd, char **words)
{
	return isolate_peer(fd, words[0], 0);
}

static int rejoin(int fd, char **words)
{
	return isolate_peer(fd, words[0], 1);
}

/* As BCL_FAULT. Returns 0, or the exit status after a report. */
static int read_plan(const char *text, struct bcl_device_fault *fault)
{
	struct bcl_fault_plan plan = { .seed = 0 };
	char word[32] = "";
	unsigned kind;

	if (!strcmp(text, "off"))
		return 0;
	if (bcl_fault_parse(text, &plan, word) ||
	    plan.chance[BCL_FAULT_DELAY]) {
		complain(*word ? word : text,
			 "faults are drop, dup, reorder and corrupt with a "
			 "chance, as in drop:1%, and seed:N");
		return 2;
	}
	_Static_assert((int)BCL_FAULT_DROP == BCL_DEVICE_DROP &&
			       (int)BCL_FAULT_DUP == BCL_DEVICE_DUP &&
			       (int)BCL_FAULT_REORDER == BCL_DEVICE_REORDER &&
			       (int)BCL_FAULT_CORRUPT == BCL_DEVICE_CORRUPT,
		       "kinds");
	for (kind = 0; kind < BCL_DEVICE_FAULTS; kind++)
		fault->chance[kind] = plan.chance[kind];
	fault->seed = plan.seed;
	return 0;
}

static int set_faults(int fd, char **words)
{
	struct bcl_device_fault call = { .card = 0 };
	int status;

	if (strcmp(words[0], "all") && !read_card(words[0], &call.card))
		return 2;
	status = read_plan(words[1], &call);
	if (status)
		return status;
	status = ctl_call(fd, BCL_DEVICE_FAULT, &call);
	if (status > 0)
		complain(words[0], "there is no such card");
	return status != 0;
}

static int show_interfaces(int fd, char **words)
{
	FILE *file = fopen(INTERFACES, "r");
	char line[1024] = "";

	(void)fd;
	(void)words;
	if (!file)
		return complain(INTERFACES, strerror(errno));
	if (!fgets(line, sizeof(line), file) || line[0] == '\n')
		strcpy(line, "all\n");
	fclose(file);
	fputs(line, stdout);
	return 0;
}

static int set_interfaces(int fd, char **words)
{
	const char *names = strcmp(words[0], "all") ? words[0] : "\n";
	int file = open(INTERFACES, O_WRONLY | O_CLOEXEC), failed;

	(void)fd;
	if (file < 0)
		return complain(INTERFACES, strerror(errno));
	failed = write(file, names, strlen(names)) < 0;
	if (failed)
		complain(INTERFACES, strerror(errno));
	close(file);
	return failed;
}

static const struct command {
	const char *name;
	int words; /* behind the name */
	int (*run)(int fd, char **words);
} commands[] = {
	{ "cards", 0, list },
	{ "card", 1, show },
	{ "interfaces", 0, show_interfaces },
	{ "interfaces", 1, set_interfaces },
	{ "isolate", 1, isolate },
	{ "rejoin", 1, rejoin },
	{ "faults", 2, set_faults },
};

int main(int argc, char **argv)
{
	char cards[] = "cards", *no_words[] = { cards, NULL };
	char **words = argc > 1 ? argv + 1 : no_words;
	int n = argc > 1 ? argc - 2 : 0, fd, status;
	size_t i;

	if (!strcmp(words[0], "--help"))
		return usage(stdout);
	if (!strcmp(words[0], "--version")) {
		printf("bcl %s\n", bcl_version());
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(words[0], commands[i].name) &&
		    commands[i].words == n)
			break;
	if (i == sizeof(commands) / sizeof(*commands))
		return usage(stderr);
	fd = open_device();
	if (fd < 0)
		return 1;
	status = commands[i].run(fd, words + 1);
	close(fd);
	return status;
}
