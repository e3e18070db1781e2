#include "experiment/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "data/cmd_data.h"

enum { HOST = 65, SINCE = 32, LINE = 1024, NAME = 160 };

/* OUT/work/NAME and an ending. A long name ends with a number of its own. */
static void find_path(const struct claim *c, const char *ending, char path[CLAIM_PATH])
{
  const char *slash = strrchr(c->folder, '/'), *all = slash ? slash + 1 : c->folder;
  char name[NAME], hash[R4_HASH_SIZE];
  r4_hash(all, strlen(all), hash);
  if (strlen(all) < NAME)
    snprintf(name, sizeof name, "%s", all);
  else
    snprintf(name, sizeof name, "%.130s-%.16s", all, hash);
  snprintf(path, CLAIM_PATH, "%.*s/work/%s%s", PATH_SIZE / 2, c->out, name, ending);
}

static int fail(const struct claim *c, const char *path, const char *what)
{
  char text[CLAIM_PATH + CLAIM_WHY];
  snprintf(text, sizeof text, "%s: %.300s", path, what);
  return cli_fail(c->command, R4_E_IO, text);
}

/* "on HOST at TIME", in universal time. */
static void write_place(char to[HOST + SINCE + 8], const char *between)
{
  char since[SINCE];
  struct utsname os = {0};
  struct tm utc;
  time_t now = time(NULL);
  strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  snprintf(to, HOST + SINCE + 8, "%.64s%s%s", uname(&os) ? "?" : os.nodename, between, since);
}

/* The last line of a file that is not empty, as it can be shown; "" if there is none. */
static void last_line(const char *path, char *to, size_t size)
{
  char line[LINE];
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  FILE *f = file < 0 ? NULL : fdopen(file, "r");
  *to = 0;
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\r\n")] = 0;
    if (*line) r4_text_printable(line, to, size);
  }
  if (f) fclose(f);
}

/* ---- The owner ---- */

struct owner {
  long process;
  char host[HOST], since[SINCE];
  int deaths;       /* of those before, since the run came further */
  long long epochs; /* that were done when it took the run         */
};

/* False if nobody is named: the last one gave it back. */
static bool read_owner(int file, struct owner *o)
{
  char line[LINE];
  ssize_t n = pread(file, line, sizeof line - 1, 0);
  line[n > 0 ? n : 0] = 0;
  return sscanf(line, "%ld %64s %31s %d %lld", &o->process, o->host, o->since, &o->deaths, &o->epochs) == 5;
}

static bool write_owner(int file, int deaths, int64_t epochs)
{
  char line[LINE], place[HOST + SINCE + 8];
  write_place(place, " ");
  int n = snprintf(line, sizeof line, "%ld %s %d %lld\n", (long)getpid(), place, deaths, (long long)epochs);
  return !ftruncate(file, 0) && pwrite(file, line, (size_t)n, 0) == n;
}

/* ---- Taking ---- */

static bool lock_once(int file, int how)
{
  int got;
  while ((got = flock(file, how | LOCK_NB)) && errno == EINTR) continue;
  return got == 0;
}

/* Who looks has it for an instant, shared: so, whoever takes it tries for a moment. */
static bool lock_alone(int file)
{
  enum { TIMES = 10, MILLISECONDS = 10 };
  for (int k = 0; !lock_once(file, LOCK_EX); k++) {
    if (errno != EWOULDBLOCK || k == TIMES) return false;
    poll(NULL, 0, MILLISECONDS);
  }
  return true;
}

/* Owners that died: one more, unless the run came further since. */
static int count_deaths(int file, int64_t epochs)
{
  struct owner o;
  if (epochs == CLAIM_WHATEVER || !read_owner(file, &o)) return 0;
  return epochs > o.epochs ? 1 : o.deaths + 1;
}

static int open_lock(struct claim *c, const char *path)
{
  char folder[CLAIM_PATH];
  snprintf(folder, sizeof folder, "%.*s/work", PATH_SIZE / 2, c->out);
  int code = folder_refuse_link(c->command, folder);
  if (code) return code;
  c->file = folder_make(folder) ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666) : -1;
  return c->file < 0 ? fail(c, path, strerror(errno)) : EXIT_DONE;
}

int claim_take(struct claim *c, int64_t epochs, bool *taken, bool *failed)
{
  enum { MOST_DEATHS = 5 };
  char path[CLAIM_PATH], why[CLAIM_WHY];
  *taken = *failed = false;
  find_path(c, ".lock", path);
  int code = open_lock(c, path);
  if (code) return code;
  if (!lock_alone(c->file)) {
    bool busy = errno == EWOULDBLOCK;
    snprintf(why, sizeof why, "cannot be locked here (%.200s), and two workers could make one run",
             strerror(errno));
    close(c->file);
    return busy ? EXIT_DONE : fail(c, path, why);
  }
  *taken = true;
  int deaths = count_deaths(c->file, epochs);
  *failed = deaths >= MOST_DEATHS;
  if (*failed) code = claim_fail(c, "5 workers died making it, the last of them", why);
  if (!*failed && !write_owner(c->file, deaths, epochs)) code = fail(c, path, strerror(errno));
  if (*failed || code) claim_give(c);
  return code;
}

/* To make and remove a file there tells an NFS client that somebody else has changed the folder, if so: what it
 * remembers of names in it, those that were missing included, counts no more. */
static void refresh(const char *path)
{
  int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
  unlink(path);
}

void claim_refresh(const struct claim *c)
{
  char path[CLAIM_PATH];
  int64_t seed[MAX_SEEDS];
  snprintf(path, sizeof path, "%s.look", c->folder);
  refresh(path);
  snprintf(path, sizeof path, "%s/.look", c->folder);
  refresh(path);
  size_t seeds = runs_seeds(c->folder, seed);
  for (size_t k = 0; k < seeds; k++) {
    char folder[PATH_SIZE];
    runs_seed_folder(c->folder, seed[k], folder);
    snprintf(path, sizeof path, "%s/.look", folder);
    refresh(path);
  }
}

void claim_give(struct claim *c)
{
  if (ftruncate(c->file, 0)) errno = 0; /* counts as a death, which the run survives */
  close(c->file);
}

/* ---- Looking ---- */

/* "exit code 3 on HOST at TIME: LAST LINE", after the digits of what was asked. */
bool claim_failure(const struct claim *c, char why[CLAIM_WHY])
{
  char path[CLAIM_PATH], line[LINE];
  size_t digits = strlen(c->asked);
  find_path(c, ".failed", path);
  last_line(path, line, sizeof line);
  bool ours = !strncmp(line, c->asked, digits) && line[digits] == ' ';
  if (ours) snprintf(why, CLAIM_WHY, "%.*s", CLAIM_WHY - 1, line + digits + 1);
  return ours;
}

enum claim_state claim_look(const struct claim *c, char why[CLAIM_WHY])
{
  char path[CLAIM_PATH];
  struct owner o;
  find_path(c, ".lock", path);
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  bool taken = file >= 0 && !lock_once(file, LOCK_SH) && errno == EWOULDBLOCK;
  *why = 0;
  if (taken && read_owner(file, &o))
    snprintf(why, CLAIM_WHY, "process %ld on %.100s since %.40s", o.process, shown(o.host).text,
             shown(o.since).text);
  if (file >= 0) close(file);
  return taken ? CLAIM_TAKEN : claim_failure(c, why) ? CLAIM_FAILED : CLAIM_FREE;
}

/* ---- What was said ---- */

/* Where that is not possible, what is said stays where it was. */
void claim_log(const struct claim *c)
{
  char path[CLAIM_PATH], place[HOST + SINCE + 8];
  find_path(c, ".log", path);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return;
  dup2(file, STDERR_FILENO);
  close(file);
  write_place(place, ", ");
  fprintf(stderr, "---- process %ld on %s\n", (long)getpid(), place);
}

int claim_fail(const struct claim *c, const char *how, char why[CLAIM_WHY])
{
  char path[CLAIM_PATH], part[PATH_MAX], said[CLAIM_WHY / 2], place[HOST + SINCE + 8];
  find_path(c, ".log", path);
  last_line(path, said, sizeof said);
  find_path(c, ".failed", path);
  write_place(place, " at ");
  snprintf(why, CLAIM_WHY, "%s on %s: %s", how, place, said);
  FILE *f = file_beside(path, part);
  if (f) fprintf(f, "%s %s\n", c->asked, why);
  if (f && !fclose(f) && !rename(part, path)) return EXIT_DONE;
  return fail(c, path, strerror(errno));
}

void claim_forget_failure(const struct claim *c)
{
  char path[CLAIM_PATH];
  find_path(c, ".failed", path);
  unlink(path);
}
