/* SPDX-License-Identifier: MIT */
/*
 * The configuration table, the source of the BCL_... environment variables, of
 * bcl-info --config and of the manual page.
 */
#ifndef BCL_CONFIG_H
#define BCL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_env;

enum bcl_config_kind {
	BCL_CONFIG_INTEGER,
	BCL_CONFIG_POWER, /* a power of two */
	BCL_CONFIG_SIZE,  /* bytes; k, M and G multiply by 1024 */
	BCL_CONFIG_TIME,  /* ns; written with ns, us, ms, s or min */
	BCL_CONFIG_FLAG,  /* 0, 1, no, yes, off, on */
	BCL_CONFIG_TEXT,
};

enum {
	BCL_CONFIG_TEXT_MAX = 256, /* characters, with the terminating zero */
};

#define BCL_CONFIG_RAILS "udp,packet"	       /* all kinds of rail */
#define BCL_CONFIG_CARDS "auto,kernel,process" /* one of them */

/*
 * X(kind, member, name, default, least, most, description)
 *
 * The default is written as a user would write it. A default outside the range
 * means that the library finds the value itself. Least and most are in bytes,
 * ns or pieces.
 */
#define BCL_CONFIG_TABLE(X)                                                    \
	X(TEXT, boot, "BCL_BOOT", "", 0, 0,                                    \
	  "how the job was started: pmi, pmix, single; empty: find out")       \
	X(TEXT, node, "BCL_NODE", "", 0, 0,                                    \
	  "name of a virtual node; processes of different names never "        \
	  "share memory")                                                      \
	X(TEXT, net, "BCL_NET", "", 0, 0,                                      \
	  "interfaces or networks (CIDR) to use, separated by commas; "        \
	  "empty: all that look useful")                                       \
	X(TEXT, rails, "BCL_RAILS", BCL_CONFIG_RAILS, 0, 0,                    \
	  "kinds of rail to use, separated by commas; none: no network")       \
	X(TEXT, card, "BCL_CARD", "auto", 0, 0,                                \
	  "where the card runs: process, kernel (needs the module bcl); "      \
	  "auto: in the kernel if it can")                                     \
	X(FLAG, offload, "BCL_OFFLOAD", "on", 0, 1,                            \
	  "let the system cut and join UDP datagrams")                         \
	X(SIZE, socket_buffer, "BCL_SOCKET_BUFFER", "4M", 4096, 1 << 30,       \
	  "asked of the system for each socket and direction")                 \
	X(POWER, requests, "BCL_REQUESTS", "256", 16, 8192,                    \
	  "requests a port may have at the card; a power of two")              \
	X(POWER, blocks, "BCL_BLOCKS", "256", 16, 8192,                        \
	  "system messages a port can hold from the card; a power of two")     \
	X(FLAG, shm, "BCL_SHM", "on", 0, 1, "use shared memory inside a host") \
	X(FLAG, attach, "BCL_ATTACH", "on", 0, 1,                              \
	  "copy large messages straight between processes")                    \
	X(FLAG, pcrc, "BCL_PCRC", "on", 0, 1,                                  \
	  "checksum the payload of frames, not only their headers")            \
	X(SIZE, eager_max, "BCL_EAGER_MAX", "64k", 0, 65536,                   \
	  "longest message sent without a rendezvous; inside a host 4k, if "   \
	  "this is more")                                                      \
	X(TEXT, coll, "BCL_COLL", "", 0, 0,                                    \
	  "algorithms of collective operations instead of those that the "     \
	  "cost model chooses, e.g. allreduce:ring,alltoall:direct@64k, the "  \
	  "latter for blocks of 64 KB and more")                               \
	X(TEXT, coll_file, "BCL_COLL_FILE", "", 0, 0,                          \
	  "a file of bcl-tune with algorithms by the shape of a team")         \
	X(FLAG, coll_fixed, "BCL_COLL_FIXED", "off", 0, 1,                     \
	  "reductions have the same bits wherever the ranks run: only "        \
	  "algorithms whose order of combination depends on nothing but "      \
	  "the number of ranks, the length and the root")                      \
	X(FLAG, coll_check, "BCL_CHECK", "off", 0, 1,                          \
	  "members of a team compare their calls of collective operations, "   \
	  "and end with an error that says how the calls differ; slow")        \
	X(SIZE, copy_both, "BCL_COPY_BOTH", "8k", 4096, 1ull << 40,            \
	  "from this size sender and receiver copy together")                  \
	X(POWER, ring_slots, "BCL_RING_SLOTS", "0", 256, 65536,                \
	  "64-byte slots of a shared-memory ring, 256 or more, a power of "    \
	  "two; 0: 16384 for a job of two ranks on a host, fewer for more")    \
	X(SIZE, unexpected, "BCL_UNEXPECTED", "4M", 1 << 16, 1ull << 40,       \
	  "payload kept per peer before its receive is known")                 \
	X(TIME, spin, "BCL_SPIN", "30us", 0, 1000000000,                       \
	  "how long a wait polls before it yields")                            \
	X(TIME, peer_timeout, "BCL_PEER_TIMEOUT", "30s", 10000000,             \
	  86400000000000, "silence after which a peer is lost")                \
	X(FLAG, helper, "BCL_HELPER", "on", 0, 1,                              \
	  "a thread answers peers while the program computes")                 \
	X(TEXT, fault, "BCL_FAULT", "", 0, 0,                                  \
	  "faults injected between host and card, e.g. drop:1%,dup:1%,"        \
	  "seed:7")                                                            \
	X(TEXT, trace, "BCL_TRACE", "", 0, 0,                                  \
	  "file that gets every frame, and what was asked of the card, in "    \
	  "pcapng form")                                                       \
	X(TEXT, log, "BCL_LOG", "warn", 0, 0,                                  \
	  "level (error, warn, info, debug), then areas, separated by "        \
	  "commas; no area: all")                                              \
	X(FLAG, stats, "BCL_STATS", "off", 0, 1,                               \
	  "print the counters when the context is closed")

#define BCL_CONFIG_TYPE_INTEGER(member) uint64_t member;
#define BCL_CONFIG_TYPE_POWER(member)	uint64_t member;
#define BCL_CONFIG_TYPE_SIZE(member)	uint64_t member;
#define BCL_CONFIG_TYPE_TIME(member)	uint64_t member;
#define BCL_CONFIG_TYPE_FLAG(member)	bool member;
#define BCL_CONFIG_TYPE_TEXT(member)	char member[BCL_CONFIG_TEXT_MAX];

struct bcl_config {
	const struct bcl_env *env; /* source of the variables; takes the log */
	bool alone;		   /* the job has no other rank on this host */
	int rank;		   /* in the job, for the log; -1: not known */
#define BCL_X(kind, member, ...) BCL_CONFIG_TYPE_##kind(member)
	BCL_CONFIG_TABLE(BCL_X)
#undef BCL_X
};

enum {
	BCL_EAGER_NEAR = 4096, /* bytes */
};

/* The longest message that every path sends without a rendezvous. */
static inline size_t bcl_config_eager_near(const struct bcl_config *config)
{
	return config->eager_max < BCL_EAGER_NEAR ? config->eager_max
						  : BCL_EAGER_NEAR;
}

/* An entry of the table, for tools. */
struct bcl_config_entry {
	const char *name;
	enum bcl_config_kind kind;
	const char *standard; /* the default */
	uint64_t least, most;
	const char *text;
	size_t offset; /* in struct bcl_config */
};

extern const struct bcl_config_entry bcl_config_entries[];
extern const unsigned bcl_config_nentries;

/*
 * Reads the variables of the environment. ARG: a value cannot be read or is out
 * of its range; the log says which, and which values are allowed.
 */
enum bcl_status bcl_config_read(const struct bcl_env *env,
				struct bcl_config *config);

/*
 * Warns about variables that begin with BCL_ and are not in the table. The user
 * of a configuration calls it, since a process may read its configuration
 * several times.
 */
void bcl_config_warn(const struct bcl_config *config);

/*
 * Parses one value: a FLAG to 0 or 1, all other kinds but TEXT to a number.
 * ARG: the text is not of this kind, or has more than 64 bits.
 */
enum bcl_status bcl_config_parse(enum bcl_config_kind kind, const char *text,
				 uint64_t *value);

/* Writes an entry's value as a user would write it. */
void bcl_config_print(const struct bcl_config *config,
		      const struct bcl_config_entry *entry, char *text,
		      size_t size);

/* True if `word` is one of the words of a list separated by commas. */
bool bcl_config_listed(const char *list, const char *word);

/*
 * True if each word of a list, shorter than BCL_CONFIG_TEXT_MAX, is in
 * `allowed`. An empty list or word is not allowed.
 */
bool bcl_config_within(const char *list, const char *allowed);

#endif
