/* SPDX-License-Identifier: MIT */
/* The parts of bcl-sim. */
#ifndef TOOLS_SIM_H
#define TOOLS_SIM_H

#include "collectives/select.h"
#include "sim/bounds/cut.h"
#include "sim/bounds/figures.h"
#include "sim/job.h"
#include "sim/load.h"

struct sim_part;

/* ---- sim-pattern.c: what ranks do in a round ---- */

struct sim_pattern {
	const char *name, *text;
	enum bcl_status (*run)(const struct sim_part *part);
	/* How many messages of the given size a round of so many
	 * ranks carries. */
	double (*volume)(double ranks);
	unsigned trips; /* sequential trips in a round; the reported time is
			 * that of a trip */
	bool blocks;	/* a block of the given size for each rank */
	bool pair;	/* only the first and the last rank take part */
	bool port;	/* by ports, not by teams */
	bool alone;	/* the time is that spent by a single rank */
	bool brief;	/* sizes must be below SIM_PORT_LONG */
	bool far;	/* a shift by half of the nodes, not by a node */
	bool bounded;	/* a bound exists, for `operation` */
	enum sim_operation operation;
};

enum {
	SIM_PORT_LONG = 1024, /* from this length on a port's sender asks before
			       * it sends */
};

/* Returns NULL if no pattern has the name. */
const struct sim_pattern *sim_pattern_find(const char *name);
void sim_pattern_list(FILE *to);

/* ---- sim-published.c: patterns of a published system, by ports ---- */

enum bcl_status sim_published_message(const struct sim_part *part);
enum bcl_status sim_published_broadcast(const struct sim_part *part);
enum bcl_status sim_published_reduce(const struct sim_part *part);
enum bcl_status sim_published_scatter(const struct sim_part *part);
enum bcl_status sim_published_gather(const struct sim_part *part);

/* ---- sim-loggp.c: parameters of LogGP, by ports ---- */

enum {
	SIM_LOGGP_FEW = 4, /* sends on an idle system */
	SIM_LOGGP_MANY = 64,
};

enum bcl_status sim_loggp_send(const struct sim_part *part);
enum bcl_status sim_loggp_receive(const struct sim_part *part);
enum bcl_status sim_loggp_stream(const struct sim_part *part);

/* ---- sim-port.c: messages between ports, in call order ---- */

struct sim_port;

/* Opens a port for a rank of the series. A closed port stays in series->ports
 * until sim_port_free(), so that all ranks see that the rank has left. */
enum bcl_status sim_port_open(struct sim_rank *rank, struct sim_port **port);
void sim_port_close(struct sim_port *port);
void sim_port_free(struct sim_port *port); /* NULL: does nothing */
struct bcl_context *sim_port_context(const struct sim_port *port);

/*
 * Messages by the system channel or, from 1 KB on, by a channel that the
 * receiver has posted with sim_port_expect() before. `to` and `from` are ranks
 * of the job.
 */
enum bcl_status sim_port_expect(struct sim_port *port, void *bytes,
				size_t length);
enum bcl_status sim_port_put(struct sim_port *port, unsigned to,
			     const void *bytes, size_t length);
enum bcl_status sim_port_take(struct sim_port *port, unsigned from,
			      size_t length);
/*
 * Messages to a receiver that may not be ready: from 1 KB on the sender asks,
 * and the receiver answers when the channel is posted. Inside a node messages
 * go by shared memory: beside `send` and `receive`, each side is charged for a
 * copy.
 */
enum bcl_status sim_port_send(struct sim_port *port, unsigned to,
			      const void *bytes, size_t length);
enum bcl_status sim_port_receive(struct sim_port *port, unsigned from,
				 void *bytes, size_t length);

/* Charges the rank for copying a block or combining two blocks. */
void sim_port_move(const struct sim_port *port, size_t length);

/* ---- sim-series.c: rounds of a pattern ---- */

enum {
	SIM_SIZES = 32,
	SIM_REPEAT_MAX = 10000,
};

/* A pattern with several sizes, and for each size a number of rounds. */
struct sim_series {
	const struct sim_pattern *pattern;
	const struct sim_cluster *cluster;
	unsigned nodes, ranks; /* the first nodes, and the first ranks of each,
				* that take part */
	uint64_t above;	       /* ns per message in a layer above ports */
	size_t size[SIM_SIZES];
	unsigned nsizes, repeat;
	bool together; /* all ranks begin each round at the same time */
	/* Algorithm of the team's operation; NULL: the library chooses. */
	const char *algorithm;
	enum bcl_operation forced;
	/* By size, ns: when the first rank began, and the last ended. */
	uint64_t begun[SIM_SIZES], ended[SIM_SIZES];
	uint64_t spent[SIM_SIZES];   /* by size, ns: spent by a rank, if
				      * pattern->alone */
	struct sim_machine machine;  /* figures for nodes and ranks that take
				      * part */
	struct sim_machine measured; /* valid if is_measured */
	bool is_measured;
	struct sim_cuts cuts; /* between nodes that take part */
	struct sim_load load; /* during the series; all zeroes: not begun */
	unsigned done;	      /* rounds so far, including warm-up */
	/*
	 * Ranks leave the job at the end. Leaving is most of the work of short
	 * patterns, and matters only to traces and faults. Without it,
	 * sim_job_stop() must follow.
	 */
	bool leave;
	/* Shared by all ranks: nobody looks at the contents. */
	char *send, *receive;
	struct sim_port **ports; /* [rank of the job] */
	uint32_t *to, *from;	 /* [rank]: a random permutation, and the
				  * inverse */
	unsigned complete;	 /* ranks that have finished */
	unsigned failed;	 /* ranks that had to give up */
	enum bcl_status status;	 /* reason of the first */
	uint64_t again;		 /* frames retransmitted */
};

/* A rank's part of a round. */
struct sim_part {
	struct sim_rank *self;
	const struct sim_series *series;
	struct bcl_adi *adi;
	struct bcl_team *world, *team; /* of all ranks; of ranks that take
					* part */
	struct sim_port *port;	       /* NULL: by teams */
	size_t size;
	uint64_t *spent;      /* ns, set by patterns with `alone` */
	bool member;	      /* the rank takes part */
	unsigned rank, ranks; /* among members */
	unsigned near;	      /* members on a node */
};

/* The rank in the job of a member. */
unsigned sim_part_rank(const struct sim_part *part, unsigned member);

/* The caller has set the pattern, the cluster, nodes, ranks, sizes
 * and repeat. */
void sim_series_open(struct sim_series *series, uint64_t seed);
void sim_series_close(struct sim_series *series);
/* The program of a rank, for sim_job_run() with the series as argument. */
void sim_series_run(struct sim_rank *rank);
unsigned sim_series_total(const struct sim_series *series);

/* us of a round. */
double sim_series_time(const struct sim_series *series, unsigned size);
void sim_series_print(const struct sim_series *series, FILE *to);

/* ---- sim-plot.c ---- */

/* Draws times and the load of links. Returns false if gnuplot fails. */
bool sim_plot(const char *path, const char *title,
	      const struct sim_series *series);

#endif
