/* What the log of a run tells: what training took, and how its model did in validation. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/run/run.h"

static r4_status read_log(const char *folder, log_sink *sink, void *context, r4_error *e)
{
  char *path = file_join(folder, "log.jsonl", e);
  if (!path) return R4_E_MEMORY;
  r4_status s = log_read(path, sink, context, e);
  r4_mem_free(path);
  return s;
}

/* ---- Cost ---- */

static r4_status add_cost(void *context, const struct js *line, r4_error *e)
{
  r4_run_cost *to = context;
  double seconds;
  (void)e;
  if (!js_number(js_get(line, "seconds"), &seconds)) return R4_OK;
  to->seconds += seconds;
  to->epochs++;
  return R4_OK;
}

r4_status r4_run_cost_read(const char *folder, r4_run_cost *to, r4_error *e)
{
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  *to = (r4_run_cost){0};
  return read_log(folder, add_cost, to, e);
}

/* ---- Validation ---- */

double run_epoch_score(const char *select, int64_t epoch, double loss, double avg, double score)
{
  if (!strcmp(select, "avg")) return avg;
  if (!strcmp(select, "worst")) return score;
  if (!strcmp(select, "loss")) return -loss;
  return (double)epoch; /* last */
}

static const r4_run_validation NOTHING = {
  .loss = NAN, .avg = NAN, .worst = NAN, .score = NAN, .se = NAN, .changed = NAN};

static r4_val_kind kind_named(const char *name)
{
  for (int k = 0; name && validation_words[k]; k++)
    if (!strcmp(validation_words[k], name)) return (r4_val_kind)k;
  return R4_VAL_NONE;
}

struct choosing {
  const char *select;
  double best; /* score so far */
  r4_run_validation *to;
};

static r4_status take_better(void *context, const struct js *line, r4_error *e)
{
  struct choosing *c = context;
  const struct js *val = js_get(line, "val");
  r4_run_validation v = NOTHING;
  (void)e;
  js_whole(js_get(line, "epoch"), &v.epoch);
  js_real(js_get(val, "loss"), &v.loss);
  js_real(js_get(val, "avg"), &v.avg);
  js_real(js_get(val, "worst"), &v.worst);
  if (!js_real(js_get(val, "score"), &v.score)) v.score = v.worst; /* of logs that have no score */
  js_real(js_get(val, "avg_se"), &v.se);
  js_real(js_get(val, "changed"), &v.changed);
  js_whole(js_get(val, "exchanged"), &v.exchanged);
  v.kind = kind_named(js_text(js_get(val, "of")));
  if (!val) return R4_OK;
  double score = run_epoch_score(c->select, v.epoch, v.loss, v.avg, v.score);
  if (!(score > c->best)) return R4_OK;
  c->best = score;
  *c->to = v;
  return R4_OK;
}

r4_status r4_run_validation_read(const char *folder, r4_run_validation *to, r4_error *e)
{
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  *to = NOTHING;
  char *config = file_join(folder, "config.yaml", NULL);
  r4_settings *own = config ? r4_settings_new() : NULL;
  r4_status s = own ? r4_settings_read(own, config, e) : r4_fail(e, R4_E_MEMORY, "%s: out of memory", folder);
  if (!s) s = read_log(folder, take_better, &(struct choosing){own->values.select, -INFINITY, to}, e);
  r4_settings_free(own);
  r4_mem_free(config);
  return s;
}
