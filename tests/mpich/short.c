/* SPDX-License-Identifier: MIT */
/*
 * Messages of 0 to 20 bytes between two ranks of a node, before and after the
 * receive is posted: into characters, into every second character, into words
 * and into a buffer that is too short. The receiver writes nothing beside the
 * message.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum {
	LONGEST = 20,
	WORD = 4,
	ROOM = 3 * LONGEST,
	UNTOUCHED = 0x55,
};

enum shape {
	CHARACTERS,
	APART,
	WORDS,
	TOO_SHORT,
	SHAPES,
};

static const char *const names[] = { "characters", "apart", "words",
				     "too short" };

static char sent[LONGEST], got[ROOM];
static MPI_Datatype apart; /* every second character */
static int wrong;

static void complain(enum shape shape, int bytes, int early, const char *what)
{
	printf("%s of %d bytes, %s: %s\n", names[shape], bytes,
	       early ? "before the receive" : "after it", what);
	wrong = 1;
}

static int posted_count(enum shape shape, int bytes)
{
	switch (shape) {
	case WORDS:
		return (bytes + WORD - 1) / WORD;
	case TOO_SHORT:
		return bytes - 1;
	default:
		return bytes;
	}
}

static MPI_Datatype type_of(enum shape shape)
{
	switch (shape) {
	case APART:
		return apart;
	case WORDS:
		return MPI_INT32_T;
	default:
		return MPI_CHAR;
	}
}

static void check(enum shape shape, int bytes, int early, int error,
		  const MPI_Status *status)
{
	char expected[ROOM];
	int class = MPI_SUCCESS, count;

	MPI_Error_class(error, &class);
	if (shape == TOO_SHORT) {
		if (class != MPI_ERR_TRUNCATE)
			complain(shape, bytes, early, "no error");
		if (got[bytes - 1] != UNTOUCHED)
			complain(shape, bytes, early, "written behind");
		return;
	}
	memset(expected, UNTOUCHED, sizeof(expected));
	for (int i = 0; i < bytes; i++)
		expected[shape == APART ? 2 * i : i] = sent[i];
	MPI_Get_count(status, MPI_BYTE, &count);
	if (class != MPI_SUCCESS || count != bytes)
		complain(shape, bytes, early, "another length");
	if (status->MPI_SOURCE != 0 || status->MPI_TAG != bytes)
		complain(shape, bytes, early, "another envelope");
	if (memcmp(got, expected, sizeof(got)) != 0)
		complain(shape, bytes, early, "other bytes");
}

static void hear(enum shape shape, int bytes, int early)
{
	int count = posted_count(shape, bytes), error;
	MPI_Datatype type = type_of(shape);
	MPI_Request request;
	MPI_Status status;

	memset(got, UNTOUCHED, sizeof(got));
	if (early) {
		/* rank 0 sends this message last: the tested message is here */
		MPI_Recv(NULL, 0, MPI_CHAR, 0, LONGEST + 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		error = MPI_Recv(got, count, type, MPI_ANY_SOURCE, bytes,
				 MPI_COMM_WORLD, &status);
	} else {
		MPI_Irecv(got, count, type, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
			  &request);
		MPI_Send(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		error = MPI_Wait(&request, &status);
	}
	check(shape, bytes, early, error, &status);
}

static void say(int bytes, int early)
{
	if (!early)
		MPI_Recv(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Send(sent, bytes, MPI_CHAR, 1, bytes, MPI_COMM_WORLD);
	if (early)
		MPI_Send(NULL, 0, MPI_CHAR, 1, LONGEST + 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Type_create_resized(MPI_CHAR, 0, 2, &apart);
	MPI_Type_commit(&apart);
	for (int i = 0; i < LONGEST; i++)
		sent[i] = (char)(i + 1);
	for (int shape = 0; shape < SHAPES; shape++)
		for (int bytes = shape == TOO_SHORT; bytes <= LONGEST; bytes++)
			for (int early = 0; early < 2; early++)
				if (rank == 0)
					say(bytes, early);
				else
					hear(shape, bytes, early);
	MPI_Type_free(&apart);
	MPI_Finalize();
	return wrong;
}
