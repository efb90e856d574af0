/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap by PMI-1: the client side of the wire protocol that Hydra's mpiexec
 * and Slurm speak. Both sides send lines of key=value pairs over a socket. The
 * launcher leaves the socket in PMI_FD, or the client connects to
 * PMI_PORT=host:port.
 */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "env/env.h"
#include "env/log.h"
#include "transport/boot/pieces.h"

enum {
	LINE = 4096,
	SPACE_NAME = 256,
};

struct pmi {
	int fd;
	char space[SPACE_NAME];
	char line[LINE];   /* the answer */
	char buffer[LINE]; /* received, but not yet part of `line` */
	size_t filled;
};

static enum bcl_status report_error(struct bcl_boot *boot, const char *what,
				    const char *said)
{
	bcl_log(&boot->config, BCL_LOG_ERROR, "boot", "pmi: %s: %s", what,
		said);
	return BCL_ERR_BOOT;
}

static enum bcl_status send_line(struct bcl_boot *boot, const char *line)
{
	struct pmi *pmi = boot->state;
	size_t left = strlen(line);

	while (left) {
		/* if the launcher is gone, SIGPIPE must not end this process */
		ssize_t n = send(pmi->fd, line, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return report_error(boot,
					    "the launcher does not listen",
					    strerror(errno));
		line += n;
		left -= (size_t)n;
	}
	return BCL_OK;
}

/* Reads the next line into pmi->line, without its end. */
static enum bcl_status read_line(struct bcl_boot *boot)
{
	struct pmi *pmi = boot->state;

	for (;;) {
		char *end = memchr(pmi->buffer, '\n', pmi->filled);
		ssize_t n;

		if (end) {
			size_t length = (size_t)(end - pmi->buffer);

			memcpy(pmi->line, pmi->buffer, length);
			pmi->line[length] = 0;
			pmi->filled -= length + 1;
			memmove(pmi->buffer, end + 1, pmi->filled);
			return BCL_OK;
		}
		if (pmi->filled == LINE)
			return report_error(boot, "the launcher's answer",
					    "a line that does not end");
		n = read(pmi->fd, pmi->buffer + pmi->filled,
			 LINE - pmi->filled);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return report_error(boot, "the launcher is gone",
					    n ? strerror(errno)
					      : "end of file");
		pmi->filled += (size_t)n;
	}
}

/* Finds the value of a key in the last line; the value ends at a blank.
 * NULL: the line does not have the key. */
static const char *find_field(const struct pmi *pmi, const char *key,
			      size_t *length)
{
	size_t n = strlen(key);
	const char *p = pmi->line;

	while (*p) {
		p += strspn(p, " ");
		if (!strncmp(p, key, n) && p[n] == '=') {
			*length = strcspn(p + n + 1, " ");
			return p + n + 1;
		}
		p += strcspn(p, " ");
	}
	return NULL;
}

static bool field_is(const struct pmi *pmi, const char *key, const char *value)
{
	size_t length;
	const char *p = find_field(pmi, key, &length);

	return p && length == strlen(value) && !memcmp(p, value, length);
}

static bool field_number(const struct pmi *pmi, const char *key,
			 unsigned *number)
{
	size_t length;
	const char *p = find_field(pmi, key, &length);

	return p && sscanf(p, "%u", number) == 1;
}

/* Sends a request and reads the answer, of the kind `expected`, into
 * pmi->line. */
static enum bcl_status __attribute__((format(printf, 3, 4)))
ask_launcher(struct bcl_boot *boot, const char *expected, const char *format,
	     ...)
{
	struct pmi *pmi = boot->state;
	char line[LINE];
	enum bcl_status status;
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	status = send_line(boot, line);
	if (!status)
		status = read_line(boot);
	if (status)
		return status;
	if (!field_is(pmi, "cmd", expected))
		return report_error(boot, "unexpected answer", pmi->line);
	return BCL_OK;
}

/* ---- values ---- */

static enum bcl_status put_text(struct bcl_boot *boot, const char *key,
				const char *text)
{
	struct pmi *pmi = boot->state;
	enum bcl_status status = ask_launcher(
		boot, "put_result", "cmd=put kvsname=%s key=%s value=%s\n",
		pmi->space, key, text);

	if (!status && !field_is(pmi, "rc", "0"))
		return report_error(boot, "a value is refused", pmi->line);
	return status;
}

static enum bcl_status get_text(struct bcl_boot *boot, const char *key,
				char *text)
{
	struct pmi *pmi = boot->state;
	enum bcl_status status =
		ask_launcher(boot, "get_result", "cmd=get kvsname=%s key=%s\n",
			     pmi->space, key);
	const char *value;
	size_t length;

	if (status)
		return status;
	value = find_field(pmi, "value", &length);
	if (!value || !field_is(pmi, "rc", "0"))
		return BCL_ERR_EMPTY;
	if (length > boot->pieces.text_max)
		return report_error(boot, "a value is too long", pmi->line);
	memcpy(text, value, length);
	text[length] = 0;
	return BCL_OK;
}

/* ---- joining ---- */

static int connect_port(struct bcl_boot *boot, const char *where)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL, *a;
	char host[256];
	const char *port = strrchr(where, ':');
	int fd = -1, error;

	if (!port || (size_t)(port - where) >= sizeof(host)) {
		report_error(boot, "PMI_PORT is not host:port", where);
		return -1;
	}
	memcpy(host, where, (size_t)(port - where));
	host[port - where] = 0;
	error = getaddrinfo(host, port + 1, &hints, &found);
	if (error) {
		report_error(boot, where, gai_strerror(error));
		return -1;
	}
	for (a = found; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
			    a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	if (fd < 0)
		report_error(boot, where, strerror(errno));
	return fd;
}

/* Over PMI_PORT the client tells the launcher its id; the launcher answers
 * with size and rank. */
static enum bcl_status send_client_id(struct bcl_boot *boot, const char *id)
{
	struct pmi *pmi = boot->state;
	enum bcl_status status =
		ask_launcher(boot, "initack", "cmd=initack pmiid=%s\n", id);

	for (unsigned i = 0; !status && i < 3; i++) {
		status = read_line(boot);
		if (status)
			break;
		field_number(pmi, "size", &boot->size);
		field_number(pmi, "rank", &boot->rank);
	}
	return status;
}

static bool variable_number(struct bcl_boot *boot, const char *name,
			    unsigned *number)
{
	const struct bcl_env *env = boot->config.env;
	const char *text = env->variable(env->world, name);

	return text && sscanf(text, "%u", number) == 1;
}

static enum bcl_status find_launcher(struct bcl_boot *boot)
{
	const struct bcl_env *env = boot->config.env;
	const char *id, *port = env->variable(env->world, "PMI_PORT");
	struct pmi *pmi = boot->state;
	unsigned fd;

	if (variable_number(boot, "PMI_FD", &fd)) {
		pmi->fd = (int)fd;
		if (variable_number(boot, "PMI_RANK", &boot->rank) &&
		    variable_number(boot, "PMI_SIZE", &boot->size))
			return BCL_OK;
		return report_error(boot, "PMI_FD is set",
				    "PMI_RANK or PMI_SIZE is not");
	}
	if (env->variable(env->world, "PMI_FD"))
		return report_error(boot, "PMI_FD",
				    "not the number of a descriptor");
	if (!port)
		return report_error(boot, "no launcher",
				    "neither PMI_FD nor PMI_PORT is set");
	id = env->variable(env->world, "PMI_ID");
	if (!id)
		id = env->variable(env->world, "PMI_RANK");
	pmi->fd = connect_port(boot, port);
	return pmi->fd < 0 ? BCL_ERR_BOOT : send_client_id(boot, id ? id : "0");
}

static enum bcl_status join_job(struct bcl_boot *boot)
{
	struct pmi *pmi = boot->state;
	struct bcl_pieces pieces = { .put = put_text, .get = get_text };
	enum bcl_status status = find_launcher(boot);
	unsigned length_max;
	size_t length;
	const char *name;

	if (!status)
		status = ask_launcher(
			boot, "response_to_init",
			"cmd=init pmi_version=1 pmi_subversion=1\n");
	if (status)
		return status;
	if (!field_is(pmi, "rc", "0"))
		return report_error(boot, "the launcher refuses PMI 1.1",
				    pmi->line);
	status = ask_launcher(boot, "maxes", "cmd=get_maxes\n");
	if (status)
		return status;
	/* for some launchers the limit includes the terminating zero */
	if (!field_number(pmi, "vallen_max", &length_max) ||
	    length_max <= BCL_PIECE_TEXT_MIN)
		return report_error(boot, "no room for values", pmi->line);
	pieces.text_max = length_max - 1;
	bcl_pieces_open(boot, &pieces);
	status = ask_launcher(boot, "my_kvsname", "cmd=get_my_kvsname\n");
	if (status)
		return status;
	name = find_field(pmi, "kvsname", &length);
	if (!name || length >= SPACE_NAME)
		return report_error(boot, "no name of the key-value space",
				    pmi->line);
	memcpy(pmi->space, name, length);
	pmi->space[length] = 0;
	/* Hydra sets it; other launchers do not */
	variable_number(boot, "MPI_LOCALNRANKS", &boot->local_ranks);
	return BCL_OK;
}

static void pmi_close(struct bcl_boot *boot)
{
	const struct bcl_env *env = boot->config.env;
	struct pmi *pmi = boot->state;

	ask_launcher(boot, "finalize_ack", "cmd=finalize\n");
	close(pmi->fd);
	env->release(env->world, pmi, sizeof(*pmi));
}

static enum bcl_status pmi_open(struct bcl_boot *boot, const char *argument)
{
	const struct bcl_env *env = boot->config.env;
	struct pmi *pmi = env->allocate(env->world, sizeof(*pmi));
	enum bcl_status status;

	(void)argument;
	if (!pmi)
		return BCL_ERR_NOMEM;
	pmi->fd = -1;
	boot->state = pmi;
	status = join_job(boot);
	if (status && pmi->fd >= 0)
		close(pmi->fd);
	if (status)
		env->release(env->world, pmi, sizeof(*pmi));
	return status;
}

static enum bcl_status pmi_fence(struct bcl_boot *boot)
{
	return ask_launcher(boot, "barrier_out", "cmd=barrier_in\n");
}

const struct bcl_boot_kind bcl_boot_pmi = {
	.name = "pmi",
	.once = true,
	.open = pmi_open,
	.close = pmi_close,
	.put = bcl_pieces_put,
	.get = bcl_pieces_get,
	.fence = pmi_fence,
};
