/* The health of a net in training: dead nets are noticed, said and brought back; so is a penalty that drowns data. */
#include <stdarg.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "data/batch/mask_fill.h"
#include "optim/optimizer.h"
#include "train/run/run.h"
#include "train/task.h"

/* A net counts as dead after this many batches with one and the same answer, and an epoch at least: nets in their
 * first steps and rare classes give long rows of equal answers, too. */
enum { DEAD_BATCHES = 50, MOST_REVIVALS = 5 };

/* A net that guesses should have begun to learn after one in this many of its epochs. */
enum { LATE = 3 };

/* The weighted penalty drowns the data term when it is this many times as large, and little was learned. */
static const double DROWNS = 10, LITTLE = 0.5;

enum told { TOLD_DEAD = 1, TOLD_DROWNED = 2, TOLD_WAITING = 4, TOLD_MISSING = 8 };

void run_tell(struct run *r, const char *format, ...)
{
  char sentence[2 * R4_ERROR_SIZE], shown[2 * R4_ERROR_SIZE]; /* objectives are long */
  va_list args;
  if (!r->notice) return;
  va_start(args, format);
  c_locale_vprint(sentence, sizeof sentence, format, args);
  va_end(args);
  r4_text_printable(sentence, shown, sizeof shown); /* names of classes are in it */
  r->notice(shown, r->user);
}

static const char *class_name(const struct run *r, int64_t answer)
{
  return r4_data_class_name(r->train, (size_t)answer);
}

bool run_is_dead(const struct run *r)
{
  int64_t batches = (int64_t)r4_batches_count(r->batches);
  return r->state.pulse.batches >= (batches > DEAD_BATCHES ? batches : DEAD_BATCHES);
}

/* ---- Before the first step ---- */

static void tell_of_fill(struct run *r)
{
  r4_fill fill = task_fill(r->s, r->train);
  if (fill_for(r->train) != R4_FILL_PASTE || fill == R4_FILL_NONE) return;
  if (fill == R4_FILL_PASTE)
    run_tell(r, "masks are much more frequent in some classes than in others, so a filled region would still give the "
                "label away: masked content is pasted on other examples (fill: paste)");
  else
    run_tell(r,
             "fill is %s, but masks are much more frequent in some classes than in others: a filled region "
             "still gives the label away; fill: paste would not",
             r->s->fill);
  run_tell(r, "the masks do not cover shortcuts of classes that have few masks or none: if there are any, the net may "
              "use them unnoticed");
}

/* What few masks show is a sample of the shortcut, and a penalty on few examples is a noisy one. */
static void tell_of_few(struct run *r)
{
  enum { ENOUGH = 100 };
  size_t masked = r4_data_mask_count(r->train, R4_TRAIN, -1);
  r4_method_info m = r4_method_describe(r->s->method);
  if (!masked || masked >= ENOUGH || 2 * masked >= r4_data_count(r->train) || !(m.guided || m.fills)) return;
  run_tell(r,
           "only %zu of %zu training examples have a mask: a part of the shortcut may remain, or accuracy may be "
           "lost; %d masks or more are safer",
           masked, r4_data_count(r->train), (int)ENOUGH);
}

static void tell_of_explain(struct run *r)
{
  r4_explain explain = task_explain(r->s, r->train);
  if (!r4_method_uses(r->s->method, "explain") || fill_for(r->train) != R4_FILL_PASTE) return;
  if (explain == R4_EXPLAIN_LOSS)
    run_tell(r,
             "explain is loss, but masks are much more frequent in some classes than in others: the net can avoid the "
             "penalty by overconfidence; explain: margin prevents that");
  else if (!strcmp(r->s->explain, "auto"))
    run_tell(
      r, "masks are much more frequent in some classes than in others, and the gradient of the loss vanishes where "
         "the net is confident: explaining the margin (explain: margin)");
}

/* Weights of others expect inputs of their own kind, and answer wrongly to any other. */
static void tell_of_preprocessing(struct run *r)
{
  struct preprocess how;
  char *said = NULL;
  r4_error ignored = {0};
  r4_net *bare = task_net(r->s, r->train, &ignored);
  if (bare && *r->s->from && !task_preprocess(r->s, bare, &how, &said, NULL)) {
    if (*how.part)
      run_tell(r, "inputs are preprocessed (%s%s%s), %s", how.name, *how.name ? ": " : "", how.part, how.by);
    else if (!how.by && said)
      run_tell(r,
               "the weights of %.100s were trained on other inputs (%.200s), and images here are 0 to 1: predictions "
               "are wrong until the net has learned the difference; set preprocess to convert them",
               r->s->from, said);
  }
  r4_string_free(said);
  r4_net_free(bare);
}

/* Of the first training examples with a mask: how many masks cover every cell at the node that is guided, and how many
 * none of them. */
static void count_cells(const struct run *r, size_t *seen, size_t *all, size_t *none)
{
  enum { ENOUGH = 200 };
  r4_shape in = r4_net_input(r->net), leaf = net_leaf(r->net);
  size_t cells = (size_t)(leaf.dim[0] * leaf.dim[1]);
  float *m = r4_mem_new((size_t)r4_shape_count(in), sizeof *m), *at = r4_mem_new(cells, sizeof *at);
  for (size_t i = 0; m && at && i < r4_data_count(r->train) && *seen < ENOUGH; i++) {
    size_t masked = 0;
    if (!r4_data_mask(r->train, i, m)) continue;
    cut_masks(r->net, task_cells(r->s), 1, m, at);
    for (size_t k = 0; k < cells; k++) masked += at[k] > 0;
    ++*seen;
    *all += masked == cells;
    *none += !masked;
  }
  r4_mem_free(m);
  r4_mem_free(at);
}

static void tell_of_cells(struct run *r)
{
  size_t seen = 0, all = 0, none = 0;
  if (!net_leaf_has_cells(r->net) || !r4_method_describe(r->s->method).guided) return;
  r4_shape leaf = net_leaf(r->net);
  count_cells(r, &seen, &all, &none);
  run_tell(r, "guide is %.60s: %lld x %lld cells of %lld features; eps is in units of these", r->s->guide,
           (long long)leaf.dim[0], (long long)leaf.dim[1], (long long)leaf.dim[2]);
  if (all)
    run_tell(
      r,
      "%zu of %zu masks cover every cell there, so everything is penalised: use a part nearer to the input%s",
      all, seen, task_cells(r->s) == CELL_ANY ? ", or guide.cells: half" : "");
  if (none)
    run_tell(
      r,
      "%zu of %zu masks cover no cell there by half, and have no effect: use a part nearer to the input, or "
      "guide.cells: any",
      none, seen);
}

static void tell_of_validation(struct run *r)
{
  const struct validation *v = &r->val;
  if (v->moved)
    run_tell(r, "%zu training examples are held out for validation, as too few there have masks", v->moved);
  if (v->kind == R4_VAL_CARRIES && v->as_it_is)
    run_tell(
      r,
      "validation contains the shortcut, as data.val_fill is none: its figures favour a net that uses it");
  else if (v->kind == R4_VAL_CARRIES)
    run_tell(
      r,
      "validation contains the shortcut: its figures favour a net that uses it (the masked content of %zu examples "
      "can be exchanged, and %d are needed)",
      v->could, (int)VALIDATION_NEEDED);
}

/* What the text of the objective does not say: how the penalty comes in over time. */
static void say_times(struct text *to, const struct run *r)
{
  const struct settings *s = r->s;
  r4_method_info method = r4_method_describe(s->method);
  size_t leads = 0, waits = 0;
  for (size_t k = 0; k < method.terms; k++)
    if (method.leads[k] && !(s->delta > 0))
      leads++;
    else
      waits = k;
  char begins[80] = "the penalty begins after ";
  if (leads) snprintf(begins, sizeof begins, "%s begins after ", method.term[waits]);
  const struct {
    double value, usual;
    const char *before, *after;
  } said[] = {{r->penalty_after, 0, begins, " epochs"},
              {s->delta > 0 ? 0 : s->lambda_ramp, 0, "lambda grows from 0 over ", " epochs"},
              {s->eps_ramp, 0, "eps grows from 0 over ", " epochs"},
              {(double)s->penalty_every, 1, "the penalty acts on one step in ", ", that many times as strong"}};
  for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
    if (!(said[k].value > said[k].usual)) continue;
    text_add(to, "; %s", said[k].before);
    text_add_real(to, said[k].value);
    bool one_epoch = said[k].value == 1 && !strcmp(said[k].after, " epochs");
    text_add(to, "%s", one_epoch ? " epoch" : said[k].after);
  }
  if (s->guard || s->delta > 0) text_add(to, "; penalty.cap is on");
}

char *run_objective_text(const struct run *r)
{
  const r4_objective_options o = run_objective(r);
  r4_fill fill = task_fill(r->s, r->train);
  char *what = r4_objective_text(&o);
  struct text to = {0};
  text_add(&to, "%s = %s", r->s->method, what ? what : "");
  if (fill != R4_FILL_NONE) text_add(&to, "; fill: %s", r4_fill_name(fill));
  if (r4_method_describe(r->s->method).guided) say_times(&to, r);
  to.failed |= !what;
  r4_string_free(what);
  return text_take(&to);
}

static void tell_of_method(struct run *r)
{
  char *text = r4_method_describe(r->s->method).guided && r->touched ? run_objective_text(r) : NULL;
  if (text) run_tell(r, "%s", text);
  r4_string_free(text);
}

void run_greet(struct run *r)
{
  if (*r->why) run_tell(r, "%s", r->why);
  tell_of_method(r);
  tell_of_cells(r);
  tell_of_preprocessing(r);
  tell_of_fill(r);
  tell_of_few(r);
  tell_of_explain(r);
  tell_of_validation(r);
}

/* ---- Bringing back ---- */

static bool may_be_killed(const struct run *r)
{
  return r4_method_describe(r->s->method).guided;
}

void run_keep(struct run *r)
{
  r->state.good_penalised = r->state.penalised;
  if (may_be_killed(r)) memcpy(r->good, r->weights, r->size * sizeof *r->good);
}

/* A net that has not begun to learn gives one answer, too. Without a penalty it goes on, and finds its way. */
static bool penalty_killed(const struct run *r)
{
  return run_is_dead(r) && may_be_killed(r) && r->state.penalised > r->state.good_penalised;
}

void run_revive(struct run *r, int64_t answer)
{
  struct run_state *t = &r->state;
  pulse_beat(&t->pulse, answer);
  if (!penalty_killed(r) || t->revivals == MOST_REVIVALS) return;
  memcpy(r->weights, r->good, r->size * sizeof *r->weights);
  optimizer_reset(r->optimizer);
  t->relief /= 2;
  t->guard = guard_begin(r->chance);
  t->guard.share *= t->relief;
  t->dual.lambda = 0;
  t->good_penalised = t->penalised;
  t->revivals++;
  t->pulse = (struct pulse){0};
  run_tell(
    r,
    "step %lld: the net collapsed to \"%.60s\"; training continues from the weights of epoch %lld with half the %s",
    (long long)t->step, class_name(r, answer), (long long)t->good_epoch,
    r->s->delta > 0 ? "room for the penalty" : "lambda");
}

/* ---- Telling ---- */

static void tell_of_death(struct run *r)
{
  struct run_state *t = &r->state;
  if (!run_is_dead(r)) {
    t->told &= ~(int64_t)TOLD_DEAD;
    return;
  }
  if (t->told & TOLD_DEAD) return;
  t->told |= TOLD_DEAD;
  run_tell(r,
           "epoch %lld: the net predicts only \"%.60s\", with a loss of %.3f; guessing has %.3f",
           (long long)t->epoch, class_name(r, t->pulse.answer), t->sums.data / t->sums.examples, r->chance);
}

/* The forms of the penalty and weight_penalty are all in the loss. */
static void tell_of_drowning(struct run *r)
{
  struct run_state *t = &r->state;
  if (t->epoch <= r->s->head_epochs) return; /* the rest may learn to escape the penalty, and could not yet */
  double data = t->sums.data, penalty = t->sums.loss - data;
  bool learned = data < (1 - LITTLE) * r->chance * t->sums.examples;
  if (!(penalty > DROWNS * data) || learned || t->told & TOLD_DROWNED) return;
  t->told |= TOLD_DROWNED;
  run_tell(r, "epoch %lld: the weighted penalty is %.3g times the loss of the data: try a lower lambda",
           (long long)t->epoch, penalty / data);
}

/* The guard holds a penalty back as long as the net guesses; a run in which it never came in must not look like one in
 * which it did. */
static void tell_of_waiting(struct run *r)
{
  struct run_state *t = &r->state;
  if (t->epoch <= r->s->head_epochs) return; /* only the head learns yet: no advice about the rest helps it */
  if (LATE * t->epoch < r->s->epochs) return; /* many nets guess at first */
  struct step_weights next = run_weights(r);
  bool waits = t->sums.masked_steps > 0 && !next.off && !(run_sum(next.lambda) > 0);
  bool wanted = !(r->s->delta > 0) && task_has_weight(r->s);
  if (!waits || !wanted || t->told & TOLD_WAITING) return;
  t->told |= TOLD_WAITING;
  run_tell(r,
           "epoch %lld: the net has learned little so far (a loss of %.3f; guessing has %.3f), so the penalty waits "
           "(penalty.cap); warmup: 0.5 or init: kaiming may help",
           (long long)t->epoch, t->sums.data / t->sums.examples, r->chance);
}

/* penalty_every picks steps, not masks: where few examples have one, all that it picks may be without. */
static void tell_of_missing(struct run *r)
{
  struct run_state *t = &r->state;
  int64_t every = r->s->penalty_every;
  bool due = every > 1 && t->sums.steps >= (double)every && (double)(t->epoch - 1) >= r->penalty_after;
  if (!due || t->sums.masked_steps > 0 || !may_be_killed(r) || t->told & TOLD_MISSING) return;
  t->told |= TOLD_MISSING;
  run_tell(r,
           "epoch %lld: the penalty had no effect, as no batch it used had a mask: %zu examples have one, and "
           "penalty.every is %lld; a smaller value uses more batches",
           (long long)t->epoch, r4_data_mask_count(r->train, R4_TRAIN, -1), (long long)every);
}

void run_examine(struct run *r)
{
  struct run_state *t = &r->state;
  tell_of_death(r);
  tell_of_drowning(r);
  tell_of_waiting(r);
  tell_of_missing(r);
  if (t->pulse.batches || !(t->sums.data < r->chance * t->sums.examples)) return;
  run_keep(r);
  t->good_epoch = t->epoch;
}
