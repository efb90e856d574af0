/* SPDX-License-Identifier: MIT */
/*
 * What BCL's glue for PVM adds to <pvm3.h>. Nothing is linked: the glue is
 * there when the program is started by bcl-pvm, and where it is not all goes
 * by PVM's own means.
 */
#ifndef BCL_PVM_H
#define BCL_PVM_H

#include <pvm3.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The glue's; call pvm_pmcast(). */
int bcl_pvm_pmcast(int *tids, int ntask, int msgtag, void *buf, int len,
		   int datatype) __attribute__((weak));

/*
 * A pvm_psend() to many tasks: sends len elements of a type (PVM_BYTE, ...) to
 * each of ntask tasks but the caller, who receive them by pvm_precv() or
 * pvm_recv(). Long ones go to each host once, along a tree over the hosts, and
 * are fetched by its tasks at once; buf is the caller's again when the call
 * returns. A task without the glue gets a pvm_psend() of its own. Messages from
 * task to task stay in order. Returns 0, or an error as pvm_psend() does; then
 * the message may have been sent to some.
 */
static inline int pvm_pmcast(int *tids, int ntask, int msgtag, void *buf,
			     int len, int datatype)
{
	int i, self = pvm_mytid(), result = ntask < 1 ? PvmBadParam : self;

	if (bcl_pvm_pmcast)
		return bcl_pvm_pmcast(tids, ntask, msgtag, buf, len, datatype);
	for (i = 0; i < ntask && result >= 0; i++) {
		if (tids[i] != self)
			result = pvm_psend(tids[i], msgtag, (char *)buf, len,
					   datatype);
	}
	return result < 0 ? result : 0;
}

#ifdef __cplusplus
}
#endif

#endif
