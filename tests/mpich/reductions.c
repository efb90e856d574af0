/* SPDX-License-Identifier: MIT */
/*
 * Every operator of MPI with every type of MPI that may have it, in every
 * operation that reduces: each result is what a plain loop over the ranks'
 * elements gives. Real and complex elements are small integers, so that the
 * order of the ranks changes no result. Rank 0 prints the operations that teams
 * carried out.
 */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"

enum {
	N = 1000,    /* elements of the longest vector or block */
	WIDEST = 32, /* bytes of the longest element */
	RANKS_MAX = 8,
};

enum op {
	SUM,
	PROD,
	MIN,
	MAX,
	BAND,
	BOR,
	BXOR,
	LAND,
	LOR,
	LXOR,
	MINLOC,
	MAXLOC,
	OPS
};

enum {
	ARITHMETIC = 1 << SUM | 1 << PROD,
	ORDER = 1 << MIN | 1 << MAX,
	BITS = 1 << BAND | 1 << BOR | 1 << BXOR,
	TRUTH = 1 << LAND | 1 << LOR | 1 << LXOR,
	PLACE = 1 << MINLOC | 1 << MAXLOC,
};

/* A type of MPI as the plain loops see it. */
struct type {
	MPI_Datatype type;
	unsigned ops; /* that MPI permits */
	size_t size;  /* bytes from one element to the next */
	void (*fill)(void *element, enum op op, uint64_t random);
	/* y = x op y, with x of the lower ranks */
	void (*combine)(enum op op, const void *x, void *y);
	bool (*equal)(const void *x, const void *y);
};

static int rank, size;

/* ---- plain loops ---- */

/* An integer has any bits, and is 0 often enough for logical operators. */
#define INTEGER(NAME, type)                                             \
	static void fill_##NAME(void *element, enum op op, uint64_t r)  \
	{                                                               \
		bool zero = op >= LAND && r >> 60 < 5;                  \
                                                                        \
		*(type *)element = zero ? 0 : (type)r;                  \
	}                                                               \
	static void combine_##NAME(enum op op, const void *a, void *b)  \
	{                                                               \
		type x = *(const type *)a, y = *(type *)b;              \
		uint64_t p = (uint64_t)x, q = (uint64_t)y;              \
		const type results[] = {                                \
			[SUM] = (type)(p + q),	[PROD] = (type)(p * q), \
			[MIN] = x < y ? x : y,	[MAX] = x > y ? x : y,  \
			[BAND] = (type)(p & q), [BOR] = (type)(p | q),  \
			[BXOR] = (type)(p ^ q), [LAND] = x && y,        \
			[LOR] = x || y,		[LXOR] = !x != !y,      \
		};                                                      \
                                                                        \
		*(type *)b = results[op];                               \
	}                                                               \
	EQUAL(NAME, type)
#define EQUAL(NAME, type)                                      \
	static bool equal_##NAME(const void *x, const void *y) \
	{                                                      \
		return *(const type *)x == *(const type *)y;   \
	}

#define REAL(NAME, type)                                               \
	static void fill_##NAME(void *element, enum op op, uint64_t r) \
	{                                                              \
		(void)op;                                              \
		*(type *)element = (int)(r % 5) - 1;                   \
	}                                                              \
	static void combine_##NAME(enum op op, const void *a, void *b) \
	{                                                              \
		type x = *(const type *)a, y = *(type *)b;             \
		const type results[] = {                               \
			[SUM] = x + y,                                 \
			[PROD] = x * y,                                \
			[MIN] = x < y ? x : y,                         \
			[MAX] = x > y ? x : y,                         \
		};                                                     \
                                                                       \
		*(type *)b = results[op];                              \
	}                                                              \
	EQUAL(NAME, type)

#define COMPLEX(NAME, type)                                            \
	static void fill_##NAME(void *element, enum op op, uint64_t r) \
	{                                                              \
		(void)op;                                              \
		*(type *)element = (type)((int)(r % 5) - 1) +          \
				   (type)((int)(r >> 8) & 3) * I;      \
	}                                                              \
	static void combine_##NAME(enum op op, const void *a, void *b) \
	{                                                              \
		type x = *(const type *)a, y = *(type *)b;             \
                                                                       \
		*(type *)b = op == SUM ? x + y : x * y;                \
	}                                                              \
	EQUAL(NAME, type)

/* Few values, so that several ranks have the same. */
#define PAIR(NAME, type)                                                      \
	struct NAME {                                                         \
		type value;                                                   \
		int at;                                                       \
	};                                                                    \
	static void fill_##NAME(void *element, enum op op, uint64_t r)        \
	{                                                                     \
		(void)op;                                                     \
		*(struct NAME *)element =                                     \
			(struct NAME){ (type)((int)(r % 4) - 1),              \
				       (int)(r >> 8 & 0xff) - 9 };            \
	}                                                                     \
	static void combine_##NAME(enum op op, const void *a, void *b)        \
	{                                                                     \
		const struct NAME *x = a;                                     \
		struct NAME *y = b;                                           \
                                                                              \
		if (op == MINLOC ? x->value < y->value : x->value > y->value) \
			*y = *x;                                              \
		else if (x->value == y->value && x->at < y->at)               \
			y->at = x->at;                                        \
	}                                                                     \
	static bool equal_##NAME(const void *a, const void *b)                \
	{                                                                     \
		const struct NAME *x = a, *y = b;                             \
                                                                              \
		return x->value == y->value && x->at == y->at;                \
	}

INTEGER(char, char)
INTEGER(signed_char, signed char)
INTEGER(unsigned_char, unsigned char)
INTEGER(short, short)
INTEGER(unsigned_short, unsigned short)
INTEGER(int, int)
INTEGER(unsigned, unsigned)
INTEGER(long, long)
INTEGER(unsigned_long, unsigned long)
INTEGER(long_long, long long)
INTEGER(unsigned_long_long, unsigned long long)
EQUAL(truth, bool)
REAL(float, float)
REAL(double, double)
REAL(long_double, long double)
COMPLEX(float_complex, float complex)
COMPLEX(double_complex, double complex)
COMPLEX(long_double_complex, long double complex)
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(int_int, int)
PAIR(short_int, short)
PAIR(long_double_int, long double)

static void fill_truth(void *element, enum op op, uint64_t r)
{
	(void)op;
	*(bool *)element = r & 1;
}

static void combine_truth(enum op op, const void *a, void *b)
{
	bool x = *(const bool *)a, y = *(bool *)b;

	*(bool *)b = op == LAND ? x && y : op == LOR ? x || y : x != y;
}

#define TYPE(type, ops, size, NAME)                                        \
	{                                                                  \
		type, ops, size, fill_##NAME, combine_##NAME, equal_##NAME \
	}
#define OF_C(t, type, NAME) \
	TYPE(t, ARITHMETIC | ORDER | BITS | TRUTH, sizeof(type), NAME)
#define OF_FORTRAN(t, type, NAME) \
	TYPE(t, ARITHMETIC | ORDER | BITS, sizeof(type), NAME)
#define A_REAL(t, type, NAME)	 TYPE(t, ARITHMETIC | ORDER, sizeof(type), NAME)
#define A_COMPLEX(t, type, NAME) TYPE(t, ARITHMETIC, sizeof(type), NAME)
#define A_PAIR(t, NAME)		 TYPE(t, PLACE, sizeof(struct NAME), NAME)

/* MPICH permits the types of characters, too. A type that the installation
 * lacks is MPI_DATATYPE_NULL. */
static const struct type types[] = {
	OF_C(MPI_CHAR, char, char),
	OF_C(MPI_SIGNED_CHAR, signed char, signed_char),
	OF_C(MPI_UNSIGNED_CHAR, unsigned char, unsigned_char),
	OF_C(MPI_SHORT, short, short),
	OF_C(MPI_UNSIGNED_SHORT, unsigned short, unsigned_short),
	OF_C(MPI_INT, int, int),
	OF_C(MPI_UNSIGNED, unsigned, unsigned),
	OF_C(MPI_LONG, long, long),
	OF_C(MPI_UNSIGNED_LONG, unsigned long, unsigned_long),
	OF_C(MPI_LONG_LONG, long long, long_long),
	OF_C(MPI_UNSIGNED_LONG_LONG, unsigned long long, unsigned_long_long),
	OF_C(MPI_INT8_T, int8_t, signed_char),
	OF_C(MPI_UINT8_T, uint8_t, unsigned_char),
	OF_C(MPI_INT16_T, int16_t, short),
	OF_C(MPI_UINT16_T, uint16_t, unsigned_short),
	OF_C(MPI_INT32_T, int32_t, int),
	OF_C(MPI_UINT32_T, uint32_t, unsigned),
	OF_C(MPI_INT64_T, int64_t, long),
	OF_C(MPI_UINT64_T, uint64_t, unsigned_long),
	OF_FORTRAN(MPI_AINT, MPI_Aint, long),
	OF_FORTRAN(MPI_OFFSET, MPI_Offset, long),
	OF_FORTRAN(MPI_COUNT, MPI_Count, long),
	TYPE(MPI_BYTE, BITS, 1, unsigned_char),
	TYPE(MPI_C_BOOL, TRUTH, sizeof(bool), truth),
	TYPE(MPI_CXX_BOOL, TRUTH, sizeof(bool), truth),
	A_REAL(MPI_FLOAT, float, float),
	A_REAL(MPI_DOUBLE, double, double),
	A_REAL(MPI_LONG_DOUBLE, long double, long_double),
	A_COMPLEX(MPI_C_FLOAT_COMPLEX, float complex, float_complex),
	A_COMPLEX(MPI_C_DOUBLE_COMPLEX, double complex, double_complex),
	A_COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double complex,
		  long_double_complex),
	A_COMPLEX(MPI_CXX_FLOAT_COMPLEX, float complex, float_complex),
	A_COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double complex, double_complex),
	A_COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex,
		  long_double_complex),
	A_PAIR(MPI_FLOAT_INT, float_int),
	A_PAIR(MPI_DOUBLE_INT, double_int),
	A_PAIR(MPI_LONG_INT, long_int),
	A_PAIR(MPI_2INT, int_int),
	A_PAIR(MPI_SHORT_INT, short_int),
	A_PAIR(MPI_LONG_DOUBLE_INT, long_double_int),
	OF_C(MPI_CHARACTER, char, char),
	OF_FORTRAN(MPI_INTEGER, MPI_Fint, int),
	OF_FORTRAN(MPI_INTEGER1, int8_t, signed_char),
	OF_FORTRAN(MPI_INTEGER2, int16_t, short),
	OF_FORTRAN(MPI_INTEGER4, int32_t, int),
	OF_FORTRAN(MPI_INTEGER8, int64_t, long),
	TYPE(MPI_LOGICAL, TRUTH, sizeof(MPI_Fint), int),
	A_REAL(MPI_REAL, float, float),
	A_REAL(MPI_DOUBLE_PRECISION, double, double),
	A_REAL(MPI_REAL4, float, float),
	A_REAL(MPI_REAL8, double, double),
	A_COMPLEX(MPI_COMPLEX, float complex, float_complex),
	A_COMPLEX(MPI_DOUBLE_COMPLEX, double complex, double_complex),
	A_COMPLEX(MPI_COMPLEX8, float complex, float_complex),
	A_COMPLEX(MPI_COMPLEX16, double complex, double_complex),
	A_PAIR(MPI_2INTEGER, int_int),
};

static const struct {
	const char *name;
	MPI_Op op;
} ops[OPS] = {
	[SUM] = { "sum", MPI_SUM },
	[PROD] = { "prod", MPI_PROD },
	[MIN] = { "min", MPI_MIN },
	[MAX] = { "max", MPI_MAX },
	[BAND] = { "band", MPI_BAND },
	[BOR] = { "bor", MPI_BOR },
	[BXOR] = { "bxor", MPI_BXOR },
	[LAND] = { "land", MPI_LAND },
	[LOR] = { "lor", MPI_LOR },
	[LXOR] = { "lxor", MPI_LXOR },
	[MINLOC] = { "minloc", MPI_MINLOC },
	[MAXLOC] = { "maxloc", MPI_MAXLOC },
};

/* ---- the operations of MPI ---- */

/* An operator, a type, and what comes of them. All vectors have N elements for
 * each rank. */
struct test {
	const struct type *type;
	enum op op;
	char *mine;		/* elements of this rank */
	char *up_to[RANKS_MAX]; /* elements of ranks 0 to r combined */
	char *result;		/* of MPI */
};

static uint64_t random_of(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void fill(const struct test *test, char *vector, int who)
{
	const struct type *type = test->type;
	uint64_t seed = (uint64_t)((type - types) * OPS + test->op);
	int i;

	for (i = 0; i < N * size; i++)
		type->fill(vector + i * type->size, test->op,
			   random_of((seed * RANKS_MAX + who) << 16 | i));
}

/* Makes the elements of all ranks, and combines them rank by rank. */
static void prepare(struct test *test)
{
	const struct type *type = test->type;
	size_t at;
	int r, i;

	fill(test, test->mine, rank);
	for (r = 0; r < size; r++) {
		fill(test, test->up_to[r], r);
		for (i = 0; r && i < N * size; i++) {
			at = i * type->size;
			type->combine(test->op, test->up_to[r - 1] + at,
				      test->up_to[r] + at);
		}
	}
}

/* The result has `n` elements, and nothing was written behind these. */
static void check(const struct test *test, const char *what, int n,
		  const char *expected)
{
	const struct type *type = test->type;
	char *result = test->result, name[MPI_MAX_OBJECT_NAME];
	int i = 0, length;

	while (i < n &&
	       type->equal(result + i * type->size, expected + i * type->size))
		i++;
	if (i == n && result[n * type->size] == '?') {
		memset(result, '?', n * type->size);
		return;
	}
	MPI_Type_get_name(type->type, name, &length);
	printf("rank %d: %s of %d %s by %s: element %d\n", rank, what, n, name,
	       ops[test->op].name, i);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void reduce_blocks(const struct test *test, int n)
{
	const char *total = test->up_to[size - 1];
	size_t block = n * test->type->size;
	MPI_Datatype type = test->type->type;
	MPI_Op op = ops[test->op].op;
	int counts[RANKS_MAX], r;

	for (r = 0; r < size; r++)
		counts[r] = r > 1 ? n : 2 * n * r;
	MPI_Reduce_scatter_block(test->mine, test->result, n, type, op,
				 MPI_COMM_WORLD);
	check(test, "reduce_scatter_block", n, total + rank * block);
	MPI_Reduce_scatter(test->mine, test->result, counts, type, op,
			   MPI_COMM_WORLD);
	check(test, "reduce_scatter", counts[rank],
	      total + (rank > 1 ? rank * block : 0));
}

static void reduce(const struct test *test, int n)
{
	const char *total = test->up_to[size - 1];
	MPI_Datatype type = test->type->type;
	MPI_Op op = ops[test->op].op;
	int root = n % size;

	MPI_Allreduce(test->mine, test->result, n, type, op, MPI_COMM_WORLD);
	check(test, "allreduce", n, total);
	MPI_Reduce(test->mine, test->result, n, type, op, root, MPI_COMM_WORLD);
	check(test, "reduce", rank == root ? n : 0, total);
	MPI_Scan(test->mine, test->result, n, type, op, MPI_COMM_WORLD);
	check(test, "scan", n, test->up_to[rank]);
	MPI_Exscan(test->mine, test->result, n, type, op, MPI_COMM_WORLD);
	check(test, "exscan", rank ? n : 0, rank ? test->up_to[rank - 1] : "");
	reduce_blocks(test, n);
}

static void every_type(void)
{
	size_t room = (size_t)(N * size + 1) * WIDEST, t;
	struct test test = { .mine = malloc(room), .result = malloc(room) };
	int r;

	memset(test.result, '?', room);
	for (r = 0; r < size; r++)
		test.up_to[r] = malloc(room);
	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		test.type = &types[t];
		for (test.op = 0; test.op < OPS; test.op++)
			if (types[t].type != MPI_DATATYPE_NULL &&
			    types[t].ops & 1 << test.op) {
				prepare(&test);
				reduce(&test, 1);
				reduce(&test, 3);
				reduce(&test, N);
			}
	}
	for (r = 0; r < size; r++)
		free(test.up_to[r]);
	free(test.mine);
	free(test.result);
}

/* ---- what is no number ---- */

/* A result of the library is no number if an element of any rank is none. To
 * MPICH's own functions it depends on the order. */
#define NANS(NAME, type, pair, mpi_type, mpi_pair)                           \
	static void nans_of_##NAME(int who)                                  \
	{                                                                    \
		type mine = rank == who ? (type)NAN : (type)rank, any;       \
		struct pair place = { mine, rank }, result;                  \
                                                                             \
		MPI_Allreduce(&mine, &any, 1, mpi_type, MPI_MAX,             \
			      MPI_COMM_WORLD);                               \
		MPI_Allreduce(&place, &result, 1, mpi_pair, MPI_MINLOC,      \
			      MPI_COMM_WORLD);                               \
		if (any == any || result.value == result.value ||            \
		    result.at != who) {                                      \
			printf("rank %d: %s, and not a number at rank %d\n", \
			       rank, #mpi_type, who);                        \
			MPI_Abort(MPI_COMM_WORLD, 1);                        \
		}                                                            \
	}
NANS(float, float, float_int, MPI_FLOAT, MPI_FLOAT_INT)
NANS(double, double, double_int, MPI_DOUBLE, MPI_DOUBLE_INT)
NANS(long_double, long double, long_double_int, MPI_LONG_DOUBLE,
     MPI_LONG_DOUBLE_INT)

int main(int argc, char **argv)
{
	int provided, who;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > RANKS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 1);
	every_type();
	for (who = 0; counter("bcl_coll_allreduce") && who < size; who++) {
		nans_of_float(who);
		nans_of_double(who);
		nans_of_long_double(who);
	}
	if (rank == 0)
		say_operations();
	MPI_Finalize();
	MPI_T_finalize();
	return 0;
}
