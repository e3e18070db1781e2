#include "train_case.h"

#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "settings_case.h"

const char *train_path(const char *run, const char *name)
{
  static char path[4][512];
  static int next;
  char *to = path[next++ % 4];
  snprintf(to, sizeof path[0], "%s/%s%s%s", scratch_folder(), run, *name ? "/" : "", name);
  return to;
}

r4_settings *train_settings(const char *const *more)
{
  static const char *const common[] = {"data=decoy-mnist",
                                       "data.from=digits:1200",
                                       "data.val=0.25",
                                       "data.seed=3",
                                       "net=dense 16, relu, dense 10",
                                       "method=adv-r4",
                                       "lambda=0.5",
                                       "eps=0.3",
                                       "attack.steps=2",
                                       "eps.ramp=1.5",
                                       "batch=80",
                                       "epochs=3",
                                       "rate=0.003",
                                       "schedule=cosine",
                                       "select=worst",
                                       NULL};
  return settings_case_with(common, more);
}

static bool stop_after(const r4_progress *p, void *steps)
{
  (void)p;
  return --*(int *)steps > 0;
}

r4_status train_case(const char *const *more, const char *run, bool resume, int steps, bool *stopped,
                     r4_error *e)
{
  r4_settings *s = train_settings(more);
  r4_outcome end;
  r4_train_options o = {
    .folder = train_path(run, ""), .resume = resume, .report = steps ? stop_after : NULL, .user = &steps};
  r4_status status = r4_train(s, &o, &end, e);
  if (stopped) *stopped = end.stopped;
  r4_settings_free(s);
  return status;
}

void train_or_fail(const char *const *more, const char *run, bool resume)
{
  r4_error e = {0};
  if (train_case(more, run, resume, 0, NULL, &e)) fail_msg("%s: %s", run, e.text);
}

void assert_same_file(const char *a, const char *b)
{
  uint8_t *x = NULL, *y = NULL;
  size_t n = 0, m = 0;
  assert_int_equal(file_read(a, 1 << 26, &x, &n, NULL), R4_OK);
  assert_int_equal(file_read(b, 1 << 26, &y, &m, NULL), R4_OK);
  assert_int_equal(n, m);
  assert_memory_equal(x, y, n);
  r4_mem_free(x);
  r4_mem_free(y);
}
