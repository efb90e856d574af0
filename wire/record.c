/* SPDX-License-Identifier: MIT */
/* Conversion of records between memory and trace. See record.h. */
#include "wire/record.h"

#include <string.h>

void bcl_record_encode(const struct bcl_record *record,
		       struct bcl_record_wire *to)
{
	*to = (struct bcl_record_wire){
		.magic = bcl_put16(BCL_RECORD_MAGIC),
		.version = BCL_RECORD_VERSION,
		.kind = record->kind,
		.op = record->op,
		.type = record->type,
		.flags = record->flags,
		.card = bcl_put64(record->card),
		.value = bcl_put64(record->value),
		.port = bcl_put16(record->port),
		.peer_port = bcl_put16(record->peer_port),
		.number = bcl_put32(record->number),
		.length = bcl_put32(record->length),
		.target = bcl_put32(record->target),
		.arg32 = bcl_put32(record->arg32),
		.digest = bcl_put32(record->digest),
		.freed = bcl_put32(record->freed),
		.status = bcl_put16(record->status),
	};
}

int bcl_record_decode(const void *bytes, size_t length,
		      struct bcl_record *record)
{
	struct bcl_record_wire wire;

	if (length != sizeof(wire))
		return 0;
	memcpy(&wire, bytes, sizeof(wire));
	if (bcl_get16(wire.magic) != BCL_RECORD_MAGIC ||
	    wire.version != BCL_RECORD_VERSION ||
	    wire.kind < BCL_RECORD_OPENED || wire.kind > BCL_RECORD_UNSEEN)
		return 0;
	*record = (struct bcl_record){
		.kind = wire.kind,
		.op = wire.op,
		.type = wire.type,
		.flags = wire.flags,
		.card = bcl_get64(wire.card),
		.value = bcl_get64(wire.value),
		.port = bcl_get16(wire.port),
		.peer_port = bcl_get16(wire.peer_port),
		.number = bcl_get32(wire.number),
		.length = bcl_get32(wire.length),
		.target = bcl_get32(wire.target),
		.arg32 = bcl_get32(wire.arg32),
		.digest = bcl_get32(wire.digest),
		.freed = bcl_get32(wire.freed),
		.status = bcl_get16(wire.status),
	};
	return 1;
}
