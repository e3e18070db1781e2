/* Connections, by libmicrohttpd, on this machine's own address alone. Nobody may hold the server up: connections are
 * few, each has so long for its headers and so long for a request, headers and bodies have so many bytes, and all
 * bodies together as well. */
#include "serve/serve.h"

#if !defined(R4_NO_SERVE) && __has_include(<microhttpd.h>)
#include <microhttpd.h>
#endif

#if defined(MHD_VERSION) && MHD_VERSION >= 0x00097300

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECTIONS = 256,
  CALM = 192, /* with more, the oldest that have not asked anything make room */
  IDLE_SECONDS = 15,
  HEADER_SECONDS = 5,   /* for the first request of a connection */
  REQUEST_SECONDS = 30, /* for each                              */
  HEADER_BYTES = 32 << 10,
  ALL_BODIES = 64 << 20,
};

struct link {
  int socket;
  bool asked; /* a request has come */
  time_t since;
  struct link *next, *before;
};

struct server {
  struct site *site;
  struct MHD_Daemon *daemon;
  struct link links; /* the head of the list */
  size_t bodies;     /* bytes of all that are being read */
};

/* What a request has sent so far. */
struct upload {
  struct server *server;
  uint8_t *bytes;
  size_t size, most, counted;
  bool too_much;
};

static time_t now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec;
}

/* ---- How long connections take ---- */

static void connected(void *user, struct MHD_Connection *c, void **own,
                      enum MHD_ConnectionNotificationCode what)
{
  struct server *v = user;
  struct link *l = *own;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info || !(l = calloc(1, sizeof *l))) return;
    *l =
      (struct link){.socket = info->connect_fd, .since = now(), .next = v->links.next, .before = &v->links};
    if (l->next) l->next->before = l;
    v->links.next = l;
    *own = l;
  } else if (l) {
    l->before->next = l->next;
    if (l->next) l->next->before = l->before;
    free(l);
    *own = NULL;
  }
}

static struct link *link_of(struct MHD_Connection *c)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* A byte now and then keeps a connection from being idle, but not from ending. The newest is the first of the list. */
static void end_slow(struct server *v)
{
  time_t t = now();
  int newer = 0;
  for (struct link *l = v->links.next; l; l = l->next) {
    bool late = t - l->since > (l->asked ? REQUEST_SECONDS : HEADER_SECONDS);
    if (late || (++newer > CALM && !l->asked)) shutdown(l->socket, SHUT_RDWR);
  }
}

/* ---- Requests ---- */

static const char *argument(const void *from, const char *name)
{
  struct MHD_Connection *c = (struct MHD_Connection *)(uintptr_t)from;
  return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(const void *from, const char *name)
{
  struct MHD_Connection *c = (struct MHD_Connection *)(uintptr_t)from;
  return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static void completed(void *user, struct MHD_Connection *c, void **own, enum MHD_RequestTerminationCode how)
{
  (void)user, (void)how;
  struct upload *u = *own;
  struct link *l = link_of(c);
  if (l) l->since = now();
  if (!u) return;
  u->server->bodies -= u->counted;
  free(u->bytes);
  free(u);
  *own = NULL;
}

static void add(struct upload *u, const char *data, size_t size)
{
  size_t more = u->size + size, room = u->counted;
  if (u->too_much || more > u->most) {
    u->too_much = true;
    return;
  }
  while (room < more) room = room ? 2 * room : 1 << 14;
  if (room > u->counted) {
    uint8_t *grown = u->server->bodies + room - u->counted > ALL_BODIES ? NULL : realloc(u->bytes, room);
    if (!grown) {
      u->too_much = true;
      return;
    }
    u->bytes = grown;
    u->server->bodies += room - u->counted;
    u->counted = room;
  }
  memcpy(u->bytes + u->size, data, size);
  u->size = more;
}

/* ---- Answers ---- */

/* The page asks nobody but this server, and runs nothing but its own files. A report has its script inside, and may
 * do no more than that: its origin is none. */
static const char page_policy[] =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
static const char report_policy[] =
  "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
  "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors "
  "'none'";

static void put_headers(const struct site *s, const struct answer *a, struct MHD_Response *r)
{
  const char *const header[][2] = {
    {"Content-Type", a->type},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
    {"Content-Security-Policy", a->report ? report_policy : page_policy},
    {"Cache-Control", *a->etag ? "private, no-cache" : "no-store"},
    {"ETag", a->etag},
  };
  for (size_t k = 0; k < sizeof header / sizeof *header; k++)
    if (header[k][1] && *header[k][1]) MHD_add_response_header(r, header[k][0], header[k][1]);
  if (!a->page) return;
  char name[32], cookie[128];
  guard_cookie_name(s, name);
  snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", name, s->cookie);
  MHD_add_response_header(r, "Set-Cookie", cookie);
}

static void release(void *user)
{
  answer_clear(user);
  free(user);
}

static enum MHD_Result reply(struct MHD_Connection *c, const struct site *s, struct answer *a)
{
  struct answer *kept = malloc(sizeof *kept);
  if (!kept) {
    answer_clear(a);
    return MHD_NO;
  }
  *kept = *a;
  struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
    a->size, (void *)(uintptr_t)a->body, release, kept);
  if (!r) {
    release(kept);
    return MHD_NO;
  }
  put_headers(s, kept, r);
  enum MHD_Result result = MHD_queue_response(c, (unsigned)kept->status, r);
  MHD_destroy_response(r);
  return result;
}

static bool claims_too_much(const struct request *r, size_t most)
{
  const char *said = r->header(r->from, "Content-Length");
  return said && (strlen(said) > 18 || strtoull(said, NULL, 10) > most);
}

/* Before the body: who may not ask, or says too much, is refused without reading it. */
static enum MHD_Result begin(struct server *v, struct MHD_Connection *c, const struct request *r, void **own)
{
  struct answer a = {0};
  struct link *l = link_of(c);
  struct upload *u = calloc(1, sizeof *u);
  if (!u) return MHD_NO;
  u->server = v;
  *own = u;
  if (l) l->asked = true, l->since = now();
  bool good = serve_admit(v->site, r, &u->most, &a);
  if (good) {
    answer_clear(&a);
    if (!claims_too_much(r, u->most)) return MHD_YES;
    answer_error(&a, 413, "the body has more than %zu bytes", u->most);
  }
  return reply(c, v->site, &a);
}

static enum MHD_Result handle(void *user, struct MHD_Connection *c, const char *path, const char *method,
                              const char *version, const char *data, size_t *size, void **own)
{
  (void)version;
  struct server *v = user;
  struct upload *u = *own;
  struct answer a = {0};
  struct request r = {method, path, argument, header, c, NULL, 0};
  if (!u) return begin(v, c, &r, own);
  if (*size) {
    add(u, data, *size);
    *size = 0;
    return MHD_YES;
  }
  r.body = u->bytes;
  r.size = u->size;
  if (u->too_much)
    answer_error(&a, 413, "the body has more than %zu bytes, or there is no room for it now", u->most);
  else
    serve_answer(v->site, &r, &a);
  return reply(c, v->site, &a);
}

/* ---- The loop ---- */

static int fail(const char *what)
{
  fprintf(stderr, "r4 serve: %s: %s\n", what, strerror(errno));
  return EXIT_WORLD;
}

static int listen_here(int port, int *to)
{
  struct sockaddr_in here = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail("no socket");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, (struct sockaddr *)&here, size) || listen(fd, SOMAXCONN) ||
      getsockname(fd, (struct sockaddr *)&here, &size)) {
    int why = errno;
    close(fd);
    errno = why;
    if (why == EADDRINUSE)
      fprintf(stderr, "r4 serve: port %d is in use: choose another --port, or none\n", port);
    else
      fail("127.0.0.1");
    return EXIT_WORLD;
  }
  *to = ntohs(here.sin_port);
  return -fd; /* not an exit code */
}

static int catch_signals(void)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* False when it is time to end. */
static bool read_signals(int fd)
{
  struct signalfd_siginfo info;
  bool go_on = true;
  while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) go_on = go_on && info.ssi_signo == SIGCHLD;
  return go_on;
}

static void loop(struct server *v, int signals)
{
  int epoll = MHD_get_daemon_info(v->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  for (;;) {
    MHD_UNSIGNED_LONG_LONG wait = 1000, asked;
    if (MHD_get_timeout(v->daemon, &asked) == MHD_YES && asked < wait) wait = asked;
    struct pollfd on[] = {{epoll, POLLIN, 0}, {signals, POLLIN, 0}, {v->site->tasks.said, POLLIN, 0}};
    poll(on, sizeof on / sizeof *on, (int)wait);
    MHD_run(v->daemon);
    end_slow(v);
    tasks_tend(&v->site->tasks, v->site->root);
    if (!read_signals(signals)) return;
  }
}

const char *http_missing(void)
{
  return NULL;
}

int http_serve(struct site *s, int port, void (*ready)(const struct site *s, void *user), void *user)
{
  struct server v = {.site = s};
  int fd = listen_here(port, &s->port), signals = fd < 0 ? catch_signals() : -1;
  if (fd > 0) return fd;
  if (signals < 0) return fail("signals");
  v.daemon = MHD_start_daemon(
    MHD_USE_EPOLL, 0, NULL, NULL, handle, &v, MHD_OPTION_LISTEN_SOCKET, -fd, MHD_OPTION_CONNECTION_LIMIT,
    (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_NOTIFY_COMPLETED, completed, &v,
    MHD_OPTION_NOTIFY_CONNECTION, connected, &v, MHD_OPTION_END);
  if (!v.daemon) return fail("the server cannot be started");
  ready(s, user);
  loop(&v, signals);
  MHD_stop_daemon(v.daemon);
  tasks_stop_all(&s->tasks);
  close(signals);
  return EXIT_DONE;
}

#else

const char *http_missing(void)
{
  return "this r4 was built without libmicrohttpd, 0.9.73 or later, and cannot serve pages";
}

int http_serve(struct site *s, int port, void (*ready)(const struct site *s, void *user), void *user)
{
  (void)s, (void)port, (void)ready, (void)user;
  return EXIT_WORLD;
}

#endif
