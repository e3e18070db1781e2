/* The folder of a run. What is on the disk is always enough to go on: the lines of the log are there before the
 * checkpoint that counts them, and a finished checkpoint is enough to write the model. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "train/run/manifest.h"
#include "train/run/run.h"

static const char CHECKPOINT[] = "checkpoint", MODEL[] = "model.safetensors", LOG[] = "log.jsonl",
                  CONFIG[] = "config.yaml", MANIFEST[] = "manifest.json", OUTCOME[] = "outcome.json";

static r4_status path_of(const struct run *r, const char *name, char **path, r4_error *e)
{
  *path = file_join(r->folder, name, e);
  return *path ? R4_OK : R4_E_MEMORY;
}

r4_lock *run_lock(const r4_train_options *o, r4_error *e)
{
  r4_lock *l = r4_lock_take(o->folder, false, e);
  const char *why = l ? lock_why_open(l) : NULL;
  if (!why || !o->notice) return l;
  r4_error text;
  r4_fail(&text, R4_OK,
          "%s: cannot be locked here (%s): a second process could train in this folder as well",
          o->folder, why);
  o->notice(text.text, o->user);
  return l;
}

/* ---- Checkpoints ---- */

r4_status run_save_state(struct run *r, const char *path, int64_t log_size, r4_error *e)
{
  size_t moments = 0;
  int64_t steps = 0;
  const float *optimizer = r4_optimizer_state(r->optimizer, &moments, &steps);
  struct checkpoint_part part[] = {
    [RUN_ORIGIN_PARTS] = {"state", &r->state, sizeof r->state},
    {"log", &log_size, sizeof log_size},
    {"weights", r->weights, r->size * sizeof *r->weights},
    {"best", r->best, r->size * sizeof *r->best},
    {"optimizer", optimizer, moments * sizeof *optimizer},
    {"optimizer steps", &steps, sizeof steps},
    {"good", r->good, r->size * sizeof *r->good},
    {"groups", r->groups.q, r->groups.n * sizeof *r->groups.q}, /* the last: most runs have none */
  };
  run_origin(r, part);
  return checkpoint_write(path, sizeof part / sizeof *part - !r->groups.q, part, e);
}

r4_status run_save(struct run *r, r4_error *e)
{
  int64_t log_size = 0;
  char *path = NULL;
  r4_status s = log_settle(&r->log, &log_size, e);
  if (!s) s = path_of(r, CHECKPOINT, &path, e);
  if (!s) s = run_save_state(r, path, log_size, e);
  r4_mem_free(path);
  return s;
}

static r4_status take_optimizer(struct run *r, const struct checkpoint *c, r4_error *e)
{
  size_t moments = 0;
  int64_t steps = 0;
  r4_optimizer_state(r->optimizer, &moments, &steps);
  float *state = mem_new(moments + 1, sizeof *state, c->path, e);
  if (!state) return R4_E_MEMORY;
  r4_status s = checkpoint_take(c, "optimizer", state, moments * sizeof *state, e);
  if (!s) s = checkpoint_take(c, "optimizer steps", &steps, sizeof steps, e);
  if (!s) s = r4_optimizer_restore(r->optimizer, moments, state, steps, e);
  r4_mem_free(state);
  return s;
}

/* Checkpoints from before there was a precision end in front of it: these runs train with floats. */
static r4_status take_state(struct run *r, const struct checkpoint *c, r4_error *e)
{
  const struct checkpoint_part *p = checkpoint_find(c, "state");
  bool old = p && p->size == offsetof(struct run_state, bf16);
  if (old) r->state.bf16 = 0;
  return checkpoint_take(c, "state", &r->state, old ? p->size : sizeof r->state, e);
}

static r4_status take_all(struct run *r, const struct checkpoint *c, int64_t *log_size, r4_error *e)
{
  r4_status s = take_state(r, c, e);
  if (!s) s = checkpoint_take(c, "log", log_size, sizeof *log_size, e);
  if (!s) s = checkpoint_take(c, "weights", r->weights, r->size * sizeof *r->weights, e);
  if (!s) s = checkpoint_take(c, "best", r->best, r->size * sizeof *r->best, e);
  if (!s) s = checkpoint_take(c, "good", r->good, r->size * sizeof *r->good, e);
  if (!s && r->groups.q) s = checkpoint_take(c, "groups", r->groups.q, r->groups.n * sizeof *r->groups.q, e);
  return s ? s : take_optimizer(r, c, e);
}

r4_status run_load_state(struct run *r, const char *path, int64_t *log_size, r4_settings **was, r4_error *e)
{
  struct checkpoint c;
  r4_status s = checkpoint_read(&c, path, e);
  if (s) return s;
  s = run_check_origin(r, &c, was, e);
  if (!s) s = take_all(r, &c, log_size, e);
  checkpoint_free(&c);
  return s;
}

/* ---- Beginning ---- */

static void discard(const struct run *r, const char *name)
{
  char *path = file_join(r->folder, name, NULL);
  if (path) unlink(path);
  r4_mem_free(path);
}

/* The model, and what was found out about it. */
static void discard_model(const struct run *r)
{
  discard(r, MODEL);
  discard(r, OUTCOME);
}

/* What a killed run was writing. */
static void discard_parts(const struct run *r)
{
  DIR *folder = opendir(r->folder);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    size_t n = strlen(entry->d_name);
    if (n > 5 && !strcmp(entry->d_name + n - 5, ".part")) discard(r, entry->d_name);
  }
  if (folder) closedir(folder);
}

/* was: the settings before a change, or NULL for a run that begins. */
static r4_status write_description(struct run *r, const r4_settings *was, r4_error *e)
{
  char *config = NULL, *manifest = NULL;
  r4_status s = path_of(r, CONFIG, &config, e);
  if (!s) s = path_of(r, MANIFEST, &manifest, e);
  if (!s) s = was ? manifest_note(r, was, manifest, e) : manifest_write(r, manifest, e);
  if (!s) s = r4_settings_save(r->settings, config, e);
  r4_mem_free(config);
  r4_mem_free(manifest);
  return s;
}

/* The settings have changed: what is in the folder must say so before the first step. */
static r4_status take_changes(struct run *r, const r4_settings *was, r4_error *e)
{
  if (r4_settings_compare(was, r->settings, NULL) == R4_RUN_SAME) return R4_OK;
  if (r->state.epoch > r->s->epochs)
    return r4_fail(e, R4_E_ARGUMENT, "%s: epochs is now %lld, but %lld are done", r->folder,
                   (long long)r->s->epochs, (long long)r->state.epoch);
  r4_status s = write_description(r, was, e);
  r->state.finished = run_is_over(r);
  if (!s && !r->state.finished) discard_model(r);
  return s ? s : run_save(r, e);
}

static r4_status resume(struct run *r, const char *checkpoint, const char *log, r4_error *e)
{
  int64_t log_size = 0;
  r4_settings *was = NULL;
  r4_status s = run_load_state(r, checkpoint, &log_size, &was, e);
  if (!s) s = log_open(&r->log, log, log_size, e);
  if (!s) s = take_changes(r, was, e);
  r4_settings_free(was);
  return s;
}

static r4_status begin_anew(struct run *r, const char *log, r4_error *e)
{
  discard(r, CHECKPOINT);
  discard_model(r);
  r4_status s = write_description(r, NULL, e);
  return s ? s : log_open(&r->log, log, 0, e);
}

r4_status run_begin(struct run *r, const r4_train_options *o, r4_error *e)
{
  char *checkpoint = NULL, *log = NULL;
  r4_status s = file_make_folder(r->folder, e);
  if (!s && !o->resume && !o->force &&
      (file_exists_in(r->folder, CHECKPOINT) || file_exists_in(r->folder, MODEL)))
    s = r4_fail(e, R4_E_ARGUMENT, "%s: has a run already: --resume continues it, --force replaces it", r->folder);
  if (!s) s = path_of(r, CHECKPOINT, &checkpoint, e);
  if (!s) s = path_of(r, LOG, &log, e);
  if (!s) discard_parts(r);
  if (!s)
    s = o->resume && file_exists_in(r->folder, CHECKPOINT) ? resume(r, checkpoint, log, e)
                                                           : begin_anew(r, log, e);
  if (!s) s = curves_open(&r->curves, r->folder, log, r->s->tensorboard, e);
  r4_mem_free(checkpoint);
  r4_mem_free(log);
  return s;
}

/* ---- The log ---- */

static void add_list(struct json_writer *w, const char *key, const double *value, size_t n)
{
  jw_open(w, key, '[');
  for (size_t k = 0; k < n; k++) jw_real(w, NULL, value[k]);
  jw_close(w, ']');
}

static void add_validation(struct json_writer *w, r4_val_kind kind, const struct score *v)
{
  jw_open(w, "val", '{');
  jw_text(w, "of", validation_words[kind]);
  if (kind == R4_VAL_EXCHANGED) {
    jw_whole(w, "exchanged", (int64_t)v->exchanged);
    jw_real(w, "changed", v->changed);
    jw_real(w, "lost", v->lost);
  }
  jw_real(w, "loss", v->loss);
  jw_real(w, "accuracy", v->accuracy);
  jw_real(w, "avg", v->avg);
  jw_real(w, "worst", v->worst);
  jw_real(w, "avg_se", v->avg_se);
  jw_real(w, "worst_se", v->worst_se);
  jw_real(w, "score", v->score);
  add_list(w, "groups", v->group, v->groups);
  jw_close(w, '}');
}

/* "penalty.r3" of each term, and the rest of the weights by name: lambda is the first one's. Of methods of one term all
 * is said already. */
static void add_terms(struct json_writer *w, const char *what, const r4_method_info *m, size_t from,
                      const double *sum, double steps)
{
  char key[64];
  for (size_t k = from; k < m->terms && m->terms > 1; k++) {
    snprintf(key, sizeof key, "%s.%s", what, m->term[k]);
    jw_real(w, key, sum[k] / steps);
  }
}

/* A run without a folder keeps its log, for whoever asks. */
static r4_status keep_line(struct run *r, struct json_writer *w, r4_error *e)
{
  char *line = text_take(&w->text);
  if (line) text_add(&r->lines, "%s\n", line);
  bool kept = line && !r->lines.failed;
  r4_string_free(line);
  return kept ? R4_OK : r4_fail(e, R4_E_MEMORY, "out of memory for the log");
}

/* To the log, and as the log has it to what is made from it. */
static r4_status add_line(struct run *r, struct json_writer *w, r4_error *e)
{
  struct js *line = NULL;
  r4_status s = w->text.failed ? R4_OK : js_parse(r->log.path, w->text.s, w->text.length, &line, e);
  if (!s) s = log_add(&r->log, w, e);
  if (!s) s = curves_add(&r->curves, line, e);
  js_free(line);
  r4_string_free(text_take(&w->text));
  return s;
}

r4_status run_log(struct run *r, double seconds, r4_error *e)
{
  const struct run_sums *t = &r->state.sums;
  struct step_weights at = run_weights(r);
  const r4_method_info method = r4_method_describe(r->s->method);
  struct json_writer w = {0};
  double masked = fmax(t->masked_steps, 1);
  jw_open(&w, NULL, '{');
  jw_whole(&w, "epoch", r->state.epoch);
  jw_whole(&w, "step", r->state.step);
  jw_real(&w, "seconds", seconds);
  jw_real(&w, "loss", t->loss / t->examples);
  jw_real(&w, "data", t->data / t->examples);
  jw_real(&w, "penalty", run_sum(t->penalty) / masked);
  add_terms(&w, "penalty", &method, 0, t->penalty, masked);
  jw_real(&w, "accuracy", t->right / t->examples);
  jw_real(&w, "lambda", t->lambda[0] / masked);
  add_terms(&w, "lambda", &method, 1, t->lambda, masked);
  jw_real(&w, "eps", at.eps);
  if (r->groups.q) add_list(&w, "group_weights", r->groups.q, r->groups.n);
  if (r->state.pulse.batches) {
    jw_text(&w, "answers_only", r4_data_class_name(r->train, (size_t)r->state.pulse.answer));
  }
  if (r->state.revivals) {
    jw_whole(&w, "revivals", r->state.revivals);
  }
  if (r->val.data) add_validation(&w, r->val.kind, &r->val_score);
  jw_close(&w, '}');
  return r->folder ? add_line(r, &w, e) : keep_line(r, &w, e);
}

/* ---- The end ---- */

size_t run_constants(const struct run *r)
{
  r4_shape s = r4_data_shape(r->train);
  if (r4_data_vocabulary(r->train) > 0) return r4_data_piece(r->train, 0) ? 1 : 0;
  return s.rank == 3 ? (size_t)s.dim[2] : 0;
}

r4_status run_save_model(const struct run *r, const char *path, r4_error *e)
{
  size_t classes = r4_data_classes(r->train), constants = run_constants(r);
  const char **name = mem_new(classes, sizeof *name, path, e);
  float *constant = mem_new(constants + 1, sizeof *constant, path, e);
  r4_status s = name && constant ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; k < classes && !s; k++) name[k] = r4_data_class_name(r->train, k);
  if (!s && constants) s = r4_data_constant(r->train, constants, constant, e);
  if (s && s != R4_E_MEMORY) s = R4_OK, constants = 0; /* a vocabulary without [MASK] and [UNK] */
  if (!s) s = model_save(r->net, r->best, name, constants, constant, path, e);
  r4_mem_free(constant);
  r4_mem_free(name);
  return s;
}

r4_status run_finish(struct run *r, r4_error *e)
{
  char *path = NULL;
  r4_status s = path_of(r, MODEL, &path, e);
  if (!s) s = run_save_model(r, path, e);
  r4_mem_free(path);
  return s;
}
