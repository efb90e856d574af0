/* SPDX-License-Identifier: MIT */
/* Draws the times of a series and the load of links with gnuplot. */
#include "tools/sim.h"

enum {
	CURVES = 8, /* groups of links, at most */
};

static void put_times(FILE *to, const struct sim_series *series)
{
	unsigned i;

	fprintf(to, "$times << EOD\n");
	for (i = 0; i < series->nsizes; i++)
		fprintf(to, "%zu %g\n", series->size[i],
			sim_series_time(series, i));
	fprintf(to, "EOD\n");
}

/* A row per sample: ms, then percent for each group. */
static void put_loads(FILE *to, const struct sim_load *load, uint32_t curves)
{
	uint32_t i, j;

	fprintf(to, "$loads << EOD\n");
	for (i = 0; i < load->nsamples; i++) {
		fprintf(to, "%g", (i + 0.5) * (double)load->interval * 1e-6);
		for (j = 0; j < curves; j++) {
			const struct sim_load_group *group = &load->groups[j];

			fprintf(to, " %g",
				100 * (double)group->busy[i] / group->links /
					(double)load->interval);
		}
		putc('\n', to);
	}
	fprintf(to, "EOD\n");
}

/* Quotes a text for gnuplot. */
static void put_text(FILE *to, const char *text)
{
	putc('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', to);
		putc(*text, to);
	}
	putc('"', to);
}

/* Plots time over size; called if the series has several sizes. */
static void plot_times(FILE *to, const struct sim_series *series)
{
	unsigned i;
	bool zero = false;

	for (i = 0; i < series->nsizes; i++)
		zero |= !series->size[i];
	fprintf(to,
		"set xlabel \"bytes\"\n"
		"set ylabel \"time (us)\"\n"
		"%s"
		"plot $times using 1:2 with linespoints notitle\n"
		"unset logscale\n",
		zero ? "set yrange [0:*]\n" : "set logscale xy 2\n");
}

static void plot_loads(FILE *to, const struct sim_load *load, uint32_t curves)
{
	uint32_t i;

	fprintf(to, "set xlabel \"time (ms)\"\n"
		    "set ylabel \"links busy (%%)\"\n"
		    "set key outside top center horizontal noenhanced\n"
		    "set yrange [0:*]\n"
		    "plot");
	for (i = 0; i < curves; i++) {
		fprintf(to, "%s $loads using 1:%u with lines title ",
			i ? "," : "", i + 2);
		put_text(to, load->groups[i].name);
	}
	putc('\n', to);
}

bool sim_plot(const char *path, const char *title,
	      const struct sim_series *series)
{
	const struct sim_load *load = &series->load;
	uint32_t curves = load->ngroups < CURVES ? load->ngroups : CURVES;
	FILE *to = popen("gnuplot", "w");

	if (!to)
		return false;
	put_times(to, series);
	put_loads(to, load, curves);
	fprintf(to, "set terminal png size 1000,900\nset grid\nset output ");
	put_text(to, path);
	fprintf(to, "\nset multiplot layout %d,1 title ",
		series->nsizes > 1 ? 2 : 1);
	put_text(to, title);
	fprintf(to, " noenhanced\n");
	if (series->nsizes > 1)
		plot_times(to, series);
	plot_loads(to, load, curves);
	return pclose(to) == 0;
}
