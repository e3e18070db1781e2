/* Checkpoints and logs: what is written reads back bit by bit; every flipped byte and every cut is noticed; a failure
 * leaves the old file; a log goes on as if the run had never stopped. And the optimizer's state, which they keep. */
#include "train/run/checkpoint.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "scratch.h"
#include "train/run/log.h"

/* How many files there are, beside "." and "..". */
static int count_files(void)
{
  char command[80];
  int n = -1;
  snprintf(command, sizeof command, "ls -A %s | wc -l", scratch_folder());
  FILE *f = popen(command, "r");
  assert_non_null(f);
  assert_int_equal(fscanf(f, "%d", &n), 1);
  pclose(f);
  return n;
}

/* From now on files cannot grow beyond bytes; SIZE_MAX: they can again. */
static void limit_files(size_t bytes)
{
  static rlim_t before;
  struct rlimit limit;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  if (bytes != SIZE_MAX) before = limit.rlim_cur;
  limit.rlim_cur = bytes == SIZE_MAX ? before : (rlim_t)bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* ---- Checkpoints ---- */

static const float weights[] = {1, -0.f, 3.5f};
static const int64_t step = 77;
static const struct checkpoint_part parts[] = {
  {"weights", weights, sizeof weights}, {"step", &step, sizeof step}, {"nothing", "", 0}};

static uint8_t *write_and_read_bytes(size_t *size)
{
  uint8_t *bytes = NULL;
  r4_error e;
  if (checkpoint_write(scratch_path("c"), 3, parts, &e)) fail_msg("%s", e.text);
  assert_int_equal(file_read(scratch_path("c"), 1 << 20, &bytes, size, &e), R4_OK);
  return bytes;
}

static r4_status parse(const uint8_t *bytes, size_t size, r4_error *e)
{
  struct checkpoint c;
  uint8_t *copy = r4_mem_new(size, 1);
  if (size) memcpy(copy, bytes, size);
  r4_status s = checkpoint_parse(&c, "c.r4", copy, size, e);
  checkpoint_free(&c);
  return s;
}

static void test_reads_back(void **state)
{
  (void)state;
  float w[3];
  int64_t s;
  r4_error e;
  struct checkpoint c;
  if (checkpoint_write(scratch_path("c"), 3, parts, &e)) fail_msg("%s", e.text);
  if (checkpoint_read(&c, scratch_path("c"), &e)) fail_msg("%s", e.text);
  assert_int_equal(c.n, 3);
  assert_int_equal(checkpoint_take(&c, "weights", w, sizeof w, &e), R4_OK);
  assert_memory_equal(w, weights, sizeof w);
  assert_int_equal(checkpoint_take(&c, "step", &s, sizeof s, &e), R4_OK);
  assert_int_equal(s, 77);
  assert_int_equal(checkpoint_find(&c, "nothing")->size, 0);
  assert_error(&e, checkpoint_take(&c, "weights", w, 8, &e), "/c: part \"weights\" has 12 bytes, expected 8");
  assert_error(&e, checkpoint_take(&c, "bias", w, 8, &e), "/c: has no part \"bias\"");
  checkpoint_free(&c);
}

static void test_every_flip_is_noticed(void **state)
{
  (void)state;
  size_t size;
  r4_error e;
  uint8_t *bytes = write_and_read_bytes(&size);
  assert_int_equal(parse(bytes, size, &e), R4_OK);
  for (size_t k = 0; k < size; k++)
    for (int bit = 0; bit < 8; bit++) {
      bytes[k] ^= (uint8_t)(1 << bit);
      r4_status s = parse(bytes, size, &e);
      if (s != R4_E_PARSE || strncmp(e.text, "c.r4: ", 6))
        fail_msg("bit %d of byte %zu of %zu: %s", bit, k, size, e.text);
      bytes[k] ^= (uint8_t)(1 << bit);
    }
  r4_mem_free(bytes);
}

static void test_every_cut_is_noticed(void **state)
{
  (void)state;
  size_t size;
  r4_error e;
  uint8_t *bytes = write_and_read_bytes(&size);
  for (size_t k = 0; k < size; k++)
    if (parse(bytes, k, &e) != R4_E_PARSE) fail_msg("the first %zu of %zu bytes are accepted", k, size);
  assert_error(&e, parse(bytes, 7, &e), "c.r4: is not an r4 checkpoint");
  assert_error(&e, parse(bytes, 50, &e), "c.r4: damaged: it is cut off");
  assert_error(&e, parse(bytes, size - 1, &e), "c.r4: damaged: it has 93 bytes where it says 94");
  uint8_t *longer = r4_mem_grow(bytes, size + 1, 1);
  longer[size] = 0;
  assert_error(&e, parse(longer, size + 1, &e), "c.r4: damaged: it has 95 bytes where it says 94");
  longer[size - 1] ^= 1;
  assert_error(&e, parse(longer, size, &e), "c.r4: damaged: its checksum does not match");
  longer[size - 1] ^= 1;
  longer[8] = CHECKPOINT_VERSION + 1;
  assert_error(&e, parse(longer, size, &e), ": a newer r4 may have written it");
  longer[8] = CHECKPOINT_VERSION - 1;
  assert_error(&e, parse(longer, size, &e), "is a checkpoint of version 2; this r4 reads version 3");
  r4_mem_free(longer);
}

/* A forged file: sizes that lie under a checksum that is right. */
static void test_lying_sizes(void **state)
{
  (void)state;
  static const size_t at[] = {56, 64}; /* of the first name, of its data */
  for (int which = 0; which < 2; which++)
    for (int value = 0; value < 256; value += 15) {
      size_t size;
      r4_error e;
      struct hash h;
      uint8_t *bytes = write_and_read_bytes(&size);
      bytes[at[which]] = (uint8_t)value;
      if (value == 255) memset(bytes + at[which], 255, 8);
      hash_start(&h);
      hash_add(&h, bytes + 48, size - 48);
      hash_end(&h, bytes + 16);
      r4_status s = parse(bytes, size, &e);
      if (!s || !strstr(e.text, "part")) fail_msg("%d in %zu: %s", value, at[which], s ? e.text : "accepted");
      r4_mem_free(bytes);
    }
}

static void test_failures_leave_the_old_one(void **state)
{
  (void)state;
  static const uint8_t large[100000] = {1};
  const struct checkpoint_part part = {"large", large, sizeof large};
  size_t size, again;
  r4_error e;
  uint8_t *bytes = write_and_read_bytes(&size), *after = NULL;
  int files = count_files();
  limit_files(50000);
  r4_status s = checkpoint_write(scratch_path("c"), 1, &part, &e);
  limit_files(SIZE_MAX);
  assert_error(&e, s, "/c: writing: File too large");
  assert_int_equal(count_files(), files);
  assert_int_equal(file_read(scratch_path("c"), 1 << 20, &after, &again, &e), R4_OK);
  assert_int_equal(again, size);
  assert_memory_equal(after, bytes, size);
  r4_mem_free(bytes);
  r4_mem_free(after);
  assert_error(&e, checkpoint_write(scratch_path("c/below"), 3, parts, &e),
               "c/below: cannot be written: Not a directory");
  const struct checkpoint_part named = {
    "a name that is far too long for a part of a checkpoint, which has 63", "", 0};
  assert_error(&e, checkpoint_write(scratch_path("c"), 1, &named, &e), "/c: the name \"a name that");
  struct checkpoint c;
  assert_error(&e, checkpoint_read(&c, scratch_path("none"), &e), "none: opening: No such file");
  assert_error(&e, checkpoint_read(&c, scratch_folder(), &e), "is a folder, expected a file");
}

static void test_failing_memory(void **state)
{
  (void)state;
  for (long n = 1;; n++) {
    struct checkpoint c = {0};
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status s = checkpoint_write(scratch_path("memory"), 3, parts, &e);
    if (!s) s = checkpoint_read(&c, scratch_path("memory"), &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    checkpoint_free(&c);
    if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
    if (!reached) break;
  }
}

/* ---- The optimizer ---- */

enum { PARAMS = 40 };

static void steps(r4_optimizer *o, float *w, int from, int to)
{
  for (int k = from; k < to; k++) {
    float gradient[PARAMS];
    r4_random_fill((r4_random){1, 2, (uint32_t)k}, PARAMS, -1, 1, gradient);
    r4_optimizer_step(o, w, gradient);
  }
}

static void test_optimizer_goes_on(void **state)
{
  (void)state;
  for (int kind = R4_SGD; kind <= R4_ADAMW; kind++) {
    float straight[PARAMS] = {0}, stopped[PARAMS] = {0}, copy[2 * PARAMS];
    r4_error e;
    size_t n;
    int64_t done;
    r4_optimizer_options options = r4_optimizer_defaults((r4_optimizer_kind)kind);
    options.weight_decay = .01;
    r4_optimizer *one = r4_optimizer_new(PARAMS, &options, &e), *two = r4_optimizer_new(PARAMS, &options, &e);
    r4_optimizer *three = r4_optimizer_new(PARAMS, &options, &e);
    steps(one, straight, 0, 10);
    steps(two, stopped, 0, 4);
    const float *left = r4_optimizer_state(two, &n, &done);
    assert_int_equal(n, kind == R4_SGD ? PARAMS : 2 * PARAMS);
    assert_int_equal(done, 4);
    memcpy(copy, left, n * sizeof *copy);
    if (r4_optimizer_restore(three, n, copy, done, &e)) fail_msg("%s", e.text);
    steps(three, stopped, 4, 10);
    assert_memory_equal(straight, stopped, sizeof straight);
    assert_error(&e, r4_optimizer_restore(three, n - 1, copy, done, &e), "optimizer: a state of ");
    assert_error(&e, r4_optimizer_restore(three, n, copy, -1, &e), "after -1 steps");
    r4_optimizer_free(one);
    r4_optimizer_free(two);
    r4_optimizer_free(three);
  }
}

/* ---- Logs ---- */

static void add(struct log *l, int k)
{
  struct json_writer w = {0};
  r4_error e;
  jw_open(&w, NULL, '{');
  jw_whole(&w, "step", k);
  jw_real(&w, "loss", 1. / k);
  jw_close(&w, '}');
  if (log_add(l, &w, &e)) fail_msg("%s", e.text);
}

static r4_status sum(void *context, const struct js *line, r4_error *e)
{
  int64_t k = 0;
  (void)e;
  assert_true(js_whole(js_get(line, "step"), &k));
  *(int64_t *)context = *(int64_t *)context * 10 + k;
  return R4_OK;
}

static void assert_log(const char *name, int64_t expected)
{
  int64_t seen = 0;
  r4_error e;
  if (log_read(scratch_path(name), sum, &seen, &e)) fail_msg("%s", e.text);
  assert_int_equal(seen, expected);
}

static void append(const char *name, const char *text)
{
  FILE *f = fopen(scratch_path(name), "a");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void test_log_goes_on(void **state)
{
  (void)state;
  struct log l;
  r4_error e;
  int64_t size;
  uint8_t *straight = NULL, *stopped = NULL;
  size_t n, m;
  assert_int_equal(log_open(&l, scratch_path("straight"), 0, &e), R4_OK);
  for (int k = 1; k <= 6; k++) add(&l, k);
  log_close(&l);
  assert_int_equal(log_open(&l, scratch_path("log"), 0, &e), R4_OK);
  for (int k = 1; k <= 3; k++) add(&l, k);
  assert_int_equal(log_settle(&l, &size, &e), R4_OK); /* the checkpoint */
  for (int k = 4; k <= 5; k++) add(&l, k);
  log_close(&l);
  append("log", "{\"step\":6,\"lo"); /* killed */
  assert_log("log", 12345);
  assert_int_equal(log_open(&l, scratch_path("log"), size, &e), R4_OK);
  assert_log("log", 123);
  for (int k = 4; k <= 6; k++) add(&l, k);
  log_close(&l);
  assert_int_equal(file_read(scratch_path("straight"), 1 << 20, &straight, &n, &e), R4_OK);
  assert_int_equal(file_read(scratch_path("log"), 1 << 20, &stopped, &m, &e), R4_OK);
  assert_int_equal(n, m);
  assert_memory_equal(straight, stopped, n);
  r4_mem_free(straight);
  r4_mem_free(stopped);
  assert_error(&e, log_open(&l, scratch_path("log"), size * 100, &e), "/log: has ");
  assert_log("log", 123456);
  assert_int_equal(log_open(&l, scratch_path("log"), 0, &e), R4_OK);
  log_close(&l);
  assert_log("log", 0);
}

static void test_log_on_a_full_disk(void **state)
{
  (void)state;
  struct log l;
  r4_error e;
  struct json_writer w = {0};
  char longest[400];
  memset(longest, 'a', sizeof longest);
  longest[sizeof longest - 1] = 0;
  assert_int_equal(log_open(&l, scratch_path("full"), 0, &e), R4_OK);
  add(&l, 1);
  jw_open(&w, NULL, '{'), jw_whole(&w, longest, 1), jw_close(&w, '}');
  limit_files(200);
  r4_status s = log_add(&l, &w, &e);
  limit_files(SIZE_MAX);
  assert_error(&e, s, "/full: writing: File too large");
  add(&l, 2);
  log_close(&l);
  assert_log("full", 12);
  append("full", "{]\n");
  int64_t seen = 0;
  assert_error(&e, log_read(scratch_path("full"), sum, &seen, &e),
               "/full: entry 3: line 1, column 2: expected a string");
  assert_error(&e, log_open(&l, scratch_path("full/below"), 0, &e),
               "below: cannot be written: Not a directory");
  assert_error(&e, log_open(&l, "/dev/full/x", 0, &e), "/dev/full/x: cannot be written");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reads_back),
    cmocka_unit_test(test_every_flip_is_noticed),
    cmocka_unit_test(test_every_cut_is_noticed),
    cmocka_unit_test(test_lying_sizes),
    cmocka_unit_test(test_failures_leave_the_old_one),
    cmocka_unit_test(test_failing_memory),
    cmocka_unit_test(test_optimizer_goes_on),
    cmocka_unit_test(test_log_goes_on),
    cmocka_unit_test(test_log_on_a_full_disk),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
