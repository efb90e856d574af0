/* SPDX-License-Identifier: MIT */
/* Forks the processes of a group, asks them and reads their answers; see
 * perf_source.h. */
#include "bench/perf_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/perf_place.h"
#include "bench/ref/ref.h"
#include "transport/boot/fork.h"

enum {
	ANSWER_MS = 90000, /* longer than any round */
	END_MS = 2000,	   /* from the end of input to SIGKILL */
	LINE_BYTES = 32768,
};

static void join_job(const struct perf_command *command)
{
	const char *twin;

	if (command->twin) {
		if (bcl_boot_job_enter(command->job, command->twin))
			_exit(1);
		twin = getenv("BCL_BOOT");
		setenv("PERF_TWIN", twin ? twin : "", 1);
	}
	if (bcl_boot_job_enter(command->job, command->rank))
		_exit(1);
}

static void run_command(const struct perf_command *command, int in, int out,
			int messages)
{
	char *const *variable;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, 0);
	dup2(out, 1);
	dup2(messages, 2);
	if (command->place && !perf_place_move(command->place)) {
		perror("namespaces");
		_exit(1);
	}
	for (variable = command->variable; *variable; variable++)
		putenv(*variable);
	if (command->job)
		join_job(command);
	execv(command->word[0], command->word);
	perror(command->word[0]);
	_exit(errno == ENOENT ? REF_SKIPPED : 1);
}

void perf_source_start(struct perf_source *source,
		       const struct perf_command *command, unsigned int sides)
{
	unsigned int i;

	memset(source, 0, sizeof(*source));
	source->messages = memfd_create("messages", MFD_CLOEXEC);
	for (i = 0; i < sides && i < PERF_SIDES; i++) {
		int in[2], out[2];

		if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
			perror("bcl-perf: pipe");
			exit(1);
		}
		source->pid[i] = fork();
		if (source->pid[i] < 0) {
			perror("bcl-perf: fork");
			exit(1);
		}
		if (!source->pid[i])
			run_command(&command[i], in[0], out[1],
				    source->messages);
		close(in[0]);
		close(out[1]);
		source->in[i] = in[1];
		source->out[i] = out[0];
		source->sides++;
	}
}

/* The last line that the processes wrote to standard error. */
static void last_message(const struct perf_source *source, char *text,
			 size_t size)
{
	char tail[2 * PERF_TEXT], *start;
	struct stat stat = { 0 };
	ssize_t n;

	fstat(source->messages, &stat);
	n = (ssize_t)sizeof(tail) - 1;
	n = pread(source->messages, tail, (size_t)n,
		  stat.st_size > n ? stat.st_size - n : 0);
	while (n > 0 && tail[n - 1] == '\n')
		n--;
	tail[n < 0 ? 0 : n] = 0;
	start = strrchr(tail, '\n');
	snprintf(text, size, "%.*s", (int)size - 1, start ? start + 1 : tail);
}

static void kill_all(struct perf_source *source)
{
	unsigned int i;

	for (i = 0; i < source->sides; i++)
		if (source->pid[i]) {
			kill(source->pid[i], SIGKILL);
			waitpid(source->pid[i], NULL, 0);
			source->pid[i] = 0;
		}
}

/* A side has stopped answering: finds out how it ended, and kills the rest. */
static void fail_side(struct perf_source *source, unsigned int side, bool hangs)
{
	const struct timespec grace = { .tv_nsec = 100000000 };
	char text[PERF_TEXT / 2] = "";
	int status = 0;

	/* The output closes just before the process ends: wait for the exit
	 * status. */
	nanosleep(&grace, NULL);
	if (!hangs && source->pid[side] &&
	    waitpid(source->pid[side], &status, WNOHANG) > 0)
		source->pid[side] = 0;
	last_message(source, text, sizeof(text));
	source->skipped =
		WIFEXITED(status) && WEXITSTATUS(status) == REF_SKIPPED;
	if (source->skipped)
		snprintf(source->failure, PERF_TEXT, "%s", text);
	else if (hangs || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
		snprintf(source->failure, PERF_TEXT, "side %u hangs%s%s", side,
			 *text ? ": " : "", text);
	else if (WIFSIGNALED(status))
		snprintf(source->failure, PERF_TEXT, "side %u: %s%s%s", side,
			 strsignal(WTERMSIG(status)), *text ? ": " : "", text);
	else
		snprintf(source->failure, PERF_TEXT, "%s",
			 *text ? text : "ended without a word");
	kill_all(source);
}

/*
 * Waits for a line of every side; stores the line of side 0. Returns false if a
 * side has failed.
 */
static bool read_answers(struct perf_source *source, char *line, size_t size)
{
	struct pollfd fd[PERF_SIDES];
	unsigned int i, left = source->sides;
	size_t have = 0;

	for (i = 0; i < source->sides; i++)
		fd[i] = (struct pollfd){ source->out[i], POLLIN, 0 };
	while (left) {
		int ready = poll(fd, source->sides, ANSWER_MS);

		for (i = 0; i < source->sides; i++) {
			char word[512];
			char *to = i ? word : line + have;
			size_t room = i ? sizeof(word) : size - 1 - have;
			ssize_t n = 0;

			if (ready > 0 && (fd[i].fd < 0 || !fd[i].revents))
				continue;
			if (ready > 0 && room)
				n = read(fd[i].fd, to, room);
			if (n <= 0) {
				fail_side(source, i, ready == 0);
				return false;
			}
			have += i ? 0 : (size_t)n;
			if (to[n - 1] == '\n') {
				fd[i].fd = -1;
				left--;
			}
		}
	}
	line[have] = 0;
	return true;
}

static void take_apart(char *line, struct perf_answer *answer)
{
	char *rest, *word = strtok_r(line, " \n", &rest);

	snprintf(answer->name, sizeof(answer->name), "%s", word ? word : "");
	word = strtok_r(NULL, " \n", &rest);
	snprintf(answer->unit, sizeof(answer->unit), "%s", word ? word : "");
	answer->samples = 0;
	while ((word = strtok_r(NULL, " \n", &rest)) &&
	       answer->samples < PERF_SAMPLES)
		answer->sample[answer->samples++] = strtod(word, NULL);
}

bool perf_source_ask(struct perf_source *source, const char *line,
		     struct perf_answer *answer)
{
	static char buffer[LINE_BYTES];
	unsigned int i;

	if (*source->failure)
		return false;
	for (i = source->sides; i-- > 0;)
		if (dprintf(source->in[i], "%s\n", line) < 0) {
			fail_side(source, i, false);
			return false;
		}
	if (!read_answers(source, buffer, sizeof(buffer)))
		return false;
	take_apart(buffer, answer);
	if (!answer->samples)
		snprintf(source->failure, PERF_TEXT, "no samples");
	return answer->samples > 0;
}

void perf_source_stop(struct perf_source *source)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int i, ms;

	for (i = 0; i < source->sides; i++) {
		close(source->in[i]);
		close(source->out[i]);
	}
	for (ms = 0; ms < END_MS; ms++) {
		bool running = false;

		for (i = 0; i < source->sides; i++) {
			if (source->pid[i] &&
			    waitpid(source->pid[i], NULL, WNOHANG) > 0)
				source->pid[i] = 0;
			running |= source->pid[i] != 0;
		}
		if (!running)
			break;
		nanosleep(&pause, NULL);
	}
	kill_all(source);
	if (source->messages >= 0)
		close(source->messages);
	source->sides = 0;
}
