/* SPDX-License-Identifier: MIT */
/*
 * veth A B: make a pair of Ethernet interfaces that are joined, in a guest
 * whose small tools cannot.
 */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
	struct nlmsghdr header;
	struct ifinfomsg info;
	char rest[400];
};

/* Begin an attribute; its length is set by end(). */
static struct rtattr *begin(struct message *message, unsigned short type,
			    const void *data, unsigned length)
{
	struct rtattr *attribute =
		(void *)((char *)message +
			 NLMSG_ALIGN(message->header.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(length);
	memcpy(RTA_DATA(attribute), data, length);
	message->header.nlmsg_len = NLMSG_ALIGN(message->header.nlmsg_len) +
				    RTA_ALIGN(attribute->rta_len);
	return attribute;
}

static void end(const struct message *message, struct rtattr *attribute)
{
	attribute->rta_len = (unsigned short)((const char *)message +
					      message->header.nlmsg_len -
					      (const char *)attribute);
}

int main(int argc, char **argv)
{
	struct message message = {
		.header = { .nlmsg_len = NLMSG_LENGTH(sizeof(message.info)),
			    .nlmsg_type = RTM_NEWLINK,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
					   NLM_F_CREATE | NLM_F_EXCL },
	};
	const struct ifinfomsg peer = { 0 };
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[400];
	} answer;
	struct rtattr *info, *data, *other;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (argc != 3)
		return 2;
	begin(&message, IFLA_IFNAME, argv[1], (unsigned)strlen(argv[1]) + 1);
	info = begin(&message, IFLA_LINKINFO, "", 0);
	begin(&message, IFLA_INFO_KIND, "veth", 5);
	data = begin(&message, IFLA_INFO_DATA, "", 0);
	other = begin(&message, VETH_INFO_PEER, &peer, sizeof(peer));
	begin(&message, IFLA_IFNAME, argv[2], (unsigned)strlen(argv[2]) + 1);
	end(&message, other);
	end(&message, data);
	end(&message, info);
	if (send(fd, &message, message.header.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) <
		    (ssize_t)sizeof(answer.error)) {
		perror("veth");
		return 1;
	}
	if (answer.error.error)
		fprintf(stderr, "veth: %s\n", strerror(-answer.error.error));
	return answer.error.error != 0;
}
