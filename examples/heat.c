/* SPDX-License-Identifier: MIT */
/*
 * heat [--rma] [-n SIDE] [-s STEPS] [PICTURE.png]
 *
 * cc heat.c heat_halo.c -o heat $(pkg-config --cflags --libs bcl libpng)
 *
 * Heat spreads over a square plate with hot spots and a cold border. Each rank
 * has some rows. In each step a rank needs the rows next to them (halo) from
 * the neighbours. The rows go as messages, or with --rma a rank puts them
 * straight into the neighbour's memory, and an event in the neighbour's queue
 * announces them.
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

/* ---- the plate ---- */

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
	/* All ranks allocate as many rows as the largest part has. */
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

/* Gathers all rows at rank 0. */
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

/* ---- arguments ---- */

struct arguments {
	unsigned side, steps;
	bool rma;
	const char *picture; /* NULL: none */
};

static int usage(bool asked)
{
	fputs("usage: mpiexec -n RANKS heat [--rma] [-n SIDE] [-s STEPS] "
	      "[PICTURE.png]\n"
	      "Heat spreads over a square plate; each rank has some of its "
	      "rows.\n"
	      "  -n SIDE   cells of a side: 512; more than there are ranks, up "
	      "to 16384\n"
	      "  -s STEPS  1000; up to 1000000000\n"
	      "  --rma     rows go by remote memory access, not by messages\n"
	      "  PICTURE   gets what rank 0 gathers at the end\n",
	      asked ? stdout : stderr);
	return asked ? 0 : 2;
}

/* Returns 0 if the text is no number from 1 to `most`. */
static unsigned number(const char *text, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end || value < 1 || value > most ? 0 : (unsigned)value;
}

/* Returns -1, or the exit status. */
static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "rma", no_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*arguments = (struct arguments){ .side = 512, .steps = 1000 };
	while ((option = getopt_long(argc, argv, "n:s:", options, NULL)) != -1)
		if (option == 'r')
			arguments->rma = true;
		else if (option == 'n')
			arguments->side = number(optarg, 16384);
		else if (option == 's')
			arguments->steps = number(optarg, 1000000000);
		else
			return usage(option == 'h');
	if (!arguments->side || !arguments->steps || optind + 1 < argc)
		return usage(false);
	arguments->picture = argv[optind];
	return -1;
}

int main(int argc, char **argv)
{
	void (*swap)(struct halo * halo, const struct plate *plate);
	struct arguments arguments;
	unsigned rank, size, i;
	int status = read_arguments(argc, argv, &arguments);
	struct plate plate = { .side = arguments.side };
	uint64_t sum = 0xcbf29ce484222325;
	struct halo halo = { 0 };
	struct bcl_team *team;
	double *cells, time;

	if (status >= 0)
		return status;
	swap = arguments.rma ? swap_rma : swap_messages;
	check(bcl_adi_open(NULL, &halo.adi), "start");
	check(bcl_team_world(halo.adi, &team), "team");
	rank = bcl_team_rank(team);
	size = bcl_team_size(team);
	if (plate.side <= size) {
		fprintf(stderr, "heat: -n %u: not more than the %u ranks\n",
			plate.side, size);
		return usage(false);
	}
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
	for (i = 0; i < arguments.steps; i++) {
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
		if (arguments.picture)
			draw(arguments.picture, cells, plate.side);
		printf("%u x %u cells, %u ranks: %.2f us per step, "
		       "field %016lx\n",
		       plate.side, plate.side, size,
		       1e6 * time / arguments.steps, (unsigned long)sum);
	}
	bcl_team_free(team);
	bcl_adi_close(halo.adi);
	return 0;
}
