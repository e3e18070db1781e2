#include "train/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/batch/mask_fill.h"
#include "data/format/format.h"
#include "data/known/recipe.h"
#include "data/mask/mask.h"
#include "module/net_open.h"
#include "objective/objective.h"
#include "optim/optimizer.h"

/* The number of a word in its table, which ends with NULL. Settings hold no words but those of their tables. */
static int word_number(const char *word, const char *const *list)
{
  int k = 0;
  while (list[k] && strcmp(list[k], word)) k++;
  return k;
}

/* ---- Data ---- */

static const char *or_null(const char *text)
{
  return *text ? text : NULL;
}

const char *task_place(const struct settings *s, const char *written)
{
  for (size_t k = 0; k < FOUND_MOST; k++) {
    const char *known = s->data.found[k].written;
    if (known && !strcmp(known, written)) return s->data.found[k].path;
  }
  return written;
}

/* The one place where settings become options of reading. They look into s. */
static r4_data_options data_options_of(const struct settings *s)
{
  r4_data_options o = s->data.read;
  o.mask_means = (r4_mask_meaning)word_number(s->data.mask_means, mask_meaning_words);
  o.mask_values = s->data.mask_values.v;
  o.mask_value_count = s->data.mask_values.n;
  o.masks = *s->data.masks ? s->data.masks : s->data.masks_read;
  o.mask_categories = s->data.mask_categories;
  o.height = o.width = s->data.size;
  o.cache = or_null(s->data.cache);
  o.tokenizer = task_place(s, s->data.tokenizer);
  o.mask_words = task_place(s, s->data.mask_words);
  o.seed = (uint64_t)s->data.seed;
  o.own_split = !strcmp(s->data.split, "own");
  return o;
}

static r4_data *open_recipe(const struct settings *s, r4_error *e)
{
  const r4_recipe_options options = {.read = data_options_of(s),
                                     .from = or_null(task_place(s, s->data.from)),
                                     .val = s->data.val > 0 ? s->data.val : -1,
                                     .keep_val = true,
                                     .shades = strcmp(s->data.shades, "default") ? s->data.shades : NULL,
                                     .clean = s->data.clean};
  return r4_data_make(s->data.name, &options, e);
}

static bool has_part(const r4_data *d, r4_split split)
{
  for (size_t i = 0; i < r4_data_count(d); i++)
    if (r4_data_example(d, i).split == split) return true;
  return false;
}

/* Puts the result of a change in the place of *d. */
static r4_status replace(r4_data **d, r4_data *changed, r4_error *e)
{
  r4_data_free(*d);
  *d = changed;
  return changed ? R4_OK : e->status;
}

static r4_data *open_source(const struct settings *s, r4_error *e)
{
  const r4_data_options options = data_options_of(s);
  r4_data *d = r4_data_open(task_place(s, s->data.name), &options, e);
  if (d && s->data.val > 0 && !has_part(d, R4_VAL))
    replace(&d, r4_data_hold_out(d, s->data.val, (uint64_t)s->data.seed, e), e);
  return d;
}

r4_data *task_data(const struct settings *s, r4_error *e)
{
  if (!*s->data.name) {
    r4_fail(e, R4_E_ARGUMENT, "data is not set: expected a recipe (see r4 data list), or a path");
    return NULL;
  }
  r4_data *d = recipe_exists(s->data.name) ? open_recipe(s, e) : open_source(s, e);
  uint64_t seed = (uint64_t)s->data.seed;
  if (d && s->data.keep < 1) replace(&d, r4_data_fraction(d, s->data.keep, seed, e), e);
  if (d && s->data.keep_masks < 1) replace(&d, r4_data_keep_masks(d, s->data.keep_masks, seed, e), e);
  if (d && strcmp(s->data.corrupt, "none")) {
    r4_corruption kind = (r4_corruption)(word_number(s->data.corrupt, corruption_words) - CORRUPTION_WORD);
    replace(&d, r4_data_corrupt_masks(d, kind, s->data.correct, seed, e), e);
  }
  return d;
}

/* ---- Network ---- */

/* A net may have positions for fewer tokens than texts have. */
static void hint_at_length(const r4_data *d, r4_error *e)
{
  size_t n = strlen(e->text);
  c_locale_print(e->text + n, sizeof e->text - n,
                 "; texts have up to %lld tokens here; data.max_tokens cuts them",
                 (long long)r4_data_shape(d).dim[0]);
}

/* What stands for numbers of the data in the text of a net. */
static const char *const stands[] = {"{classes}", "{words}"};
enum { STANDS = 2, STANDS_MOST = 15 /* characters of what may be meant as one */ };

/* "{clases}" at c: what was probably meant, a number below STANDS; STANDS: nothing. */
static size_t misspelt(const char *c, char word[STANDS_MOST + 1])
{
  enum { FAR = 3 };
  size_t length = strcspn(c, "}") + 1, k = 0;
  if (*c != '{' || length > STANDS_MOST) return STANDS;
  snprintf(word, length + 1, "%s", c);
  while (k < STANDS && r4_word_distance(word, stands[k]) >= FAR) k++;
  return k;
}

/* The text of the net with these numbers. r4_string_free; or NULL. */
static char *net_text(const struct settings *s, const r4_data *d, r4_error *e)
{
  const int64_t number[STANDS] = {(int64_t)r4_data_classes(d), r4_data_vocabulary(d)};
  char word[STANDS_MOST + 1];
  struct text t = {0};
  for (const char *c = s->net; *c;) {
    size_t k = 0, meant = misspelt(c, word);
    while (k < STANDS && strncmp(c, stands[k], strlen(stands[k]))) k++;
    if (k == STANDS && meant < STANDS) {
      r4_fail(e, R4_E_ARGUMENT, "net: unknown %s; did you mean %s?", word, stands[meant]);
      r4_string_free(text_take(&t));
      return NULL;
    }
    if (k < STANDS)
      text_add(&t, "%lld", (long long)number[k]);
    else
      text_add(&t, "%c", *c);
    c += k < STANDS ? strlen(stands[k]) : 1;
  }
  return text_done(&t, "the text of a net", e);
}

static r4_net *open_net(const struct settings *s, const r4_data *d, r4_error *e)
{
  if (!*s->net) {
    r4_fail(e, R4_E_ARGUMENT,
            "net is not set: for example \"net: dense 512, relu, dense {classes}\", or a name of r4 nets");
    return NULL;
  }
  char *text = net_text(s, d, e);
  r4_net *n = text ? r4_net_open(text, r4_data_shape(d), e) : NULL;
  r4_string_free(text);
  return n;
}

r4_net *task_net(const struct settings *s, const r4_data *d, r4_error *e)
{
  r4_net *n = open_net(s, d, e);
  if (!n && e->status == R4_E_PARSE && !net_is_file(s->net)) e->status = R4_E_ARGUMENT; /* the setting is wrong */
  if (!n && e->status == R4_E_SHAPE && r4_data_vocabulary(d)) hint_at_length(d, e);
  if (!n) return NULL;
  int64_t features = r4_shape_count(r4_data_shape(d)), takes = r4_shape_count(r4_net_input(n));
  int64_t classes = (int64_t)r4_data_classes(d), outputs = r4_net_classes(n);
  if (takes != features)
    r4_fail(e, R4_E_SHAPE, "net \"%s\" takes %lld features, the data has %lld", s->net, (long long)takes,
            (long long)features);
  else if (outputs != classes && !(outputs == 1 && classes == 2))
    r4_fail(e, R4_E_SHAPE, "net \"%s\" has %lld outputs, the data %lld classes", s->net, (long long)outputs,
            (long long)classes);
  else
    return n;
  r4_net_free(n);
  return NULL;
}

r4_data *r4_settings_data(const r4_settings *s, r4_error *e)
{
  NEEDS(s, "settings", NULL);
  r4_error own = {0};
  return task_data(&s->values, e ? e : &own);
}

r4_data *r4_run_data(const r4_settings *s, r4_error *e)
{
  NEEDS(s, "settings", NULL);
  r4_error own = {0};
  struct settings values = s->values;
  values.data.read.cache_only_read = true; /* no setting: see r4_run_data */
  return task_data(&values, e ? e : &own);
}

r4_data *r4_settings_texts(const r4_settings *s, const char *path, int64_t tokens, r4_error *e)
{
  NEEDS(s, "settings", NULL);
  NEEDS(path, "a path", NULL);
  const struct settings *v = &s->values;
  const r4_data_options options = {.tokenizer = task_place(v, v->data.tokenizer),
                                   .length = tokens,
                                   .mask_words = task_place(v, v->data.mask_words),
                                   .mask_means = R4_MASKS_IRRELEVANT,
                                   .unlabelled = true};
  r4_error own = {0};
  return text_format.open(path, &options, e ? e : &own);
}

r4_net *r4_settings_net(const r4_settings *s, const r4_data *d, r4_error *e)
{
  NEEDS(s, "settings", NULL);
  NEEDS(d, "data", NULL);
  r4_error own = {0};
  return task_net(&s->values, d, e ? e : &own);
}

/* ---- Objective and optimiser ---- */

/* Most examples have no mask: what is replaced in the others alone leaves the shortcut to them. */
static bool masks_are_few(const r4_data *train)
{
  return 2 * r4_data_mask_count(train, R4_TRAIN, -1) < r4_data_count(train);
}

/* auto: what the method does by itself, with what can hide the shortcut of these data. Where most examples have no
 * mask, they get the content of others, too; but a word is the same in all texts, so that a penalty of its effect in
 * few is enough, and no text loses a word to one that is pasted on it. Masks that cover most of an example are its
 * background, and a net that has seen one colour in its place is lost before a real one: they get that of others. On
 * leaves before the ground of two sites the worst group has 80.3 % so, 43.3 with a colour, 72.5 without masks. */
r4_fill task_fill(const struct settings *s, const r4_data *train)
{
  int k = word_number(s->fill, fill_words);
  r4_method_info method = r4_method_describe(s->method);
  if (k) return (r4_fill)(k - 1);
  if (!method.fills) return R4_FILL_NONE;
  r4_fill kind = fill_for(train);
  bool words = kind == R4_FILL_SWAP;
  if (kind == R4_FILL_NONE || kind == R4_FILL_PASTE || (words && method.pairs)) return kind;
  if (masks_are_few(train)) return R4_FILL_EXCHANGE;
  return kind == R4_FILL_COLOUR && data_masks_are_wide(train) ? R4_FILL_SWAP : kind;
}

r4_fill task_val_fill(const struct settings *s)
{
  int k = word_number(s->data.val_fill, fill_words);
  return k ? (r4_fill)(k - 1) : R4_FILL_NONE;
}

enum cell_rule task_cells(const struct settings *s)
{
  return (enum cell_rule)word_number(s->guide_cells, cell_words);
}

/* The gradient of the loss vanishes where a net is sure of its answer. If masks are on one class, the shortcut is what
 * makes it sure, and a penalty of that gradient is least where the shortcut is used without a doubt. The margin has no
 * such way out. */
r4_explain task_explain(const struct settings *s, const r4_data *train)
{
  int k = word_number(s->explain, explain_words);
  if (k != EXPLAIN_AUTO) return (r4_explain)(k - 1);
  return fill_for(train) == R4_FILL_PASTE ? R4_EXPLAIN_MARGIN : R4_EXPLAIN_LOSS;
}

/* A word is the method's own, and auto is not left where that is not 0; dual ascent begins with 0. */
double task_lambda(const struct settings *s, size_t k)
{
  r4_method_info method = r4_method_describe(s->method);
  if (k >= method.terms) return 0;
  double given = settings_weight(s, k);
  if (isfinite(given)) return given;
  return !k && s->delta > 0 ? 0 : method.lambda[k];
}

bool task_has_weight(const struct settings *s)
{
  for (size_t k = 0; k < R4_TERMS; k++)
    if (task_lambda(s, k) > 0) return true;
  return false;
}

/* Bounds of a net that knows nothing are so wide that the penalty is all there is to learn. Filled examples teach it
 * something first, and not the shortcut. */
double task_penalty_after(const struct settings *s, const r4_data *train)
{
  enum { SHARE = 4 };
  if (!isnan(s->penalty_after)) return s->penalty_after;
  bool fresh = !*s->from && !(s->delta > 0), filled = task_fill(s, train) != R4_FILL_NONE;
  bool waits = r4_method_describe(s->method).waits;
  return fresh && filled && waits ? (double)s->epochs / SHARE : 0;
}

static r4_form task_form(const struct settings *s)
{
  if (!strcmp(s->form, "default")) return r4_method_describe(s->method).form;
  return (r4_form)word_number(s->form, form_words);
}

bool task_is_whole(const struct settings *s)
{
  return isnan(s->eps) && r4_method_uses(s->method, "eps=range");
}

double task_eps(const struct settings *s)
{
  return isnan(s->eps) ? 1 : s->eps;
}

bool task_bf16(const struct settings *s)
{
  return strcmp(s->precision, "float") && strcmp(s->bounds, "linear") && !r4_bf16_missing();
}

/* Whoever gives a number for eps has limits only if these are given, too. The whole range is that of images, if it is
 * not given: run_check. */
r4_objective_options task_objective(const struct settings *s)
{
  bool ranged = s->range.n == 2;
  r4_objective_options o = s->objective;
  o.method = s->method;
  o.eps = task_eps(s);
  o.whole = task_is_whole(s);
  o.over_masked = !strcmp(s->penalty_mean, "masked");
  o.live = r4_method_describe(s->method).guided; /* for ramps, delta, and nets that are brought back */
  o.norm = (r4_norm)word_number(s->norm, norm_words);
  o.form = s->delta > 0 ? R4_FORM_TARGET : task_form(s);
  o.delta = s->delta;
  o.samples = (int)s->samples;
  o.steps = (int)s->steps;
  o.candidates = (int)s->candidates;
  o.word_box = !strcmp(s->box, "words");
  o.linear_bounds = !strcmp(s->bounds, "linear");
  o.element_max = !strcmp(s->sample_max, "element");
  o.alpha = s->alpha;
  o.noise = isnan(s->noise) ? 0 : s->noise;
  o.word_share = isnan(s->word_share) ? 0 : s->word_share;
  o.ranged = ranged || o.whole;
  o.low = ranged ? s->range.v[0] : 0;
  o.high = ranged ? s->range.v[1] : o.whole ? 1 : 0;
  for (size_t k = 0; k < R4_TERMS; k++) o.lambda[k] = task_lambda(s, k);
  return o;
}

r4_optimizer_options task_optimizer(const struct settings *s)
{
  r4_optimizer_options o =
    r4_optimizer_defaults((r4_optimizer_kind)word_number(s->optimizer, optimizer_words));
  o.learning_rate = s->rate;
  o.momentum = s->momentum;
  o.beta1 = s->beta1;
  o.beta2 = s->beta2;
  o.weight_decay = s->weight_decay;
  return o;
}

struct schedule task_schedule(const struct settings *s)
{
  return (struct schedule){
    .kind = (enum schedule_kind)word_number(s->schedule, schedule_words),
    .epochs = (double)s->epochs,
    .warmup = s->warmup,
    .decay_at = s->decay_at.v,
    .decays = s->decay_at.n,
    .decay_by = s->decay_by,
  };
}
