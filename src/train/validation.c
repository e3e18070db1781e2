#include "train/validation.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/batch/donors.h"
#include "train/task.h"

/* Of the training examples with a mask, this part may be held out for validation; examples that are wanted then. */
enum { HELD_PART = 3, WANTED = 30 };

const char *const validation_words[] = {[R4_VAL_NONE] = "none",
                                        [R4_VAL_PLAIN] = "plain",
                                        [R4_VAL_EXCHANGED] = "exchanged",
                                        [R4_VAL_FILLED] = "filled",
                                        [R4_VAL_CARRIES] = "carries the shortcut",
                                        NULL};

/* ---- Holding out ---- */

/* With all that share its id: a lesion, a patient. */
static size_t move_one(r4_data *d, size_t i)
{
  uint32_t id = d->record[i].id;
  size_t moved = d->record[i].split == R4_TRAIN;
  d->record[i].split = R4_VAL;
  for (size_t k = 0; id != DATA_NO_ID && k < d->n; k++) {
    if (d->record[k].id != id || d->record[k].split != R4_TRAIN) continue;
    d->record[k].split = R4_VAL;
    moved++;
  }
  return moved;
}

/* Masked training examples, those of a class together. */
static size_t list_masked(const struct donors *s, const r4_data *d, size_t *list)
{
  size_t n = 0;
  for (size_t k = 0; k < donors_all(s); k++)
    if (d->record[s->example[k]].split == R4_TRAIN) list[n++] = s->example[k];
  return n;
}

/* Evenly spread over the list, and so over the classes. */
static size_t move_some(r4_data *d, const size_t *list, size_t n, size_t picks)
{
  size_t moved = 0;
  for (size_t k = 0; k < picks; k++) moved += move_one(d, list[(2 * k + 1) * n / (2 * picks)]);
  return moved;
}

static r4_status part_of(const r4_data *d, r4_split split, r4_data **to, r4_error *e)
{
  r4_data_free(*to);
  *to = r4_data_part(d, split, e);
  return *to ? R4_OK : e->status;
}

static size_t masked_in(const r4_data *part, r4_split split)
{
  return r4_data_mask_count(part, split, -1);
}

/* d with at most so many more masked examples for validation. Each brings those that share its id, so that fewer are
 * picked until they fit; *changed stays NULL if none do. */
static r4_status with_more(struct validation *v, const r4_data *d, const size_t *list, size_t n,
                           size_t wanted, r4_data **changed, r4_error *e)
{
  size_t most = masked_in(d, R4_VAL) + wanted;
  for (size_t picks = wanted; picks; picks--) {
    *changed = data_derive(d, e);
    if (!*changed) return e->status;
    v->moved = move_some(*changed, list, n, picks);
    if (masked_in(*changed, R4_VAL) <= most) return R4_OK;
    r4_data_free(*changed);
    *changed = NULL;
  }
  return R4_OK;
}

/* Takes the parts of changed, if validation has enough masks in it. */
static r4_status take_parts(struct validation *v, const r4_data *changed, r4_data **train, r4_error *e)
{
  if (!changed || masked_in(changed, R4_VAL) < VALIDATION_NEEDED) {
    v->moved = 0;
    return R4_OK;
  }
  r4_status s = part_of(changed, R4_TRAIN, train, e);
  return s ? s : part_of(changed, R4_VAL, &v->data, e);
}

/* *changed: d with other parts, or NULL if none is held out. */
static r4_status hold_out(struct validation *v, const r4_data *d, r4_data **train, r4_data **changed, r4_error *e)
{
  struct donors s;
  size_t there = masked_in(d, R4_VAL), wanted = there < WANTED ? WANTED - there : 0;
  if (donors_find(&s, d, e)) return e->status;
  size_t *list = mem_new(donors_all(&s) + 1, sizeof *list, "holding out examples", e),
         n = list ? list_masked(&s, d, list) : 0;
  if (wanted > n / HELD_PART) wanted = n / HELD_PART;
  r4_status status = list ? with_more(v, d, list, n, wanted, changed, e) : R4_E_MEMORY;
  if (!status) status = take_parts(v, *changed, train, e);
  r4_mem_free(list);
  donors_clear(&s);
  return status ? status : exchange_count(v->data, *train, &v->could, e);
}

/* ---- What it is ---- */

static r4_status fill_all(struct validation *v, r4_fill kind, uint64_t seed, r4_error *e)
{
  r4_data *filled = r4_data_fill(v->data, kind, seed, 0, e);
  r4_data_free(v->data);
  v->data = filled;
  v->kind = R4_VAL_FILLED;
  return filled ? R4_OK : e->status;
}

static r4_status make_exchanged(struct validation *v, const r4_data *d, uint64_t seed, const r4_data *train,
                                r4_error *e)
{
  v->kind = R4_VAL_EXCHANGED;
  r4_status s = exchange_make(&v->exchange, v->data, train, seed, e);
  return s ? s : follow_make(&v->follow, d, train, VALIDATION_NEEDED, seed, e);
}

static r4_status exchange(struct validation *v, const r4_data *d, uint64_t seed, r4_data **train, r4_error *e)
{
  r4_data *changed = NULL;
  r4_status s = exchange_count(v->data, *train, &v->could, e);
  if (!s && v->could < VALIDATION_NEEDED) s = hold_out(v, d, train, &changed, e);
  v->kind = R4_VAL_CARRIES;
  if (!s && v->could >= VALIDATION_NEEDED) s = make_exchanged(v, v->moved ? changed : d, seed, *train, e);
  r4_data_free(changed);
  return s;
}

r4_status validation_open(struct validation *v, const struct settings *s, const r4_data *d, r4_data **train,
                          r4_error *e)
{
  *v = (struct validation){.kind = R4_VAL_NONE};
  r4_status status = part_of(d, R4_TRAIN, train, e);
  if (!status) status = part_of(d, R4_VAL, &v->data, e);
  if (status) return status;
  if (!r4_data_count(v->data)) {
    r4_data_free(v->data);
    v->data = NULL;
    return R4_OK;
  }
  v->kind = R4_VAL_PLAIN;
  uint64_t seed = (uint64_t)s->data.seed;
  if (!masked_in(*train, R4_TRAIN) && !masked_in(v->data, R4_VAL)) return R4_OK;
  if (!strcmp(s->data.val_fill, "auto")) return exchange(v, d, seed, train, e);
  r4_fill kind = task_val_fill(s);
  if (kind != R4_FILL_NONE) return fill_all(v, kind, seed, e);
  v->kind = R4_VAL_CARRIES;
  v->as_it_is = true;
  return R4_OK;
}

r4_status validation_prepare(struct validation *v, const r4_net *net, int64_t batch, int64_t parts,
                             r4_error *e)
{
  if (!v->data) return R4_OK;
  int64_t part = ((int64_t)r4_data_count(v->data) + parts - 1) / parts;
  if (part < batch) batch = part;
  size_t rows = v->exchange.n * v->exchange.draws, asked = 2 * v->follow.n * v->follow.draws;
  if (rows < asked) rows = asked;
  v->predicted = mem_new(r4_data_count(v->data), sizeof *v->predicted, "predictions", e);
  v->after = mem_new(rows + 1, sizeof *v->after, "predictions", e);
  if (!v->predicted || !v->after) return R4_E_MEMORY;
  v->probe = predictor_new(net, batch, e);
  return v->probe ? R4_OK : e->status;
}

void validation_close(struct validation *v)
{
  r4_data_free(v->data);
  exchange_clear(&v->exchange);
  follow_clear(&v->follow);
  probe_free(v->probe);
  r4_mem_free(v->predicted);
  r4_mem_free(v->after);
  *v = (struct validation){0};
}

r4_status validation_may_choose(const struct validation *v, const char *what, r4_error *e)
{
  if (v->kind == R4_VAL_NONE)
    return r4_fail(e, R4_E_ARGUMENT, "%s, but there is no validation part: set data.val (--set data.val=0.1)", what);
  if (v->kind != R4_VAL_CARRIES) return R4_OK;
  if (v->as_it_is)
    return r4_fail(
      e, R4_E_ARGUMENT,
      "%s, but data.val_fill is none: validation contains the shortcut and would select a net that uses it; "
      "data.val_fill: auto exchanges masked content",
      what);
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s, but validation contains the shortcut and would select a net that uses it: the masked content of "
                 "%zu validation examples can be exchanged, and %d are needed; draw more masks%s",
                 what, v->could, (int)VALIDATION_NEEDED,
                 v->could ? "" : ", also on validation examples, or set data.val_fill");
}

r4_status validation_run(struct validation *v, const r4_team *t, const float *weights, struct score *to,
                         r4_error *e)
{
  double loss = 0, after = 0;
  if (!v->data) return R4_OK;
  r4_status s = predictor_run_shared(v->probe, t, weights, v->data, v->predicted, &loss, e);
  if (!s && v->exchange.n)
    s = predictor_run_shared(v->probe, t, weights, v->exchange.data, v->after, &after, e);
  if (s) return s;
  if (v->exchange.n) return score_exchanged(v->data, v->predicted, &v->exchange, v->after, after, to, e);
  s = score_of(v->data, v->predicted, loss, to, e);
  return s ? s : score_plain(to, e);
}

r4_status validation_follow(struct validation *v, const r4_team *t, const float *weights, double *followed,
                            double *error, r4_error *e)
{
  double loss = 0;
  *followed = *error = NAN;
  if (!v->follow.n) return R4_OK;
  r4_status s = predictor_run_shared(v->probe, t, weights, v->follow.data, v->after, &loss, e);
  if (!s) follow_count(&v->follow, v->after, followed, error);
  return s;
}
