/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong of raw Ethernet frames. The kernel writes arrivals to a ring in
 * user memory: a receive takes no system call, a send takes one.
 */
#include "pingpong.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum {
	ETHERTYPE = 0x88b6, /* IEEE 802, local experimental 2 */
	SLOT = 2048,
	SLOTS = 256,
	BLOCK = 4096,
	PAYLOAD = 1500,
};

struct frame {
	uint8_t to[6], from[6];
	uint16_t type;
	uint16_t side;
	uint8_t sequence[8];
	uint8_t rest[PAYLOAD - 10];
};

struct link {
	int fd;
	uint8_t *ring;
	unsigned int slot;
	struct frame out;
};

static void send_frame(struct ref *ref, uint64_t sequence, size_t size)
{
	struct link *link = ref->own;

	if (size < offsetof(struct frame, rest) - ETH_HLEN || size > PAYLOAD)
		ref_exit(ref, 1, "size must be 10 to %d", PAYLOAD);
	memcpy(link->out.sequence, &sequence, sizeof(sequence));
	if (send(link->fd, &link->out, ETH_HLEN + size, 0) < 0)
		ref_exit(ref, 1, "send: %s", strerror(errno));
}

static int receive_frame(struct ref *ref, uint64_t *sequence)
{
	struct link *link = ref->own;
	struct tpacket2_hdr *slot =
		(void *)(link->ring + (size_t)link->slot * SLOT);
	_Atomic uint32_t *status = (void *)&slot->tp_status;
	const struct frame *frame;
	int theirs;

	/* Pairs with the kernel's barrier before it sets the status. */
	if (!(atomic_load_explicit(status, memory_order_acquire) &
	      TP_STATUS_USER))
		return 0;
	frame = (const void *)((uint8_t *)slot + slot->tp_mac);
	/* Over loopback each side also receives the side's own frames. */
	theirs = frame->side != ref->side;
	if (theirs) {
		memcpy(sequence, frame->sequence, sizeof(*sequence));
		memcpy(link->out.to, frame->from, sizeof(frame->from));
	}
	/* Pairs with the kernel's look for a free slot. */
	atomic_store_explicit(status, TP_STATUS_KERNEL, memory_order_release);
	link->slot = (link->slot + 1) % SLOTS;
	return theirs;
}

static const struct wire wire = { send_frame, receive_frame };

static void make_ring(struct ref *ref, struct link *link)
{
	const char *name = ref_string(ref, "interface");
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETHERTYPE),
				  .sll_ifindex = (int)if_nametoindex(name) };
	struct tpacket_req ring = { .tp_block_size = BLOCK,
				    .tp_block_nr = SLOTS * SLOT / BLOCK,
				    .tp_frame_size = SLOT,
				    .tp_frame_nr = SLOTS };
	int version = TPACKET_V2, yes = 1;
	struct ifreq request = { 0 };

	link->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (link->fd < 0)
		ref_exit(ref, REF_SKIPPED, "packet socket: %s",
			 strerror(errno));
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (setsockopt(link->fd, SOL_PACKET, PACKET_VERSION, &version,
		       sizeof(version)) ||
	    setsockopt(link->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes,
		       sizeof(yes)) ||
	    setsockopt(link->fd, SOL_PACKET, PACKET_RX_RING, &ring,
		       sizeof(ring)) ||
	    bind(link->fd, (struct sockaddr *)&at, sizeof(at)) ||
	    ioctl(link->fd, SIOCGIFHWADDR, &request))
		ref_exit(ref, 1, "%s: %s", name, strerror(errno));
	link->ring = mmap(NULL, SLOTS * SLOT, PROT_READ | PROT_WRITE,
			  MAP_SHARED, link->fd, 0);
	if (link->ring == MAP_FAILED)
		ref_exit(ref, 1, "ring: %s", strerror(errno));
	/* The first frame of the peer shows the peer's address. */
	memset(link->out.to, 0xff, sizeof(link->out.to));
	memcpy(link->out.from, request.ifr_hwaddr.sa_data,
	       sizeof(link->out.from));
	link->out.type = htons(ETHERTYPE);
	link->out.side = (uint16_t)ref->side;
}

static void open_ring(struct ref *ref)
{
	static struct link link;

	ref->own = &link;
	make_ring(ref, &link);
	pingpong_meet(ref, &wire);
}

static void play_pingpong(struct ref *ref)
{
	pingpong_play(ref, &wire);
}

static const struct ref_program program = {
	.name = "ring",
	.unit = "ns",
	.about = "ping-pong of Ethernet frames through mapped packet rings, "
		 "one way",
	.sides = 2,
	.open = open_ring,
	.round = play_pingpong,
	.param = { { "size", "64", "bytes of a frame after its header" },
		   { "iterations", "500", "round trips in a sample" },
		   { "interface", "lo", "of this side" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
