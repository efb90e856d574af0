/* SPDX-License-Identifier: MIT */
/*
 * A rail over a packet socket with a receive ring mapped into user memory, for
 * small messages. Receiving costs a load, sending one system call. Needs
 * CAP_NET_RAW.
 *
 * Several cards may use one interface. Each further packet socket would cost
 * time for every frame, so the sockets of all cards join one fan-out group. In
 * the group a frame goes to the socket with the index that the frame names
 * (struct bcl_ether_prefix). The kernel does not tell a socket its index, and
 * moves the last socket when another socket leaves. So an index is a hint. A
 * card guesses its hint when its socket joins, corrects the hint by each frame
 * that arrives for the card, and sends the hint to peers in each frame.
 *
 * The rail drops frames for other cards. To repair a wrong hint on either side,
 * each HELLO and HELLO_ACK also goes to a second index, all indices in turn.
 * The card sends HELLO again if its frames get no answer. A group of n sockets
 * takes indices modulo n, so most of the tried indices reach a socket. If the
 * receiver has the same frame by the right hint, a tried index is no hint.
 */
#include "wire/rail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <bcl/wire.h>

#include "env/counters.h"
#include "env/log.h"
#include "wire/interface.h"

enum {
	SLOT = 2048,
	SLOTS = 512,
	BLOCK = 4096,
	RING = SLOT * SLOTS,
	/* Bytes of a slot after the system's and the Ethernet header. */
	PAYLOAD = SLOT - 80,
	PREFIX = sizeof(struct bcl_ether_prefix),
	LINE = 64,
	SMALL = 4 * LINE, /* bytes of a slot for a small frame */
	NO_HINT = 0xff,	  /* socket in no group: any hint will do */
	HINTS = 32,	  /* indices that handshakes try */
	FANOUT_GROUP = 0xbc13,
	JOIN_TRIES = 200, /* pauses of 1 ms */
};

struct ether_frame {
	struct ethhdr ether;
	struct bcl_ether_prefix prefix;
	uint8_t frame[PAYLOAD];
} __attribute__((packed));

struct packet {
	struct bcl_rail rail;
	const struct bcl_env *env;
	const struct bcl_config *config;
	uint64_t card;
	unsigned interface; /* index of the interface */
	uint8_t *ring;
	uint32_t slot; /* the next slot that the kernel fills */
	int told;      /* the last errno that was logged */
	uint8_t hello_turn;
	int outside;   /* descriptor of the name "outside", or -1 */
	bool filtered; /* the kernel drops frames for other cards */
	/* Header checksum of the last frame by our hint */
	struct bcl_le32 by_hint;
	struct ether_frame out;
};

static struct tpacket2_hdr *slot_at(const struct packet *packet, uint32_t slot)
{
	return (void *)(packet->ring + (size_t)(slot % SLOTS) * SLOT);
}

/* Acquire: pairs with the barrier in the kernel before the slot is handed
 * over. */
static bool slot_is_full(struct tpacket2_hdr *slot)
{
	return atomic_load_explicit((_Atomic uint32_t *)&slot->tp_status,
				    memory_order_acquire) &
	       TP_STATUS_USER;
}

/* Let the rail wait for this slot next. */
static void wait_for_slot(struct packet *packet, uint32_t slot)
{
	packet->slot = slot;
	atomic_store_explicit(
		&packet->rail.waiting,
		(const _Atomic uint32_t *)&slot_at(packet, slot)->tp_status,
		memory_order_relaxed);
}

/* Returns false if the rail is full. A failed send counts as a lost frame. */
static bool send_out(struct packet *packet, size_t length)
{
	struct bcl_rail *rail = &packet->rail;

	bcl_rail_count(rail, packet_sends, 1);
	/* Not send(), which is a cancellation point: a thread must not be
	 * cancelled under the card's lock. */
	if (syscall(SYS_sendto, rail->fd, &packet->out,
		    sizeof(packet->out.ether) + PREFIX + length, MSG_DONTWAIT,
		    NULL, 0) >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)
		return false;
	bcl_rail_count(rail, packet_send_failed, 1);
	if (packet->told != errno)
		bcl_log(packet->config, BCL_LOG_WARN, "packet",
			"%s: cannot send: %s", rail->interface,
			strerror(errno));
	packet->told = errno;
	return true;
}

static bool is_handshake(uint8_t kind)
{
	kind &= (uint8_t) ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
	return kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK;
}

static unsigned packet_transmit(struct bcl_rail *rail,
				const struct bcl_wire_address *destination,
				const struct bcl_rail_tx *frames, unsigned n)
{
	struct packet *packet = (struct packet *)rail;
	struct ether_frame *out = &packet->out;
	const struct bcl_frame_header *header = (const void *)out->frame;
	unsigned i, j;

	memcpy(out->ether.h_dest, destination->bytes, 6);
	out->prefix.to = destination->bytes[6];
	out->prefix.from = rail->address.bytes[6];
	for (i = 0; i < n; i++) {
		size_t length = 0;

		for (j = 0; j < frames[i].niov; j++) {
			memcpy(out->frame + length, frames[i].iov[j].iov_base,
			       frames[i].iov[j].iov_len);
			length += frames[i].iov[j].iov_len;
		}
		out->prefix.length = bcl_put16((uint16_t)length);
		if (!send_out(packet, length))
			break;
		if (!is_handshake(header->kind) || out->prefix.to == NO_HINT)
			continue;
		out->prefix.to = packet->hello_turn++ % HINTS;
		send_out(packet, length);
		out->prefix.to = destination->bytes[6];
	}
	return i;
}

/* Load a word as the filter does. */
static uint32_t load32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* Let the kernel drop all frames except those for this card and for card 0. */
static bool attach_filter(struct packet *packet)
{
	const uint32_t at = sizeof(struct ethhdr) + PREFIX +
			    offsetof(struct bcl_frame_header, card);
	const struct bcl_le64 card = bcl_put64(packet->card);
	const uint32_t first = load32(card.b), second = load32(card.b + 4);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 4, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	packet->filtered = true;
	return !setsockopt(packet->rail.fd, SOL_SOCKET, SO_ATTACH_FILTER,
			   &program, sizeof(program));
}

/*
 * True if more frames like this one, for another card, will come: a socket
 * outside the group gets all frames to the group, and one socket in the group
 * gets all frames to a socket outside. Within the group, such a frame has a
 * wrong hint, which the sender will correct.
 */
static bool keeps_coming(const struct packet *packet,
			 const struct ether_frame *in)
{
	return (packet->outside >= 0) == (in->prefix.to != NO_HINT);
}

/* RESET names card 0: the sender knows only the source of the frame in
 * question. */
static bool is_for_card(uint64_t card, const struct bcl_frame_header *header)
{
	uint64_t to = bcl_get64(header->card);

	return to == card || (to == 0 && header->kind == BCL_FRAME_RESET);
}

/* A frame for this card came by index `to`. An index above the current hint
 * proves nothing if the same frame came by the hint, too. */
static void learn_hint(struct packet *packet, uint8_t to, struct bcl_le32 frame)
{
	uint8_t *hint = &packet->rail.address.bytes[6];

	if (to == *hint)
		packet->by_hint = frame;
	else if (to > *hint && bcl_get32(frame) == bcl_get32(packet->by_hint))
		packet->by_hint = bcl_put32(0); /* once: the frame may recur */
	else
		*hint = to;
}

/* Take the frame out of a slot. Returns false if the frame is not for this
 * card. */
static bool parse_frame(struct packet *packet, const struct tpacket2_hdr *slot,
			struct bcl_rx_frame *rx,
			struct bcl_wire_address *source)
{
	const struct ether_frame *in =
		(const void *)((const uint8_t *)slot + slot->tp_mac);
	struct bcl_frame_header header;
	uint32_t got = slot->tp_snaplen;
	uint32_t length = bcl_get16(in->prefix.length);

	if (got < sizeof(in->ether) + PREFIX + sizeof(header) ||
	    length < sizeof(header) ||
	    length > got - sizeof(in->ether) - PREFIX) {
		bcl_rail_count(&packet->rail, packet_malformed, 1);
		return false;
	}
	memcpy(&header, in->frame, sizeof(header));
	if (!is_for_card(packet->card, &header)) {
		bcl_rail_count(&packet->rail, packet_stray, 1);
		if (keeps_coming(packet, in) && !packet->filtered)
			attach_filter(packet);
		return false;
	}
	if (in->prefix.to != NO_HINT)
		learn_hint(packet, in->prefix.to, header.hcrc);
	source->kind = BCL_WIRE_PACKET;
	source->length = bcl_wire_length(source->kind);
	memcpy(source->bytes, in->ether.h_source, 6);
	source->bytes[6] = in->prefix.from;
	*rx = (struct bcl_rx_frame){ .head = in->frame,
				     .head_len = (uint16_t)length };
	return true;
}

static unsigned packet_receive(struct bcl_rail *rail,
			       const struct bcl_rail_sink *sink, unsigned index,
			       unsigned max)
{
	struct packet *packet = (struct packet *)rail;
	unsigned n, at;

	for (n = 0; n < max; n++) {
		struct tpacket2_hdr *slot = slot_at(packet, packet->slot);
		struct bcl_wire_address source = { 0 };
		struct bcl_rx_frame frame;

		if (!slot_is_full(slot))
			break;
		/* The kernel wrote the frame on another core: fetch all lines
		 * at once. */
		for (at = LINE; at < SMALL; at += LINE)
			__builtin_prefetch((const uint8_t *)slot + at);
		if (parse_frame(packet, slot, &frame, &source)) {
			bcl_rail_count(rail, packet_received, 1);
			sink->deliver(sink->host, index, &source, &frame, 1);
		}
		/* Release: pairs with the kernel's test for a free slot. */
		atomic_store_explicit((_Atomic uint32_t *)&slot->tp_status,
				      TP_STATUS_KERNEL, memory_order_release);
		wait_for_slot(packet, packet->slot + 1);
	}
	return n;
}

/* ---- opening, watching, closing ---- */

static void set_limits(struct packet *packet, uint32_t mtu)
{
	if (mtu > PAYLOAD)
		mtu = PAYLOAD;
	packet->rail.limits = (struct bcl_rail_limits){
		.mtu = (mtu - PREFIX) & ~7u,
		.burst = 1,
		.window = SLOTS / 2 * 1024,
		.small = true,
	};
}

static bool packet_check(struct bcl_rail *rail, bool *up)
{
	struct packet *packet = (struct packet *)rail;
	uint32_t before = rail->limits.mtu, mtu;
	struct tpacket_stats stats;
	socklen_t length = sizeof(stats);

	if (!getsockopt(rail->fd, SOL_PACKET, PACKET_STATISTICS, &stats,
			&length))
		bcl_rail_count(rail, packet_lost, stats.tp_drops);
	if (!bcl_interface_state(rail->fd, packet->interface, up, &mtu))
		return false;
	if (mtu < 576) {
		*up = false;
		return false;
	}
	set_limits(packet, mtu);
	return rail->limits.mtu != before;
}

static void drop_name(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void packet_close(struct bcl_rail *rail)
{
	struct packet *packet = (struct packet *)rail;

	if (packet->ring)
		munmap(packet->ring, RING);
	drop_name(packet->outside);
	if (rail->fd >= 0)
		close(rail->fd);
	packet->env->release(packet->env->world, packet, sizeof(*packet));
}

/* The number of sockets on the interface that receive this EtherType. */
static unsigned count_sockets(unsigned interface)
{
	unsigned long protocol, index;
	FILE *file = fopen("/proc/net/packet", "re");
	unsigned n = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		n += sscanf(line, "%*s %*s %*s %lx %lu", &protocol, &index) ==
			     2 &&
		     protocol == BCL_ETHERTYPE && index == interface;
	if (file)
		fclose(file);
	return n;
}

/* Take an abstract name that only one socket at a time can have. Returns the
 * descriptor of the name; -1: another socket has the name. */
static int take_name(const char *what, unsigned interface)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t length;

	length = (socklen_t)snprintf(name.sun_path + 1,
				     sizeof(name.sun_path) - 1,
				     "bcl-packet-%s-%u", what, interface);
	length += offsetof(struct sockaddr_un, sun_path) + 1;
	if (fd < 0 || !bind(fd, (struct sockaddr *)&name, length))
		return fd;
	close(fd);
	return -1;
}

/* Take the name that permits joining the group. -1: too many others join. */
static int lock_joining(unsigned interface)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned i;
	int fd;

	for (i = 0; i < JOIN_TRIES; i++) {
		fd = take_name("joins", interface);
		if (fd >= 0)
			return fd;
		nanosleep(&pause, NULL);
	}
	return -1;
}

/* Join the group, in which a frame goes to the socket whose index is in its
 * prefix. */
static bool join_group(const struct packet *packet, unsigned interface)
{
	struct sock_filter code[] = {
		/* loads count from the end of the Ethernet header */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS,
			 offsetof(struct bcl_ether_prefix, to)),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	/* Each interface has its own group. */
	int group = ((FANOUT_GROUP + interface) & 0xffff) | PACKET_FANOUT_CBPF
								    << 16;

	return !setsockopt(packet->rail.fd, SOL_PACKET, PACKET_FANOUT, &group,
			   sizeof(group)) &&
	       !setsockopt(packet->rail.fd, SOL_PACKET, PACKET_FANOUT_DATA,
			   &program, sizeof(program));
}

static bool bind_socket(struct packet *packet,
			const struct bcl_interface *interface)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(BCL_ETHERTYPE),
					.sll_ifindex = (int)interface->index };
	int lock = lock_joining(interface->index), error = 0;
	unsigned before = count_sockets(interface->index);
	int outside = take_name("outside", interface->index);

	if (bind(packet->rail.fd, (const struct sockaddr *)&at, sizeof(at)))
		error = errno;
	else if (!before && outside >= 0 && packet->config->alone)
		packet->outside = outside;
	else if (before < NO_HINT && join_group(packet, interface->index))
		packet->rail.address.bytes[6] =
			(uint8_t)(before - (before && outside < 0));
	else if (!attach_filter(packet))
		error = errno;
	if (packet->outside < 0)
		drop_name(outside);
	drop_name(lock);
	errno = error;
	return !error;
}

static bool open_socket(struct packet *packet,
			const struct bcl_interface *interface)
{
	struct tpacket_req ring = { .tp_block_size = BLOCK,
				    .tp_block_nr = RING / BLOCK,
				    .tp_frame_size = SLOT,
				    .tp_frame_nr = SLOTS };
	int version = TPACKET_V2, yes = 1, fd;
	void *memory;

	/* Protocol 0: no frame arrives until bind(). */
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	packet->rail.fd = fd;
	if (fd < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version,
		       sizeof(version)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes,
		       sizeof(yes)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		return false;
	memory = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	packet->ring = memory;
	packet->rail.waiting_mask = TP_STATUS_USER;
	wait_for_slot(packet, 0);
	return bind_socket(packet, interface);
}

static struct bcl_rail *open_rail(const struct bcl_env *env,
				  const struct bcl_config *config,
				  uint64_t card,
				  const struct bcl_interface *interface,
				  const char *reason, char why[96])
{
	struct packet *packet = env->allocate(env->world, sizeof(*packet));
	uint32_t mtu = 0;
	bool up;

	if (!packet) {
		snprintf(why, 96, "packet: no memory");
		bcl_log(config, BCL_LOG_WARN, "packet", "%s", why);
		return NULL;
	}
	packet->env = env;
	packet->config = config;
	packet->card = card;
	packet->outside = -1;
	packet->interface = interface->index;
	packet->rail = (struct bcl_rail){
		.kind = &bcl_rail_packet,
		.address = { BCL_WIRE_PACKET, 7, { 0 } },
		.partner_fd = -1,
		.transmit = packet_transmit,
		.receive = packet_receive,
		.check = packet_check,
		.close = packet_close,
	};
	strcpy(packet->rail.interface, interface->name);
	memcpy(packet->rail.address.bytes, interface->mac, 6);
	packet->rail.address.bytes[6] = NO_HINT;
	memcpy(packet->out.ether.h_source, interface->mac, 6);
	packet->out.ether.h_proto = htons(BCL_ETHERTYPE);
	if (!open_socket(packet, interface)) {
		bool privilege = errno == EPERM || errno == EACCES;

		snprintf(why, 96, "packet: %s: %s", interface->name,
			 privilege ? "no packet socket: needs CAP_NET_RAW"
				   : bcl_log_reason(errno));
		bcl_log(config, privilege ? BCL_LOG_INFO : BCL_LOG_WARN,
			"packet", "%s", why);
		packet_close(&packet->rail);
		return NULL;
	}
	if (!bcl_interface_state(packet->rail.fd, interface->index, &up,
				 &mtu) ||
	    mtu < 576) {
		snprintf(why, 96, "packet: %s: mtu %u, needs 576",
			 interface->name, mtu);
		bcl_log(config, BCL_LOG_WARN, "packet", "%s", why);
		packet_close(&packet->rail);
		return NULL;
	}
	set_limits(packet, mtu);
	snprintf(packet->rail.about, sizeof(packet->rail.about),
		 "%02x:%02x:%02x:%02x:%02x:%02x: %s; mapped receive ring",
		 interface->mac[0], interface->mac[1], interface->mac[2],
		 interface->mac[3], interface->mac[4], interface->mac[5],
		 reason);
	return &packet->rail;
}

/* True if an earlier choice is another address of the same interface. */
static bool chosen_before(const struct bcl_choice *choices, unsigned n)
{
	unsigned i = 0;

	while (choices[i].interface != choices[n].interface)
		i++;
	return i < n;
}

static unsigned open_chosen(const struct bcl_env *env,
			    const struct bcl_config *config, uint64_t card,
			    const struct bcl_interfaces *all,
			    struct bcl_rail **rails, unsigned max, char why[96])
{
	struct bcl_choice choices[BCL_CHOICES_MAX];
	unsigned n = 0, tried = 0, opened = 0, i;
	char word[64];

	bcl_interfaces_choose(all->list, all->n, config->net, config->node[0],
			      choices, BCL_CHOICES_MAX, &n, word);
	for (i = 0; i < n && opened < max; i++) {
		const struct bcl_interface *own =
			&all->list[choices[i].interface];

		if (!own->ethernet || chosen_before(choices, i))
			continue;
		tried++;
		rails[opened] = open_rail(env, config, card, own,
					  choices[i].reason, why);
		opened += rails[opened] != NULL;
	}
	if (!tried)
		snprintf(why, 96, "packet: no Ethernet interface is in use");
	return opened;
}

static unsigned packet_open(const struct bcl_env *env,
			    const struct bcl_config *config, uint64_t card,
			    struct bcl_rail **rails, unsigned max, char why[96])
{
	struct bcl_interfaces all;
	unsigned opened;

	*why = 0;
	if (!bcl_config_listed(config->rails, "packet")) {
		snprintf(why, 96, "packet: not in BCL_RAILS");
		return 0;
	}
	if (bcl_interfaces_open(env, &all)) {
		snprintf(why, 96, "packet: interfaces cannot be listed: %s",
			 bcl_log_reason(errno));
		bcl_log(config, BCL_LOG_WARN, "packet", "%s", why);
		return 0;
	}
	opened = open_chosen(env, config, card, &all, rails, max, why);
	bcl_interfaces_close(env, &all);
	return opened;
}

const struct bcl_rail_kind bcl_rail_packet = { "packet", false, packet_open };
