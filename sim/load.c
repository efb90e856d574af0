/* SPDX-License-Identifier: MIT */
/* Samples the load of the links of a network and prints it as a table; see
 * load.h. */
#include "sim/load.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

enum {
	INTERVAL = 1000, /* ns, at first */
};

/* ---- groups ---- */

/* The common name of places of a kind: "node*.1", "fat.2.*". */
static void class_of(const struct sim_cluster *cluster, uint32_t number,
		     char name[SIM_NAME_SIZE])
{
	size_t length;

	if (number < sim_cluster_ports(cluster)) {
		if (cluster->rails == 1)
			strcpy(name, "node*");
		else
			snprintf(name, SIM_NAME_SIZE, "node*.%u",
				 sim_cluster_rail(cluster, number));
		return;
	}
	sim_cluster_name(cluster, number, name);
	length = strlen(name);
	while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9')
		length--;
	if (name[length])
		strcpy(name + length, "*");
}

static uint32_t find_group(struct sim_load *load, uint32_t link)
{
	char from[SIM_NAME_SIZE], to[SIM_NAME_SIZE], name[SIM_LOAD_NAME];
	uint32_t i;

	class_of(load->cluster, load->link[link].from, from);
	class_of(load->cluster, load->link[link].to, to);
	snprintf(name, sizeof(name), "%s > %s", from, to);
	for (i = 0; i < load->ngroups; i++)
		if (!strcmp(load->groups[i].name, name))
			return i;
	load->groups =
		sim_grow(load->groups, load->ngroups, sizeof(*load->groups));
	memset(&load->groups[i], 0, sizeof(*load->groups));
	strcpy(load->groups[i].name, name);
	return load->ngroups++;
}

/* ---- time ---- */

/* Halves the number of samples by merging pairs, to make room. */
static void merge_samples(struct sim_load *load)
{
	uint32_t i, j;

	for (i = 0; i < load->ngroups; i++) {
		uint64_t *busy = load->groups[i].busy;

		for (j = 0; j < SIM_LOAD_SAMPLES / 2; j++)
			busy[j] = busy[2 * j] + busy[2 * j + 1];
	}
	load->nsamples /= 2;
	load->interval *= 2;
}

static void take_sample(struct sim_event *event)
{
	struct sim_load *load =
		(struct sim_load *)(void *)((char *)event -
					    offsetof(struct sim_load, sample));
	uint32_t links = sim_fabric_links(load->fabric), i;
	uint64_t *busy = sim_need(calloc(load->ngroups, sizeof(*busy)));
	struct sim_link_info info;

	for (i = 0; i < links; i++) {
		sim_fabric_link_info(load->fabric, i, &info);
		busy[load->group[i]] += info.busy;
	}
	for (i = 0; i < load->ngroups; i++) {
		struct sim_load_group *group = &load->groups[i];

		if (busy[i] > group->before) {
			group->busy[load->nsamples] = busy[i] - group->before;
			group->before = busy[i];
		} else {
			group->busy[load->nsamples] = 0;
		}
	}
	free(busy);
	if (++load->nsamples == SIM_LOAD_SAMPLES)
		merge_samples(load);
	sim_clock_set(load->clock, event,
		      load->start + (load->nsamples + 1) * load->interval);
}

void sim_load_open(struct sim_load *load, const struct sim_cluster *cluster,
		   struct sim_fabric *fabric, struct sim_clock *clock)
{
	uint32_t links = sim_fabric_links(fabric), i;

	*load = (struct sim_load){
		.cluster = cluster,
		.fabric = fabric,
		.clock = clock,
		.sample.call = take_sample,
		.start = clock->now,
		.interval = INTERVAL,
		.group = sim_need(calloc(links, sizeof(*load->group))),
		.link = sim_need(calloc(links, sizeof(*load->link))),
	};
	for (i = 0; i < links; i++) {
		uint32_t group;

		sim_fabric_link_info(fabric, i, &load->link[i]);
		group = find_group(load, i);
		load->group[i] = group;
		load->groups[group].links++;
		load->groups[group].before += load->link[i].busy;
	}
	sim_clock_set(clock, &load->sample, load->start + INTERVAL);
}

void sim_load_stop(struct sim_load *load)
{
	uint32_t links = sim_fabric_links(load->fabric), i;

	sim_clock_clear(load->clock, &load->sample);
	load->lasted = load->clock->now - load->start;
	for (i = 0; i < links; i++) {
		struct sim_link_info *link = &load->link[i], before = *link;

		sim_fabric_link_info(load->fabric, i, link);
		link->frames -= before.frames;
		link->bytes -= before.bytes;
		link->busy -= before.busy;
		link->lost -= before.lost;
	}
}

void sim_load_close(struct sim_load *load)
{
	sim_clock_clear(load->clock, &load->sample);
	free(load->groups);
	free(load->group);
	free(load->link);
}

/* ---- the table ---- */

/* Sums over links; for busy time and queue also the extremes. */
struct sum {
	uint64_t links, frames, bytes, busy, least, most, queue, lost;
};

static void add_link(struct sum *sum, const struct sim_link_info *info)
{
	if (!sum->links++ || sum->least > info->busy)
		sum->least = info->busy;
	sum->frames += info->frames;
	sum->bytes += info->bytes;
	sum->busy += info->busy;
	sum->lost += info->lost;
	if (sum->most < info->busy)
		sum->most = info->busy;
	if (sum->queue < info->queue)
		sum->queue = info->queue;
}

static double busy_percent(const struct sim_load *load, double busy)
{
	return load->lasted ? 100 * busy / (double)load->lasted : 0;
}

static double mean_percent(const struct sim_load *load, const struct sum *sum)
{
	return busy_percent(load, (double)sum->busy / (double)sum->links);
}

static void print_sum(const struct sim_load *load, const char *name,
		      const struct sum *sum, FILE *to)
{
	fprintf(to, "%-28s %7llu %10llu %10.3f %6.1f %6.1f %6.1f %9.1f %7llu\n",
		name, (unsigned long long)sum->links,
		(unsigned long long)sum->frames, (double)sum->bytes * 0x1p-20,
		mean_percent(load, sum), busy_percent(load, (double)sum->least),
		busy_percent(load, (double)sum->most),
		(double)sum->queue * 0x1p-10, (unsigned long long)sum->lost);
}

struct place {
	uint64_t busy;
	uint32_t link;
};

static int compare_busy(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	return x->link < y->link ? -1 : 1;
}

static void print_busiest(const struct sim_load *load, unsigned busiest,
			  FILE *to)
{
	uint32_t links = sim_fabric_links(load->fabric), i;
	struct place *place = sim_need(calloc(links, sizeof(*place)));

	for (i = 0; i < links; i++)
		place[i] = (struct place){ load->link[i].busy, i };
	qsort(place, links, sizeof(*place), compare_busy);
	for (i = 0; i < busiest && i < links && place[i].busy; i++) {
		char from[SIM_NAME_SIZE], end[SIM_NAME_SIZE];
		char name[SIM_LOAD_NAME + 16];
		const struct sim_link_info *link = &load->link[place[i].link];
		struct sum sum = { 0 };

		sim_cluster_name(load->cluster, link->from, from);
		sim_cluster_name(load->cluster, link->to, end);
		snprintf(name, sizeof(name), "%u: %s > %s", place[i].link, from,
			 end);
		add_link(&sum, link);
		print_sum(load, name, &sum, to);
	}
	free(place);
}

static struct sum *add_groups(const struct sim_load *load)
{
	struct sum *sums = sim_need(calloc(load->ngroups, sizeof(*sums)));
	uint32_t i;

	for (i = 0; i < sim_fabric_links(load->fabric); i++)
		add_link(&sums[load->group[i]], &load->link[i]);
	return sums;
}

static bool of_switches(const struct sim_load *load, uint32_t link)
{
	uint32_t ports = sim_cluster_ports(load->cluster);

	return load->link[link].from >= ports && load->link[link].to >= ports;
}

void sim_load_thin(const struct sim_load *load, struct sim_load_thin *thin)
{
	struct sum *sums = add_groups(load);
	uint32_t i;

	*thin = (struct sim_load_thin){ .busy = -1 };
	for (i = 0; i < sim_fabric_links(load->fabric); i++) {
		const struct sum *sum = &sums[load->group[i]];

		if (!of_switches(load, i) ||
		    mean_percent(load, sum) <= thin->busy)
			continue;
		*thin = (struct sim_load_thin){
			.name = load->groups[load->group[i]].name,
			.busy = mean_percent(load, sum),
			.least = busy_percent(load, (double)sum->least),
			.most = busy_percent(load, (double)sum->most),
		};
	}
	free(sums);
}

void sim_load_print(const struct sim_load *load, unsigned busiest, FILE *to)
{
	struct sum *sums = add_groups(load);
	uint32_t i;

	fprintf(to, "%-28s %7s %10s %10s %6s %6s %6s %9s %7s\n", "links",
		"number", "frames", "MB", "busy %", "least", "most", "queue KB",
		"lost");
	for (i = 0; i < load->ngroups; i++)
		print_sum(load, load->groups[i].name, &sums[i], to);
	free(sums);
	print_busiest(load, busiest, to);
}
