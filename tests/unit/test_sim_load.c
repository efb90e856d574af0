/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include "sim/load.h"

enum {
	LENGTH = 1000,
	TAKES = 8000, /* ns, per frame */
};

static struct sim_cluster cluster;
static struct sim_clock virtual;
static struct sim_fabric *fabric;
static struct sim_load load;

static void arrived(void *arg, struct sim_frame *frame)
{
	(void)arg;
	sim_frame_free(frame);
}

static void begin(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	char error[SIM_ERROR_SIZE];

	ck_assert_msg(sim_cluster_read(&cluster, "cluster", in, error), "%s",
		      error);
	fclose(in);
	sim_clock_open(&virtual, 1000000);
	fabric = sim_cluster_fabric(&cluster, &virtual, arrived, NULL);
	sim_load_open(&load, &cluster, fabric, &virtual);
}

static void end(void)
{
	sim_load_close(&load);
	sim_fabric_close(fabric);
	sim_clock_close(&virtual);
	sim_cluster_free(&cluster);
}

static void run_for(uint64_t ns)
{
	uint64_t until = virtual.now + ns;

	while (sim_clock_next(&virtual) <= until)
		sim_clock_step(&virtual);
	virtual.now = until;
}

static void send(uint32_t from, uint32_t to, unsigned frames)
{
	while (frames--)
		sim_fabric_send(sim_frame_new(fabric, from, to, LENGTH));
}

static const char tree[] =
	"cluster nodes=4\n"
	"card mtu=1KB\n"
	"wire w bandwidth=1Gb/s latency=0us\n"
	"crossbar x latency=0us queue=3KB forwarding=cut-through\n"
	"tree t down=2,2 up=1 crossbar=x wire=w\n";

static const struct sim_load_group *group(const char *name)
{
	uint32_t i;

	for (i = 0; i < load.ngroups; i++)
		if (!strcmp(load.groups[i].name, name))
			return &load.groups[i];
	ck_abort_msg("no group %s", name);
}

static uint64_t total(const char *name)
{
	uint64_t busy = 0;
	uint32_t i;

	for (i = 0; i < load.nsamples; i++) {
		ck_assert_uint_le(group(name)->busy[i],
				  group(name)->links * load.interval);
		busy += group(name)->busy[i];
	}
	return busy;
}

START_TEST(links_of_a_kind_are_a_group)
{
	begin("cluster nodes=4 rails=2\n"
	      "card mtu=1KB\n"
	      "wire w bandwidth=1Gb/s latency=0us\n"
	      "crossbar x latency=0us queue=1MB forwarding=cut-through\n"
	      "ring r switches=2 cables=3 crossbar=x wire=w rail=0\n"
	      "switch spare crossbar=x\n"
	      "cable node0-3 spare wire=w rail=1\n"
	      "cable spare r.0 wire=w\n");
	ck_assert_uint_eq(load.ngroups, 7);
	ck_assert_uint_eq(group("node*.0 > r.*")->links, 4);
	ck_assert_uint_eq(group("r.* > node*.0")->links, 4);
	ck_assert_uint_eq(group("node*.1 > spare")->links, 4);
	ck_assert_uint_eq(group("spare > node*.1")->links, 4);
	ck_assert_uint_eq(group("r.* > r.*")->links, 6);
	ck_assert_uint_eq(group("r.* > spare")->links, 1);
	ck_assert_uint_eq(group("spare > r.*")->links, 1);
	end();
}
END_TEST

/* The figures must not depend on how often the samples were merged. */
START_TEST(samples_add_up_to_what_was_busy)
{
	uint64_t wait = 1000;
	unsigned i;

	begin(tree);
	for (i = 1; i <= 15; i++) {
		send(0, 3, 2);
		run_for(2 * TAKES + wait);
		wait *= 2;
	}
	run_for(load.interval);
	ck_assert_uint_eq(total("node* > t.1.*"), i * 2 * TAKES - 2 * TAKES);
	ck_assert_uint_eq(total("t.1.* > t.2.*"), i * 2 * TAKES - 2 * TAKES);
	ck_assert_uint_eq(total("t.2.* > t.1.*"), i * 2 * TAKES - 2 * TAKES);
	ck_assert_uint_eq(total("t.1.* > node*"), i * 2 * TAKES - 2 * TAKES);
	ck_assert_uint_gt(load.interval, 1000);
	ck_assert_uint_lt(load.nsamples, SIM_LOAD_SAMPLES);
	ck_assert_uint_le(load.start + load.nsamples * load.interval,
			  virtual.now);
	end();
}
END_TEST

/* Ten frames, one of them under way at the sample. */
START_TEST(a_sample_has_no_future)
{
	begin(tree);
	send(0, 3, 10);
	run_for(3 * TAKES);
	ck_assert_uint_eq(total("node* > t.1.*"), 3 * TAKES);
	run_for(7 * TAKES);
	ck_assert_uint_eq(total("node* > t.1.*"), 10 * TAKES);
	end();
}
END_TEST

START_TEST(a_table)
{
	struct sim_load_thin thin;
	char *text;
	size_t size;
	FILE *to;

	begin(tree);
	send(0, 1, 3);
	run_for(10 * TAKES);
	sim_load_close(&load); /* earlier traffic does not count */
	sim_load_open(&load, &cluster, fabric, &virtual);
	send(0, 3, 10);
	/* The same cable upwards: three frames wait, then every second frame is
	 * lost. */
	send(1, 3, 10);
	run_for(40 * TAKES);
	sim_load_stop(&load);
	send(0, 1, 3);
	run_for(10 * TAKES); /* nor does later traffic */
	sim_load_thin(&load, &thin);
	ck_assert_str_eq(thin.name, "t.1.* > t.2.*");
	ck_assert_double_eq(thin.busy, 16.25);
	ck_assert_double_eq(thin.least, 0);
	ck_assert_double_eq(thin.most, 32.5);
	to = open_memstream(&text, &size);
	sim_load_print(&load, 2, to);
	fclose(to);
	ck_assert_str_eq(
		text,
		"links                         number     frames         MB "
		"busy %  least   most  queue KB    lost\n"
		"node* > t.1.*                      4         20      0.019 "
		"  12.5    0.0   25.0       8.8       0\n"
		"t.1.* > node*                      4         13      0.012 "
		"   8.1    0.0   32.5       0.0       0\n"
		"t.1.* > t.2.*                      2         13      0.012 "
		"  16.2    0.0   32.5       2.9       7\n"
		"t.2.* > t.1.*                      2         13      0.012 "
		"  16.2    0.0   32.5       0.0       0\n"
		"7: t.1.1 > node3                   1         13      0.012 "
		"  32.5   32.5   32.5       0.0       0\n"
		"8: t.1.0 > t.2.0                   1         13      0.012 "
		"  32.5   32.5   32.5       2.9       7\n");
	free(text);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_load");
	TCase *tcase = tcase_create("sim_load");

	tcase_add_test(tcase, links_of_a_kind_are_a_group);
	tcase_add_test(tcase, samples_add_up_to_what_was_busy);
	tcase_add_test(tcase, a_sample_has_no_future);
	tcase_add_test(tcase, a_table);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
