/* SPDX-License-Identifier: MIT */
/*
 * Runs a harness over its corpus where there is no libFuzzer: NAME.replay reads
 * the files of NAME.corpus/, or the files named by arguments.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return 1;
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	return 0;
}

int main(int argc, char **argv)
{
	const char *top = getenv("abs_top_srcdir");
	const char *name = strrchr(argv[0], '/');
	char path[4096], file[4096 + 300];
	struct dirent *entry;
	unsigned n = 0;
	DIR *corpus;
	int i;

	if (argc > 1) {
		for (i = 1; i < argc; i++)
			if (replay(argv[i]))
				return 1;
		return 0;
	}
	name = name ? name + 1 : argv[0];
	if (!strncmp(name, "lt-", 3))
		name += 3;
	snprintf(path, sizeof(path), "%s/tests/fuzz/%.*s.corpus",
		 top ? top : ".", (int)strcspn(name, "."), name);
	corpus = opendir(path);
	if (!corpus) {
		perror(path);
		return 1;
	}
	while ((entry = readdir(corpus))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (replay(file))
			return 1;
		n++;
	}
	closedir(corpus);
	printf("%u inputs\n", n);
	return n == 0;
}
