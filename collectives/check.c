/* SPDX-License-Identifier: MIT */
/*
 * Compares the calls of a team's members before an operation. See check.h.
 */
#include "collectives/check.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/arguments.h"
#include "collectives/builders.h"
#include "env/log.h"
#include "transport/context.h"

enum {
	TEXT = 160, /* bytes for one call in words */
	/* Values of record.reduction for operators of the program. */
	OWN = 1 << 16,
	OWN_COMMUTATIVE,
};

/* The part of a call that must be the same at all members. */
struct record {
	uint64_t call;	  /* bcl_calls_call() */
	uint64_t lengths; /* a hash of the lengths of all blocks, or 0 */
	uint32_t root;
	int32_t distance;
	uint32_t reduction; /* 1 + the number of a builtin reduction, or 0 */
	uint32_t element;   /* bytes of an element, modulo 2^32 */
};

/* The blocks that one member sends to another member, or expects. */
struct parcel {
	uint64_t blocks, bytes;
	uint64_t lengths; /* a hash */
};

static const char *const operators[] = {
	[BCL_SUM] = "sum",	 [BCL_PROD] = "product",
	[BCL_MIN] = "minimum",	 [BCL_MAX] = "maximum",
	[BCL_BAND] = "bits and", [BCL_BOR] = "bits or",
	[BCL_BXOR] = "bits xor", [BCL_LAND] = "and",
	[BCL_LOR] = "or",	 [BCL_LXOR] = "xor",
	[BCL_MINLOC] = "minloc", [BCL_MAXLOC] = "maxloc",
};

static const char *const types[] = {
	[BCL_INT8] = "int8",
	[BCL_UINT8] = "uint8",
	[BCL_INT16] = "int16",
	[BCL_UINT16] = "uint16",
	[BCL_INT32] = "int32",
	[BCL_UINT32] = "uint32",
	[BCL_INT64] = "int64",
	[BCL_UINT64] = "uint64",
	[BCL_FLOAT] = "float",
	[BCL_DOUBLE] = "double",
	[BCL_LONG_DOUBLE] = "long double",
	[BCL_BOOL] = "bool",
	[BCL_COMPLEX_FLOAT] = "complex float",
	[BCL_COMPLEX_DOUBLE] = "complex double",
	[BCL_COMPLEX_LONG_DOUBLE] = "complex long double",
	[BCL_FLOAT_INT] = "float and int",
	[BCL_DOUBLE_INT] = "double and int",
	[BCL_LONG_INT] = "long and int",
	[BCL_INT_INT] = "int and int",
	[BCL_SHORT_INT] = "short and int",
	[BCL_LONG_DOUBLE_INT] = "long double and int",
};

enum {
	OPERATORS = sizeof(operators) / sizeof(*operators),
	TYPES = sizeof(types) / sizeof(*types),
};

/* ---- records ------------------------------------------------------------- */

static uint64_t hash_lengths(const size_t *lengths, unsigned n)
{
	uint64_t hash = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		hash = bcl_calls_hash(hash, lengths[i]);
	return hash;
}

static uint32_t number_of(const struct bcl_reduction *reduction)
{
	unsigned i;

	if (!reduction)
		return 0;
	for (i = 0; i < OPERATORS * TYPES; i++) {
		const struct bcl_reduction *builtin = bcl_reduction(
			(enum bcl_op)(i / TYPES), (enum bcl_type)(i % TYPES));

		if (builtin && builtin->apply == reduction->apply)
			return 1 + i;
	}
	return reduction->commutative ? OWN_COMMUTATIVE : OWN;
}

static struct record record_of(const struct bcl_team *team,
			       const struct bcl_call *call)
{
	struct record record = {
		.call = bcl_calls_call(call->operation, bcl_call_differs(call)
								? 0
								: call->length),
		.root = call->root,
		.distance = call->distance,
		.reduction = number_of(call->reduction),
	};

	if (call->reduction)
		record.element = (uint32_t)call->reduction->element;
	if (call->operation == BCL_OPERATION_ALLGATHERV)
		record.lengths =
			hash_lengths(call->receive_lengths, team->size);
	else if (call->operation == BCL_OPERATION_REDUCE_SCATTERV)
		record.lengths = hash_lengths(call->counts, team->size);
	return record;
}

/* The number of a reduction comes from another process, and may be wrong. */
static const char *operator_of(const struct record *record)
{
	unsigned i = (record->reduction - 1) / TYPES;

	if (record->reduction == OWN)
		return "an operator that is not commutative";
	if (record->reduction == OWN_COMMUTATIVE)
		return "a commutative operator";
	return i < OPERATORS ? operators[i] : "something";
}

static const char *type_of(const struct record *record)
{
	return record->reduction < OWN ? types[(record->reduction - 1) % TYPES]
				       : "the program's type";
}

static void say(char text[TEXT], const struct record *record)
{
	unsigned operation = record->call % (1 << BCL_CALLS_OPERATION);

	text[0] = 0;
	bcl_append(text, TEXT, "%s with %llu bytes%s",
		   bcl_calls_name(record->call), bcl_calls_length(record->call),
		   record->lengths ? " a block on average" : "");
	if (record->reduction)
		bcl_append(text, TEXT, ", %s of %s (%" PRIu32 " bytes)",
			   operator_of(record), type_of(record),
			   record->element);
	if (operation < BCL_OPERATIONS &&
	    bcl_argument_rules[operation] & BCL_RULE_ROOT)
		bcl_append(text, TEXT, ", root %" PRIu32, record->root);
	if (operation == BCL_OPERATION_SHIFT)
		bcl_append(text, TEXT, ", distance %" PRId32, record->distance);
}

/* Log that the calls of n members differ from the first member's call, among
 * these the call of member `other`. */
static void log_difference(const struct bcl_team *team, unsigned n,
			   unsigned other, const struct record *theirs,
			   const struct record *first)
{
	char one[TEXT], two[TEXT];

	say(one, theirs);
	say(two, first);
	bcl_log(&bcl_adi_context(team->adi)->config, BCL_LOG_ERROR, "coll",
		"rank %u calls %s; rank %u calls %s%s (%u of %u ranks differ "
		"from rank %u)",
		bcl_team_job_rank(team, other), one, bcl_team_job_rank(team, 0),
		two,
		strcmp(one, two) == 0 ? " with other lengths of blocks" : "", n,
		team->size, bcl_team_job_rank(team, 0));
}

static enum bcl_status compare_records(const struct bcl_team *team,
				       const struct bcl_step *step)
{
	/* record i comes from the member i places after the own member */
	const struct record *records = step->from;
	const struct record *first =
		&records[team->rank ? team->size - team->rank : 0];
	const struct record *other = NULL;
	unsigned rank, n = 0;

	for (rank = team->size; rank-- > 1;) {
		const struct record *record =
			&records[(rank + team->size - team->rank) % team->size];

		if (memcmp(record, first, sizeof(*record)) == 0)
			continue;
		n++;
		other = record;
	}
	if (!other)
		return BCL_OK;
	rank = (unsigned)(other - records + team->rank) % team->size;
	log_difference(team, n, rank, other, first);
	return BCL_ERR_ARG;
}

static void gather_records(struct bcl_schedule *schedule,
			   const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_all(team);
	size_t length = team->size * sizeof(struct record);
	struct record *records = bcl_step_scratch(schedule, length);

	if (schedule->status != BCL_OK)
		return;
	records[0] = record_of(team, call);
	bcl_build_bruck(schedule, &group, (unsigned char *)records,
			sizeof(*records), true, 1);
	bcl_step_round(schedule);
	bcl_step_check(schedule, compare_records, NULL, records, length);
	bcl_step_round(schedule);
}

/* ---- parcels ------------------------------------------------------------- */

static void add_block(struct parcel *parcel, size_t length)
{
	parcel->blocks++;
	parcel->bytes += length;
	parcel->lengths = bcl_calls_hash(parcel->lengths, length);
}

static void add_blocks(struct parcel *parcels, const struct bcl_blocks *blocks)
{
	unsigned i;

	for (i = 0; i < blocks->n; i++)
		add_block(&parcels[blocks->ranks[i]], blocks->lengths[i]);
}

static void add_all(struct parcel *parcels, const size_t *lengths, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		add_block(&parcels[i], lengths[i]);
}

/* Fill in the blocks for each member, and from each member. */
static void pack(const struct bcl_team *team, const struct bcl_call *call,
		 struct parcel *sent, struct parcel *expected)
{
	bool root = team->rank == call->root;

	switch (call->operation) {
	case BCL_OPERATION_ALLTOALLV:
		add_all(sent, call->send_lengths, team->size);
		add_all(expected, call->receive_lengths, team->size);
		break;
	case BCL_OPERATION_EXCHANGE:
		add_blocks(sent, call->to);
		add_blocks(expected, call->from);
		break;
	case BCL_OPERATION_GATHERV:
		add_block(&sent[call->root], call->own);
		if (root)
			add_all(expected, call->receive_lengths, team->size);
		break;
	default:
		bcl_assert(call->operation == BCL_OPERATION_SCATTERV);
		if (root)
			add_all(sent, call->send_lengths, team->size);
		add_block(&expected[call->root], call->own);
		break;
	}
}

/* Log a parcel that the own member does not expect. */
static void log_parcel(const struct bcl_team *team, uint64_t call,
		       unsigned other, const struct parcel *theirs,
		       const struct parcel *expected)
{
	bool equal = expected->bytes == theirs->bytes &&
		     expected->blocks == theirs->blocks;

	bcl_log(&bcl_adi_context(team->adi)->config, BCL_LOG_ERROR, "coll",
		"in %s rank %u sends %" PRIu64 " bytes in %" PRIu64
		" blocks to rank %u, which expects %" PRIu64 " in %" PRIu64
		"%s",
		bcl_calls_name(call), bcl_team_job_rank(team, other),
		theirs->bytes, theirs->blocks,
		bcl_team_job_rank(team, team->rank), expected->bytes,
		expected->blocks, equal ? " of other lengths" : "");
}

static void compare_parcels(const struct bcl_team *team,
			    const struct bcl_step *step)
{
	const struct parcel *expected = step->from;
	const struct parcel *theirs = expected + team->size;
	uint8_t *right = step->to;
	unsigned i;

	*right = true;
	for (i = 0; i < team->size; i++) {
		if (i == team->rank ||
		    memcmp(&expected[i], &theirs[i], sizeof(*theirs)) == 0)
			continue;
		log_parcel(team, step->length, i, &theirs[i], &expected[i]);
		*right = false;
	}
}

static enum bcl_status check_all(const struct bcl_team *team,
				 const struct bcl_step *step)
{
	const uint8_t *right = step->from;

	(void)team;
	return *right ? BCL_OK : BCL_ERR_ARG;
}

/* No member goes on before all members have the parcels that they expect. */
static void exchange_parcels(struct bcl_schedule *schedule,
			     const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_all(team);
	size_t length = team->size * sizeof(struct parcel);
	struct parcel *sent = bcl_step_scratch(schedule, 3 * length);
	struct parcel *expected = sent + team->size;
	struct parcel *theirs = expected + team->size;
	uint8_t *right = bcl_step_scratch(schedule, sizeof(*right));
	unsigned i;

	if (schedule->status != BCL_OK)
		return;
	memset(sent, 0, 2 * length);
	pack(team, call, sent, expected);
	for (i = 0; i < team->size; i++) {
		if (i == team->rank)
			continue;
		bcl_step_send(schedule, i, &sent[i], sizeof(*sent));
		bcl_step_receive(schedule, i, &theirs[i], sizeof(*theirs));
	}
	bcl_step_round(schedule);
	bcl_step_call(schedule, compare_parcels, right, expected,
		      call->operation, 0);
	bcl_step_round(schedule);
	bcl_build_reduce_tree(schedule, &group, 0, right, right, 1,
			      bcl_reduction(BCL_LAND, BCL_UINT8), 1);
	bcl_step_round(schedule);
	bcl_build_broadcast_tree(schedule, &group, 0, right, 1, 1);
	bcl_step_round(schedule);
	bcl_step_check(schedule, check_all, NULL, right, 0);
	bcl_step_round(schedule);
}

void bcl_check_build(struct bcl_schedule *schedule, const struct bcl_call *call)
{
	gather_records(schedule, call);
	if (bcl_call_differs(call))
		exchange_parcels(schedule, call);
}
