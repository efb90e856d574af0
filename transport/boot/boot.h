/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap: the processes of a job learn their rank and exchange their
 * addresses before they can communicate. Launching is left to launchers; this
 * is the client side of their protocols.
 */
#ifndef BCL_TRANSPORT_BOOT_H
#define BCL_TRANSPORT_BOOT_H

#include <stddef.h>
#include <stdint.h>

#include <bcl/boot.h>
#include <bcl/status.h>
#include <bcl/wire.h>

#include "env/config.h"

enum {
	BCL_BOOT_NAME_MAX = 24,	   /* characters, with the terminating zero */
	BCL_BOOT_VALUE_MAX = 4096, /* bytes of a value */
};

/*
 * A kind of launcher. All functions are mandatory, but open is NULL for a kind
 * that bcl_boot_open() does not choose (lent.c). All may block until the
 * launcher, or in fence() all ranks, have answered. One thread at a time calls:
 * the one that opens the job, later also a thread that has the job's lock
 * (get). The library holds no other lock. No function keeps an argument.
 *
 * Statuses beyond OK: BOOT, the launcher does not answer as it should, logged
 * with the words of the launcher; NOMEM. The caller calls close() all the same,
 * except after a failed open().
 */
struct bcl_boot_kind {
	const char *name; /* "pmi", "pmix", "fork", "single" */
	/* The launcher knows a process once: a process cannot join a second
	 * time, neither while it is in the job nor after it has left. */
	bool once;

	/* Fills in rank, size and, if the launcher knows, local_ranks. Owns
	 * boot->state until close(). A status but OK has left nothing open. */
	enum bcl_status (*open)(struct bcl_boot *boot, const char *argument);
	/* Tells the launcher that the process ends well, and frees
	 * boot->state. */
	void (*close)(struct bcl_boot *boot);
	/* Gives a value of this rank a name, once. All ranks find the value
	 * after fence(). */
	enum bcl_status (*put)(struct bcl_boot *boot, const char *name,
			       const void *value, size_t length);
	/* Reads a value of a rank, in at most `size` bytes. EMPTY: the rank has
	 * no value of this name. TRUNCATED: the value is longer than `size`.
	 * *length counts only on OK. */
	enum bcl_status (*get)(struct bcl_boot *boot, unsigned rank,
			       const char *name, void *value, size_t size,
			       size_t *length);
	/* Returns when all ranks have called it. */
	enum bcl_status (*fence)(struct bcl_boot *boot);
};

/* A key-value space for short texts; kinds with a small value limit store
 * each value there in pieces (pieces.h). The functions are called by put() and
 * get() of such a kind, under the same rules. */
struct bcl_pieces {
	size_t text_max; /* characters of a text */
	enum bcl_status (*put)(struct bcl_boot *boot, const char *key,
			       const char *text);
	/* Reads a text of at most text_max characters, and writes a
	 * terminating zero. EMPTY: there is no such key. */
	enum bcl_status (*get)(struct bcl_boot *boot, const char *key,
			       char *text);
};

struct bcl_boot {
	const struct bcl_boot_kind *kind;
	unsigned rank, size;
	unsigned local_ranks; /* ranks on this host; 0: not known */
	struct bcl_config config;
	uint32_t fork_generation; /* a forked child has another */
	struct bcl_pieces pieces; /* pieces.h */
	void *state;		  /* of the kind */
};

extern const struct bcl_boot_kind bcl_boot_pmi;
extern const struct bcl_boot_kind bcl_boot_pmix; /* if built with PMIx */
extern const struct bcl_boot_kind bcl_boot_fork;
extern const struct bcl_boot_kind bcl_boot_single;

/*
 * Joins the job that the environment describes: by BCL_BOOT=kind, else by the
 * variables of a launcher, else a job of one. The caller frees it with
 * bcl_boot_close().
 * Errors: BOOT (the launcher does not answer as it should; the log says what is
 * wrong), BUSY, NOMEM, ARG.
 */
enum bcl_status bcl_boot_open(const struct bcl_env *env,
			      struct bcl_boot **boot);

/* The functions of the kind, with the arguments checked. */
enum bcl_status bcl_boot_put(struct bcl_boot *boot, const char *name,
			     const void *value, size_t length);
enum bcl_status bcl_boot_get(struct bcl_boot *boot, unsigned rank,
			     const char *name, void *value, size_t size,
			     size_t *length);
enum bcl_status bcl_boot_fence(struct bcl_boot *boot);

/*
 * Gives every rank the job's key, which rank 0 draws, for
 * bcl_context_options.job_key. All ranks call it, once; one fence. SYSTEM, or
 * at other ranks BOOT: rank 0 has no random numbers.
 */
enum bcl_status bcl_boot_key(struct bcl_boot *boot, uint8_t key[BCL_KEY_SIZE]);

#endif
