/* SPDX-License-Identifier: MIT */
/* A glue of a later version, as far as it says so. */
__attribute__((visibility("default"))) int bcl_pvm_version(void);

int bcl_pvm_version(void)
{
	return 99;
}
