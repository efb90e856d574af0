/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include "sim/fault.h"

static struct sim_cluster cluster;
static struct sim_faults faults;
static char error[SIM_ERROR_SIZE];

static FILE *open_text(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	ck_assert_ptr_nonnull(in);
	return in;
}

static bool read_text(const char *text)
{
	FILE *in = open_text(text);
	bool good = sim_faults_read(&faults, &cluster, "script", in, error);

	fclose(in);
	return good;
}

/* To be freed. */
static char *print(const struct sim_faults *printed)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	sim_faults_print(printed, to);
	fclose(to);
	return text;
}

static void setup(void)
{
	FILE *in = open_text(
		"cluster nodes=4 rails=2\n"
		"card mtu=1KB\n"
		"wire w bandwidth=1Gb/s latency=0us\n"
		"crossbar x latency=0us queue=1MB forwarding=cut-through\n"
		"star s crossbar=x wire=w\n");

	ck_assert_msg(sim_cluster_read(&cluster, "cluster", in, error), "%s",
		      error);
	fclose(in);
}

static void teardown(void)
{
	sim_cluster_free(&cluster);
}

START_TEST(a_script_is_read)
{
	const struct sim_fault *fault;

	ck_assert_msg(read_text("drop\n"
				"# no fault\n"
				"delay by=2ms frame=data from=1 to=3 nth=7 "
				"count=2\n"
				"unplug node=3 rail=1 at=5us for=1s\n"
				"crash node=2 sent=17\n"
				"slow node=0 times=10\n"),
		      "%s", error);
	ck_assert_uint_eq(faults.n, 5);
	fault = &faults.fault[0];
	ck_assert_int_eq(fault->kind, SIM_FAULT_DROP);
	ck_assert_uint_eq(fault->from, SIM_ANY);
	ck_assert_uint_eq(fault->nth, 1);
	ck_assert_uint_eq(fault->count, 1);
	fault = &faults.fault[1];
	ck_assert_int_eq(fault->kind, SIM_FAULT_DELAY);
	ck_assert_uint_eq(fault->from, 1);
	ck_assert_uint_eq(fault->to, 3);
	ck_assert_uint_eq(fault->nth, 7);
	ck_assert_uint_eq(fault->count, 2);
	ck_assert_uint_eq(fault->by, 2000000);
	fault = &faults.fault[2];
	ck_assert_int_eq(fault->kind, SIM_FAULT_UNPLUG);
	ck_assert_uint_eq(fault->node, 3);
	ck_assert_uint_eq(fault->rail, 1);
	ck_assert_uint_eq(fault->at, 5000);
	ck_assert_uint_eq(fault->lasts, 1000000000);
	ck_assert_uint_eq(faults.fault[3].sent, 17);
	ck_assert_uint_eq(faults.fault[4].times, 10);
	sim_faults_free(&faults);
}
END_TEST

/* A script, as scripts are printed. */
static const char script[] = "drop\n"
			     "drop frame=hello from=0 to=1 nth=2 count=3\n"
			     "duplicate frame=data\n"
			     "reorder frame=ack to=2 behind=4\n"
			     "corrupt frame=ping from=3 bit=77\n"
			     "delay frame=end by=1500ns\n"
			     "drop frame=verdict nth=4294967294\n"
			     "delay by=3s\n"
			     "cut link=15 at=1ns for=2us\n"
			     "unplug node=1 at=1ms rail=1\n"
			     "crash node=1 sent=3 for=4ms\n"
			     "isolate node=2\n"
			     "slow node=3 at=900000000001us times=2\n"
			     "stall node=0 sent=9 for=7us\n";

START_TEST(what_is_printed_is_read)
{
	char *text;

	ck_assert_msg(read_text(script), "%s", error);
	text = print(&faults);
	ck_assert_str_eq(text, script);
	free(text);
	sim_faults_free(&faults);
}
END_TEST

static const struct {
	const char *text, *error;
} refused[] = {
	{ "\ndorp", "script:2: expected drop, duplicate, reorder, corrupt, "
		    "delay, cut, unplug, crash, isolate, slow or stall, "
		    "not \"dorp\"" },
	{ "drop 2", "script:1: expected: one word, then options" },
	{ "drop nth=0",
	  "script:1: nth=0: expected a number from 1 to 4294967294" },
	{ "drop to=x",
	  "script:1: to=x: expected a number from 0 to 4294967294, or *" },
	{ "drop frame=date", "script:1: expected any, hello, data, ack, ping, "
			     "end or verdict, not \"date\"" },
	{ "drop from=4", "script:1: node 4: the cluster has but 4" },
	{ "drop to=5", "script:1: node 5: the cluster has but 4" },
	{ "delay", "script:1: expected by=, too" },
	{ "cut link=16", "script:1: link 16: the cluster has but 16" },
	{ "crash node=7", "script:1: node 7: the cluster has but 4" },
	{ "unplug node=0 rail=2", "script:1: rail 2: the cluster has but 2" },
	{ "crash node=0 rail=1",
	  "script:1: expected node, sent, at or for, not \"rail\"" },
	{ "crash node=0 sent=1 at=1us",
	  "script:1: expected sent= or at=, not both" },
	{ "slow node=0 times=1",
	  "script:1: times=1: expected a number from 2 to 4294967294" },
};

START_TEST(what_makes_no_sense_is_refused)
{
	ck_assert(!read_text(refused[_i].text));
	ck_assert_str_eq(error, refused[_i].error);
}
END_TEST

static struct sim_fault_mix mix(uint64_t seed, unsigned kinds)
{
	return (struct sim_fault_mix){
		.seed = seed,
		.faults = 300,
		.kinds = kinds,
		.frames = 1000,
		.duration = 1000000000,
	};
}

/* Random faults make a script, and the same seed makes the same script. */
START_TEST(chance_writes_scripts)
{
	struct sim_fault_mix mixed =
		mix((uint64_t)_i, (1 << SIM_FAULT_KINDS) - 1);
	char *text, *again;

	sim_faults_random(&faults, &cluster, &mixed);
	ck_assert_uint_eq(faults.n, mixed.faults);
	text = print(&faults);
	sim_faults_free(&faults);

	ck_assert_msg(read_text(text), "%s", error);
	again = print(&faults);
	ck_assert_str_eq(text, again);
	free(again);
	sim_faults_free(&faults);

	sim_faults_random(&faults, &cluster, &mixed);
	again = print(&faults);
	ck_assert_str_eq(text, again);
	free(again);
	sim_faults_free(&faults);

	mixed.seed += 100;
	sim_faults_random(&faults, &cluster, &mixed);
	again = print(&faults);
	ck_assert_str_ne(text, again);
	free(again);
	sim_faults_free(&faults);
	free(text);
}
END_TEST

START_TEST(chance_chooses_what_it_may)
{
	unsigned kinds = 1 << SIM_FAULT_DELAY | 1 << SIM_FAULT_CRASH, i;
	unsigned n[SIM_FAULT_KINDS] = { 0 };
	struct sim_fault_mix mixed = mix(1, kinds);

	sim_faults_random(&faults, &cluster, &mixed);
	for (i = 0; i < faults.n; i++) {
		const struct sim_fault *fault = &faults.fault[i];

		n[fault->kind]++;
		if (fault->kind == SIM_FAULT_DELAY && fault->from != SIM_ANY)
			ck_assert_uint_ne(fault->from, fault->to);
		ck_assert_uint_le(fault->nth, mixed.frames);
		ck_assert_uint_le(fault->sent, mixed.frames);
		ck_assert_uint_le(fault->at + fault->lasts,
				  mixed.duration + 2000);
	}
	ck_assert_uint_eq(n[SIM_FAULT_DELAY] + n[SIM_FAULT_CRASH], faults.n);
	ck_assert_uint_gt(n[SIM_FAULT_DELAY], n[SIM_FAULT_CRASH]);
	ck_assert_uint_gt(n[SIM_FAULT_CRASH], 0);
	sim_faults_free(&faults);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_fault");
	TCase *tcase = tcase_create("sim_fault");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_script_is_read);
	tcase_add_test(tcase, what_is_printed_is_read);
	tcase_add_loop_test(tcase, what_makes_no_sense_is_refused, 0,
			    sizeof(refused) / sizeof(*refused));
	tcase_add_loop_test(tcase, chance_writes_scripts, 0, 10);
	tcase_add_test(tcase, chance_chooses_what_it_may);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
