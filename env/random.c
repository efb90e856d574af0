/* SPDX-License-Identifier: MIT */
/* Random numbers from SipHash of a counter (nicfw/siphash.h); see random.h. */
#include "env/random.h"

#include <string.h>

#include <nicfw/siphash.h>

bool bcl_random_open(struct bcl_random *random, const struct bcl_env *env)
{
	unsigned i;

	for (i = 0; i < sizeof(random->key) / 8; i++) {
		uint64_t part = env->random(env->world);

		if (!part)
			return false;
		memcpy(random->key + 8 * i, &part, 8);
	}
	return true;
}

uint64_t bcl_random_draw(struct bcl_random *random)
{
	uint64_t number, value;

	do {
		number = atomic_fetch_add_explicit(&random->drawn, 1,
						   memory_order_relaxed);
		value = bcl_nic_siphash(random->key, &number, sizeof(number));
	} while (!value);
	return value;
}
