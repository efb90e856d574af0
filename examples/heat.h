/* SPDX-License-Identifier: MIT */
/* The plate of heat, and how the rows at the borders of parts are exchanged. */
#ifndef HEAT_H
#define HEAT_H

#include <bcl/coll.h>

enum {
	ABOVE = 0, /* towards row 0 */
	BELOW = 1,
};

struct plate {
	unsigned side, first, rows; /* first..first + rows - 1 are here */
	double *now, *next;	    /* halo, rows, halo; `side` cells each */
	size_t length;		    /* bytes of a row */
};

struct neighbour {
	int rank;
	unsigned where; /* ABOVE, BELOW */
	struct bcl_peer *peer;
	unsigned char key[BCL_KEY_MAX];
};

struct halo {
	struct bcl_adi *adi;
	struct neighbour neighbour[2];
	unsigned n;

	/* RMA: a port of our own, as the ADI reads the events of its port */
	struct bcl_port *port;
	struct bcl_memory *memory; /* rows: of even and odd steps, from both */
	uint64_t step, put, done;  /* rows put, and known to be there */
	uint64_t arrived[2];	   /* rows from above and below */
};

/* Ends the program if the status is bad. */
void check(enum bcl_status status, const char *what);
void *allocate(size_t n, size_t size);

/* Row 0 is the upper halo. */
static inline double *row_of(const struct plate *plate, double *cells,
			     unsigned row)
{
	return cells + (size_t)row * plate->side;
}

/* Get the halo rows of plate->now: by messages; or put straight into the
 * neighbour's memory, after open_rma(). */
void swap_messages(struct halo *halo, const struct plate *plate);
void open_rma(struct halo *halo, struct bcl_team *team,
	      const struct plate *plate);
void swap_rma(struct halo *halo, const struct plate *plate);

#endif
