/* SPDX-License-Identifier: MIT */
/* Memory of this task that other tasks fetch: each loan is open until the task
 * has fetched the message, or until the offer is void. */
#include "pvm-glue/glue.h"

static struct loan *lent;

void loan_open(struct loan *loan, struct task *task)
{
	*loan = (struct loan){ .next = lent, .task = task };
	lent = loan;
}

static void close_loan(struct loan *loan, enum fate fate)
{
	struct loan **place = &lent;

	while (*place != loan)
		place = &(*place)->next;
	*place = loan->next;
	loan->fate = fate;
}

void loan_close(struct loan *loan)
{
	close_loan(loan, FATE_VOID);
}

void loan_read(uint64_t cookie, enum bcl_status status)
{
	struct loan *loan = (void *)(uintptr_t)cookie;

	if (!status)
		loan->task->absence = loan->task->behind = 0;
	close_loan(loan, status ? FATE_VOID : FATE_READ);
}

bool loan_pending(void)
{
	return lent;
}

bool loan_withdraw(struct loan *loan)
{
	if (loan->fate == FATE_OPEN &&
	    bcl_withdraw(loan->task->peer, loan->token) == BCL_OK)
		close_loan(loan, FATE_VOID);
	return loan->fate != FATE_OPEN;
}

bool loan_withdraw_all(void)
{
	struct loan *loan, *next;

	for (loan = lent; loan; loan = next) {
		next = loan->next;
		loan_withdraw(loan);
	}
	return !lent;
}
