/* "r4 serve" over its socket: who is answered, how much it takes, slow and many connections, and kill -9 while it
 * saves. Needs $R4, the command. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "folder_make.h"
#include "pets.h"

static struct {
  pid_t process;
  int port;
  char token[64];
} server;

enum { SIDE = 4 };

static bool cannot_serve;

static bool serve_start(void)
{
  int ends[2], dump = open("/dev/null", O_WRONLY);
  assert_int_equal(pipe(ends), 0);
  server.process = fork();
  if (!server.process) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(dump, STDERR_FILENO);
    execl(getenv("R4"), "r4", "serve", scratch_path("pets"), (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  close(dump);
  FILE *f = fdopen(ends[0], "r");
  int got = fscanf(f, "http://127.0.0.1:%d/?token=%63s", &server.port, server.token);
  fclose(f);
  if (got == 2) return true;
  waitpid(server.process, NULL, 0);
  return false;
}

static int serve_end(int with)
{
  int status;
  kill(server.process, with);
  waitpid(server.process, &status, 0);
  return status;
}

static int start(void **state)
{
  if (scratch_make(state)) return 1;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 4});
  cannot_serve = command_run("$R4 serve none 2>&1 | grep -q 'built without'") == 0;
  return 0;
}

#define NEEDS_SERVER                                                       \
  if (cannot_serve) check_skip("this r4 was built without libmicrohttpd"); \
  assert_true(serve_start())

/* ---- Talking ---- */

static int dial(const char *address)
{
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
  struct timeval patience = {.tv_sec = 10};
  inet_pton(AF_INET, address, &to.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

static bool say(int fd, const void *bytes, size_t n)
{
  for (const char *at = bytes; n;) {
    ssize_t part = send(fd, at, n, MSG_NOSIGNAL);
    if (part <= 0) return false;
    at += part;
    n -= (size_t)part;
  }
  return true;
}

static char reply[1 << 16];

/* The status of the answer, with all of it in reply until the other side closes; 0: there was none. */
static int hear(int fd)
{
  size_t n = 0;
  for (ssize_t part; n + 1 < sizeof reply && (part = recv(fd, reply + n, sizeof reply - 1 - n, 0)) > 0;)
    n += (size_t)part;
  reply[n] = 0;
  close(fd);
  return strncmp(reply, "HTTP/1.1 ", 9) ? 0 : (int)strtol(reply + 9, NULL, 10);
}

/* A request with the token, Host, Origin and more headers, each ending its line. */
static int ask(const char *method, const char *path, const char *headers, const void *body, size_t n)
{
  char head[2000];
  int fd = dial("127.0.0.1");
  if (fd < 0) return 0;
  int size =
    snprintf(head, sizeof head,
             "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nX-R4-Token: %s\r\n%s"
             "Content-Length: %zu\r\nConnection: close\r\n\r\n",
             method, path, server.port, server.port, server.token, headers, n);
  say(fd, head, (size_t)size);
  say(fd, body, n);
  return hear(fd);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Who is answered ---- */

static void it_answers_who_has_the_token(void **state)
{
  (void)state;
  char path[100], other[200];
  NEEDS_SERVER;
  assert_int_equal(ask("GET", "/api/state", "", "", 0), 200);
  snprintf(path, sizeof path, "/?token=%s", server.token);
  assert_int_equal(ask("GET", path, "", "", 0), 200);
  assert_non_null(strstr(reply, "Content-Security-Policy: default-src 'none'; script-src 'self'"));
  assert_non_null(strstr(reply, "HttpOnly; SameSite=Strict"));
  assert_non_null(strstr(reply, "<title>r4</title>"));
  assert_non_null(strstr(reply, "Referrer-Policy: no-referrer"));
  assert_int_equal(ask("GET", "/serve.js", "", "", 0), 200);
  assert_int_equal(ask("POST", "/api/stop", "Content-Type: text/plain\r\n", "{}", 2), 415);
  snprintf(other, sizeof other, "%s", server.token);
  server.token[3] ^= 1;
  assert_int_equal(ask("GET", "/api/state", "", "", 0), 403);
  assert_int_equal(ask("GET", "/", "", "", 0), 403);
  assert_null(strstr(reply, "Set-Cookie"));
  assert_int_equal(dial("127.0.0.2"), -1); /* loopback as well, but not where it listens */
  assert_int_equal(serve_end(SIGTERM), 0);
}

static void odd_requests(void **state)
{
  (void)state;
  static const char *const odd[] = {
    "GET / HTTP/1.1\r\n\r\n",
    "GET /api/state HTTP/1.0\r\n\r\n",
    "\r\n\r\n\r\n",
    "GET\r\n\r\n",
    "GET /%00/../ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "\x16\x03\x01\x02\x01",
    "PUT /mask HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"};
  NEEDS_SERVER;
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
    int fd = dial("127.0.0.1");
    assert_true(say(fd, odd[k], strlen(odd[k])));
    shutdown(fd, SHUT_WR);
    int status = hear(fd);
    if (status != 0 && (status < 400 || status > 499)) fail_msg("%s: %d", odd[k], status);
  }
  char *long_header = malloc(100000);
  snprintf(long_header, 100000, "A: %090000d\r\n", 1);
  int fd = dial("127.0.0.1"), status;
  say(fd, "GET / HTTP/1.1\r\n", 16);
  say(fd, long_header, strlen(long_header));
  say(fd, "\r\n", 2);
  status = hear(fd);
  assert_true(status == 0 || status == 431 || status == 413 || status == 400);
  free(long_header);
  assert_int_equal(ask("GET", "/api/state", "", "", 0), 200);
  assert_int_equal(serve_end(SIGINT), 0);
}

/* A gigabyte is refused by what it claims, or as soon as it is too much; what the process has stays small. */
static void large_bodies_are_refused(void **state)
{
  (void)state;
  char head[1000], *block = calloc(1, 1 << 20);
  NEEDS_SERVER;
  for (int kind = 0; kind < 3;
       kind++) { /* nothing is sent of it, all of it, all in parts of unknown number */
    bool chunked = kind == 2;
    int fd = dial("127.0.0.1"),
        n = snprintf(head, sizeof head,
                     "PUT /mask?photo=1&base=none HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: "
                     "http://127.0.0.1:%d\r\nX-R4-Token: %s\r\nContent-Type: image/png\r\n%s\r\n\r\n",
                     server.port, server.port, server.token,
                     chunked ? "Transfer-Encoding: chunked" : "Content-Length: 1073741824");
    say(fd, head, (size_t)n);
    for (int k = 0; k < 64 && kind; k++)
      if ((chunked && !say(fd, "100000\r\n", 8)) || !say(fd, block, 1 << 20) ||
          (chunked && !say(fd, "\r\n", 2)))
        break;
    if (chunked) say(fd, "0\r\n\r\n", 5);
    int status = hear(fd);
    assert_true(status == 413 ||
                (status == 0 && kind == 1)); /* closed while we still send: the answer may be lost */
  }
  free(block);
  char path[64], line[200];
  long most = 0;
  snprintf(path, sizeof path, "/proc/%d/status", server.process);
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "VmHWM: %ld", &most) == 1) break;
  fclose(f);
#ifdef __SANITIZE_ADDRESS__
  enum { MOST = 256000 }; /* kB: it has shadows */
#else
  enum { MOST = 64000 };
#endif
  assert_in_range(most, 1, MOST);
  assert_int_equal(ask("GET", "/api/state", "", "", 0), 200);
  assert_int_equal(serve_end(SIGTERM), 0);
}

/* ---- Many and slow ---- */

static int descriptors(pid_t process)
{
  char path[64];
  int n = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", process);
  DIR *d = opendir(path);
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n - 2;
}

static size_t still_open(size_t n, const int *fd)
{
  char byte;
  size_t open = 0;
  for (size_t k = 0; k < n; k++) open += recv(fd[k], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  return open;
}

/* 1000 that send a byte each now and then: a request is answered all the same, at once, and they are all ended. */
static void slow_connections_are_bounded(void **state)
{
  (void)state;
  enum { MANY = 1000 };
  static int fd[MANY];
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < MANY + 100) check_skip("only %ld files may be open", (long)files.rlim_cur);
  NEEDS_SERVER;
  for (size_t k = 0; k < MANY; k++) {
    fd[k] = dial("127.0.0.1");
    assert_true(fd[k] >= 0);
    say(fd[k], "G", 1);
  }
  double began = now(), slowest = 0;
  int most = 0;
  size_t open = MANY;
  for (int round = 0; round < 24 && open; round++) {
    double before = now();
    assert_int_equal(ask("GET", "/api/state", "", "", 0), 200);
    if (now() - before > slowest) slowest = now() - before;
    if (descriptors(server.process) > most) most = descriptors(server.process);
    for (size_t k = 0; k < MANY; k++) send(fd[k], "E", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    usleep(500000);
    open = still_open(MANY, fd);
  }
  print_message("# slowest answer %.2f s, at most %d descriptors, all ended after %.1f s\n", slowest, most,
                now() - began);
  assert_int_equal(open, 0);
  assert_true(slowest < 5);
  assert_in_range(most, 1, 300);
  for (size_t k = 0; k < MANY; k++) close(fd[k]);
  assert_int_equal(serve_end(SIGTERM), 0);
}

/* ---- Starting ---- */

static void what_is_in_use_is_said(void **state)
{
  (void)state;
  char line[200];
  NEEDS_SERVER;
  EXPECT("$R4 serve pets", 3, "pets/.r4", "process");
  pets_make((struct pets){.folder = "more", .cat = "cat", .dog = "dog"});
  snprintf(line, sizeof line, "$R4 serve more --port %d", server.port);
  EXPECT(line, 3, "is in use", "choose another --port");
  assert_int_equal(serve_end(SIGTERM), 0);
}

static void folders_that_cannot_be_served(void **state)
{
  (void)state;
  if (cannot_serve) check_skip("this r4 was built without libmicrohttpd");
  EXPECT("$R4 serve none", 3, "none", "No such file");
  EXPECT("mkdir empty && $R4 serve empty", 3, "has no photos");
  EXPECT("printf 'file,label\n' > empty/metadata.csv && $R4 serve empty", 3, "has no photos");
  EXPECT("$R4 serve pets --mask-means relevant", 2, "expected irrelevant");
  EXPECT("$R4 serve pets --port 70000", 2, "port");
  EXPECT("mkdir full && cp -r pets/images pets/metadata.csv full && touch full/.r4 && $R4 serve full", 3,
         "full/.r4");
  if (geteuid()) EXPECT("chmod a-w full && rm -rf full/.r4; $R4 serve full", 3, "full/.r4");
}

/* ---- Dying ---- */

static size_t make_mask(uint8_t **png, uint64_t pattern)
{
  size_t size;
  r4_image mask = {SIDE, SIDE, 1, calloc(SIDE, SIDE)};
  for (size_t k = 0; k < SIDE * SIDE; k++) mask.pixel[k] = pattern >> k & 1 ? 255 : 0;
  assert_int_equal(r4_image_png(&mask, png, &size, NULL), R4_OK);
  free(mask.pixel);
  return size;
}

/* Paints one mask after the other, number by number, and reports each that was answered, until the server is gone. */
static void paint_on(int to, uint64_t from, const char *base)
{
  char path[200], version[17];
  snprintf(version, sizeof version, "%s", base);
  for (uint64_t k = from;; k++) {
    uint8_t *png;
    size_t size = make_mask(&png, k);
    snprintf(path, sizeof path, "/mask?photo=1&base=%s", version);
    if (write(to, &(uint64_t){2 * k}, sizeof k) < 0) _exit(1); /* it is sent */
    int status = ask("PUT", path, "Content-Type: image/png\r\n", png, size);
    r4_bytes_free(png);
    const char *at = status == 200 ? strstr(reply, "\"version\":\"") : NULL;
    if (!at) _exit(status == 0 ? 0 : 1);
    snprintf(version, sizeof version, "%.16s", at + 11);
    if (write(to, &(uint64_t){2 * k + 1}, sizeof k) < 0) _exit(1);
  }
}

/* The number of the mask on the disk, which must be whole. */
static uint64_t mask_number(char version[17])
{
  r4_image mask;
  r4_error e = {0};
  uint64_t k = 0;
  char hex[R4_HASH_SIZE];
  uint8_t bytes[4096];
  FILE *f = fopen(scratch_path("pets/masks/01.png"), "rb");
  snprintf(version, 17, "none");
  if (!f) return 0;
  size_t size = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  if (r4_image_read(bytes, size, "mask", 1, &mask, &e)) fail_msg("%s", e.text);
  for (size_t i = 0; i < SIDE * SIDE; i++) k |= (uint64_t)(mask.pixel[i] == 255) << i;
  r4_image_clear(&mask);
  r4_hash(bytes, size, hex);
  snprintf(version, 17, "%.16s", hex);
  return k;
}

/* Whenever the server is killed, the mask is the last that was answered, or the one that was on its way. */
static void nothing_is_lost_by_kill_9(void **state)
{
  (void)state;
  char version[17] = "none";
  uint64_t number = 0, saves = 0;
  command_run("rm -rf pets/masks");
  for (int round = 0; round < 25; round++) {
    int ends[2];
    NEEDS_SERVER;
    assert_int_equal(pipe(ends), 0);
    pid_t painter = fork();
    if (!painter) paint_on(ends[1], number + 1, version);
    close(ends[1]);
    usleep((useconds_t)(20000 + 7919 * round % 60000));
    serve_end(SIGKILL);
    int status;
    waitpid(painter, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t said, sent = number, answered = number;
    while (read(ends[0], &said, sizeof said) == (ssize_t)sizeof said)
      *(said % 2 ? &answered : &sent) = said / 2;
    close(ends[0]);
    saves += answered - number;
    number = mask_number(version);
    if (number < answered || number > sent)
      fail_msg("round %d: mask %lu, answered %lu, sent %lu", round, (unsigned long)number,
               (unsigned long)answered, (unsigned long)sent);
    if (number > 60000) break; /* all of 16 pixels */
  }
  print_message("# %lu saves, each killed once in between\n", (unsigned long)saves);
  assert_true(saves > 10);
}

/* The state of a process as /proc has it, and its parent; 0 if it is gone. */
static char process_state(long process, long *parent)
{
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  FILE *f = fopen(path, "r");
  if (!f || fscanf(f, "%*d (%*[^)]) %c %ld", &state, parent) != 2) state = 0;
  if (f) fclose(f);
  return state;
}

static long child_of(long process)
{
  DIR *d = opendir("/proc");
  long found = 0, parent;
  for (struct dirent *entry; d && !found && (entry = readdir(d));) {
    long k = strtol(entry->d_name, NULL, 10);
    if (k > 0 && process_state(k, &parent) && parent == process) found = k;
  }
  if (d) closedir(d);
  return found;
}

/* What it had another process do ends as well, when it ends. */
static void what_it_started_ends_with_it(void **state)
{
  (void)state;
  NEEDS_SERVER;
  put_text(scratch_folder(), "pets/r4.yaml",
           "data: .\ndata.mask_means: irrelevant\nnet: dense 2\nbatch: 4\nepochs: 1000000\n");
  assert_int_equal(ask("POST", "/api/train", "Content-Type: application/json\r\n", "{}", 2), 200);
  int there = 1;
  for (int k = 0; k < 100 && there; k++) {
    usleep(100000);
    there = command_run("test -s pets/runs/before/seed-0/log.jsonl");
  }
  assert_int_equal(there, 0);
  assert_int_equal(ask("GET", "/api/state", "", "", 0), 200);
  assert_non_null(strstr(reply, "\"kind\":\"train\",\"state\":\"running\""));
  assert_int_equal(ask("GET", "/api/log?run=before", "", "", 0), 200);
  assert_non_null(strstr(reply, "\"loss\""));
  long child = child_of(server.process), parent;
  assert_int_not_equal(child, 0);
  serve_end(SIGKILL);
  char now_is = 'R';
  for (int k = 0; k < 100 && now_is && now_is != 'Z'; k++, usleep(100000))
    now_is = process_state(child, &parent);
  if (now_is && now_is != 'Z') {
    kill((pid_t)child, SIGKILL);
    fail_msg("the training goes on");
  }
}

int main(void)
{
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_answers_who_has_the_token), cmocka_unit_test(odd_requests),
    cmocka_unit_test(large_bodies_are_refused),     cmocka_unit_test(slow_connections_are_bounded),
    cmocka_unit_test(what_is_in_use_is_said),       cmocka_unit_test(folders_that_cannot_be_served),
    cmocka_unit_test(nothing_is_lost_by_kill_9),    cmocka_unit_test(what_it_started_ends_with_it),
  };
  return cmocka_run_group_tests(tests, start, scratch_remove);
}
