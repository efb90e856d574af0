/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cluster.h"
#include "sim/random.h"

enum {
	LENGTH = 1024
};

static struct sim_cluster cluster;
static char error[SIM_ERROR_SIZE];

static FILE *open_file(const char *directory, const char *name)
{
	char path[4096];
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s/%s", getenv("abs_top_srcdir"),
		 directory, name);
	in = fopen(path, "r");
	ck_assert_msg(in, "%s", path);
	return in;
}

static bool read_text(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	bool good;

	ck_assert_ptr_nonnull(in);
	good = sim_cluster_read(&cluster, "text", in, error);
	fclose(in);
	return good;
}

static void need_text(const char *text)
{
	ck_assert_msg(read_text(text), "%s", error);
}

/* Read an installed cluster file. */
static void need_file(const char *name)
{
	FILE *in = open_file("sim/clusters", name);

	ck_assert_msg(sim_cluster_read(&cluster, name, in, error), "%s", error);
	fclose(in);
}

/* ---- cluster files ---- */

#define PARTS                                                            \
	"card mtu=4KB\n"                                                 \
	"wire w bandwidth=160MB/s latency=10ns\n"                        \
	"crossbar x latency=0.5us queue=8KB forwarding=cut-through\n"    \
	"crossbar y latency=2us queue=1MB forwarding=store-and-forward " \
	"ports=3\n"

START_TEST(units)
{
	static const struct {
		const char *text;
		uint64_t ps_per_byte;
	} rates[] = {
		{ "160MB/s", 5960 },  { "232.28MB/s", 4106 },
		{ "1GB/s", 931 },     { "1024KB/s", 953674 },
		{ "1Gb/s", 8000 },    { "100Gb/s", 80 },
		{ "10Mb/s", 800000 }, { "64Kb/s", 125000000 },
		{ "8000Gb/s", 1 },
	};
	char text[512];
	unsigned i;

	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		snprintf(text, sizeof(text),
			 "cluster nodes=1 ranks=3\n"
			 "host send=1.5us receive=20ns trap=2ms copy=%s\n"
			 "card mtu=1.5KB buffers=7 read-start=1s\n"
			 "wire w bandwidth=%s latency=0ns\n"
			 "crossbar x latency=0us queue=1GB "
			 "forwarding=store-and-forward\n"
			 "star s crossbar=x wire=w\n",
			 rates[i].text, rates[i].text);
		need_text(text);
		ck_assert_uint_eq(cluster.costs.host.copy,
				  rates[i].ps_per_byte);
		ck_assert_uint_eq(cluster.cables[0].config.ps_per_byte,
				  rates[i].ps_per_byte);
		sim_cluster_free(&cluster);
	}
	need_text(text);
	ck_assert_uint_eq(cluster.ranks, 3);
	ck_assert_uint_eq(cluster.rails, 1);
	ck_assert_uint_eq(cluster.costs.host.send, 1500);
	ck_assert_uint_eq(cluster.costs.host.receive, 20);
	ck_assert_uint_eq(cluster.costs.host.trap, 2000000);
	ck_assert_uint_eq(cluster.costs.card.mtu, 1536);
	ck_assert_uint_eq(cluster.costs.card.buffers, 7);
	ck_assert_uint_eq(cluster.costs.card.read.start, 1000000000);
	ck_assert_uint_eq(cluster.switches[0].config.queue, 1 << 30);
	ck_assert(!cluster.switches[0].config.cut_through);
	sim_cluster_free(&cluster);
}
END_TEST

START_TEST(switches_and_cables_in_any_way)
{
	char name[SIM_NAME_SIZE];

	need_text("# Comments, which do not go on, \\\n"
		  "\n"
		  "cluster nodes=3 \\\n"
		  "	rails=2\n" PARTS "switch a crossbar=x\n"
		  "switch b crossbar=y\n"
		  "cable node0-1 a wire=w\n"
		  "cable node2 a wire=w rail=1\n"
		  "cable node2 b wire=w rail=0\n"
		  "cable b a wire=w count=2");
	ck_assert_uint_eq(cluster.nswitches, 2);
	ck_assert_uint_eq(cluster.ncables, 8);
	ck_assert(cluster.switches[0].config.cut_through);
	ck_assert(!cluster.switches[1].config.cut_through);
	ck_assert_uint_eq(cluster.cables[4].a,
			  sim_cluster_port(&cluster, 2, 1));
	ck_assert_uint_eq(cluster.cables[4].b, 6);
	ck_assert_uint_eq(cluster.cables[5].a, 2);
	ck_assert_uint_eq(cluster.cables[5].b, 7);
	ck_assert_uint_eq(cluster.cables[7].a, 7);
	ck_assert_uint_eq(cluster.cables[7].b, 6);
	sim_cluster_name(&cluster, 5, name);
	ck_assert_str_eq(name, "node2.1");
	sim_cluster_name(&cluster, 7, name);
	ck_assert_str_eq(name, "b");
	ck_assert_uint_eq(sim_cluster_node(&cluster, 5), 2);
	ck_assert_uint_eq(sim_cluster_rail(&cluster, 5), 1);
	sim_cluster_free(&cluster);
}
END_TEST

START_TEST(the_example_of_the_manual)
{
	FILE *page = open_file("man", "bcl-cluster.5");
	char line[256], text[2048] = "", *end = text;
	bool inside = false;

	while (fgets(line, sizeof(line), page)) {
		if (!strncmp(line, ".Ed", 3))
			inside = false;
		for (char *from = line; inside && *from; from++)
			if (strncmp(from, "\\e", 2))
				*end++ = *from;
			else
				*end++ = *from++;
		if (!strncmp(line, ".Bd", 3))
			inside = true;
	}
	fclose(page);
	need_text(text);
	ck_assert_uint_eq(cluster.ncables, 10);
	sim_cluster_free(&cluster);
}
END_TEST

#define FORTY "0123456789012345678901234567890123456789"

static const struct {
	const char *text, *error;
} refused[] = {
	{ "nodes=4", "1: expected a word before \"nodes=4\"" },
	{ "\nclutser nodes=4",
	  "2: expected cluster, host, card, measured, "
	  "crossbar, wire, switch, cable, star, ring or tree, not "
	  "\"clutser\"" },
	{ "cluster 4", "1: expected: cluster nodes=N ..." },
	{ "cluster nodes=4 4", "1: expected key=value, not \"4\"" },
	{ "cluster a a a a a a a a a a a a a a a a a a a a a a a a",
	  "1: expected at most 24 words" },
	{ "cluster ranks=4", "1: expected nodes=, too" },
	{ "cluster nodes=4 nodes=5", "1: expected nodes= only once" },
	{ "cluster nodes=4 \\\n# no\ncluster nodes=4",
	  "3: expected cluster only once" },
	{ "measured around message=5us",
	  "1: expected between or inside, not \"around\"" },
	{ "measured between", "1: expected message=, too" },
	{ "measured inside message=0s",
	  "1: expected message= of more than nothing, and no less than send=" },
	{ "measured inside message=2us send=3us",
	  "1: expected message= of more than nothing, and no less than send=" },
	{ "measured inside message=2us\nmeasured inside message=2us",
	  "2: expected measured inside only once" },
	{ "cluster nodes=0", "1: nodes=0: expected a number from 1 to 65536" },
	{ "cluster nodes=4294967297",
	  "1: nodes=4294967297: expected a number from 1 to 65536" },
	{ "cluster nodes=-1",
	  "1: nodes=-1: expected a number from 1 to 65536" },
	{ "cluster nodes=4x",
	  "1: nodes=4x: expected a number from 1 to 65536" },
	{ "cluster nodes=4 rails=5",
	  "1: rails=5: expected a number from 1 to 4" },
	{ "cluster nodes=4 rials=2",
	  "1: expected nodes, ranks or rails, not \"rials\"" },
	{ "host send=5",
	  "1: send=5: expected a time, such as 2.5us (ns, us, ms, s)" },
	{ "host send=us",
	  "1: send=us: expected a time, such as 2.5us (ns, us, ms, s)" },
	{ "host send=-1us",
	  "1: send=-1us: expected a time, such as 2.5us (ns, us, ms, s)" },
	{ "host send=nanns",
	  "1: send=nanns: expected a time, such as 2.5us (ns, us, ms, s)" },
	{ "host copy=1MB", "1: copy=1MB: expected a bandwidth, such as 160MB/s "
			   "or 100Gb/s (K, M, G)" },
	{ "host copy=0MB/s", "1: copy=0MB/s: expected a bandwidth, such as "
			     "160MB/s or 100Gb/s (K, M, G)" },
	{ "host copy=8001Gb/s", "1: copy=8001Gb/s: expected 1KB/s to "
				"8000Gb/s" },
	{ "host copy=1023B/s", "1: copy=1023B/s: expected a bandwidth, such as "
			       "160MB/s or 100Gb/s (K, M, G)" },
	{ "host copy=0.99KB/s",
	  "1: copy=0.99KB/s: expected 1KB/s to 8000Gb/s" },
	{ "host send=1000001s", "1: send=1000001s: expected at most 1000000s" },
	{ "card mtu=4097MB", "1: mtu=4097MB: expected at most 1GB" },
	{ "host\nhost", "2: expected host only once" },
	{ "card buffers=2", "1: expected mtu=, too" },
	{ "card mtu=512B", "1: mtu=512: expected 576 to 65536 bytes" },
	{ "card mtu=4KB buffers=1048576",
	  "1: buffers=1048576: expected a number from 0 to 32768" },
	{ "card mtu=65KB", "1: mtu=66560: expected 576 to 65536 bytes" },
	{ "card mtu=4kb",
	  "1: mtu=4kb: expected a size, such as 4KB (B, KB, MB, GB)" },
	{ "wire " FORTY FORTY " bandwidth=1MB/s latency=1us",
	  "1: expected a name of less than 48 characters" },
	{ "wire w bandwidth=1MB/s latency=1us\n"
	  "wire w bandwidth=1MB/s latency=1us",
	  "2: expected another name, wire \"w\" exists" },
	{ "crossbar x latency=1us queue=1KB forwarding=quick",
	  "1: expected store-and-forward or cut-through, not \"quick\"" },
	{ "star s crossbar=x wire=w", "1: expected cluster before star" },
	{ PARTS, "5: expected cluster nodes=N" },
	{ "cluster nodes=1", "2: expected card mtu=SIZE" },
};

static const struct {
	const char *text, *error; /* behind the parts and eight nodes */
} wired[] = {
	{ "switch a crossbar=w",
	  "6: expected the name of a crossbar above, not \"w\"" },
	{ "star a crossbar=x wire=x",
	  "6: expected the name of a wire above, not \"x\"" },
	{ "switch node crossbar=x",
	  "6: expected a name that does not begin with \"node\"" },
	{ "switch " FORTY FORTY " crossbar=x",
	  "6: expected a name of less than 48 characters" },
	{ "ring a switches=2 crossbar=x wire=w\nswitch a.1 crossbar=x",
	  "7: expected another name, switch \"a.1\" exists" },
	{ "cable node0 a wire=w", "6: expected a switch, not \"a\"" },
	{ "switch a crossbar=x\ncable a node0 wire=w",
	  "7: expected a switch, not \"node0\"" },
	{ "switch a crossbar=x\ncable node6-8 a wire=w",
	  "7: expected node0 to node7, or node0-7, not \"node6-8\"" },
	{ "switch a crossbar=x\ncable node3-2 a wire=w",
	  "7: expected node0 to node7, or node0-7, not \"node3-2\"" },
	{ "switch a crossbar=x\ncable node3- a wire=w",
	  "7: expected node0 to node7, or node0-7, not \"node3-\"" },
	{ "switch a crossbar=x\ncable node-3 a wire=w",
	  "7: expected node0 to node7, or node0-7, not \"node-3\"" },
	{ "switch a crossbar=x\ncable node4294967296 a wire=w",
	  "7: expected node0 to node7, or node0-7, not "
	  "\"node4294967296\"" },
	{ "switch a crossbar=x\ncable node0-4294967299 a wire=w",
	  "7: expected node0 to node7, or node0-7, not "
	  "\"node0-4294967299\"" },
	{ "ring r switches=2 crossbar=x wire=w\n"
	  "cable r.0 r.1 wire=w rail=0",
	  "7: expected rail= only for cables of nodes" },
	{ "switch a crossbar=x\ncable node3 a wire=w rail=1",
	  "7: rail=1: expected a number below 1, the rails of a node" },
	{ "switch a crossbar=x\ncable node3 a wire=w rail=4",
	  "7: rail=4: expected a number from 0 to 3, or *" },
	{ "switch a crossbar=x\ncable a a wire=w",
	  "7: expected two different ends" },
	{ "switch a crossbar=x\ncable node3 a wire=w count=2",
	  "7: expected at most 1 cable at node3" },
	{ "star a crossbar=x wire=w\ncable node3 a wire=w",
	  "7: expected at most 1 cable at node3" },
	{ "star a crossbar=y wire=w", "6: expected at most 3 cables at a" },
	{ "switch a crossbar=x\ncable node0-4 a wire=w\ncable node6-7 a wire=w",
	  "9: expected a cable at node5" },
	{ "switch a crossbar=x\ncable node0-4 a wire=w\n"
	  "switch b crossbar=x\ncable node5-7 b wire=w",
	  "10: expected a way from node0 to node5" },
	{ "ring a switches=1 crossbar=x wire=w",
	  "6: switches=1: expected a number from 2 to 500" },
	{ "tree t down=1,8 up=65536 crossbar=x wire=w",
	  "6: expected at most 16384 switches" },
	{ "tree t down=2,2,3 up=2,2 crossbar=x wire=w",
	  "6: expected that the numbers in down= make 8 nodes" },
	{ "tree t down=65536,65536,65536,65536,65536,65536,8 up=1,1,1,1,1,1 "
	  "crossbar=x wire=w",
	  "6: expected that the numbers in down= make 8 nodes" },
	{ "tree t down=2,2,2 up=2 crossbar=x wire=w",
	  "6: expected 2 numbers in up=, not 1: one for each level but the "
	  "highest" },
	{ "tree t down=2,,2 crossbar=x wire=w",
	  "6: down=2,,2: expected up to 8 numbers above 0, such as 16,8,8" },
	{ "tree t down=8,0 crossbar=x wire=w",
	  "6: down=8,0: expected up to 8 numbers above 0, such as 16,8,8" },
	{ "tree t down=8,1,1,1,1,1,1,1,1 crossbar=x wire=w",
	  "6: down=8,1,1,1,1,1,1,1,1: expected up to 8 numbers above 0, such "
	  "as 16,8,8" },
};

static void check_refused(const char *text, const char *expected)
{
	ck_assert_msg(!read_text(text), "%s", text);
	ck_assert(!strncmp(error, "text:", 5));
	ck_assert_str_eq(error + 5, expected);
}

START_TEST(what_cannot_be_is_refused)
{
	check_refused(refused[_i].text, refused[_i].error);
}
END_TEST

START_TEST(what_cannot_be_wired_is_refused)
{
	char text[1024];

	snprintf(text, sizeof(text), "cluster nodes=8\n" PARTS "%s\n",
		 wired[_i].text);
	check_refused(text, wired[_i].error);
}
END_TEST

/* A row of switches with a node at either end. */
static bool read_row(unsigned switches)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	unsigned i;
	bool good;

	fprintf(out, "cluster nodes=2\n" PARTS "switch s0 crossbar=x\n");
	for (i = 1; i < switches; i++)
		fprintf(out,
			"switch s%u crossbar=x\n"
			"cable s%u s%u wire=w\n",
			i, i - 1, i);
	fprintf(out, "cable node0 s0 wire=w\ncable node1 s%u wire=w\n",
		switches - 1);
	fclose(out);
	good = read_text(text);
	free(text);
	return good;
}

START_TEST(the_longest_row_of_switches)
{
	ck_assert_msg(read_row(SIM_WAY_MAX), "%s", error);
	sim_cluster_free(&cluster);
	ck_assert(!read_row(SIM_WAY_MAX + 1));
	ck_assert_msg(strstr(error, "expected at most 254 switches in a row"),
		      "%s", error);
}
END_TEST

/* ---- the fabric of a cluster ---- */

static struct sim_clock virtual;
static struct sim_fabric *fabric;
static uint32_t came;

static void arrived(void *arg, struct sim_frame *frame)
{
	ck_assert_ptr_eq(arg, &came);
	ck_assert_uint_eq(frame->at, frame->to);
	came++;
	sim_frame_free(frame);
}

static void begin(void)
{
	sim_clock_open(&virtual, 0);
	fabric = sim_cluster_fabric(&cluster, &virtual, arrived, &came);
	came = 0;
}

static void end(void)
{
	sim_fabric_close(fabric);
	sim_clock_close(&virtual);
	sim_cluster_free(&cluster);
}

/* Each node sends to the node at `distance`. Returns the time until the last
 * arrival. */
static uint64_t shift(uint32_t distance, uint32_t rail)
{
	uint64_t start = virtual.now;
	uint32_t i;

	for (i = 0; i < cluster.nodes; i++) {
		uint32_t to = (i + distance) % cluster.nodes;

		sim_fabric_send(sim_frame_new(
			fabric, sim_cluster_port(&cluster, i, rail),
			sim_cluster_port(&cluster, to, rail), LENGTH));
	}
	while (sim_clock_next(&virtual) != UINT64_MAX)
		sim_clock_step(&virtual);
	ck_assert_uint_eq(came, cluster.nodes);
	came = 0;
	return virtual.now - start;
}

/* The most frames that a link between switches has carried. */
static uint64_t most(void)
{
	uint64_t frames = 0;
	uint32_t i;

	for (i = 0; i < sim_fabric_links(fabric); i++) {
		struct sim_link_info info;

		sim_fabric_link_info(fabric, i, &info);
		ck_assert_uint_eq(info.lost, 0);
		if (info.from >= sim_cluster_ports(&cluster) &&
		    info.to >= sim_cluster_ports(&cluster) &&
		    frames < info.frames)
			frames = info.frames;
	}
	return frames;
}

/* The cables between switches called "PREFIX..." and other switches. */
static uint32_t cables_of(const char *prefix)
{
	char a[SIM_NAME_SIZE], b[SIM_NAME_SIZE];
	size_t length = strlen(prefix);
	uint32_t i, n = 0;

	for (i = 0; i < cluster.ncables; i++) {
		sim_cluster_name(&cluster, cluster.cables[i].a, a);
		sim_cluster_name(&cluster, cluster.cables[i].b, b);
		n += !strncmp(a, prefix, length) != !strncmp(b, prefix, length);
	}
	return n;
}

START_TEST(dawning_3000)
{
	need_file("dawning-3000.cluster");
	ck_assert_uint_eq(cluster.nodes, 64);
	ck_assert_uint_eq(cluster.ranks, 4);
	ck_assert_uint_eq(cluster.nswitches, 4);
	ck_assert_uint_eq(cluster.ncables, 64 + 4 * 2);
	ck_assert_uint_eq(cables_of("switch.2"), 16 + 4);
	ck_assert_uint_eq(cluster.costs.host.trap, 2050);
	ck_assert_uint_eq(cluster.costs.card.write.start, 2570);
	ck_assert_uint_eq(cluster.cables[0].config.ps_per_byte, 5960);
	begin();
	/* All 16 nodes of a switch send to the next switch, over two cables. */
	shift(16, 0);
	ck_assert_uint_eq(most(), 8);
	end();
}
END_TEST

START_TEST(rails_with_networks_of_their_own)
{
	need_file("ethernet-100g.cluster");
	ck_assert_uint_eq(cluster.rails, 2);
	ck_assert_uint_eq(cables_of("left"), 32);
	ck_assert_uint_eq(cluster.cables[32].a,
			  sim_cluster_port(&cluster, 0, 1));
	begin();
	shift(7, 0);
	shift(7, 1);
	end();
}
END_TEST

static unsigned below(uint64_t *random, unsigned n)
{
	return (unsigned)(sim_random(random) % n);
}

/* Switches in a random tree, more cables between random switches, several
 * cables between some, and each rail of each node at a random switch. */
static void wire(FILE *to, uint64_t *random, unsigned nodes, unsigned rails)
{
	unsigned switches = 1 + below(random, 9), i, rail;

	fprintf(to,
		"cluster nodes=%u rails=%u\n" PARTS
		"crossbar z latency=1us queue=1MB forwarding=cut-through\n",
		nodes, rails);
	for (i = 0; i < switches; i++) {
		fprintf(to, "switch s%u crossbar=z\n", i);
		if (i)
			fprintf(to, "cable s%u s%u wire=w\n", i,
				below(random, i));
	}
	for (i = below(random, 2 * switches); switches > 1 && i; i--) {
		unsigned from = below(random, switches - 1);

		fprintf(to, "cable s%u s%u wire=w count=%u\n", from,
			from + 1 + below(random, switches - from - 1),
			1 + below(random, 3));
	}
	for (i = 0; i < nodes; i++)
		for (rail = 0; rail < rails; rail++)
			fprintf(to, "cable node%u s%u wire=w rail=%u\n", i,
				below(random, switches), rail);
}

START_TEST(any_wiring_leads_from_each_to_each)
{
	uint64_t random = (uint64_t)_i;
	unsigned nodes = 2 + below(&random, 9), distance, rail;
	unsigned rails = 1 + (unsigned)_i % BCL_RAILS_MAX;
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	wire(to, &random, nodes, rails);
	fclose(to);
	need_text(text);
	free(text);
	begin();
	for (distance = 1; distance < nodes; distance++)
		for (rail = 0; rail < rails; rail++)
			shift(distance, rail);
	most();
	end();
}
END_TEST

START_TEST(one_switch)
{
	need_file("ethernet-1g.cluster");
	ck_assert_uint_eq(cluster.nswitches, 1);
	ck_assert_uint_eq(cluster.ncables, 32);
	begin();
	/* Two cables, store and forward. */
	ck_assert_uint_eq(shift(1, 0), 2 * (500 + LENGTH * 8) + 2000);
	end();
}
END_TEST

/* Each level has as many cables as there are nodes. So half of the nodes can
 * send to the other half at once, and no frames of a shift meet. */
START_TEST(a_fat_tree_has_full_bisection)
{
	uint32_t distance, rounds = 1;

	need_file("fat-tree-1k.cluster");
	ck_assert_uint_eq(cluster.nswitches, 64 + 8 * 16 + 128);
	ck_assert_uint_eq(cluster.ncables, 3 * 1024);
	ck_assert_uint_eq(cables_of("fat.1.5"), 11 * 32); /* and .50 to .59 */
	ck_assert_uint_eq(cables_of("fat.3."), 1024);
	begin();
	/* The shift needs all cables of the highest level, both ways. */
	ck_assert_uint_eq(shift(512, 0),
			  6 * 50 + 5 * 400 + LENGTH * 80 / 1000 + 1);
	ck_assert_uint_eq(most(), 1);
	for (distance = 1; distance < 1024; distance = 2 * distance + 1) {
		shift(distance, 0);
		ck_assert_uint_le(most(), ++rounds);
	}
	end();
}
END_TEST

START_TEST(an_oversubscribed_tree_has_less)
{
	need_file("fat-tree-16k.cluster");
	ck_assert_uint_eq(cluster.nswitches, 512 + 32 * 16 + 256);
	ck_assert_uint_eq(cluster.ncables, 16384 + 8192 + 8192);
	ck_assert_uint_eq(cables_of("fat.3."), 8192);
	/* A small tree of the same kind. */
	sim_cluster_free(&cluster);
	need_text("cluster nodes=64\n" PARTS
		  "tree fat down=4,4,4 up=2,4 crossbar=x wire=w\n");
	begin();
	shift(32, 0);
	ck_assert_uint_eq(most(), 2);
	end();
}
END_TEST

/* 2-ary 3-tree: each switch has two cables down, and two up below the top. */
START_TEST(a_k_ary_n_tree)
{
	need_text("cluster nodes=8\n" PARTS
		  "tree t down=2,2,2 up=2,2 crossbar=x wire=w\n");
	ck_assert_uint_eq(cluster.nswitches, 12);
	ck_assert_uint_eq(cluster.ncables, 24);
	ck_assert_uint_eq(cables_of("t.1.3"), 4);
	ck_assert_uint_eq(cables_of("t.2.0"), 4);
	ck_assert_uint_eq(cables_of("t.3.3"), 2);
	begin();
	shift(4, 0);
	ck_assert_uint_eq(most(), 1);
	end();
}
END_TEST

START_TEST(the_longest_ring_is_passed)
{
	need_text("cluster nodes=500\n" PARTS
		  "ring r switches=500 crossbar=x wire=w\n");
	begin();
	shift(250, 0);
	end();
}
END_TEST

/* A directory, which has no bytes to read. */
START_TEST(what_cannot_be_read_is_no_end)
{
	FILE *in = open_file("sim", "clusters");

	ck_assert(!sim_cluster_read(&cluster, "clusters", in, error));
	ck_assert_str_eq(error, "clusters:1: Is a directory");
	fclose(in);
}
END_TEST

START_TEST(a_ring_of_two_has_one_pair)
{
	need_text("cluster nodes=3\n" PARTS
		  "ring r switches=2 cables=3 crossbar=x wire=w\n");
	ck_assert_uint_eq(cluster.ncables, 3 + 3);
	ck_assert_uint_eq(cables_of("r.0"), 2 + 3);
	sim_cluster_free(&cluster);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_cluster");
	TCase *tcase = tcase_create("sim_cluster");

	tcase_add_test(tcase, units);
	tcase_add_test(tcase, switches_and_cables_in_any_way);
	tcase_add_test(tcase, the_example_of_the_manual);
	tcase_add_loop_test(tcase, what_cannot_be_is_refused, 0,
			    sizeof(refused) / sizeof(*refused));
	tcase_add_loop_test(tcase, what_cannot_be_wired_is_refused, 0,
			    sizeof(wired) / sizeof(*wired));
	tcase_add_test(tcase, the_longest_row_of_switches);
	tcase_add_test(tcase, dawning_3000);
	tcase_add_test(tcase, rails_with_networks_of_their_own);
	tcase_add_loop_test(tcase, any_wiring_leads_from_each_to_each, 0, 40);
	tcase_add_test(tcase, one_switch);
	tcase_add_test(tcase, a_fat_tree_has_full_bisection);
	tcase_add_test(tcase, an_oversubscribed_tree_has_less);
	tcase_add_test(tcase, a_k_ary_n_tree);
	tcase_add_test(tcase, a_ring_of_two_has_one_pair);
	tcase_add_test(tcase, the_longest_ring_is_passed);
	tcase_add_test(tcase, what_cannot_be_read_is_no_end);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
