/* SPDX-License-Identifier: MIT */
/* Converts addresses of a UDP rail between the form on the wire and socket
 * addresses. See udp.h. */
#include <string.h>

#include "wire/udp.h"

socklen_t bcl_udp_to_system(const struct bcl_udp *udp,
			    const struct bcl_wire_address *address,
			    struct sockaddr_storage *storage)
{
	struct sockaddr_in *in4 = (void *)storage;
	struct sockaddr_in6 *in6 = (void *)storage;

	if (address->kind == BCL_WIRE_UDP4) {
		*in4 = (struct sockaddr_in){ .sin_family = AF_INET };
		memcpy(&in4->sin_addr, address->bytes, 4);
		memcpy(&in4->sin_port, address->bytes + 4, 2);
		return sizeof(*in4);
	}
	*in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6 };
	memcpy(&in6->sin6_addr, address->bytes, 16);
	memcpy(&in6->sin6_port, address->bytes + 16, 2);
	/* A scope means nothing to other hosts, so wire addresses have no
	 * scope. */
	if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		in6->sin6_scope_id = udp->scope;
	return sizeof(*in6);
}

void bcl_udp_from_system(const struct sockaddr_storage *storage,
			 struct bcl_wire_address *address)
{
	const struct sockaddr_in *in4 = (const void *)storage;
	const struct sockaddr_in6 *in6 = (const void *)storage;

	*address = (struct bcl_wire_address){ 0 };
	if (storage->ss_family == AF_INET) {
		address->kind = BCL_WIRE_UDP4;
		memcpy(address->bytes, &in4->sin_addr, 4);
		memcpy(address->bytes + 4, &in4->sin_port, 2);
	} else {
		address->kind = BCL_WIRE_UDP6;
		memcpy(address->bytes, &in6->sin6_addr, 16);
		memcpy(address->bytes + 16, &in6->sin6_port, 2);
	}
	address->length = bcl_wire_length(address->kind);
}
