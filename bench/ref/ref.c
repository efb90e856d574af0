/* SPDX-License-Identifier: MIT */
#include "ref.h"

#include <errno.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUND_SECONDS = 60, /* a longer round has lost the peer */
	SIDES_MAX = 64,
};

/* The parameters of every program, beside the program's own. */
static const struct ref_param common[] = {
	{ "rounds", "", "run so many rounds, without standard input" },
	{ "side", "", "run only this side" },
	{ "cpus", "0,1", "CPUs that the sides are pinned to in turn; none" },
	{ "samples", "10", "samples in a round" },
};

enum {
	COMMON = sizeof(common) / sizeof(common[0])
};

static const struct ref_param *param_at(const struct ref_program *program,
					unsigned int i)
{
	if (i < COMMON)
		return &common[i];
	if (i < REF_PARAMS && program->param[i - COMMON].key)
		return &program->param[i - COMMON];
	return NULL;
}

void ref_exit(const struct ref *ref, int status, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", ref->program->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(status);
}

/* Returns the length of the key in "key=" or "--key=", and moves *word to the
 * key. 0: there is no key. */
static size_t key_length(const char **word)
{
	if (!strncmp(*word, "--", 2))
		*word += 2;
	return strchr(*word, '=') ? strcspn(*word, "=") : 0;
}

static void set_parameter(struct ref *ref, const char **value, const char *word)
{
	size_t length = key_length(&word);
	const struct ref_param *param;
	unsigned int i;

	for (i = 0; (param = param_at(ref->program, i)); i++)
		if (length && strlen(param->key) == length &&
		    !strncmp(param->key, word, length)) {
			value[i] = word + length + 1;
			return;
		}
	ref_exit(ref, 1, "no such parameter: %s", word);
}

const char *ref_string(const struct ref *ref, const char *key)
{
	const struct ref_param *param;
	unsigned int i;

	for (i = 0; (param = param_at(ref->program, i)); i++)
		if (!strcmp(param->key, key))
			return ref->value[i];
	ref_exit(ref, 1, "has no parameter %s", key);
}

size_t ref_number(const struct ref *ref, const char *key)
{
	const char *text = ref_string(ref, key);
	char *end;
	size_t number = strtoul(text, &end, 10);

	if (*end == 'K')
		number <<= 10, end++;
	else if (*end == 'M')
		number <<= 20, end++;
	if (end == text || *end)
		ref_exit(ref, 1, "%s=%s is not a number", key, text);
	return number;
}

void ref_sample(struct ref *ref, double value)
{
	if (!ref->side && ref->samples < REF_SAMPLES)
		ref->sample[ref->samples++] = value;
}

uint64_t ref_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void ref_pin(unsigned int cpu)
{
	cpu_set_t allowed, one;
	int i, n;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	n = (int)cpu % CPU_COUNT(&allowed);
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed) && n-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void pin_side(const struct ref *ref)
{
	const char *list = ref_string(ref, "cpus"), *at = list;
	unsigned int i;

	if (!strcmp(list, "none"))
		return;
	for (i = 0; i < ref->side; i++) {
		at = strchr(at, ',');
		at = at ? at + 1 : list;
	}
	ref_pin((unsigned int)strtoul(at, NULL, 10));
}

unsigned char *ref_memory(const struct ref *ref)
{
	unsigned char *memory = mmap(NULL, REF_ROTATION, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		ref_exit(ref, 1, "no memory: %s", strerror(errno));
	madvise(memory, REF_ROTATION, MADV_NOHUGEPAGE);
	memset(memory, 1, REF_ROTATION);
	return memory;
}

size_t ref_offset(const struct ref *ref, size_t size, uint64_t n)
{
	if (size > REF_ROTATION)
		ref_exit(ref, 1, "size=%zu is more than %d", size,
			 REF_ROTATION);
	if (strcmp(ref_string(ref, "buffers"), "cold"))
		return 0;
	return n % (REF_ROTATION / size) * size;
}

size_t ref_batch(size_t size)
{
	size_t n = ((size_t)8 << 20) / (size ? size : 1);

	return n < 4 ? 4 : n > 256 ? 256 : n;
}

void ref_compute(uint64_t ns)
{
	uint64_t end = ref_now() + ns;

	while (ref_now() < end)
		;
}

uint64_t ref_away_ns(size_t size)
{
	return 50000 + size / 2;
}

int ref_socket(const struct ref *ref, int type)
{
	const struct addrinfo hint = { .ai_flags = AI_NUMERICHOST,
				       .ai_socktype = type };
	const char *key[2] = { "local", "peer" };
	int fd = -1, yes = 1, n = type == SOCK_DGRAM ? 2 : 1, i, error;

	for (i = 0; i < n; i++) {
		const char *host = ref_string(ref, key[i]);
		struct addrinfo *found;
		char port[8];

		snprintf(port, sizeof(port), "%u",
			 (unsigned int)ref_number(ref, "port") +
				 (i ? !ref->side : ref->side));
		error = getaddrinfo(host, port, &hint, &found);
		if (error)
			ref_exit(ref, 1, "%s: %s", host, gai_strerror(error));
		if (i == 0) {
			fd = socket(found->ai_family, type | SOCK_CLOEXEC, 0);
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes,
				   sizeof(yes));
			error = bind(fd, found->ai_addr, found->ai_addrlen);
		} else {
			error = connect(fd, found->ai_addr, found->ai_addrlen);
		}
		if (error)
			ref_exit(ref, 1, "%s port %s: %s", host, port,
				 strerror(errno));
		freeaddrinfo(found);
	}
	return fd;
}

static void usage(const struct ref_program *program)
{
	const struct ref_param *param;
	unsigned int i;

	printf("%s: %s; answers in %s\n", program->name, program->about,
	       program->unit);
	for (i = 0; (param = param_at(program, i)); i++)
		printf("  %s=%s\t%s\n", param->key, param->value, param->help);
}

/* Runs one round with the words of `line`, and changes `line`. */
static void run_round(struct ref *ref, char *line)
{
	char *word, *rest;
	unsigned int i;

	memcpy(ref->value, ref->base, sizeof(ref->value));
	for (word = strtok_r(line, " \n", &rest); word;
	     word = strtok_r(NULL, " \n", &rest))
		set_parameter(ref, ref->value, word);
	ref->samples = 0;
	ref->name = ref->program->name;
	ref->unit = ref->program->unit;
	alarm(ROUND_SECONDS);
	ref->program->round(ref);
	alarm(0);
	if (ref->side && !*ref_string(ref, "side"))
		return;
	printf("%s %s", ref->name, ref->unit);
	for (i = 0; i < ref->samples; i++)
		printf(" %.6g", ref->sample[i]);
	putchar('\n');
	fflush(stdout);
}

static int next_line(struct ref *ref, FILE *in, char *line)
{
	if (ref->program->next)
		return ref->program->next(ref, line, REF_REQUEST);
	return fgets(line, REF_REQUEST, in) != NULL;
}

static void serve_requests(struct ref *ref, FILE *in, const int *other)
{
	const char *rounds = ref_string(ref, "rounds");
	unsigned long left = strtoul(rounds, NULL, 10);
	int counted = *rounds && in == stdin;
	char line[REF_REQUEST] = "\n";
	unsigned int i;

	while (counted ? left-- > 0 : next_line(ref, in, line)) {
		size_t length = strlen(line);

		for (i = 1; other && i < ref->sides; i++)
			if (write(other[i], line, length) != (ssize_t)length)
				ref_exit(ref, 1, "side %u is gone", i);
		run_round(ref, line);
		strcpy(line, "\n");
	}
}

/* Forks the other sides. Returns in each side, with the side's input in *in. */
static void fork_sides(struct ref *ref, FILE **in, int *other)
{
	pid_t parent = getpid();
	unsigned int i;

	for (i = 1; i < ref->sides; i++) {
		int fd[2];

		if (pipe(fd))
			ref_exit(ref, 1, "pipe: %s", strerror(errno));
		switch (fork()) {
		case -1:
			ref_exit(ref, 1, "fork: %s", strerror(errno));
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(1);
			ref->side = i;
			*in = fdopen(fd[0], "r");
			close(fd[1]);
			while (--i)
				close(other[i]);
			return;
		}
		close(fd[0]);
		other[i] = fd[1];
	}
}

int ref_main(int argc, char **argv, const struct ref_program *program)
{
	static struct ref ref;
	const struct ref_param *param;
	int other[SIDES_MAX] = { 0 };
	FILE *in = stdin;
	const char *side;
	int i;

	ref.program = program;
	for (i = 0; (param = param_at(program, (unsigned int)i)); i++)
		ref.base[i] = param->value;
	if (program->preset)
		set_parameter(&ref, ref.base, program->preset);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			usage(program);
			return 0;
		}
		set_parameter(&ref, ref.base, argv[i]);
	}
	memcpy(ref.value, ref.base, sizeof(ref.value));
	ref.sides = program->sides;
	if (!ref.sides)
		ref.sides = (unsigned int)ref_number(&ref, "sides");
	if (ref.sides < 1 || ref.sides > SIDES_MAX)
		ref_exit(&ref, 1, "between 1 and %d sides", SIDES_MAX);
	ref.shared =
		mmap(NULL, program->shared + REF_LINE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ref.shared == MAP_FAILED)
		ref_exit(&ref, 1, "no memory: %s", strerror(errno));
	side = ref_string(&ref, "side");
	if (*side)
		ref.side = (unsigned int)ref_number(&ref, "side");
	else
		fork_sides(&ref, &in, other);
	pin_side(&ref);
	if (program->open)
		program->open(&ref);
	serve_requests(&ref, in, *side || in != stdin ? NULL : other);
	if (program->close)
		program->close(&ref);
	return 0;
}
