/* SPDX-License-Identifier: MIT */
/*
 * psort [-o OUTPUT] FILE: sorts the lines of a file, as LC_ALL=C sort does.
 *
 * Sample sort: each rank reads a part of the file and takes samples. All ranks
 * agree on lines that split the whole file into parts of about the same size.
 * Each rank sends every part to the rank that sorts it. Every rank sees the
 * file (and writes a part of OUTPUT) under the same name. Without -o rank 0
 * writes everything to standard output.
 *
 * cc psort.c -o psort $(pkg-config --cflags --libs bcl)
 */
#include <bcl/coll.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SAMPLES = 64,	    /* of each rank */
	SAMPLE_LENGTH = 64, /* the length, then the beginning of a line */
	TAG_OUTPUT = 1,
	CONTEXT = 0,
	PIECE = 1 << 20, /* bytes of output sent at a time */
};

struct line {
	const char *text;
	size_t length; /* without the newline */
};

struct text {
	char *bytes;
	size_t length;
	struct line *lines;
	size_t nlines;
};

static struct bcl_adi *adi;
static struct bcl_team *team;
static unsigned rank, size;

static void need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "psort: rank %u: %s: %s\n", rank, what,
		strerror(errno));
	exit(1);
}

static void check(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "psort: rank %u: %s: %s\n", rank, what,
		bcl_strstatus(status));
	exit(1);
}

static void *allocate(size_t n, size_t element)
{
	void *memory = calloc(n + 1, element);

	need(memory, "memory");
	return memory;
}

/* The order of LC_ALL=C: by bytes, and a prefix before the longer line. */
static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	size_t both = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->text, y->text, both);

	return order ? order
		     : (x->length > y->length) - (x->length < y->length);
}

static void split_lines(struct text *text)
{
	const char *at = text->bytes, *end = at + text->length, *stop;
	size_t room = text->length / 16;

	text->lines = allocate(room, sizeof(*text->lines));
	for (text->nlines = 0; at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		if (text->nlines == room) {
			room = 2 * room + 1;
			text->lines = realloc(text->lines,
					      room * sizeof(*text->lines));
			need(text->lines, "memory");
		}
		text->lines[text->nlines++] =
			(struct line){ at, (size_t)(stop - at) };
	}
	qsort(text->lines, text->nlines, sizeof(*text->lines), compare);
}

/* The offset of the first line that begins at `offset` or after it. */
static size_t line_from(const char *bytes, size_t length, size_t offset)
{
	const char *end;

	if (!offset || offset == length)
		return offset;
	end = memchr(bytes + offset - 1, '\n', length - offset + 1);
	return end ? (size_t)(end - bytes) + 1 : length;
}

static size_t part_from(size_t length, unsigned part)
{
	return length / size * part + length % size * part / size;
}

/* Reads the lines that begin in this rank's part of the file. */
static void read_part(const char *name, struct text *text)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	size_t length, begin, end;
	struct stat stat;
	char *bytes;

	need(fd >= 0 && !fstat(fd, &stat), name);
	if (!S_ISREG(stat.st_mode)) {
		fprintf(stderr,
			"psort: rank %u: %s: not a regular file, of which each "
			"rank could read a part\n",
			rank, name);
		exit(1);
	}
	length = (size_t)stat.st_size;
	*text = (struct text){ 0 };
	if (length) {
		bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
		need(bytes != MAP_FAILED, name);
		begin = line_from(bytes, length, part_from(length, rank));
		end = line_from(bytes, length, part_from(length, rank + 1));
		text->bytes = bytes + begin;
		text->length = end - begin;
	}
	close(fd);
	split_lines(text);
}

/* Chooses size - 1 of all ranks' samples, at equal distances. */
static struct line *choose_splitters(const struct text *text)
{
	size_t total = (size_t)size * SAMPLES, i;
	char(*all)[SAMPLE_LENGTH] = allocate(total, sizeof(*all));
	struct line *lines = allocate(total, sizeof(*lines));

	for (i = 0; i < SAMPLES && text->nlines; i++) {
		const struct line *line =
			&text->lines[text->nlines * i / SAMPLES];
		char *sample = all[rank * SAMPLES + i];

		sample[0] = (char)(line->length < SAMPLE_LENGTH
					   ? line->length
					   : SAMPLE_LENGTH - 1);
		memcpy(sample + 1, line->text, (size_t)sample[0]);
	}
	check(bcl_allgather(team, BCL_IN_PLACE, SAMPLES * sizeof(*all), all),
	      "samples");
	for (i = 0; i < total; i++)
		lines[i] = (struct line){ all[i] + 1, (size_t)all[i][0] };
	qsort(lines, total, sizeof(*lines), compare);
	for (i = 1; i < size; i++)
		lines[i - 1] = lines[i * SAMPLES];
	return lines;
}

/* Sends each rank the lines between its splitters. */
static void exchange(struct text *text, const struct line *splitters)
{
	size_t *out = allocate(size, sizeof(*out));
	size_t *out_at = allocate(size, sizeof(*out_at));
	size_t *in = allocate(size, sizeof(*in));
	size_t *in_at = allocate(size, sizeof(*in_at));
	char *packed = allocate(text->length + 1, 1), *to = packed;
	size_t i, total = 0;
	unsigned part = 0;

	for (i = 0; i < text->nlines; i++) {
		const struct line *line = &text->lines[i];

		while (part + 1 < size && compare(line, &splitters[part]) >= 0)
			out_at[++part] = (size_t)(to - packed);
		memcpy(to, line->text, line->length);
		to[line->length] = '\n';
		to += line->length + 1;
		out[part] += line->length + 1;
	}
	check(bcl_alltoall(team, out, in, sizeof(*out)), "sizes");
	for (i = 0; i < size; i++) {
		in_at[i] = total;
		total += in[i];
	}
	text->bytes = allocate(total, 1);
	text->length = total;
	check(bcl_alltoallv(team, packed, out, out_at, text->bytes, in, in_at),
	      "lines");
	split_lines(text);
}

/* The sorted lines, each with a newline. */
static char *join(const struct text *text)
{
	char *bytes = allocate(text->length, 1), *to = bytes;
	size_t i;

	for (i = 0; i < text->nlines; i++) {
		memcpy(to, text->lines[i].text, text->lines[i].length);
		to += text->lines[i].length;
		*to++ = '\n';
	}
	return bytes;
}

static void write_part(const char *name, const char *bytes, size_t length,
		       const size_t *lengths)
{
	off_t at = 0;
	ssize_t n;
	unsigned i;
	int fd;

	if (rank == 0) {
		fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		need(fd >= 0 && !close(fd), name);
	}
	check(bcl_barrier(team), "barrier");
	fd = open(name, O_WRONLY | O_CLOEXEC);
	need(fd >= 0, name);
	for (i = 0; i < rank; i++)
		at += (off_t)lengths[i];
	for (; length; length -= (size_t)n, bytes += n, at += n) {
		n = pwrite(fd, bytes, length, at);
		need(n > 0, name);
	}
	need(!close(fd), name);
}

static void print_all(const char *bytes, const size_t *lengths)
{
	char *piece = allocate(PIECE, 1);
	size_t at, n;
	unsigned from;

	for (from = 0; from < size; from++)
		for (at = 0; at < lengths[from]; at += n) {
			n = lengths[from] - at;
			n = n < PIECE ? n : PIECE;
			if (rank == from)
				memcpy(piece, bytes + at, n);
			if (from && rank == from)
				check(bcl_adi_send(adi, piece, n, 0, TAG_OUTPUT,
						   CONTEXT),
				      "send");
			if (from && rank == 0)
				check(bcl_adi_recv(adi, piece, n, (int)from,
						   TAG_OUTPUT, CONTEXT, NULL),
				      "receive");
			need(rank || fwrite(piece, n, 1, stdout) == 1,
			     "output");
		}
	need(!fflush(stdout), "output");
}

static int usage(FILE *to, int status)
{
	fputs("usage: mpiexec -n RANKS psort [-o OUTPUT] FILE\n"
	      "Sorts the lines of FILE, as LC_ALL=C sort does, to OUTPUT, else "
	      "to the standard\noutput. Each rank sorts a part: all must see "
	      "FILE and OUTPUT by these names.\n",
	      to);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	const char *output = NULL;
	struct text text;
	size_t *lengths;
	char *bytes;
	int option;

	while ((option = getopt_long(argc, argv, "ho:", options, NULL)) != -1) {
		if (option != 'o')
			return option == 'h' ? usage(stdout, 0)
					     : usage(stderr, 2);
		output = optarg;
	}
	if (optind + 1 != argc)
		return usage(stderr, 2);
	check(bcl_adi_open(NULL, &adi), "start");
	check(bcl_team_world(adi, &team), "team");
	rank = bcl_team_rank(team);
	size = bcl_team_size(team);

	read_part(argv[optind], &text);
	exchange(&text, choose_splitters(&text));
	bytes = join(&text);
	lengths = allocate(size, sizeof(*lengths));
	check(bcl_allgather(team, &text.length, sizeof(text.length), lengths),
	      "lengths");
	if (output)
		write_part(output, bytes, text.length, lengths);
	else
		print_all(bytes, lengths);

	bcl_team_free(team);
	bcl_adi_close(adi);
	return 0;
}
