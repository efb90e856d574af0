/* SPDX-License-Identifier: MIT */
/* bcl-ctl: what it prints of cards. */
#include <bcl/card_device.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include <bcl/bcl.h>

#include "tools/ctl.h"
#include "wire/fault.h"

static const char *const states[] = { "closed", "connecting", "up", "lost",
				      "isolated" };

static uint64_t pinned(const struct bcl_device_card *card)
{
	return card->counters.pages_pinned - card->counters.pages_released;
}

static const char *name_user(uint32_t user, char text[12])
{
	const struct passwd *entry = getpwuid(user);

	if (entry)
		return entry->pw_name;
	snprintf(text, 12, "%" PRIu32, user);
	return text;
}

static const char *describe_end(const struct bcl_device_card *card, unsigned e)
{
	if (!card->end[e].interface[0])
		return "gone, or refused";
	return card->end[e].barred ? "not permitted"
	       : card->end[e].up   ? "up"
				   : "down";
}

static void print_interfaces(const struct bcl_device_card *card)
{
	unsigned e;

	for (e = 0; e < card->nends && e < BCL_DEVICE_ENDS; e++)
		printf("%s%s", e ? "," : "", card->end[e].interface);
}

int ctl_list(int fd)
{
	struct bcl_device_card card = { .card = 0 };
	char text[12];
	int status;

	printf("%-16s %-8s %-12s %8s %5s %5s %8s %7s  %s\n", "card", "job",
	       "user", "process", "ports", "peers", "pinned", "waiting",
	       "interfaces");
	while (!(status = ctl_call(fd, BCL_DEVICE_CARD, &card))) {
		printf("%016" PRIx64 " %08" PRIx32 " %-12s %8" PRId32
		       " %5" PRIu32 " %5" PRIu32 " %8" PRIu64 " %7" PRIu32 "  ",
		       card.card, card.job, name_user(card.user, text),
		       card.process, card.nports, card.peers, pinned(&card),
		       card.waiting);
		print_interfaces(&card);
		putchar('\n');
	}
	return status < 0;
}

static void print_card(const struct bcl_device_card *card)
{
	char text[12];
	unsigned i;

	printf("card %016" PRIx64 ", job %08" PRIx32 ", user %s, process "
	       "%" PRId32 "\n",
	       card->card, card->job, name_user(card->user, text),
	       card->process);
	printf("%" PRIu64 " pages of %ld bytes pinned, %" PRIu64
	       " of them kept for later; %" PRIu32 " frames wait\n",
	       pinned(card), sysconf(_SC_PAGESIZE), card->counters.pages_kept,
	       card->waiting);
	for (i = 0; i < card->nends && i < BCL_DEVICE_ENDS; i++)
		printf("rail %u  %s: %s\n", card->end[i].rail,
		       card->end[i].interface, describe_end(card, i));
	for (i = 0; i < card->nports && i < BCL_DEVICE_PORTS; i++)
		printf("port %" PRIu32 "\n", card->port[i]);
}

static void print_faults(const struct bcl_device_card *card)
{
	unsigned kind;

	for (kind = 0; kind < BCL_DEVICE_FAULTS; kind++)
		if (card->fault.chance[kind] || card->struck[kind])
			printf("fault %s:%g%% has struck %" PRIu64 " frames\n",
			       bcl_fault_names[kind],
			       100.0 * card->fault.chance[kind] /
				       BCL_DEVICE_CERTAIN,
			       card->struck[kind]);
}

static int print_peers(int fd, uint64_t card)
{
	struct bcl_device_peer peer = { .card = card };
	int status;

	for (; !(status = ctl_call(fd, BCL_DEVICE_PEER, &peer));
	     peer.node.index++)
		printf("peer %016" PRIx64 " %s, %" PRIu64 " frames sent, "
		       "%" PRIu64 " received, %" PRIu64 " sent again, round "
		       "trip %.1f us%s%s\n",
		       peer.node.info.card,
		       peer.node.info.state < sizeof(states) / sizeof(*states)
			       ? states[peer.node.info.state]
			       : "?",
		       peer.node.info.frames_sent,
		       peer.node.info.frames_received,
		       peer.node.info.retransmitted,
		       (double)peer.node.info.rtt / 1000,
		       peer.node.info.status ? ": " : "",
		       peer.node.info.status
			       ? bcl_strstatus(
					 (enum bcl_status)peer.node.info.status)
			       : "");
	return status < 0;
}

static void print_counters(const struct bcl_device_counters *counters)
{
#define X(name, text) { #name, text },
	static const struct {
		const char *name, *text;
	} names[] = { BCL_CARD_COUNTERS(X) };
#undef X
	unsigned i;

	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		if (counters->card[i])
			printf("%14" PRIu64 " card.%-28s %s\n",
			       counters->card[i], names[i].name, names[i].text);
	printf("%14" PRIu64 " bytes copied to frames, %" PRIu64
	       " from frames, %" PRIu64 " between processes\n",
	       counters->bytes_copied_out, counters->bytes_copied_in,
	       counters->bytes_copied_between);
	printf("%14" PRIu64 " frames sent, %" PRIu64 " not sent, %" PRIu64
	       " lost for want of room, %" PRIu64 " by a limit of the user\n",
	       counters->frames, counters->not_sent, counters->queue_full,
	       counters->over_limit);
}

int ctl_show(int fd, uint64_t id)
{
	struct bcl_device_card card = { .card = id - 1 };
	int status = ctl_call(fd, BCL_DEVICE_CARD, &card);

	if (status < 0)
		return 1;
	if (status || card.card != id) {
		fprintf(stderr,
			"bcl-ctl: %016" PRIx64 ": no such card, or it "
			"is another user's\n",
			id);
		return 1;
	}
	print_card(&card);
	print_faults(&card);
	status = print_peers(fd, id);
	print_counters(&card.counters);
	return status;
}
