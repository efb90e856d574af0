/* SPDX-License-Identifier: MIT */
/* The parts of bcl-sim. */
#ifndef TOOLS_SIM_H
#define TOOLS_SIM_H

#include "collectives/select.h"
#include "sim/cut.h"
#include "sim/figures.h"
#include "sim/job.h"
#include "sim/load.h"

struct sim_part;

/* ---- sim-pattern.c: what the ranks do ---- */

struct sim_pattern {
	const char *name, *text;
	enum bcl_status (*run)(const struct sim_part *part);
	/* How often the size is carried, of so many ranks. */
	double (*volume)(double ranks);
	unsigned trips; /* one after the other: the time is that of one */
	bool blocks;	/* a block of the size for each rank */
	bool pair;	/* of the first and the last rank alone */
	bool port;	/* by ports, not by teams */
	bool alone;	/* its time is what one rank has spent */
	bool brief;	/* of less than SIM_PORT_LONG bytes */
	bool far;	/* a shift by half of the nodes, not by one */
	bool bounded;	/* there is a bound: */
	enum sim_operation operation;
};

enum {
	SIM_PORT_LONG = 1024, /* bytes of a port's message that is asked for */
};

/* NULL: there is none of that name. */
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

/* ---- sim-port.c: messages between ports, in the order of their calls ---- */

struct sim_port;

/* For a rank of the series. A closed port stays in series->ports, so that the
 * others see that the rank has left, until sim_port_free(). */
enum bcl_status sim_port_open(struct sim_rank *rank, struct sim_port **port);
void sim_port_close(struct sim_port *port);
void sim_port_free(struct sim_port *port); /* NULL: nothing */
struct bcl_context *sim_port_context(const struct sim_port *port);

/*
 * By the system channel or, from 1 KB on, by a channel that the receiver has
 * posted with sim_port_expect() before. `to`, `from` are ranks of the job.
 */
enum bcl_status sim_port_expect(struct sim_port *port, void *bytes,
				size_t length);
enum bcl_status sim_port_put(struct sim_port *port, unsigned to,
			     const void *bytes, size_t length);
enum bcl_status sim_port_take(struct sim_port *port, unsigned from,
			      size_t length);
/*
 * The same where the receiver is not known to be ready: from 1 KB on the sender
 * asks and is answered when the channel is posted. Inside a node messages are
 * copied by both sides, and that alone is paid for.
 */
enum bcl_status sim_port_send(struct sim_port *port, unsigned to,
			      const void *bytes, size_t length);
enum bcl_status sim_port_receive(struct sim_port *port, unsigned from,
				 void *bytes, size_t length);

/* A block is copied, or two are combined. */
void sim_port_move(const struct sim_port *port, size_t length);

/* ---- sim-series.c: rounds of a pattern ---- */

enum {
	SIM_SIZES = 32,
	SIM_REPEAT_MAX = 10000,
};

/* A pattern with several sizes, each some rounds one after the other. */
struct sim_series {
	const struct sim_pattern *pattern;
	const struct sim_cluster *cluster;
	unsigned nodes, ranks; /* that take part: the first, and of each */
	uint64_t above;	       /* ns of a floor above ports, for each message */
	size_t size[SIM_SIZES];
	unsigned nsizes, repeat;
	bool together; /* all begin each round at the same moment */
	/* By which the team does the operation; NULL: as it chooses. */
	const char *algorithm;
	enum bcl_operation forced;
	/* Of each size: the first rank, and the last; ns. */
	uint64_t begun[SIM_SIZES], ended[SIM_SIZES];
	uint64_t spent[SIM_SIZES];   /* by one rank, if the pattern says so */
	struct sim_machine machine;  /* of those who take part */
	struct sim_machine measured; /* if is_measured */
	bool is_measured;
	struct sim_cuts cuts; /* between them */
	struct sim_load load; /* meanwhile; all zeroes: has not begun */
	unsigned done;	      /* rounds, with those to warm up */
	/* Ranks leave the job when they have done all: most of the work of
	 * short patterns, and only traces and faults tell of it. Else
	 * sim_job_stop() must follow. */
	bool leave;
	/* All ranks share these: what they exchange is not looked at. */
	char *send, *receive;
	struct sim_port **ports; /* [rank of the job] */
	uint32_t *to, *from;	 /* [rank]: a random permutation, and back */
	unsigned complete;	 /* ranks that have done all */
	unsigned failed;	 /* that had to give up */
	enum bcl_status status;	 /* why the first did */
	uint64_t again;		 /* frames sent again */
};

/* A rank's part of one round. */
struct sim_part {
	struct sim_rank *self;
	const struct sim_series *series;
	struct bcl_adi *adi;
	struct bcl_team *world, *team; /* of all; of those who take part */
	struct sim_port *port;	       /* NULL: by teams */
	size_t size;
	uint64_t *spent; /* ns, by a pattern that looks at one rank alone */
	bool member;	 /* it takes part */
	unsigned rank, ranks; /* among those who do */
	unsigned near;	      /* of them on a node */
};

/* The rank, in the job, of one who takes part. */
unsigned sim_part_rank(const struct sim_part *part, unsigned member);

/* The pattern, the cluster, who takes part, sizes and repeat are set. */
void sim_series_open(struct sim_series *series, uint64_t seed);
void sim_series_close(struct sim_series *series);
/* A rank's part: for sim_job_run() with the series. */
void sim_series_run(struct sim_rank *rank);
unsigned sim_series_total(const struct sim_series *series);

/* us of a round. */
double sim_series_time(const struct sim_series *series, unsigned size);
void sim_series_print(const struct sim_series *series, FILE *to);

/* ---- sim-plot.c ---- */

/* Draws time and load of links. False: gnuplot does not. */
bool sim_plot(const char *path, const char *title,
	      const struct sim_series *series);

#endif
