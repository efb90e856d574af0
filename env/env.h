/* SPDX-License-Identifier: MIT */
/*
 * The environment table: everything that a context asks of an operating system.
 * transport/ and adi/ make no system call for time, sleeping, threads, memory,
 * randomness or logging except through the table. So the same code runs in a
 * process (bcl_env_linux) and as one of many fibers in a simulator's virtual
 * time.
 *
 * Each function gets `world`, the first member of the table. All functions but
 * thread_start and thread_join are mandatory. Any thread may call any function
 * at any time, also with locks of the library held, and no function calls the
 * library. Only wait(), yield() and thread_join() give up the processor on
 * purpose. now(), variable(), variables() and, for small sizes, allocate() and
 * release() may do without the kernel; all others enter it. An environment of
 * fibers switches to another fiber only in wait(), yield() and now().
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
	const char *node; /* name of the process's virtual node; "": none */
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

	/* Nanoseconds since a fixed moment; never goes back. Cheap. */
	uint64_t (*now)(void *world);
	/* now() advances with the processors' cycle counter (bcl_cycles()). */
	bool real_time;

	/*
	 * Makes an object that a thread can wait for; on Linux, a descriptor
	 * that is readable when woken. The caller closes the object. -1: no
	 * descriptor is left, and errno says why.
	 */
	int (*object_open)(void *world);
	/*
	 * Makes a group, a descriptor that is readable while one of `n` objects
	 * or descriptors is readable. The members stay the caller's. -1: no
	 * descriptor is left, and errno says why.
	 */
	int (*group_open)(void *world, const int *members, unsigned n);
	/*
	 * Add a member to a group, or remove it. A descriptor that many frames
	 * make readable is a member only while a thread sleeps on the group,
	 * because each frame has to notify the group. False: the system
	 * refused.
	 */
	bool (*group_add)(void *world, int group, int member);
	void (*group_remove)(void *world, int group, int member);
	/* Closes an object or a group; no thread waits for it any more. */
	void (*object_close)(void *world, int object);
	/*
	 * Wakes the thread that waits for the object, or the next thread that
	 * does. On Linux any process that was given the descriptor may wake,
	 * too: one write of 8 bytes. Never blocks and cannot fail.
	 */
	void (*wake)(void *world, int object);
	/* Consumes all wake-ups of an object so far. Returns at once if there
	 * is none. */
	void (*clear)(void *world, int object);
	/*
	 * Sleeps until the object was woken, a member of the group is readable,
	 * or the now() time `until`; UINT64_MAX: no time. May return early;
	 * consumes nothing. The caller holds no lock that the waker needs.
	 */
	void (*wait)(void *world, int object, uint64_t until);
	/* Lets other threads run; returns soon. */
	void (*yield)(void *world);
	/* Moves the calling thread to another processor on which the thread may
	 * run. Does nothing if there is none. */
	void (*move)(void *world);

	/*
	 * Processors for this process and the other processes that its parent
	 * started: the processors that this thread may run on, or the parent,
	 * whichever are more. A launcher binds each rank to a few processors,
	 * and is not bound itself.
	 */
	unsigned (*processors)(void *world);

	/*
	 * Order between a sleeper and senders in other processes, without a
	 * fence in the senders. barrier() acts as a full fence in every running
	 * thread of every process that has registered. barrier_register()
	 * returns true if this process has registered and may call barrier().
	 * Otherwise a sender to or from this process needs a fence of its own,
	 * and no function calls barrier().
	 */
	bool (*barrier_register)(void *world);
	void (*barrier)(void *world);

	/* Gives memory, zeroed, aligned to 64 bytes, to the caller until
	 * release(). NULL: there is none. */
	void *(*allocate)(void *world, size_t size);
	/* Takes memory back, with the size from allocate(). NULL: does
	 * nothing. */
	void (*release)(void *world, void *memory, size_t size);

	/*
	 * Gives memory that other processes can map through *fd, zeroed, page
	 * aligned, its pages reserved. From 2 MB on the memory consists of huge
	 * pages, if the system has some. NULL: there is none, and errno says
	 * why. ENOMEM also means that the host, or a control group, would be
	 * full: the memory must leave an eighth of what is available. *fd is -1
	 * in a world of one process, and not set if NULL is returned.
	 */
	void *(*share)(void *world, const char *name, size_t size, int *fd);
	/* Unmaps the memory and closes the descriptor. Other processes keep
	 * their mappings. */
	void (*unshare)(void *world, void *memory, size_t size, int fd);

	/* 64 bits that cannot be guessed; 0: the system has none. */
	uint64_t (*random)(void *world);

	/* Shows a line to people. The caller has chosen by level and area.
	 * Keeps no pointer. */
	void (*log)(void *world, const struct bcl_log_line *line);

	/* Starts a helper thread, which gets no signals. NULL where there are
	 * no threads (fibers). OK: *thread is set, until thread_join(). SYSTEM:
	 * errno says why. NOMEM. */
	enum bcl_status (*thread_start)(void *world, void (*run)(void *arg),
					void *arg, struct bcl_thread **thread);
	/* Blocks until `run` has returned, and frees the thread. NULL if
	 * thread_start is. */
	void (*thread_join)(void *world, struct bcl_thread *thread);

	/* The value of a configuration variable, or NULL, as getenv(). The text
	 * belongs to the environment. */
	const char *(*variable)(void *world, const char *name);
	/* All variables, "NAME=value", with NULL at the end; or NULL. */
	char **(*variables)(void *world);

	/* Gives the host's name and boot id, by which hosts are compared.
	 * False: the boot id cannot be read and is 0, and errno says why. */
	bool (*host)(void *world, char name[64], uint8_t boot_id[16]);

	/* Sleeping costs nothing, so a wait sleeps at once. */
	bool sleeps_at_once;
	/* The clock advances by simulated events, not by the load of the
	 * host, so measured times are the same in each run. */
	bool virtual_time;

	/* Shared memory and attach (transport/shm/host.h); NULL: neither. */
	const struct bcl_shm_host *shm_host;

	/* Cost of shared memory (env/charge.h); NULL: using memory
	 * takes real time. */
	const struct bcl_charge *charge;

	/* The host of the card (card/ops.h); NULL: there is no
	 * card. */
	const struct bcl_host_ops *card;
	/* The host of a card in the kernel, which BCL_CARD may prefer; NULL:
	 * there is none. */
	const struct bcl_host_ops *kernel_card;
	/* The kinds of rail, with NULL at the end (wire), for the
	 * in-process host. */
	const struct bcl_rail_kind *const *rails;
};

extern const struct bcl_env bcl_env_linux;

#endif
