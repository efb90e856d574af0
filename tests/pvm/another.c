/* SPDX-License-Identifier: MIT */
/*
 * Stands between the glue and libpvm3, and acts as another libpvm3 with a
 * longer head of messages. Only the glue sees the longer head.
 */
#include <dlfcn.h>
#include <string.h>

__attribute__((visibility("default"))) void *midtobuf(int id);

void *midtobuf(int id)
{
	enum {
		MORE = 8,
		KNOWN = 88 /* bytes */
	};
	static char seen[MORE + KNOWN];
	void *(*real)(int) = (void *(*)(int))dlsym(RTLD_NEXT, "midtobuf");
	void *message = real(id);
	Dl_info caller;

	if (!message || !dladdr(__builtin_return_address(0), &caller) ||
	    !strstr(caller.dli_fname, "libbcl-pvm"))
		return message;
	memcpy(seen + MORE, message, KNOWN);
	return seen;
}
