/* SPDX-License-Identifier: MIT */
/*
 * heat [--rma] [-n SIDE] [-s STEPS] [PICTURE.png]
 *
 * Heat spreads over a square plate with hot spots and a cold border. Each rank
 * has some rows, and needs those beside them (halo) of its neighbours in each
 * step: by messages, or with --rma put straight into the neighbour's memory,
 * which a notice in its event queue announces.
 */
#include <getopt.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heat.h"

void check(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "heat: %s: %s\n", what, bcl_strstatus(status));
	exit(1);
}

void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	check(memory ? BCL_OK : BCL_ERR_NOMEM, "memory");
	return memory;
}

/* ---- the plate -------------------------------------------------------------
 */

static unsigned first_row(unsigned side, unsigned rank, unsigned size)
{
	return (unsigned)((uint64_t)side * rank / size);
}

static void open_plate(struct plate *plate, unsigned rank, unsigned size)
{
	unsigned side = plate->side, y, x;

	plate->first = first_row(side, rank, size);
	plate->rows = first_row(side, rank + 1, size) - plate->first;
	plate->length = side * sizeof(double);
	/* Room for as many rows as any rank has. */
	plate->now = allocate(side / size + 3, plate->length);
	plate->next = allocate(side / size + 3, plate->length);
	for (y = 0; y < plate->rows; y++)
		for (x = 0; x < side; x++)
			row_of(plate, plate->now, y + 1)[x] =
				(y + plate->first) * 8 / side % 3 == 1 &&
				x * 8 / side % 4 == 2;
}

/* The outermost cells of the whole plate stay as they are. */
static void step(struct plate *plate)
{
	double *swap = plate->now;
	unsigned side = plate->side, y, x;

	for (y = 1; y <= plate->rows; y++) {
		const double *above = row_of(plate, plate->now, y - 1);
		const double *here = above + side, *below = here + side;
		double *to = row_of(plate, plate->next, y);
		bool inner = y + plate->first > 1 && y + plate->first < side;

		for (x = 1; inner && x < side - 1; x++)
			to[x] = here[x] +
				0.2 * (above[x] + below[x] + here[x - 1] +
				       here[x + 1] - 4 * here[x]);
	}
	plate->now = plate->next;
	plate->next = swap;
}

/* All rows, at rank 0. */
static double *gather(struct bcl_team *team, const struct plate *plate)
{
	unsigned size = bcl_team_size(team), side = plate->side, rank;
	size_t most = side / size + 1;
	double *cells = NULL;

	if (bcl_team_rank(team) == 0)
		cells = allocate(size * most, plate->length);
	check(bcl_gather(team, row_of(plate, plate->now, 1),
			 most * plate->length, cells, 0),
	      "gather");
	for (rank = 0; cells && rank < size; rank++)
		memmove(row_of(plate, cells, first_row(side, rank, size)),
			cells + rank * most * side, most * plate->length);
	return cells;
}

static void draw(const char *name, const double *cells, unsigned side)
{
	png_image image = { .version = PNG_IMAGE_VERSION,
			    .width = side,
			    .height = side,
			    .format = PNG_FORMAT_RGB };
	unsigned char *pixels = allocate((size_t)side * side, 3);
	size_t i;

	/* black, red, yellow, white */
	for (i = 0; i < (size_t)side * side * 3; i++) {
		double heat = 3 * cells[i / 3] - (double)(i % 3);

		heat = heat < 0 ? 0 : heat > 1 ? 1 : heat;
		pixels[i] = (unsigned char)(255 * heat);
	}
	if (!png_image_write_to_file(&image, name, 0, pixels, 0, NULL)) {
		fprintf(stderr, "heat: %s: %s\n", name, image.message);
		exit(1);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	void (*swap)(struct halo * halo, const struct plate *plate);
	unsigned rank, size, steps = 1000, i;
	struct plate plate = { .side = 512 };
	uint64_t sum = 0xcbf29ce484222325;
	struct halo halo = { 0 };
	struct bcl_team *team;
	double *cells, time;
	int option;

	swap = swap_messages;
	while ((option = getopt_long(argc, argv, "n:s:",
				     (const struct option[]){
					     { "rma", 0, NULL, 'r' }, { 0 } },
				     NULL)) != -1)
		if (option == 'r')
			swap = swap_rma;
		else if (option == 'n')
			plate.side = (unsigned)atoi(optarg);
		else if (option == 's')
			steps = (unsigned)atoi(optarg);
		else
			return 2;
	check(bcl_adi_open(NULL, &halo.adi), "start");
	check(bcl_team_world(halo.adi, &team), "team");
	rank = bcl_team_rank(team);
	size = bcl_team_size(team);
	check(plate.side > size ? BCL_OK : BCL_ERR_ARG, "side");
	open_plate(&plate, rank, size);
	if (rank > 0)
		halo.neighbour[halo.n++] =
			(struct neighbour){ .rank = (int)rank - 1,
					    .where = ABOVE };
	if (rank + 1 < size)
		halo.neighbour[halo.n++] =
			(struct neighbour){ .rank = (int)rank + 1,
					    .where = BELOW };
	if (swap == swap_rma)
		open_rma(&halo, team, &plate);

	check(bcl_barrier(team), "barrier");
	time = seconds();
	for (i = 0; i < steps; i++) {
		swap(&halo, &plate);
		step(&plate);
	}
	check(bcl_barrier(team), "barrier");
	time = seconds() - time;

	cells = gather(team, &plate);
	if (cells) {
		for (i = 0; i < plate.side * plate.side; i++)
			sum = (sum ^ (uint64_t)(1e15 * cells[i])) *
			      0x100000001b3;
		if (optind < argc)
			draw(argv[optind], cells, plate.side);
		printf("%u x %u cells, %u ranks: %.2f us per step, "
		       "field %016lx\n",
		       plate.side, plate.side, size, 1e6 * time / steps,
		       (unsigned long)sum);
	}
	bcl_team_free(team);
	bcl_adi_close(halo.adi);
	return 0;
}
