#include "forked_team.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MESSAGES = 256 };

/* What was begun with one other process, one way: in order. */
struct queue {
  struct {
    char *at;
    size_t left;
  } item[MESSAGES];
  int first, n;
};

struct wires {
  int at[RANKS][RANKS]; /* [own rank][other rank] */
  int rank, ranks;
  size_t messages; /* that were sent */
  struct queue out[RANKS], in[RANKS];
};

static r4_status add_to(struct queue *q, const void *bytes, size_t size, r4_error *e)
{
  if (q->n == MESSAGES) return r4_fail(e, R4_E_INTERNAL, "too many messages at once");
  if (!size) return R4_OK;
  q->item[q->n].at = (char *)(uintptr_t)bytes;
  q->item[q->n++].left = size;
  return R4_OK;
}

static r4_status put(void *user, int to, const void *bytes, size_t size, r4_error *e)
{
  struct wires *w = user;
  w->messages++;
  return add_to(&w->out[to], bytes, size, e);
}

static r4_status get(void *user, int from, void *bytes, size_t size, r4_error *e)
{
  struct wires *w = user;
  return add_to(&w->in[from], bytes, size, e);
}

/* As much of the first message as passes without waiting. */
static r4_status move(int wire, struct queue *q, bool out, int other, r4_error *e)
{
  while (q->first < q->n) {
    char *at = q->item[q->first].at;
    size_t left = q->item[q->first].left;
    ssize_t n =
      out ? send(wire, at, left, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(wire, at, left, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return R4_OK;
    if (n <= 0) return r4_fail(e, R4_E_IO, "process %d is gone", other);
    q->item[q->first].at += n;
    q->item[q->first].left -= (size_t)n;
    q->first += !q->item[q->first].left;
  }
  q->first = q->n = 0;
  return R4_OK;
}

static r4_status nudge(void *user, r4_error *e)
{
  struct wires *w = user;
  r4_status s = R4_OK;
  for (int k = 0; !s && k < w->ranks; k++) {
    if (k == w->rank) continue;
    s = move(w->at[w->rank][k], &w->out[k], true, k, e);
    if (!s) s = move(w->at[w->rank][k], &w->in[k], false, k, e);
  }
  return s;
}

static r4_status wait_for_all(void *user, r4_error *e)
{
  struct wires *w = user;
  for (;;) {
    struct pollfd wire[RANKS];
    nfds_t n = 0;
    r4_status s = nudge(w, e);
    if (s) return s;
    for (int k = 0; k < w->ranks; k++) {
      short events = (short)((w->out[k].n ? POLLOUT : 0) | (w->in[k].n ? POLLIN : 0));
      if (k != w->rank && events) wire[n++] = (struct pollfd){.fd = w->at[w->rank][k], .events = events};
    }
    if (!n) return R4_OK;
    poll(wire, n, -1);
  }
}

void together(int ranks, work *w, void *user, int code[RANKS])
{
  static struct wires wires;
  wires = (struct wires){.ranks = ranks};
  pid_t child[RANKS];
  for (int a = 0; a < ranks; a++)
    for (int b = 0; b < a; b++) {
      int pair[2];
      assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
      wires.at[a][b] = pair[0];
      wires.at[b][a] = pair[1];
    }
  for (int k = 0; k < ranks; k++)
    if (!(child[k] = fork())) {
      wires.rank = k;
      for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++)
          if (a != k && a != b) close(wires.at[a][b]);
      const r4_team team = {.rank = k,
                            .ranks = ranks,
                            .send = put,
                            .receive = get,
                            .wait = wait_for_all,
                            .nudge = nudge,
                            .user = &wires};
      _exit(w(ranks > 1 ? &team : NULL, user));
    }
  for (int a = 0; a < ranks; a++)
    for (int b = 0; b < ranks; b++)
      if (a != b) close(wires.at[a][b]);
  for (int k = 0; k < ranks; k++) {
    int status = 0;
    assert_int_equal(waitpid(child[k], &status, 0), child[k]);
    code[k] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

size_t *forked_messages(const r4_team *t)
{
  struct wires *w = t->user;
  return &w->messages;
}
