/* SPDX-License-Identifier: MIT */
/*
 * Audits of a pair. Another process of the same user may write into the segment
 * (by /proc/PID/mem, say). If a word then differs from the value that its
 * writer left there, both sides may wait for ever. Therefore, when an eighth of
 * BCL_PEER_TIMEOUT has passed since the last audit, the owner of a port
 *
 *  - writes again the words that only this side writes: how far it has read,
 *    chunks that it has filled, drained and copied;
 *  - checks the words that both sides write: the claims of its offers and fed
 *    pulls and the states of its RMA requests must be possible;
 *  - tells the peer over the socket how far it has sent, if it has sent since
 *    the last time, or waits for the peer.
 *
 * If the peer says that it sent a message, and the owner has not received the
 * message and does not find it, the message is lost. The owner gives the peer
 * up, which ends the connection for both. A peer that computes is never given
 * up: only the owner of a port judges, when it looks and there is nothing.
 *
 * The helper wakes an owner that sleeps when the audit is due. There are no
 * audits in virtual time.
 */
#ifndef BCL_SHM_AUDIT_H
#define BCL_SHM_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

struct bcl_connection;
struct bcl_greeting;
struct bcl_shm_port;

/* Called by the owner when the port opens. Later bcl_shm_audit() (shm.h) does
 * the audits that are due. */
void bcl_audit_open(struct bcl_shm_port *shm, uint64_t now);

/* Before the owner sleeps: note whether there will be something to audit. */
void bcl_audit_sleep(struct bcl_shm_port *shm);

/* When the audit of an owner that sleeps is due. Any thread may call.
 * UINT64_MAX: not before the owner wakes. */
uint64_t bcl_audit_due(const struct bcl_shm_port *shm);

/* Note how far the peer has sent, as the greeting says. Under the service
 * lock. */
void bcl_audit_take(struct bcl_connection *connection,
		    const struct bcl_greeting *told);
/* The owner acts on the note. */
void bcl_audit_hear(struct bcl_connection *connection);

/* offer.c: write `done` of the own claims again. Returns false if a claim has
 * an impossible value. */
bool bcl_offers_audit(struct bcl_connection *connection);
/* fed.c: returns false if the claim of a fed pull has an impossible value. */
bool bcl_fed_audit(struct bcl_connection *connection);
/* bounce.c: write the own counts of chunks filled and drained again. */
void bcl_bounce_audit(struct bcl_connection *connection);
/* rma_request.c: returns false if an own request is in an impossible state. */
bool bcl_rma_audit(struct bcl_connection *connection);

#endif
