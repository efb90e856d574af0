/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap: how the processes of a job learn who they are and tell one
 * another their addresses, before they can communicate. Launching is left to
 * launchers; this is the client of theirs.
 */
#ifndef BCL_TRANSPORT_BOOT_H
#define BCL_TRANSPORT_BOOT_H

#include <stddef.h>
#include <stdint.h>

#include <bcl/boot.h>
#include <bcl/status.h>
#include <bcl/wire.h>

#include "transport/config.h"

enum {
	BCL_BOOT_NAME_MAX = 24,	   /* characters of a name, with its end */
	BCL_BOOT_VALUE_MAX = 4096, /* bytes of a value */
};

/*
 * A kind of launcher. All functions block; what fails is logged with what the
 * launcher said.
 */
struct bcl_boot_kind {
	const char *name; /* "pmi", "pmix", "fork", "single" */
	/* The launcher knows a process once: it neither joins again beside
	 * itself, nor after it has left. */
	bool once;

	/* Fill in rank, size and, if the launcher knows, local_ranks. */
	enum bcl_status (*open)(struct bcl_boot *boot, const char *argument);
	/* Tell the launcher that the process will end well. */
	void (*close)(struct bcl_boot *boot);
	/* Name a value of this rank, once; visible to all after fence(). */
	enum bcl_status (*put)(struct bcl_boot *boot, const char *name,
			       const void *value, size_t length);
	/* A value of a rank: EMPTY if it has none of this name, TRUNCATED
	 * if it is longer than `size`. */
	enum bcl_status (*get)(struct bcl_boot *boot, unsigned rank,
			       const char *name, void *value, size_t size,
			       size_t *length);
	/* Returns when all ranks have called it. */
	enum bcl_status (*fence)(struct bcl_boot *boot);
};

/* A space that takes short texts: of kinds whose values go there in pieces. */
struct bcl_pieces {
	size_t text_max; /* characters of a text */
	enum bcl_status (*put)(struct bcl_boot *boot, const char *key,
			       const char *text);
	/* A text of text_max characters at the most and its end; EMPTY. */
	enum bcl_status (*get)(struct bcl_boot *boot, const char *key,
			       char *text);
};

struct bcl_boot {
	const struct bcl_boot_kind *kind;
	unsigned rank, size;
	unsigned local_ranks; /* of the job, on this host; 0: not known */
	struct bcl_config config;
	uint32_t fork_generation; /* a forked child has another */
	struct bcl_pieces pieces; /* pieces.h */
	void *state;		  /* the kind's */
};

extern const struct bcl_boot_kind bcl_boot_pmi;
extern const struct bcl_boot_kind bcl_boot_pmix; /* if built with it */
extern const struct bcl_boot_kind bcl_boot_fork;
extern const struct bcl_boot_kind bcl_boot_single;

/*
 * Join the job that the environment describes: BCL_BOOT=kind, else what the
 * launcher's variables show, else a job of one. BOOT: the launcher does not
 * answer as it should; the log says what is wrong.
 */
enum bcl_status bcl_boot_open(const struct bcl_env *env,
			      struct bcl_boot **boot);

/* The functions of the kind, with their arguments checked. */
enum bcl_status bcl_boot_put(struct bcl_boot *boot, const char *name,
			     const void *value, size_t length);
enum bcl_status bcl_boot_get(struct bcl_boot *boot, unsigned rank,
			     const char *name, void *value, size_t size,
			     size_t *length);
enum bcl_status bcl_boot_fence(struct bcl_boot *boot);

/*
 * The job's key, which rank 0 draws: for bcl_context_options.job_key. One
 * fence; all ranks call it, once.
 */
enum bcl_status bcl_boot_key(struct bcl_boot *boot, uint8_t key[BCL_KEY_SIZE]);

#endif
