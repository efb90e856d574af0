/* SPDX-License-Identifier: MIT */
#include "tests/unit/capture.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/unit.h"

void capture_begin(struct capture *capture)
{
	capture->before = dup(STDERR_FILENO);
	capture->file = tmpfile();
	ck_assert_int_ge(capture->before, 0);
	ck_assert_ptr_nonnull(capture->file);
	ck_assert_int_ge(dup2(fileno(capture->file), STDERR_FILENO), 0);
}

char *capture_end(struct capture *capture)
{
	long length;
	char *text;

	dup2(capture->before, STDERR_FILENO);
	close(capture->before);
	fseek(capture->file, 0, SEEK_END);
	length = ftell(capture->file);
	text = calloc((size_t)length + 1, 1);
	ck_assert_ptr_nonnull(text);
	rewind(capture->file);
	ck_assert_uint_eq(fread(text, 1, (size_t)length, capture->file),
			  length);
	fclose(capture->file);
	return text;
}
