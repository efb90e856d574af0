/* SPDX-License-Identifier: MIT */
/* The figures, references and targets of bcl-perf; see perf_plan.h. */
#include "bench/perf_plan.h"

#include <stddef.h>

/* ---- groups -------------------------------------------------------------- */

static const struct perf_group line = { .program = "ref-line" };
static const struct perf_group copy = { .program = "ref-memcpy" };
static const struct perf_group attach = { .program = "ref-attach" };
static const struct perf_group wake = { .program = "ref-wake" };
static const struct perf_group yield8 = {
	.program = "ref-yield",
	.argument = { "sides=8" },
};
static const struct perf_group yield16 = {
	.program = "ref-yield",
	.argument = { "sides=16" },
};
static const struct perf_group yield8_free = {
	.program = "ref-yield",
	.argument = { "sides=8", "cpus=none" },
};
static const struct perf_group yield16_free = {
	.program = "ref-yield",
	.argument = { "sides=16", "cpus=none" },
};
static const struct perf_group udp = {
	.program = "ref-udp",
	.between = true,
	.argument = { "local=", "peer=" },
};
static const struct perf_group ring = {
	.program = "ref-ring",
	.between = true,
	.argument = { "interface=" },
};
static const struct perf_group stream = {
	.program = "ref-udp-stream",
	.between = true,
	.argument = { "local=", "peer=" },
};
static const struct perf_group tcp = {
	.program = "ref-tcp",
	.between = true,
	.argument = { "local=", "peer=" },
};
static const struct perf_group tcp_reno = {
	.program = "ref-tcp",
	.between = true,
	.argument = { "local=", "peer=", "port=7713", "congestion=reno" },
};

static const struct perf_group pair = { .ranks = { 2 }, .fresh = true };
static const struct perf_group pair_connected = {
	.ranks = { 2, 1 },
	.fresh = true,
	.argument = { "partner=1", "local=2" },
	.variable = { "BCL_RAILS=udp" },
};
static const struct perf_group pair_beside_job = {
	.ranks = { 2 },
	.argument = { "job=1" },
};
static const struct perf_group eight = { .ranks = { 8 } };
static const struct perf_group eight_free = {
	.ranks = { 8 },
	.argument = { "cpus=none" },
};
static const struct perf_group sixteen = { .ranks = { 16 } };
static const struct perf_group sixteen_free = {
	.ranks = { 16 },
	.argument = { "cpus=none" },
};
static const struct perf_group nodes_udp = {
	.ranks = { 1, 1 },
	.argument = { "local=1" },
	.variable = { "BCL_RAILS=udp" },
};
static const struct perf_group nodes_udp_twin = {
	.ranks = { 1, 1 },
	.twin = true,
	.variable = { "BCL_RAILS=udp" },
};
static const struct perf_group nodes_ring = {
	.ranks = { 1, 1 },
	.argument = { "local=1" },
	.variable = { "BCL_RAILS=packet" },
};
static const struct perf_group nodes_ring4 = {
	.ranks = { 4, 4 },
	.argument = { "cpus=0,1,0,1,1,0,1,0" }, /* the players are on different
						 * CPUs */
	.variable = { "BCL_RAILS=packet" },
};
static const struct perf_group nodes = {
	.ranks = { 2, 2 },
	.any = true,
	.argument = { "cpus=0,1,1,0" },
};

/* ---- rows ---------------------------------------------------------------- */

static const char small[] = "8 16";
static const char medium[] = "48 64 256 1K 4K";
static const char large[] = "64K 256K 1M 4M";

#define INSIDE	     "inside a host"
#define BULK	     "bandwidth inside a host"
#define BETWEEN	     "between two nodes"
#define BETWEEN_MANY "between two nodes of several ranks"
#define BULK_BETWEEN "bandwidth between two nodes"
#define PAIR	     "collectives, 2 ranks on one host"
#define CROWD	     "barriers of more ranks than CPUs"
#define NODES	     "2 nodes with 2 ranks each, or as launched"
#define WAITING	     "waiting beside a foreign compute job"
#define LOGGP	     "LogGP"

const struct perf_row perf_rows[] = {
	{ INSIDE, "transport, %s, one way", small, &pair,
	  "do=latency floor=transport size=%s", &line, "lines=1" },
	{ INSIDE, "transport, %s, one way", medium, &pair,
	  "do=latency floor=transport size=%s", &line, "lines=2" },
	{ INSIDE, "ADI, %s, one way", small, &pair,
	  "do=latency floor=adi size=%s", &line, "lines=1" },
	{ INSIDE, "ADI, %s, one way", medium, &pair,
	  "do=latency floor=adi size=%s", &line, "lines=2" },
	{ INSIDE, "ADI, both send %s at once", "8", &pair,
	  "do=exchange size=%s", &line, "lines=2" },
	{ INSIDE, "ADI, %s, window 64, per message", "8 64 1K", &pair,
	  "do=rate size=%s", &line, "lines=1" },
	{ INSIDE, "ADI, 8 B, a connected network idle", NULL, &pair_connected,
	  "do=latency size=8 any=1 iterations=10000", &pair,
	  "do=latency size=8 any=1 iterations=10000" },

	{ BULK, "memcpy, %s, hot", large, NULL, NULL, &copy, "size=%s" },
	{ BULK, "memcpy, %s, cold", large, NULL, NULL, &copy,
	  "size=%s buffers=cold" },
	{ BULK, "ADI, %s, hot", large, &pair, "do=bandwidth size=%s", &attach,
	  "size=%s" },
	{ BULK, "ADI, %s, cold", large, &pair,
	  "do=bandwidth size=%s buffers=cold", &attach,
	  "size=%s buffers=cold" },
	{ BULK, "ADI, %s, rewritten", large, &pair,
	  "do=bandwidth size=%s buffers=rewritten", &attach,
	  "size=%s buffers=rewritten" },
	{ BULK, "ADI, %s, sender computes", large, &pair,
	  "do=bandwidth size=%s buffers=away", &attach,
	  "size=%s buffers=away" },

	{ BETWEEN, "ADI, %s, UDP", "8 64 1K", &nodes_udp, "do=latency size=%s",
	  &udp, "size=%s" },
	{ BETWEEN, "ADI, 64 B, UDP, after shared memory", NULL, &nodes_udp_twin,
	  "do=latency size=64 shared=20", &udp, "size=64" },
	{ BETWEEN, "ADI, %s, packet ring", "64 1K", &nodes_ring,
	  "do=latency size=%s", &ring, "size=%s" },
	{ BETWEEN, "ADI, 64 B, UDP, against TCP", NULL, &nodes_udp,
	  "do=latency size=64", &tcp, "size=64" },

	/* In a section alone: waiting jobs on the interface would cost time. */
	{ BETWEEN_MANY, "ADI, 64 B, packet ring, 4 ranks a node", NULL,
	  &nodes_ring4, "do=latency size=64", &ring, "size=64" },

	/* The references stream without waiting, so the library does
	 * as well. */
	{ BULK_BETWEEN, "ADI, %s, UDP, against its stream", large, &nodes_udp,
	  "do=bandwidth size=%s ahead=8", &stream, "size=%s" },
	{ BULK_BETWEEN, "ADI, %s, UDP, against TCP", large, &nodes_udp,
	  "do=bandwidth size=%s ahead=8", &tcp, "mode=stream size=%s" },
	{ BULK_BETWEEN, "ADI, %s, UDP, against TCP reno", large, &nodes_udp,
	  "do=bandwidth size=%s ahead=8", &tcp_reno, "mode=stream size=%s" },

	{ PAIR, "barrier, 2 ranks", NULL, &pair, "do=collective call=barrier",
	  &pair, "do=latency size=8" },
	{ PAIR, "allreduce, %s, 2 ranks", "8 1K 64K", &pair,
	  "do=collective call=allreduce size=%s", &pair, "do=latency size=8" },
	{ PAIR, "broadcast, %s, 2 ranks", "8 1K 64K", &pair,
	  "do=collective call=broadcast size=%s", &pair, "do=latency size=8" },
	{ PAIR, "alltoall, %s, 2 ranks", "8 1K 64K", &pair,
	  "do=collective call=alltoall size=%s", &pair, "do=latency size=8" },

	{ CROWD, "barrier, 8 ranks, pinned", NULL, &eight,
	  "do=collective call=barrier", &yield8, "" },
	{ CROWD, "barrier, 8 ranks, free", NULL, &eight_free,
	  "do=collective call=barrier", &yield8_free, "" },
	{ CROWD, "barrier, 16 ranks, pinned", NULL, &sixteen,
	  "do=collective call=barrier", &yield16, "" },
	{ CROWD, "barrier, 16 ranks, free", NULL, &sixteen_free,
	  "do=collective call=barrier", &yield16_free, "" },
	{ CROWD, "barrier, 8 ranks, 0-200 us late", NULL, &eight,
	  "do=collective call=barrier late=200", &yield8, "" },

	{ NODES, "ADI, %s, rank 0 to the next node", "8 1K", &nodes,
	  "do=latency size=%s", NULL, NULL },
	{ NODES, "ADI, %s, rank 0 to the next node", "64K 1M", &nodes,
	  "do=bandwidth size=%s", NULL, NULL },
	{ NODES, "barrier", NULL, &nodes, "do=collective call=barrier", NULL,
	  NULL },
	{ NODES, "broadcast, %s", "8 1K 128K", &nodes,
	  "do=collective call=broadcast size=%s", NULL, NULL },
	{ NODES, "reduce, %s", "8 1K 128K", &nodes,
	  "do=collective call=reduce size=%s", NULL, NULL },
	{ NODES, "allreduce, %s", "8 1K 128K", &nodes,
	  "do=collective call=allreduce size=%s", NULL, NULL },
	{ NODES, "gather, %s", "8 1K 128K", &nodes,
	  "do=collective call=gather size=%s", NULL, NULL },
	{ NODES, "scatter, %s", "8 1K 128K", &nodes,
	  "do=collective call=scatter size=%s", NULL, NULL },
	{ NODES, "allgather, %s", "8 1K 128K", &nodes,
	  "do=collective call=allgather size=%s", NULL, NULL },
	{ NODES, "alltoall, %s", "8 1K 128K", &nodes,
	  "do=collective call=alltoall size=%s", NULL, NULL },
	{ NODES, "reduce_scatter, %s", "8 1K 128K", &nodes,
	  "do=collective call=reduce_scatter size=%s", NULL, NULL },
	{ NODES, "scan, %s", "8 1K 128K", &nodes,
	  "do=collective call=scan size=%s", NULL, NULL },
	{ NODES, "exscan, %s", "8 1K 128K", &nodes,
	  "do=collective call=exscan size=%s", NULL, NULL },
	{ NODES, "gatherv, %s", "8 1K 128K", &nodes,
	  "do=collective call=gatherv size=%s", NULL, NULL },
	{ NODES, "scatterv, %s", "8 1K 128K", &nodes,
	  "do=collective call=scatterv size=%s", NULL, NULL },
	{ NODES, "allgatherv, %s", "8 1K 128K", &nodes,
	  "do=collective call=allgatherv size=%s", NULL, NULL },
	{ NODES, "alltoallv, %s", "8 1K 128K", &nodes,
	  "do=collective call=alltoallv size=%s", NULL, NULL },

	{ WAITING, "wake after 1 ms", NULL, &pair_beside_job, "do=wake", &wake,
	  "job=1" },
	{ WAITING, "share of the foreign job", NULL, &pair_beside_job,
	  "do=wake figure=share", &wake, "figure=share" },

	{ LOGGP, "%s inside a host", "L o_s o_r g", &pair,
	  "do=loggp parameter=%s", NULL, NULL },
	{ LOGGP, "G inside a host", NULL, &pair, "do=loggp parameter=G", NULL,
	  NULL },
	{ LOGGP, "%s between nodes, UDP", "L o_s o_r g G", &nodes_udp,
	  "do=loggp parameter=%s", NULL, NULL },
	{ LOGGP, "%s between nodes, packet ring", "L o_s o_r g", &nodes_ring,
	  "do=loggp parameter=%s", NULL, NULL },
	{ 0 },
};

/* ---- bars ---------------------------------------------------------------- */

#define AT_MOST(figure, ratio)                         \
	{                                              \
		figure, PERF_RATIO, false, ratio, NULL \
	}
#define AT_LEAST(figure, ratio)                       \
	{                                             \
		figure, PERF_RATIO, true, ratio, NULL \
	}

const struct perf_bar perf_bars[] = {
	AT_MOST("transport, 8 B, one way", 1.25),
	AT_MOST("transport, 16 B, one way", 1.25),
	AT_MOST("ADI, 8 B, one way", 1.5),
	AT_MOST("ADI, 16 B, one way", 1.5),
	AT_MOST("transport, 48 B, one way", 1.2),
	AT_MOST("ADI, 48 B, one way", 1.4),
	AT_MOST("ADI, 8 B, window 64, per message", 0.6),
	{ "ADI, 8 B, a connected network idle", PERF_MEAN_RATIO, false, 1.05,
	  NULL },

	AT_LEAST("ADI, 64 KB, hot", 1.0),
	AT_LEAST("ADI, 256 KB, hot", 1.3),
	AT_LEAST("ADI, 1 MB, hot", 1.6),
	AT_LEAST("ADI, 4 MB, hot", 1.4),
	AT_LEAST("ADI, 64 KB, cold", 1.0),
	AT_LEAST("ADI, 256 KB, cold", 1.3),
	AT_LEAST("ADI, 1 MB, cold", 1.6),
	AT_LEAST("ADI, 4 MB, cold", 1.4),
	AT_LEAST("ADI, 64 KB, sender computes", 0.75),
	AT_LEAST("ADI, 256 KB, sender computes", 0.85),
	AT_LEAST("ADI, 1 MB, sender computes", 0.9),
	AT_LEAST("ADI, 4 MB, sender computes", 0.9),

	AT_MOST("ADI, 64 B, UDP", 1.2),
	AT_MOST("ADI, 64 B, UDP, after shared memory", 1.3),
	AT_MOST("ADI, 64 B, packet ring", 1.35),
	AT_MOST("ADI, 64 B, packet ring, 4 ranks a node", 1.35),

	AT_LEAST("ADI, 256 KB, UDP, against its stream", 0.8),
	AT_LEAST("ADI, 1 MB, UDP, against its stream", 0.8),
	AT_LEAST("ADI, 4 MB, UDP, against its stream", 0.8),
	/* bbr paces. Nothing is promised against a different
	 * default algorithm. */
	{ "ADI, 1 MB, UDP, against TCP", PERF_RATIO, true, 2.5, "tcp/bbr" },
	{ "ADI, 4 MB, UDP, against TCP", PERF_RATIO, true, 2.5, "tcp/bbr" },
	{ "ADI, 1 MB, UDP, against TCP reno", PERF_RATIO, true, 0.6,
	  "tcp/reno" },
	{ "ADI, 4 MB, UDP, against TCP reno", PERF_RATIO, true, 0.6,
	  "tcp/reno" },

	AT_MOST("barrier, 2 ranks", 1.3),
	AT_MOST("allreduce, 8 B, 2 ranks", 1.3),
	AT_MOST("broadcast, 8 B, 2 ranks", 1.3),
	AT_MOST("barrier, 8 ranks, pinned", 2),
	AT_MOST("barrier, 8 ranks, free", 2),
	AT_MOST("barrier, 16 ranks, pinned", 2),
	AT_MOST("barrier, 16 ranks, free", 2),

	{ "wake after 1 ms", PERF_MEDIAN, false, 50, NULL },
	{ "share of the foreign job", PERF_MEDIAN, true, 90, NULL },
	{ 0 },
};
