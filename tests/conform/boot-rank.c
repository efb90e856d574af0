/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job: a launcher starts the program. The rank exchanges values of
 * several lengths with all ranks and prints "KIND RANK of SIZE, LOCAL here".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/bcl.h>

#include "env/env.h"
#include "transport/boot/boot.h"

#define must(condition)                                            \
	do {                                                       \
		if (!(condition)) {                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, \
				#condition);                       \
			exit(1);                                   \
		}                                                  \
	} while (0)

int main(void)
{
	static const size_t lengths[] = { 0, 80, 511, BCL_BOOT_VALUE_MAX };
	uint8_t value[BCL_BOOT_VALUE_MAX], key[BCL_KEY_SIZE];
	char name[BCL_BOOT_NAME_MAX];
	struct bcl_boot *boot, *again;
	size_t length;
	bool once;

	must(!bcl_boot_open(&bcl_env_linux, &boot));
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		memset(value, (int)(boot->rank + 16 * i), lengths[i]);
		must(!bcl_boot_put(boot, name, value, lengths[i]));
	}
	must(!bcl_boot_key(boot, key));
	must(!bcl_boot_put(boot, "mykey", key, sizeof(key)));
	must(!bcl_boot_fence(boot));
	for (unsigned rank = 0; rank < boot->size; rank++) {
		for (unsigned i = 0; i < 4; i++) {
			snprintf(name, sizeof(name), "v%u", i);
			must(!bcl_boot_get(boot, rank, name, value,
					   sizeof(value), &length));
			must(length == lengths[i]);
			for (size_t j = 0; j < length; j++)
				must(value[j] == (uint8_t)(rank + 16 * i));
		}
		must(!bcl_boot_get(boot, rank, "mykey", value, sizeof(value),
				   &length));
		must(length == sizeof(key) && !memcmp(key, value, length));
	}
	must(bcl_boot_get(boot, 0, "nothing", value, 1, &length) ==
	     BCL_ERR_EMPTY);
	printf("%s %u of %u, %u here\n", boot->kind->name, boot->rank,
	       boot->size, boot->local_ranks);
	fflush(stdout);
	/* a second open is refused, beside the first and after it */
	once = strcmp(boot->kind->name, "single");
	if (once)
		must(bcl_boot_open(&bcl_env_linux, &again) == BCL_ERR_BUSY);
	bcl_boot_close(boot);
	if (once)
		must(bcl_boot_open(&bcl_env_linux, &again) == BCL_ERR_BUSY);
	return 0;
}
