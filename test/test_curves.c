/* metrics.csv and the event file of TensorBoard: every figure of log.jsonl is in them, once, however often the run was
 * stopped. The events are read here by code of their own: another CRC, and a reader of any message. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "train/run/curves.h"
#include "train/run/events.h"

/* ---- Another reader of events ---- */

/* By a table, as others do it. */
static uint32_t crc(const uint8_t *b, size_t n)
{
  static uint32_t table[256];
  for (uint32_t k = 0; k < 256 && !table[255]; k++) {
    table[k] = k;
    for (int i = 0; i < 8; i++) table[k] = table[k] & 1 ? table[k] >> 1 ^ 0x82f63b78u : table[k] >> 1;
  }
  uint32_t c = 0xffffffffu;
  while (n--) c = table[(c ^ *b++) & 255] ^ c >> 8;
  return c ^ 0xffffffffu;
}

static uint32_t masked(const uint8_t *b, size_t n)
{
  uint32_t c = crc(b, n);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

static uint64_t little(const uint8_t *b, int n)
{
  uint64_t v = 0;
  while (n--) v = v << 8 | b[n];
  return v;
}

struct message_field {
  unsigned number, kind;
  uint64_t value; /* a number, or the length of bytes */
  const uint8_t *bytes;
};

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
  uint64_t v = 0;
  for (int shift = 0;; shift += 7) {
    assert_true(*at < end && shift < 64);
    v |= (uint64_t)(**at & 127) << shift;
    if (!(*(*at)++ & 128)) return v;
  }
}

/* The next field of a message; false at its end. */
static bool next_field(const uint8_t **at, const uint8_t *end, struct message_field *f)
{
  if (*at == end) return false;
  uint64_t key = varint(at, end);
  *f = (struct message_field){.number = (unsigned)(key >> 3), .kind = key & 7};
  size_t size = f->kind == 1 ? 8 : f->kind == 5 ? 4 : 0;
  if (f->kind == 0 || f->kind == 2) f->value = varint(at, end);
  if (f->kind == 2) size = (size_t)f->value;
  assert_true(f->kind == 0 || f->kind == 1 || f->kind == 2 || f->kind == 5);
  assert_true(size <= (size_t)(end - *at));
  f->bytes = *at;
  if (f->kind == 1 || f->kind == 5) f->value = little(*at, (int)size);
  *at += size;
  return true;
}

struct scalar {
  int64_t step;
  double time;
  char tag[64];
  float value;
};

enum { MOST = 400 };

static void read_value(struct message_field f, struct scalar *s)
{
  const uint8_t *at = f.bytes, *end = at + f.value;
  assert_int_equal(f.number, 1); /* of a Summary */
  while (next_field(&at, end, &f)) {
    uint32_t bits = (uint32_t)f.value;
    if (f.number == 1) snprintf(s->tag, sizeof s->tag, "%.*s", (int)f.value, (const char *)f.bytes);
    if (f.number == 2) memcpy(&s->value, &bits, sizeof bits);
  }
}

static size_t read_event(const uint8_t *at, size_t size, bool first, struct scalar *to)
{
  const uint8_t *end = at + size;
  struct scalar s = {0};
  struct message_field f;
  size_t n = 0;
  bool version = false;
  while (next_field(&at, end, &f)) {
    if (f.number == 1) memcpy(&s.time, &f.value, sizeof s.time);
    if (f.number == 2) s.step = (int64_t)f.value;
    if (f.number == 3) version = f.value == 13 && !memcmp(f.bytes, "brain.Event:2", 13);
    if (f.number != 5) continue;
    const uint8_t *summary = f.bytes, *stop = summary + f.value;
    for (struct message_field v; next_field(&summary, stop, &v); n++) {
      to[n] = s;
      read_value(v, &to[n]);
    }
  }
  assert_true(version == first);
  return n;
}

static size_t read_events(const char *path, struct scalar to[MOST])
{
  uint8_t *bytes = NULL;
  size_t size = 0, n = 0;
  assert_int_equal(file_read(path, 1 << 20, &bytes, &size, NULL), R4_OK);
  for (size_t at = 0; at < size;) {
    assert_true(size - at >= 16);
    size_t length = (size_t)little(bytes + at, 8);
    assert_int_equal(little(bytes + at + 8, 4), masked(bytes + at, 8));
    assert_true(length <= size - at - 16);
    assert_int_equal(little(bytes + at + 12 + length, 4), masked(bytes + at + 12, length));
    n += read_event(bytes + at + 12, length, !at, to + n);
    at += length + 16;
  }
  r4_mem_free(bytes);
  return n;
}

static double scalar(const struct scalar *s, size_t n, int64_t step, const char *tag)
{
  double found = NAN;
  for (size_t k = 0; k < n; k++)
    if (s[k].step == step && !strcmp(s[k].tag, tag)) {
      assert_true(isnan(found)); /* once */
      found = (double)s[k].value;
    }
  return found;
}

/* ---- The parts ---- */

static void crc_is_castagnolis(void **state)
{
  (void)state;
  assert_int_equal(events_crc("123456789", 9), 0xe3069283u); /* RFC 3720's check value */
  uint8_t zeros[32] = {0};
  assert_int_equal(events_crc(zeros, 32), 0x8a9136aau); /* RFC 3720, B.4 */
}

/* A line of the log with all that it can have: a name with a comma, a value that is none, an infinite one, groups. */
static void lines_become_rows(void **state)
{
  (void)state;
  static const char text[] =
    "{\"epoch\":1,\"step\":12,\"seconds\":0.5,\"loss\":2,\"data\":1.5,\"penalty\":null,"
    "\"penalty.cert-r4\":null,\"penalty.r3\":0.25,\"accuracy\":0.25,\"lambda\":1,\"lambda.r3\":null,"
    "\"eps\":0.1,\"val\":{\"loss\":1,\"accuracy\":0.5,\"avg\":0.5,\"worst\":0,\"groups\":[0.25,0.75]}}\n"
    "{\"epoch\":2,\"step\":24,\"seconds\":1,\"loss\":1e-7,\"data\":\"inf\",\"penalty\":3,"
    "\"penalty.r3\":0.5,\"accuracy\":1,\"lambda\":1,\"lambda.r3\":7,\"eps\":0.1,"
    "\"answers_only\":\"cat, "
    "\\\"old\\\"\",\"revivals\":2,\"val\":{\"loss\":1,\"accuracy\":0.5,\"avg\":0.5,\"worst\":0,"
    "\"avg_se\":0.125,\"worst_se\":0.25,\"score\":0.375,\"of\":\"exchanged\",\"exchanged\":31,\"changed\":0."
    "75,"
    "\"lost\":0.0625,\"groups\":[0.5,1]}}\n";
  static const char table[] =
    "epoch,step,seconds,loss,data,penalty,penalty.cert-r4,penalty.r3,accuracy,lambda,lambda.r3,eps,"
    "answers_only,revivals,val_loss,val_accuracy,val_avg,"
    "val_worst,val_avg_se,val_score,val_changed,val_lost,val_group_0,val_group_1\n"
    "1,12,0.5,2,1.5,,,0.25,0.25,1,,0.1,,,1,0.5,0.5,0,,,,,0.25,0.75\n"
    "2,24,1,1.0e-07,inf,3,,0.5,1,1,7,0.1,\"cat, \"\"old\"\"\",2,1,0.5,0.5,0,0.125,0.375,0.75,0.0625,0.5,1\n";
  struct curves c;
  r4_error e = {0};
  char log[512];
  uint8_t *bytes = NULL;
  size_t size = 0;
  snprintf(log, sizeof log, "%s", scratch_path("log.jsonl"));
  assert_int_equal(file_write(log, text, strlen(text), &e), R4_OK);
  for (int again = 0; again < 2; again++) {
    if (curves_open(&c, scratch_folder(), log, true, &e)) fail_msg("%s", e.text);
    curves_close(&c);
  }
  assert_int_equal(file_read(scratch_path("metrics.csv"), 1 << 16, &bytes, &size, &e), R4_OK);
  assert_string_equal((char *)bytes, table);
  r4_mem_free(bytes);
  struct scalar s[MOST];
  size_t n = read_events(scratch_path("events.out.tfevents.r4"), s);
  assert_int_equal(n, 8 + 6 + 10 + 10);
  assert_true(scalar(s, n, 2, "val/changed") == 0.75 && scalar(s, n, 2, "val/lost") == 0.0625);
  assert_true(scalar(s, n, 2, "val/score") == 0.375 && scalar(s, n, 2, "val/avg_se") == 0.125);
  assert_true(scalar(s, n, 1, "train/data") == 1.5 && isnan(scalar(s, n, 1, "train/penalty")));
  assert_true(scalar(s, n, 2, "train/lambda.r3") == 7 && isnan(scalar(s, n, 1, "train/lambda.r3")));
  assert_true(scalar(s, n, 2, "train/loss") == (double)1e-7f && scalar(s, n, 2, "val/group_1") == 1);
  assert_true(s[n - 1].time - s[0].time == 1 && s[0].time > 1.6e9); /* the second took so long */
}

/* ---- A run ---- */

static bool stop_after(const r4_progress *p, void *steps)
{
  (void)p;
  return --*(int *)steps > 0;
}

static void train(const char *run, bool resume, int steps)
{
  static const char *const set[] = {"data=decoy-mnist",
                                    "data.from=digits:600",
                                    "data.val=0.25",
                                    "epochs=3",
                                    "batch=50",
                                    "net=dense 8, relu, dense 10",
                                    "method=r3",
                                    "tensorboard=true",
                                    "checkpoint_seconds=0"};
  r4_error e = {0};
  r4_outcome end;
  char folder[512];
  snprintf(folder, sizeof folder, "%s", scratch_path(run));
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set; k++)
    assert_int_equal(r4_settings_set(s, set[k], "test", &e), R4_OK);
  r4_train_options o = {
    .folder = folder, .resume = resume, .report = steps ? stop_after : NULL, .user = &steps};
  if (r4_train(s, &o, &end, &e)) fail_msg("%s", e.text);
  r4_settings_free(s);
}

/* Column name of line k of metrics.csv. */
static double csv_at(const r4_table *t, size_t k, const char *name)
{
  const char *text = r4_table_at(t, k, name);
  assert_non_null(text);
  return strtod(text, NULL);
}

struct compared {
  const r4_table *csv;
  const struct scalar *event;
  size_t events, line;
};

static r4_status compare_line(void *context, const struct js *line, r4_error *e)
{
  struct compared *c = context;
  static const char *const key[] = {"epoch",   "step",     "seconds", "loss",
                                    "penalty", "accuracy", "lambda",  "eps"};
  double v = 0;
  (void)e;
  for (size_t k = 0; k < sizeof key / sizeof *key; k++) {
    char tag[64];
    assert_true(js_number(js_get(line, key[k]), &v));
    assert_true(csv_at(c->csv, c->line, key[k]) == v);
    snprintf(tag, sizeof tag, "train/%s", key[k]);
    if (k) assert_true((float)scalar(c->event, c->events, (int64_t)c->line + 1, tag) == (float)v);
  }
  assert_true(js_number(js_get(js_get(line, "val"), "worst"), &v));
  assert_true(csv_at(c->csv, c->line, "val_worst") == v);
  assert_true((float)scalar(c->event, c->events, (int64_t)c->line + 1, "val/worst") == (float)v);
  c->line++;
  return R4_OK;
}

static void assert_agree(const char *run, size_t lines)
{
  char path[600];
  struct scalar s[MOST];
  r4_error e = {0};
  snprintf(path, sizeof path, "%s/events.out.tfevents.r4", scratch_path(run));
  size_t n = read_events(path, s);
  snprintf(path, sizeof path, "%s/metrics.csv", scratch_path(run));
  r4_table *csv = r4_table_read(path, &e);
  assert_non_null(csv);
  assert_int_equal(r4_table_rows(csv), lines);
  struct compared c = {csv, s, n, 0};
  snprintf(path, sizeof path, "%s/log.jsonl", scratch_path(run));
  assert_int_equal(log_read(path, compare_line, &c, &e), R4_OK);
  assert_int_equal(c.line, lines);
  r4_table_free(csv);
}

/* Stopped in its second epoch, after a line that no checkpoint knows of was added by hand. */
static void no_epoch_is_there_twice(void **state)
{
  (void)state;
  char path[600];
  train("run", false, 0);
  assert_agree("run", 3);
  train("half", false, 13);
  assert_agree("half", 1);
  snprintf(path, sizeof path, "%s/metrics.csv", scratch_path("half"));
  FILE *f = fopen(path, "a");
  assert_non_null(f);
  fputs("2,24,9\nhalf a li", f);
  fclose(f);
  train("half", true, 0);
  assert_agree("half", 3);
}

static void allocations_may_fail(void **state)
{
  (void)state;
  char log[512];
  struct curves c;
  snprintf(log, sizeof log, "%s", scratch_path("log.jsonl"));
  r4_mem_fail_at(0);
  assert_int_equal(curves_open(&c, scratch_folder(), log, true, NULL), R4_OK);
  curves_close(&c);
  long all = r4_mem_count();
  for (long n = 1; n <= all; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status s = curves_open(&c, scratch_folder(), log, true, &e);
    r4_mem_fail_at(0);
    assert_int_equal(s, R4_E_MEMORY);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(crc_is_castagnolis),
    cmocka_unit_test(lines_become_rows),
    cmocka_unit_test(no_epoch_is_there_twice),
    cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
