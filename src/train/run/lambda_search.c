/* The search that "lambda: auto" asks for (auto.h has its rule): short runs in folders of their own.
 *
 *     config.yaml         the settings it was begun with, and keeps
 *     lambda-0.316/       a short run, lambda-0.316-epochs-8 a longer one
 *     curve.json          what the short runs have shown, in their order, and what was chosen
 *
 * curve.json is written after each short run and is all that a search goes on from, beside the short run that was
 * stopped, which goes on by itself. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/settings.h"
#include "optim/auto.h"
#include "train/run/log.h"
#include "train/run/manifest.h"

struct search {
  const r4_train_options *o;
  r4_settings *own; /* those of config.yaml */
  char *config, *file;
  double first;   /* the method's lambda        */
  int64_t epochs; /* of the whole run           */
  struct auto_try t[AUTO_RUNS];
  r4_lambda_curve *curve;
};

/* ---- Settings ---- */

bool r4_lambda_is_open(const r4_settings *s)
{
  return s && settings_lambda_is_open(&s->values);
}

/* false if there is no memory for it. */
static bool copy(const char *text, char **to)
{
  return !text || (*to = mem_copy(text, NULL));
}

static bool copy_place(const struct settings *from, struct settings *to)
{
  bool all = true;
  for (size_t k = 0; all && k < FOUND_MOST; k++)
    all = copy(from->data.found[k].written, &to->data.found[k].written) &&
          copy(from->data.found[k].path, &to->data.found[k].path);
  return all;
}

/* Those of config.yaml once more, with data where like finds them; NULL on failure. */
static r4_settings *read_settings(const struct search *x, const r4_settings *like, r4_error *e)
{
  r4_settings *s = r4_settings_new();
  r4_status status = s ? r4_settings_read(s, x->config, e) : R4_E_MEMORY;
  if (!status && copy_place(&like->values, &s->values)) return s;
  if (!status || !s) r4_fail(e, R4_E_MEMORY, "%s: out of memory", x->config);
  r4_settings_free(s);
  return NULL;
}

/* The schedule of the whole run in the time of a short one, whose last epoch counts. */
static void shorten(struct settings *v, int64_t epochs)
{
  settings_shorten(v, epochs);
  v->patience = 0;
}

static r4_status set_lambda(r4_settings *s, double lambda, r4_error *e)
{
  char assignment[48];
  c_locale_print(assignment, sizeof assignment, "lambda=%.3g", lambda);
  s->values.searched = true;
  return r4_settings_set(s, assignment, "auto", e);
}

/* ---- The curve ---- */

static void add_try(struct json_writer *w, const r4_lambda_try *t, bool chosen)
{
  jw_break(w);
  jw_open(w, NULL, '{');
  jw_real(w, "lambda", t->lambda);
  jw_real(w, "score", t->dead || t->diverged ? NAN : t->score);
  jw_real(w, "se", t->se);
  jw_real(w, "avg", t->avg);
  jw_real(w, "worst", t->worst);
  jw_real(w, "penalty", t->penalty);
  jw_flag(w, "learned", t->learned);
  jw_flag(w, "penalised", t->penalised);
  jw_flag(w, "dead", t->dead);
  jw_flag(w, "diverged", t->diverged);
  jw_whole(w, "epochs", t->epochs);
  jw_flag(w, "chosen", chosen);
  jw_close(w, '}');
}

/* Of the runs that count, so far. */
static int64_t last_length(const struct search *x)
{
  const r4_lambda_curve *c = x->curve;
  return c->n ? c->tried[c->n - 1].epochs : auto_epochs(x->epochs);
}

static r4_status write_curve(const struct search *x, bool over, r4_error *e)
{
  struct json_writer w = {0};
  const r4_lambda_curve *c = x->curve;
  jw_open(&w, NULL, '{');
  jw_whole(&w, "seed", x->own->values.seed);
  jw_whole(&w, "epochs", last_length(x));
  jw_real(&w, "chosen", over && c->chosen < c->n ? c->tried[c->chosen].lambda : NAN);
  jw_open(&w, "curve", '[');
  for (size_t k = 0; k < c->n; k++) add_try(&w, &c->tried[k], over && k == c->chosen);
  jw_close(&w, ']');
  jw_close(&w, '}');
  text_add(&w.text, "\n");
  return file_write_text(x->file, &w.text, e);
}

/* The next short run, which was made at this place of the curve. */
static void add_result(struct search *x, const r4_lambda_try *result, int at)
{
  r4_lambda_curve *c = x->curve;
  x->t[c->n] = (struct auto_try){.at = at,
                                 .score = result->score,
                                 .se = result->se,
                                 .penalty = result->penalty,
                                 .lost = result->dead || result->diverged,
                                 .learned = result->learned,
                                 .diverged = result->diverged,
                                 .idle = !result->penalised,
                                 .epochs = result->epochs};
  c->tried[c->n++] = *result;
  c->chosen = auto_choice(x->t, c->n);
}

static double number(const struct js *object, const char *key)
{
  double v = NAN;
  js_number(js_get(object, key), &v);
  return v;
}

static bool flag(const struct js *object, const char *key)
{
  bool v = false;
  js_flag(js_get(object, key), &v);
  return v;
}

static r4_status read_curve(struct search *x, r4_error *e)
{
  struct js *root;
  struct auto_run next;
  r4_status s = manifest_read(x->file, &root, e);
  if (s) return s;
  const struct js *list = js_get(root, "curve");
  for (size_t k = 0; k < js_size(list) && !s; k++) {
    const struct js *v = js_at(list, k);
    r4_lambda_try t = {.lambda = number(v, "lambda"),
                       .avg = number(v, "avg"),
                       .worst = number(v, "worst"),
                       .score = number(v, "score"),
                       .se = number(v, "se"),
                       .penalty = number(v, "penalty"),
                       .learned = flag(v, "learned"),
                       .penalised = flag(v, "penalised"),
                       .dead = flag(v, "dead"),
                       .diverged = flag(v, "diverged"),
                       .epochs = auto_epochs(x->epochs)};
    js_whole(js_get(v, "epochs"), &t.epochs);
    if (auto_next(x->t, k, x->epochs, &next) && t.lambda == auto_lambda(x->first, next.at) &&
        t.epochs == next.epochs)
      add_result(x, &t, next.at);
    else
      s = r4_fail(e, R4_E_PARSE,
                  "%s: entry %zu has lambda %g and %lld epochs, which a search does not try there",
                  x->file, k + 1, t.lambda, (long long)t.epochs);
  }
  js_free(root);
  return s;
}

/* ---- A short run ---- */

/* The last line counts. */
static r4_status take_line(void *context, const struct js *line, r4_error *e)
{
  r4_lambda_try *t = context;
  const struct js *val = js_get(line, "val");
  (void)e;
  t->avg = number(val, "avg");
  t->worst = number(val, "worst");
  t->score = number(val, "score");
  t->se = number(val, "avg_se");
  t->penalty = number(line, "penalty");
  return R4_OK;
}

static r4_status read_result(const char *folder, r4_lambda_try *result, r4_error *e)
{
  char *log = file_join(folder, "log.jsonl", e);
  r4_status s = log ? log_read(log, take_line, result, e) : R4_E_MEMORY;
  r4_mem_free(log);
  return s;
}

/* What the net tells apart; two classes for one output. */
static r4_status count_classes(const char *folder, double *classes, r4_error *e)
{
  char *path = file_join(folder, "model.safetensors", e);
  r4_model *m = path ? r4_model_open(path, NULL, e) : NULL;
  r4_status s = m ? R4_OK : e->status;
  if (m) *classes = fmax((double)r4_net_classes(r4_model_net(m)), 2);
  r4_model_free(m);
  r4_mem_free(path);
  return s;
}

/* Sentences about data and settings are the same for all short runs: the first may speak. */
static r4_status train_short(struct search *x, const r4_settings *s, const char *folder,
                             r4_lambda_try *result, bool *stopped, r4_error *e)
{
  r4_outcome end;
  r4_train_options o = *x->o;
  o.folder = folder;
  if (x->curve->n) o.notice = NULL;
  r4_status status = r4_train(s, &o, &end, e);
  *stopped = end.stopped;
  if (status == R4_E_DOMAIN) {
    result->diverged = true;
    result->avg = result->worst = result->score = result->se = result->penalty = NAN;
    r4_error_clear(e);
    return R4_OK;
  }
  if (status || end.stopped) return status;
  result->dead = end.only >= 0;
  result->penalised = end.penalised > 0;
  status = read_result(folder, result, e);
  double classes = 2;
  if (!status) status = count_classes(folder, &classes, e);
  result->learned = !result->dead && result->score > 1 / classes;
  return status;
}

static char *folder_of(const struct search *x, double lambda, int64_t epochs, r4_error *e)
{
  char name[80], length[32] = "";
  if (epochs > auto_epochs(x->epochs))
    c_locale_print(length, sizeof length, "-epochs-%lld", (long long)epochs);
  c_locale_print(name, sizeof name, "lambda-%.3g%s", lambda, length);
  return file_join(x->o->folder, name, e);
}

static r4_status make_run(struct search *x, struct auto_run run, r4_lambda_try *result, bool *stopped,
                          r4_error *e)
{
  double lambda = auto_lambda(x->first, run.at);
  *result = (r4_lambda_try){.lambda = lambda, .epochs = run.epochs};
  char *folder = folder_of(x, lambda, run.epochs, e);
  r4_settings *s = folder ? read_settings(x, x->own, e) : NULL;
  r4_status status = s ? R4_OK : e->status;
  if (!status) shorten(&s->values, run.epochs);
  if (!status) status = set_lambda(s, lambda, e);
  if (!status) status = r4_settings_set(s, "select=last", "auto", e);
  if (!status) status = file_refuse_link(folder, e);
  if (!status) status = train_short(x, s, folder, result, stopped, e);
  r4_settings_free(s);
  r4_mem_free(folder);
  return status;
}

/* ---- All of them ---- */

/* The search that is there is of these settings, its seed and how long a run goes on apart. */
static r4_status check_settings(const struct search *x, const r4_settings *s, r4_error *e)
{
  r4_error difference;
  int64_t seed = x->own->values.seed;
  x->own->values.seed = s->values.seed;
  r4_run_change change = r4_settings_compare(x->own, s, &difference);
  x->own->values.seed = seed;
  if (change <= R4_RUN_LENGTH) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s: lambda was searched with other settings: %.200s: choose another folder, or force",
                 x->o->folder, difference.text);
}

/* Reads what is there; or begins anew, where nothing is, or all is to be replaced. */
static r4_status open_search(struct search *x, const r4_settings *s, bool begin, r4_error *e)
{
  if (begin) unlink(x->file);
  r4_status status = begin ? r4_settings_save(s, x->config, e) : R4_OK;
  if (status || !(x->own = read_settings(x, s, e))) return e->status;
  x->first = r4_method_describe(x->own->values.method).lambda[0];
  x->epochs = x->own->values.epochs;
  if (begin) return R4_OK;
  status = check_settings(x, s, e);
  return status ? status : read_curve(x, e);
}

/* Once for each length. */
static void tell_longer(const struct search *x, struct auto_run next)
{
  char text[R4_ERROR_SIZE];
  if (!x->o->notice || !x->curve->n || next.epochs == last_length(x)) return;
  c_locale_print(
    text, sizeof text,
    "lambda is auto: %lld epochs are too few to compare lambdas: the next short runs have %lld",
    (long long)last_length(x), (long long)next.epochs);
  x->o->notice(text, x->o->user);
}

static r4_status make_runs(struct search *x, bool *stopped, r4_error *e)
{
  r4_status s = R4_OK;
  for (struct auto_run run; !s && auto_next(x->t, x->curve->n, x->epochs, &run);) {
    r4_lambda_try result;
    struct auto_run next;
    tell_longer(x, run);
    s = make_run(x, run, &result, stopped, e);
    if (s || *stopped) return s;
    add_result(x, &result, run.at);
    s = write_curve(x, !auto_next(x->t, x->curve->n, x->epochs, &next), e);
  }
  return s;
}

static r4_status search_locked(struct search *x, const r4_settings *s, bool begin, bool *stopped, r4_error *e)
{
  r4_lock *lock = r4_lock_take(x->o->folder, false, e);
  r4_status status = lock ? open_search(x, s, begin, e) : e->status;
  if (!status) status = make_runs(x, stopped, e);
  r4_lock_free(lock);
  return status;
}

/* One that is done needs no lock. */
static r4_status search(struct search *x, const r4_settings *s, bool *stopped, r4_error *e)
{
  struct auto_run next;
  bool begin = x->o->force || !file_exists(x->file);
  if (begin) return search_locked(x, s, true, stopped, e);
  r4_status status = open_search(x, s, false, e);
  if (status || !auto_next(x->t, x->curve->n, x->epochs, &next)) return status;
  if (!x->o->resume)
    return r4_fail(e, R4_E_ARGUMENT, "%s: has a search for lambda already: --resume continues it, --force replaces it",
                   x->o->folder);
  r4_settings_free(x->own);
  *x->curve = (r4_lambda_curve){0};
  return search_locked(x, s, false, stopped, e);
}

/* Runs in which the guard held every penalty back have tried nothing. */
static bool any_was_penalised(const r4_lambda_curve *c)
{
  for (size_t k = 0; k < c->n; k++)
    if (c->tried[k].penalised) return true;
  return false;
}

static double least_lambda(const r4_lambda_curve *c)
{
  double least = INFINITY;
  for (size_t k = 0; k < c->n; k++) least = fmin(least, c->tried[k].lambda);
  return least;
}

static r4_status take_choice(const struct search *x, r4_settings *s, r4_error *e)
{
  const r4_lambda_curve *c = x->curve;
  if (c->chosen < c->n && !any_was_penalised(c))
    return r4_fail(
      e, R4_E_DOMAIN,
      "%s: lambda is auto, but the penalty took effect in none of %zu runs, the last of %lld epochs; try more epochs, "
      "or smaller batches",
      x->o->folder, c->n, (long long)last_length(x));
  if (c->chosen < c->n) return set_lambda(s, c->tried[c->chosen].lambda, e);
  return r4_fail(
    e, R4_E_DOMAIN,
    "%s: lambda is auto, but all %zu short runs collapsed, the longest of %lld epochs and the smallest lambda %g: "
    "lambda is not the cause; try more epochs or another rate",
    x->o->folder, c->n, (long long)last_length(x), least_lambda(c));
}

static r4_status choose(r4_settings *s, r4_error *e)
{
  r4_status status = r4_method_choose(s, NULL, NULL, e);
  if (status || r4_lambda_is_open(s)) return status;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s is auto, but method, which is auto, chose %s: there is no penalty to weight",
                 setting_label(s, "lambda").text, s->values.method);
}

r4_status r4_lambda_search(r4_settings *s, const r4_train_options *o, r4_lambda_curve *curve, bool *stopped,
                           r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  NEEDS(o, "options", R4_E_ARGUMENT);
  NEEDS(o->folder, "a folder", R4_E_ARGUMENT);
  NEEDS(curve, "room for the curve", R4_E_ARGUMENT);
  NEEDS(stopped, "room to say that it was stopped", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  r4_error_clear(e);
  *stopped = false;
  *curve = (r4_lambda_curve){0};
  if (!r4_lambda_is_open(s))
    return r4_fail(e, R4_E_ARGUMENT, "lambda is not auto, or there is no penalty");
  struct search x = {.o = o,
                     .curve = curve,
                     .config = file_join(o->folder, "config.yaml", NULL),
                     .file = file_join(o->folder, "curve.json", NULL)};
  r4_status status = r4_settings_check(s, e);
  if (!status && r4_method_is_open(s)) status = choose(s, e);
  if (!status && !(x.config && x.file)) status = r4_fail(e, R4_E_MEMORY, "%s: out of memory", o->folder);
  if (!status) status = search(&x, s, stopped, e);
  if (!status && !*stopped) status = take_choice(&x, s, e);
  r4_settings_free(x.own);
  r4_mem_free(x.config);
  r4_mem_free(x.file);
  return status;
}
