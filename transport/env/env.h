/* SPDX-License-Identifier: MIT */
/*
 * The environment table: everything that a context asks of an operating
 * system. transport/ and adi/ make no system call for time, sleeping,
 * threads, memory, randomness or logging except through it, so that the same
 * code runs in a process (bcl_env_linux) and as one of many fibers in a
 * simulator's virtual time.
 *
 * `world` is the table's own first member, handed to each function.
 */
#ifndef BCL_ENV_H
#define BCL_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/status.h>

enum bcl_log_level {
	BCL_LOG_ERROR,
	BCL_LOG_WARN,
	BCL_LOG_INFO,
	BCL_LOG_DEBUG,
};

/* A finished line of the log. */
struct bcl_log_line {
	enum bcl_log_level level;
	const char *area;
	const char *node; /* the virtual one of the process; "": none */
	int rank;	  /* of the process in its job; -1: not known */
	const char *text; /* without its end */
};

struct bcl_host_ops;
struct bcl_charge;
struct bcl_rail_kind;
struct bcl_shm_host;
struct bcl_thread;

struct bcl_env {
	void *world;

	/* Nanoseconds since any fixed moment; never goes back. Cheap. */
	uint64_t (*now)(void *world);
	/* It goes with the processors' cycle counter (bcl_cycles()). */
	bool real_time;

	/*
	 * An object that can be waited for: on Linux a descriptor that is
	 * readable when woken. -1: none left.
	 */
	int (*object_open)(void *world);
	/*
	 * A descriptor that is readable while one of `n` objects or
	 * descriptors is. -1: none left.
	 */
	int (*group_open)(void *world, const int *members, unsigned n);
	/*
	 * Take a member in, out again: a descriptor that many frames make
	 * readable is a member only while somebody sleeps, because each of
	 * them has to tell the group. False: the system would not.
	 */
	bool (*group_add)(void *world, int group, int member);
	void (*group_remove)(void *world, int group, int member);
	/* Close an object or a group. */
	void (*object_close)(void *world, int object);
	/* Wake whoever waits for it, now or next. Any thread; on Linux any
	 * process that was given the descriptor: one write of 8 bytes. */
	void (*wake)(void *world, int object);
	/* Take a wake-up away. */
	void (*clear)(void *world, int object);
	/*
	 * Sleep until the object was woken, a member of the group is
	 * readable, or `until` (now() time) is over. May return early; takes
	 * nothing away.
	 */
	void (*wait)(void *world, int object, uint64_t until);
	/* Let others run; returns soon. */
	void (*yield)(void *world);

	/*
	 * Processors for this process and its like: those that this thread
	 * or the process that started it may run on, whichever are more. A
	 * launcher binds each rank to a few, and is not bound itself.
	 */
	unsigned (*processors)(void *world);

	/*
	 * Order between a sleeper and senders in other processes, without a
	 * fence in the senders: barrier() acts as a full fence in every
	 * running thread of every process that has registered. `register`
	 * says whether this process now has, and may call barrier(). Where
	 * it is false a sender to or from it needs a fence of its own.
	 */
	bool (*barrier_register)(void *world);
	void (*barrier)(void *world);

	/* Memory, zeroed, aligned to 64 bytes; NULL if there is none. */
	void *(*allocate)(void *world, size_t size);
	void (*release)(void *world, void *memory, size_t size);

	/*
	 * Memory that other processes can map through *fd, zeroed, page
	 * aligned, its pages reserved; NULL if there is none, and errno says
	 * why: ENOMEM also if the host, or a control group, would be full (what
	 * is taken leaves an eighth of what is available). *fd is -1 in a world
	 * of one process.
	 */
	void *(*share)(void *world, const char *name, size_t size, int *fd);
	void (*unshare)(void *world, void *memory, size_t size, int fd);

	/* 64 bits that nobody can guess; 0: the system has none. */
	uint64_t (*random)(void *world);

	/* For people: level and area were chosen before. */
	void (*log)(void *world, const struct bcl_log_line *line);

	/* A helper thread; NULL where there are none (fibers). SYSTEM: errno
	 * says why. */
	enum bcl_status (*thread_start)(void *world, void (*run)(void *arg),
					void *arg, struct bcl_thread **thread);
	void (*thread_join)(void *world, struct bcl_thread *thread);

	/* The value of a configuration variable, or NULL: getenv(). */
	const char *(*variable)(void *world, const char *name);
	/* All of them, NULL-terminated "NAME=value", or NULL. */
	char **(*variables)(void *world);

	/* What host names and boot ids are compared with. False: the id cannot
	 * be read and is 0, and errno says why. */
	bool (*host)(void *world, char name[64], uint8_t boot_id[16]);

	/* Sleeping costs nothing: a wait does so at once. */
	bool sleeps_at_once;
	/* Its clock goes on by what is simulated, not by what else the host has
	 * to do: what is measured by it is the same in each run. */
	bool virtual_time;

	/* Shared memory and attach (transport/shm/host.h); NULL: neither. */
	const struct bcl_shm_host *shm_host;

	/* What shared memory takes (transport/env/charge.h); NULL: it takes its
	 * time by itself. */
	const struct bcl_charge *charge;

	/* Who hosts the card (transport/card/ops.h); NULL: there is none. */
	const struct bcl_host_ops *card;
	/* The kinds of rail there are, NULL-terminated (transport/wire): for
	 * the in-process host. */
	const struct bcl_rail_kind *const *rails;
};

extern const struct bcl_env bcl_env_linux;

#endif
