/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 sends to rank 1 what has a gap between its fields, which nobody sets:
 * for frames.sh.
 */
#include <stdint.h>
#include <stdio.h>

#include <bcl/adi.h>

struct message {
	uint8_t first;
	uint64_t second;
};

static enum bcl_status talk(struct bcl_adi *adi)
{
	struct message message;

	if (bcl_adi_rank(adi) == 1)
		return bcl_adi_recv(adi, &message, sizeof(message), 0, 0, 0,
				    NULL);
	message.first = 1;
	message.second = 2;
	return bcl_adi_send(adi, &message, sizeof(message), 1, 0, 0);
}

int main(void)
{
	enum bcl_status status;
	struct bcl_adi *adi;

	status = bcl_adi_open(NULL, &adi);
	if (!status) {
		status = talk(adi);
		bcl_adi_close(adi);
	}
	if (status)
		fprintf(stderr, "gap: %s\n", bcl_strstatus(status));
	return status != BCL_OK;
}
