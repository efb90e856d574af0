/* SPDX-License-Identifier: MIT */
#ifndef BCL_TESTS_PVM_NUMBER_H
#define BCL_TESTS_PVM_NUMBER_H

#include <pvm3.h>

/* Send a message that is one number. */
static inline void send_number(int to, int tag, int number)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkint(&number, 1, 1);
	pvm_send(to, tag);
}

static inline int receive_number(int from, int tag)
{
	int number = -1;

	pvm_recv(from, tag);
	pvm_upkint(&number, 1, 1);
	return number;
}

#endif
