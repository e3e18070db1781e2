/* A trainer that others drive: a run without a folder. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "train/run/manifest.h"
#include "train/run/run.h"
#include "train/run/verdict.h"

struct r4_trainer {
  r4_settings *settings;
  struct run run;
};

r4_trainer *r4_trainer_new(const r4_settings *s, const r4_data *d, r4_error *e)
{
  NEEDS(s, "settings", NULL);
  r4_error own = {0};
  if (!e) e = &own;
  if (r4_settings_check(s, e)) return NULL;
  if (r4_lambda_is_open(s)) {
    r4_fail(e, R4_E_ARGUMENT, "%s is auto: r4_lambda_search must choose it first",
            setting_label(s, "lambda").text);
    return NULL;
  }
  r4_trainer *t = r4_mem_new(1, sizeof *t);
  if (t) t->settings = settings_copy(s);
  if (!t || !t->settings) {
    r4_fail(e, R4_E_MEMORY, "out of memory for a trainer");
    r4_mem_free(t);
    return NULL;
  }
  if (!run_open(&t->run, t->settings, d, NULL, NULL, e) && !run_seek(&t->run, e)) return t;
  r4_trainer_free(t);
  return NULL;
}

void r4_trainer_free(r4_trainer *t)
{
  if (!t) return;
  run_close(&t->run);
  r4_settings_free(t->settings);
  r4_mem_free(t);
}

void r4_trainer_listen(r4_trainer *t, void (*notice)(const char *sentence, void *user), void *user)
{
  if (!t) return;
  t->run.notice = notice;
  t->run.user = user;
  run_tell_settings(&t->run);
  run_greet(&t->run);
}

/* ---- Driving ---- */

bool r4_trainer_done(const r4_trainer *t)
{
  return t->run.state.finished;
}

void r4_trainer_progress(const r4_trainer *t, r4_progress *p)
{
  *p = run_progress(&t->run);
}

r4_status r4_trainer_step(r4_trainer *t, r4_progress *p, r4_error *e)
{
  NEEDS(t, "a trainer", R4_E_ARGUMENT);
  r4_error own = {0};
  r4_progress ignored;
  if (!e) e = &own;
  if (t->run.state.finished)
    return r4_fail(e, R4_E_ARGUMENT, "training is done: all %lld epochs, or as many as patience allows",
                   (long long)t->run.s->epochs);
  return run_step(&t->run, p ? p : &ignored, e);
}

r4_status r4_trainer_epoch(r4_trainer *t, r4_progress *p, r4_error *e)
{
  NEEDS(t, "a trainer", R4_E_ARGUMENT);
  r4_progress own = {0};
  r4_status s = R4_OK;
  if (!p) p = &own;
  for (p->epoch_done = false; !s && !p->epoch_done;) s = r4_trainer_step(t, p, e);
  return s;
}

/* ---- What there is so far ---- */

size_t r4_trainer_constants(const r4_trainer *t)
{
  return run_constants(&t->run);
}

bool r4_trainer_constant(const r4_trainer *t, size_t n, float *to)
{
  return n && n == run_constants(&t->run) && !r4_data_constant(t->run.train, n, to, NULL);
}

const r4_net *r4_trainer_net(const r4_trainer *t)
{
  return t->run.net;
}

char *r4_trainer_manifest(const r4_trainer *t)
{
  return manifest_text(&t->run);
}

char *r4_trainer_log(const r4_trainer *t)
{
  return mem_copy(t->run.lines.s ? t->run.lines.s : "", NULL);
}

r4_plan *r4_trainer_plan(const r4_trainer *t)
{
  return shards_plan(t->run.step);
}

const float *r4_trainer_weights(const r4_trainer *t)
{
  return t->run.state.best_epoch > 0 ? t->run.best : t->run.weights;
}

r4_status r4_trainer_judge(r4_trainer *t, r4_outcome *to, r4_error *e)
{
  NEEDS(t, "a trainer", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  if (!t->run.state.best_epoch && !t->run.state.finished)
    return r4_fail(e, R4_E_ARGUMENT, "no epoch is done yet, so there is no model to judge");
  return run_judge(&t->run, to, e);
}

/* ---- Files ---- */

r4_status r4_trainer_save(r4_trainer *t, const char *path, r4_error *e)
{
  NEEDS(t, "a trainer", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  return run_save_state(&t->run, path, 0, e);
}

r4_status r4_trainer_load(r4_trainer *t, const char *path, r4_error *e)
{
  NEEDS(t, "a trainer", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  r4_settings *was = NULL;
  int64_t log_size;
  r4_status s = run_load_state(&t->run, path, &log_size, &was, e);
  r4_settings_free(was);
  if (s) return s;
  t->run.state.finished = run_is_over(&t->run);
  return run_seek(&t->run, e);
}

r4_status r4_trainer_save_model(const r4_trainer *t, const char *path, r4_error *e)
{
  NEEDS(t, "a trainer", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  if (t->run.state.best_epoch > 0) return run_save_model(&t->run, path, e);
  return r4_fail(e, R4_E_ARGUMENT, "%s: no epoch is done yet, so there is no model to save", path);
}
