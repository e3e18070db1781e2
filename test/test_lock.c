/* Locks of folders: one owner, named; gone with its process, however that ends. */
#include "base/lock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "scratch.h"
#include "train/run/run.h"

/* In place of the C library's, to be a file system that cannot lock. */
static int failing;

int flock(int file, int operation)
{
  if (!failing) return (int)syscall(SYS_flock, file, operation);
  errno = failing;
  return -1;
}

static const char *folder(void)
{
  return scratch_path("run");
}

static r4_lock *take(bool shared)
{
  r4_error e;
  r4_lock *l = r4_lock_take(folder(), shared, &e);
  if (!l) fail_msg("%s", e.text);
  return l;
}

static void refused(bool shared, const char *says)
{
  r4_error e = {0};
  if (r4_lock_take(folder(), shared, &e)) fail_msg("taken, expected: %s", says);
  assert_error(&e, R4_E_BUSY, says);
}

static void test_one_owner(void **state)
{
  (void)state;
  r4_lock *l = take(false);
  char says[200];
  snprintf(says, sizeof says, "/run: process %ld on ", (long)getpid());
  refused(false, says);
  refused(false, " has been working in this folder since 20");
  r4_lock_free(l);
  assert_false(file_exists(scratch_path("run/lock")));
  r4_lock_free(take(false));
  r4_lock_free(NULL);
}

static void test_sharing(void **state)
{
  (void)state;
  r4_lock *first = take(false);
  r4_lock_share(first);
  r4_lock *second = take(true);
  refused(false, "/run: process ");
  r4_lock_free(first);
  assert_true(file_exists(scratch_path("run/lock")));
  refused(false, "/run: process ");
  r4_lock_free(second);
  assert_false(file_exists(scratch_path("run/lock")));
  r4_lock_free(take(false));
}

/* What a process says when it is killed is nothing; the lock is free all the same. */
static void test_killed_owner(void **state)
{
  (void)state;
  int ends[2];
  char byte;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (!child) {
    r4_lock *l = r4_lock_take(folder(), false, NULL);
    if (l && write(ends[1], "x", 1) == 1) pause();
    _exit(1);
  }
  assert_int_equal(read(ends[0], &byte, 1), 1);
  char says[64];
  snprintf(says, sizeof says, ": process %ld on ", (long)child);
  refused(false, says);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_true(file_exists(scratch_path("run/lock")));
  r4_lock_free(take(false));
  close(ends[0]);
  close(ends[1]);
}

/* The file is made and removed by many at once, and yet two never have it at the same time. */
static void test_many_at_once(void **state)
{
  (void)state;
  enum { PROCESSES = 4, TIMES = 200 };
  static const char inside[] = "inside";
  char path[256];
  snprintf(path, sizeof path, "%s", scratch_path(inside));
  for (int k = 0; k < PROCESSES; k++) {
    if (fork()) continue;
    int code = 0;
    for (int n = 0; n < TIMES;) {
      r4_lock *l = r4_lock_take(folder(), false, NULL);
      if (!l) continue;
      if (mkdir(path, 0777) || rmdir(path)) code = 1;
      r4_lock_free(l);
      n++;
    }
    _exit(code);
  }
  for (int k = 0, status; k < PROCESSES; k++) {
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
}

static void test_file_systems_without_locks(void **state)
{
  (void)state;
  r4_lock *l = take(false);
  assert_null(lock_why_open(l));
  r4_lock_free(l);
  failing = ENOLCK;
  l = take(false);
  assert_string_equal(lock_why_open(l), strerror(ENOLCK));
  r4_lock_free(l);
  failing = 0;
  assert_false(file_exists(scratch_path("run/lock")));
}

static void keep(const char *sentence, void *user)
{
  snprintf(user, R4_ERROR_SIZE, "%s", sentence);
}

static void test_training_without_locks(void **state)
{
  (void)state;
  char said[R4_ERROR_SIZE] = "";
  r4_train_options o = {.folder = folder(), .notice = keep, .user = said};
  r4_lock_free(run_lock(&o, NULL));
  assert_string_equal(said, "");
  failing = EOPNOTSUPP;
  r4_lock_free(run_lock(&o, NULL));
  failing = 0;
  assert_non_null(strstr(said, "/run: cannot be locked here (Operation not supported)"));
}

static void test_bad_places(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_int_equal(file_write(scratch_path("file"), "x", 1, &e), R4_OK);
  assert_null(r4_lock_take(scratch_path("file"), false, &e));
  assert_error(&e, R4_E_IO, "/file: is a file, expected a folder");
  assert_int_equal(mkdir(scratch_path("odd"), 0777), 0);
  assert_int_equal(mkdir(scratch_path("odd/lock"), 0777), 0);
  assert_null(r4_lock_take(scratch_path("odd"), false, &e));
  assert_error(&e, R4_E_IO, "/odd/lock: cannot be written: Is a directory");
}

/* The file can be anything that its owner wrote. */
static void test_owner_that_writes_nonsense(void **state)
{
  (void)state;
  static const char *const text[] = {"", "x", "7 \033[31mhost 2026\n", "7", "7 host"};
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
    r4_lock *l = take(false);
    FILE *f = fopen(scratch_path("run/lock"), "w");
    assert_non_null(f);
    fputs(text[k], f);
    fclose(f);
    refused(false, "/run: another process is working in this folder");
    r4_lock_free(l);
  }
}

/* Who waits for a file to be made goes on when its maker is done, or has been killed, and leaves nothing behind. */
static void test_waiting(void **state)
{
  (void)state;
  for (int killed = 0; killed < 2; killed++) {
    int has[2], got[2];
    char byte = 0;
    assert_true(!pipe(has) && !pipe(got));
    pid_t maker = fork(), waiter;
    if (!maker) {
      r4_lock *l = lock_wait(scratch_path("file"), NULL);
      if (write(has[1], "x", 1) != 1 || !l) _exit(1);
      usleep(killed ? 60000000 : 300000);
      r4_lock_free(l);
      _exit(0);
    }
    assert_int_equal(read(has[0], &byte, 1), 1);
    if (!(waiter = fork())) {
      r4_lock *l = lock_wait(scratch_path("file"), NULL);
      if (write(got[1], "x", 1) != 1 || !l) _exit(1);
      r4_lock_free(l);
      _exit(0);
    }
    struct pollfd p = {.fd = got[0], .events = POLLIN};
    assert_int_equal(poll(&p, 1, 150), 0); /* not yet */
    if (killed) assert_int_equal(kill(maker, SIGKILL), 0);
    assert_int_equal(poll(&p, 1, 20000), 1);
    waitpid(maker, NULL, 0);
    int status = 1;
    assert_int_equal(waitpid(waiter, &status, 0), waiter);
    assert_int_equal(status, 0);
    assert_false(file_exists(scratch_path("file.lock")));
    for (int k = 0; k < 2; k++) close(has[k]), close(got[k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_one_owner),
    cmocka_unit_test(test_sharing),
    cmocka_unit_test(test_killed_owner),
    cmocka_unit_test(test_many_at_once),
    cmocka_unit_test(test_file_systems_without_locks),
    cmocka_unit_test(test_training_without_locks),
    cmocka_unit_test(test_bad_places),
    cmocka_unit_test(test_owner_that_writes_nonsense),
    cmocka_unit_test(test_waiting),
  };
  return cmocka_run_group_tests_name("lock", tests, scratch_make, scratch_remove);
}
