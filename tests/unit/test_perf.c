/* SPDX-License-Identifier: MIT */
/* The statistics and the plan of bcl-perf, and the processes that bcl-perf
 * asks. */
#include "unit.h"

#include <signal.h>
#include <string.h>

#include "bench/perf_run.h"

static void add(struct perf_series *series, double a, double b, double c)
{
	const double sample[] = { a, b, c };

	perf_series_add(series, sample, 3);
}

START_TEST(summary_of_known_samples)
{
	struct perf_series series = { 0 };
	struct perf_summary s;

	add(&series, 1, 2, 3);
	add(&series, 4, 5, 9);
	perf_summarise(&series, &s);
	ck_assert_double_eq_tol(s.mean, 4, 1e-12);
	/* sqrt(40 / (6 x 5)) */
	ck_assert_double_eq_tol(s.error, 1.154700538, 1e-8);
	ck_assert_double_eq_tol(s.p50, 3.5, 1e-12);
	ck_assert_double_eq_tol(s.p1, 1.05, 1e-12);
	ck_assert_double_eq_tol(s.p99, 8.8, 1e-12);
	ck_assert_double_eq(s.drift, 0);
	perf_series_free(&series);
	perf_summarise(&series, &s);
	ck_assert_double_eq(s.mean, 0);
}
END_TEST

START_TEST(drift_is_between_thirds)
{
	struct perf_series series = { 0 };
	struct perf_summary s;
	unsigned int i;

	/* A bad sample in each round, a bad round in a third: no drift. */
	for (i = 0; i < 9; i++)
		add(&series, 10, i == 4 ? 50 : 10, 90);
	perf_summarise(&series, &s);
	ck_assert_double_eq(s.drift, 0);
	for (i = 0; i < 9; i++)
		add(&series, 12, 12, 12);
	perf_summarise(&series, &s);
	/* Medians 10, 12, 12 and, because of the bad round, 12 of all. */
	ck_assert_double_eq_tol(s.drift, 2.0 / 12, 1e-12);
	perf_series_free(&series);
}
END_TEST

START_TEST(ratio_pairs_rounds)
{
	struct perf_series ours = { 0 }, theirs = { 0 };

	/* The machine is three times slower in the second round. */
	add(&ours, 20, 20, 20);
	add(&ours, 60, 60, 60);
	add(&ours, 20, 20, 20);
	ck_assert_double_eq(perf_ratio(&ours, &theirs), 0);
	add(&theirs, 10, 10, 10);
	add(&theirs, 30, 30, 30);
	ck_assert_double_eq_tol(perf_ratio(&ours, &theirs), 2, 1e-12);
	perf_series_free(&ours);
	perf_series_free(&theirs);
}
END_TEST

START_TEST(every_bar_is_of_one_line)
{
	struct perf_run run = { 0 };
	const struct perf_bar *bar;
	unsigned int i, lines;

	perf_run_plan(&run);
	ck_assert_uint_gt(run.lines, 0);
	for (bar = perf_bars; bar->figure; bar++) {
		for (lines = i = 0; i < run.lines; i++)
			lines += run.line[i].bar == bar;
		ck_assert_msg(lines == 1, "%s: %u lines", bar->figure, lines);
	}
	for (i = 1; i < run.lines; i++)
		ck_assert_str_ne(run.line[i - 1].figure, run.line[i].figure);
	perf_run_free(&run);
}
END_TEST

START_TEST(judgement)
{
	struct perf_bar bar = { "", PERF_RATIO, false, 1.5, "tcp/bbr" };
	struct perf_line line = { .bar = &bar, .reference = "tcp/cubic" };

	add(&line.ours, 15, 15, 16);
	add(&line.theirs, 10, 10, 10);
	perf_judge(&line);
	ck_assert(!line.has_bar);
	strcpy(line.reference, "tcp/bbr");
	perf_judge(&line);
	ck_assert(line.has_bar && line.met);
	bar.value = 1.49;
	perf_judge(&line);
	ck_assert(!line.met);
	bar.at_least = true;
	perf_judge(&line);
	ck_assert(line.met);
	bar = (struct perf_bar){ "", PERF_MEAN_RATIO, false, 1.51, NULL };
	perf_judge(&line);
	ck_assert(!line.met);
	bar = (struct perf_bar){ "", PERF_MEDIAN, true, 15, NULL };
	perf_judge(&line);
	ck_assert(line.met);
	perf_series_free(&line.ours);
	perf_series_free(&line.theirs);
}
END_TEST

/* Of 1,000, the median, between the thirds. */
static bool unreliable(double ours, double theirs)
{
	struct perf_line line = { .reference = "line" };
	bool marked;
	int third;

	for (third = -1; third < 2; third++) {
		double our = 1000 + ours * third / 2;
		double their = 1000 + theirs * third / 2;

		add(&line.ours, our, our, our);
		add(&line.theirs, their, their, their);
	}
	perf_judge(&line);
	marked = line.unreliable;
	perf_series_free(&line.ours);
	perf_series_free(&line.theirs);
	return marked;
}

START_TEST(a_reference_that_drifts)
{
	ck_assert(!unreliable(0, 0));
	ck_assert(!unreliable(0, 99));
	ck_assert(unreliable(0, 101));
	ck_assert(unreliable(0, -101));
	ck_assert(!unreliable(500, 0));
}
END_TEST

/* A source of one process that runs a line of shell. */
static void start(struct perf_source *source, const char *script)
{
	struct perf_command command = { .word = { "/bin/sh", "-c",
						  (char *)script } };

	signal(SIGPIPE, SIG_IGN);
	perf_source_start(source, &command, 1);
}

START_TEST(question_and_answer)
{
	struct perf_source source;
	struct perf_answer answer;

	start(&source, "while read a b; do echo $b $a 1 2.5; done");
	ck_assert(perf_source_ask(&source, "ns line", &answer));
	ck_assert_str_eq(answer.name, "line");
	ck_assert_str_eq(answer.unit, "ns");
	ck_assert_uint_eq(answer.samples, 2);
	ck_assert_double_eq(answer.sample[1], 2.5);
	ck_assert(perf_source_ask(&source, "us other", &answer));
	ck_assert_str_eq(answer.name, "other");
	perf_source_stop(&source);
}
END_TEST

/* However a source ends, bcl-perf must have the reason and not wait for
 * ever. */
START_TEST(source_that_fails)
{
	static const struct {
		const char *script, *failure;
		bool skipped;
	} sources[] = {
		{ "echo no right >&2; exit 77", "no right", true },
		{ "read a; echo one >&2; echo two >&2; exit 1", "two", false },
		{ "kill -SEGV $$", "side 0: Segmentation fault", false },
		{ "kill -ALRM $$", "side 0 hangs", false },
		{ "exit 0", "ended without a word", false },
		{ "read a; echo name unit; read a", "no samples", false },
	};
	struct perf_source source;
	struct perf_answer answer;

	start(&source, sources[_i].script);
	ck_assert(!perf_source_ask(&source, "", &answer));
	ck_assert_str_eq(source.failure, sources[_i].failure);
	ck_assert_int_eq(source.skipped, sources[_i].skipped);
	ck_assert(!perf_source_ask(&source, "", &answer));
	perf_source_stop(&source);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf");
	TCase *tcase = tcase_create("perf");

	tcase_add_test(tcase, summary_of_known_samples);
	tcase_add_test(tcase, drift_is_between_thirds);
	tcase_add_test(tcase, ratio_pairs_rounds);
	tcase_add_test(tcase, every_bar_is_of_one_line);
	tcase_add_test(tcase, judgement);
	tcase_add_test(tcase, a_reference_that_drifts);
	tcase_add_test(tcase, question_and_answer);
	tcase_add_loop_test(tcase, source_that_fails, 0, 6);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
