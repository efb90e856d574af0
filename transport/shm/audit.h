/* SPDX-License-Identifier: MIT */
/*
 * Auditing a pair. Another process of the same user may write into its segment
 * (by /proc/PID/mem, say), and a word that is not what its writer left there
 * would have both sides wait for ever. So, an eighth of BCL_PEER_TIMEOUT after
 * the last time, the owner of a port
 *
 *  - writes again what it alone writes: how far it has read, chunks that it has
 *    filled, drained and copied;
 *  - looks whether what both write can be: the claims of its offers, its
 * requests;
 *  - tells the peer over the socket how far it has sent, if it has sent since,
 *    or waits for the peer.
 *
 * Who is told of a message that it has not received, and that is not there, has
 * lost it. It gives the peer up, and so ends the connection for both. A peer
 * that computes is never given up: only the owner of a port judges, when it
 * looks and there is nothing.
 *
 * An owner that sleeps is woken by the helper when that is due.
 */
#ifndef BCL_SHM_AUDIT_H
#define BCL_SHM_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

struct bcl_connection;
struct bcl_greeting;
struct bcl_shm_port;

/* When the port opens, and later if it is due. The owner. */
void bcl_audit_open(struct bcl_shm_port *shm, uint64_t now);
void bcl_audit(struct bcl_shm_port *shm, uint64_t now);

/* Before the owner sleeps: will there be something to audit? */
void bcl_audit_sleep(struct bcl_shm_port *shm);

/* Of an owner that sleeps. Any thread. UINT64_MAX: not before it wakes. */
uint64_t bcl_audit_due(const struct bcl_shm_port *shm);

/* What the peer tells; under the service lock. */
void bcl_audit_take(struct bcl_connection *connection,
		    const struct bcl_greeting *told);
/* The owner hears of it. */
void bcl_audit_hear(struct bcl_connection *connection);

/* offer.c: write `done` of the own claims again; false: a claim cannot be. */
bool bcl_offers_audit(struct bcl_connection *connection);
/* bounce.c: likewise what is filled and drained. */
void bcl_bounce_audit(struct bcl_connection *connection);
/* rma_request.c: false: the state of an own request cannot be. */
bool bcl_rma_audit(struct bcl_connection *connection);

#endif
