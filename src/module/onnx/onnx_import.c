/* Graphs of others as nets of r4. A net is a row of parts, with rows in brackets where ways part and meet again; a
 * graph says only who takes what. In between are dominators: the step d before a sum through which all ways from the
 * input to it pass is where its brackets open,
 *
 *     sum of a and b   ->   residual(row from d to a; row from d to b),
 *
 * and of every other step it is the one that it takes. So the net is written from the output back to the input, each
 * step once; a step that would be written twice is a graph that the language of nets has no words for. */
#include "module/onnx/onnx_import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/text.h"

enum { MOST_STEPS = 1 << 14, MOST_DEPTH = 24, SHOWN = 60 };
enum { OLDEST = 7 }; /* before it, sums broadcast in another way */

static int shown(struct slice s)
{
  return s.n < SHOWN ? (int)s.n : SHOWN;
}

r4_status import_fail(struct importer *im, const char *format, ...)
{
  char text[300];
  va_list args;
  va_start(args, format);
  c_locale_vprint(text, sizeof text, format, args);
  va_end(args);
  const struct onnx_node *n = &im->m->node[im->at];
  struct slice name = n->name.n || !n->outputs ? n->name : n->output[0];
  return r4_fail(im->e, R4_E_ARGUMENT, "%.150s: node \"%.*s\", operator %.*s: %s", im->path, shown(name),
                 name.s, shown(n->op), n->op.s, text);
}

/* ---- Names ---- */

/* What a name stands for: a tensor, or a step. */
struct meaning {
  struct slice name;
  const struct onnx_tensor *tensor;
  size_t step;
};

struct names {
  struct meaning *list;
  size_t n;
};

static int by_name(const void *a, const void *b)
{
  const struct meaning *x = a, *y = b;
  int order = memcmp(x->name.s, y->name.s, x->name.n < y->name.n ? x->name.n : y->name.n);
  return order ? order : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static const struct meaning *find(const struct names *names, struct slice name)
{
  const struct meaning key = {.name = name};
  return names->n ? bsearch(&key, names->list, names->n, sizeof key, by_name) : NULL;
}

/* What goes into a net: examples, and of texts which tokens are there, and of which of two texts each is. */
struct inputs {
  const struct onnx_value *x, *mask, *types;
};

/* All tokens are of the first text. */
static const struct onnx_tensor *no_types(struct importer *im)
{
  size_t n = (size_t)im->step[0].shape.dim[0];
  struct onnx_tensor *t = onnx_new(im->m, 1, sizeof *t);
  int64_t *zeros = onnx_new(im->m, n, sizeof *zeros);
  if (!t || !zeros) return NULL;
  *t = (struct onnx_tensor){
    .type = ONNX_INT64, .shape = R4_SHAPE((int64_t)n), .data = {(const char *)zeros, n * sizeof *zeros}};
  return t;
}

static r4_status collect_names(struct importer *im, const struct inputs *in, struct names *to)
{
  const struct onnx_model *m = im->m;
  to->list = onnx_new(im->m, m->tensors + m->nodes + 3, sizeof *to->list);
  if (!to->list) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  for (size_t k = 0; k < m->tensors; k++)
    to->list[to->n++] = (struct meaning){.name = m->tensor[k].name, .tensor = &m->tensor[k]};
  for (size_t k = 0; k < m->nodes; k++)
    if (m->node[k].outputs) to->list[to->n++] = (struct meaning){.name = m->node[k].output[0], .step = k + 1};
  to->list[to->n++] = (struct meaning){.name = in->x->name};
  if (in->mask) to->list[to->n++] = (struct meaning){.name = in->mask->name, .step = m->nodes + 1};
  if (in->types) to->list[to->n++] = (struct meaning){.name = in->types->name, .tensor = no_types(im)};
  if (m->failed) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  for (size_t k = 0; k < to->n; k++)
    if (!to->list[k].name.n) return r4_fail(im->e, R4_E_PARSE, "%s: a tensor has no name", im->path);
  qsort(to->list, to->n, sizeof *to->list, by_name);
  for (size_t k = 1; k < to->n; k++)
    if (slice_equal(to->list[k - 1].name, to->list[k].name))
      return r4_fail(im->e, R4_E_PARSE, "%s: two things are called \"%.*s\"", im->path,
                     shown(to->list[k].name), to->list[k].name.s);
  return R4_OK;
}

/* Names become steps and tensors once: input k of node i is arg[first[i] + k]. The output is a use as well. */
static const struct meaning nothing;

struct arguments {
  const struct meaning **of;
  size_t *first;
};

static r4_status resolve(struct importer *im, const struct names *names, struct arguments *to)
{
  const struct onnx_model *m = im->m;
  size_t all = 0;
  for (size_t k = 0; k < m->nodes; k++) all += m->node[k].inputs;
  to->first = onnx_new(im->m, m->nodes + 1, sizeof *to->first);
  to->of = onnx_new(im->m, all + 1, sizeof *to->of);
  if (!to->first || !to->of) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  for (size_t k = 0, n = 0; k < m->nodes; k++) {
    to->first[k] = n;
    for (size_t i = 0; i < m->node[k].inputs; i++, n++) {
      struct slice name = m->node[k].input[i];
      to->of[n] = name.n ? find(names, name) : &nothing;
      if (to->of[n] && !to->of[n]->tensor && name.n) im->step[to->of[n]->step].uses++;
    }
  }
  const struct meaning *output = find(names, m->output[0].name);
  if (output && !output->tensor) im->step[output->step].uses++;
  return R4_OK;
}

/* ---- Steps ---- */

r4_status import_input(struct importer *im, const struct onnx_node *n, size_t k, struct step **step,
                       const struct onnx_tensor **tensor)
{
  *step = NULL;
  *tensor = NULL;
  if (k >= n->inputs || !n->input[k].n) return R4_OK;
  const struct meaning *is = im->arguments->of[im->arguments->first[im->at] + k];
  if (!is) return import_fail(im, "uses \"%.*s\", which no node outputs", shown(n->input[k]), n->input[k].s);
  *tensor = is->tensor;
  if (is->tensor) return R4_OK;
  if (is->step > im->at && is->step <= im->m->nodes)
    return import_fail(im, "uses \"%.*s\" before it is computed", shown(n->input[k]), n->input[k].s);
  *tensor = im->step[is->step].constant;
  if (!*tensor) *step = &im->step[is->step];
  return R4_OK;
}

static const struct onnx_rule *rule_of(const struct onnx_node *n)
{
  for (size_t k = 0; k < onnx_rules_count; k++)
    if (slice_is(n->op, onnx_rules[k].op) && (!n->domain.n || slice_is(n->domain, "ai.onnx")))
      return &onnx_rules[k];
  return NULL;
}

static r4_status unknown(struct importer *im)
{
  struct text known = {0};
  for (size_t k = 0; k < onnx_rules_count; k++) text_add(&known, "%s%s", k ? ", " : "", onnx_rules[k].op);
  char *list = text_take(&known);
  r4_status s = import_fail(im, "r4 has no such part; it has %s", list ? list : "others");
  r4_string_free(list);
  return s;
}

/* Where the ways to a and b meet, looking back. */
static size_t meet(const struct step *step, size_t a, size_t b)
{
  while (a != b) {
    size_t *deeper = step[a].depth >= step[b].depth ? &a : &b;
    *deeper = step[*deeper].before;
  }
  return a;
}

static r4_status read_steps(struct importer *im)
{
  r4_status s = R4_OK;
  for (im->at = 0; !s && im->at < im->m->nodes; im->at++) {
    const struct onnx_node *n = &im->m->node[im->at];
    const struct onnx_rule *rule = rule_of(n);
    struct step *here = &im->step[im->at + 1];
    s = rule ? rule->read(im, n, here) : unknown(im);
    if (s || here->constant) continue;
    if (here->role.is != STEP_PART) continue;
    here->before = here->sum ? meet(im->step, here->from, here->other) : here->from;
    here->depth = im->step[here->before].depth + 1;
  }
  return s;
}

/* ---- Text ---- */

static void name_parts(struct importer *im)
{
  for (size_t k = 1; k <= im->m->nodes; k++) {
    struct step *s = &im->step[k];
    bool ok = s->name.n && s->name.n < PARAM_NAME - 40 && s->name.s[0] != '.';
    for (size_t i = 0; ok && i < s->name.n; i++) ok = s->name.s[i] && strchr(MODULE_LETTERS, s->name.s[i]);
    for (size_t i = 1; ok && i < k; i++) ok = !slice_equal(im->step[i].name, s->name);
    if (s->sources && !ok) s->name = onnx_text(im->m, "node%zu", k);
  }
}

static bool write_row(struct importer *im, size_t from, size_t to, int depth, struct text *t);

static void write_sum(struct importer *im, const struct step *s, int depth, struct text *t)
{
  text_add(t, "residual(");
  bool one = write_row(im, s->before, s->from, depth + 1, t);
  if (s->beside.n) {
    text_add(t, "%s.%.*s: %.*s)", one ? "; " : "", (int)s->name.n, s->name.s, (int)s->beside.n, s->beside.s);
    return;
  }
  size_t length = t->length;
  if (one) text_add(t, "; ");
  bool other = write_row(im, s->before, s->other, depth + 1, t);
  if (one && !other && !t->failed) t->s[t->length = length] = 0;
  if (!one && !other && !im->e->status && !im->m->failed) import_fail(im, "adds something to itself");
  text_add(t, ")");
}

static void write_step(struct importer *im, struct step *s, int depth, struct text *t)
{
  im->at = (size_t)(s - im->step) - 1;
  if (s->written && !im->e->status)
    import_fail(
      im, "is used twice in a way that r4 cannot express: its nets are rows with residual blocks");
  s->written = true;
  if (s->sum) {
    write_sum(im, s, depth, t);
    return;
  }
  if (s->sources) text_add(t, ".%.*s: ", (int)s->name.n, s->name.s);
  text_add(t, "%.*s%s", (int)s->part.n, s->part.s, s->may_have_bias && !s->bias ? " nobias" : "");
}

/* The steps behind from, up to to; whether there is anything to write. */
static bool write_row(struct importer *im, size_t from, size_t to, int depth, struct text *t)
{
  size_t n = 0, written = 0;
  for (size_t k = to; k != from; k = im->step[k].before) n++;
  size_t *row = onnx_new(im->m, n + 1, sizeof *row);
  if (row && depth == MOST_DEPTH && !im->e->status) import_fail(im, "sums in more than %d sums", MOST_DEPTH);
  if (!row || im->e->status) return false;
  for (size_t k = to, i = n; k != from; k = im->step[k].before) row[--i] = k;
  for (size_t i = 0; i < n && !im->e->status; i++) {
    struct step *s = &im->step[row[i]];
    if (!s->sum && !s->part.n) continue;
    if (written++) text_add(t, ", ");
    write_step(im, s, depth, t);
    if (im->ids && !depth && !im->leaf && s->shape.rank == 2) {
      text_add(t, ", leaf"); /* texts are explained at their embeddings */
      im->leaf = true;
    }
  }
  return written;
}

static r4_status write_net(struct importer *im, size_t output, struct onnx_net *to)
{
  struct text t = {0};
  name_parts(im);
  bool any = write_row(im, 0, output, 0, &t);
  to->text = text_take(&t);
  if (im->e->status) return im->e->status;
  if (!to->text || im->m->failed) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  return any ? R4_OK : r4_fail(im->e, R4_E_ARGUMENT, "%s: does nothing to its input", im->path);
}

static r4_status take_sources(struct importer *im, struct onnx_net *to)
{
  for (size_t k = 1; k <= im->m->nodes; k++)
    if (im->step[k].written) to->sources += im->step[k].sources;
  to->source = onnx_new(im->m, to->sources + 1, sizeof *to->source);
  if (!to->source) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  to->sources = 0;
  for (size_t k = 1; k <= im->m->nodes; k++) {
    const struct step *s = &im->step[k];
    for (size_t i = 0; s->written && i < s->sources; i++) {
      struct onnx_source source = s->source[i];
      source.name =
        onnx_text(im->m, "%.*s.%.*s", (int)s->name.n, s->name.s, (int)source.name.n, source.name.s);
      to->source[to->sources++] = source;
    }
  }
  return im->m->failed ? r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path) : R4_OK;
}

/* ---- The input ---- */

static bool is_tensor(const struct onnx_model *m, struct slice name)
{
  for (size_t k = 0; k < m->tensors; k++)
    if (slice_equal(m->tensor[k].name, name)) return true;
  return false;
}

static bool has_word(struct slice s, const char *word)
{
  size_t n = strlen(word);
  for (size_t k = 0; k + n <= s.n; k++)
    if (!memcmp(s.s + k, word, n)) return true;
  return false;
}

/* Old files list their weights as inputs, too. Those of texts are called as in all of the ecosystem. */
static r4_status find_inputs(const struct importer *im, struct inputs *to)
{
  const struct onnx_model *m = im->m;
  size_t found = 0;
  for (size_t k = 0; k < m->inputs; k++) {
    const struct onnx_value *v = &m->input[k];
    if (m->tensors && is_tensor(m, v->name)) continue;
    if (v->shape.rank == 2 && !to->mask && has_word(v->name, "mask"))
      to->mask = v;
    else if (v->shape.rank == 2 && !to->types && has_word(v->name, "type"))
      to->types = v;
    else
      to->x = v, found++;
  }
  if (found == 1 && m->outputs == 1) return R4_OK;
  return r4_fail(im->e, R4_E_ARGUMENT,
                 "%s: has %s and %zu outputs, nets of r4 have one input and one output (and of texts an "
                 "\"attention_mask\" and \"token_type_ids\")",
                 im->path,
                 found > 1 ? "more than one input"
                 : found   ? "one input"
                           : "no input",
                 m->outputs);
}

/* Ids of tokens [batch, tokens]. */
static r4_status read_ids(struct importer *im, const struct onnx_value *v, r4_shape example)
{
  int64_t tokens = v->shape.dim[1];
  if (!tokens && example.rank == 1) tokens = example.dim[0];
  if (tokens < 1)
    return r4_fail(im->e, R4_E_SHAPE,
                   "%s: its input \"%.*s\" leaves open how many tokens there are; export it with a fixed number of "
                   "tokens, or open it in a run, which has texts",
                   im->path, shown(v->name), v->name.s);
  im->ids = true;
  im->batch = v->shape.dim[0];
  im->raw = im->step[0].shape = R4_SHAPE(tokens);
  im->step[im->m->nodes + 1].role =
    (struct step_roles){.is = STEP_MASK, .there = 1, .rank = 2, .tokens = 1};
  return R4_OK;
}

/* An image [channels, height, width], or a vector. */
static r4_status read_input(struct importer *im, const struct onnx_value *v, r4_shape example)
{
  r4_shape one = {.rank = v->shape.rank - 1};
  char got[SHAPE_TEXT];
  if ((v->type == ONNX_INT64 || v->type == ONNX_INT32) && one.rank == 1) return read_ids(im, v, example);
  if (one.rank == 2 && v->shape.dim[2] == 1) one.rank = 1; /* [batch, features, 1] is a vector as well */
  if (v->type != ONNX_FLOAT || (one.rank != 1 && one.rank != 3))
    return r4_fail(
      im->e, R4_E_ARGUMENT,
      "%s: its input \"%.*s\" has %d dimensions and type %lld, expected floats [batch, features] or "
      "[batch, channels, height, width], or whole numbers [batch, tokens]",
      im->path, shown(v->name), v->name.s, v->shape.rank, (long long)v->type);
  memcpy(one.dim, v->shape.dim + 1, (size_t)one.rank * sizeof *one.dim);
  for (int k = 1; k < one.rank && example.rank == 3; k++)
    if (!one.dim[k]) one.dim[k] = example.dim[k - 1];
  if (!shape_valid(one))
    return r4_fail(
      im->e, R4_E_SHAPE,
      "%s: its input \"%.*s\" is %s for one example, expected sizes from 1 on (0: the file leaves it "
      "open; only a run, which has examples, can open such a file)",
      im->path, shown(v->name), v->name.s, shape_text(one, got));
  im->batch = v->shape.dim[0];
  im->raw = one;
  im->step[0].shape = one.rank == 3 ? R4_SHAPE(one.dim[1], one.dim[2], one.dim[0]) : one;
  return R4_OK;
}

static r4_status read_net(struct importer *im, const struct inputs *in, struct onnx_net *to)
{
  struct names names = {0};
  struct arguments arguments = {0};
  im->arguments = &arguments;
  r4_status s = collect_names(im, in, &names);
  if (!s) s = resolve(im, &names, &arguments);
  if (!s) s = read_steps(im);
  if (s) return s;
  const struct meaning *output = find(&names, im->m->output[0].name);
  if (!output || output->tensor || im->step[output->step].constant || im->step[output->step].role.is != STEP_PART)
    return r4_fail(im->e, R4_E_PARSE, "%s: its output \"%.*s\" does not come from its input", im->path,
                   shown(im->m->output[0].name), im->m->output[0].name.s);
  if (import_waits(&im->step[output->step]))
    return r4_fail(im->e, R4_E_ARGUMENT, "%s: its output has channels last, or is what Pad has made", im->path);
  if (im->channels_last && im->step[0].uses > 1)
    return r4_fail(im->e, R4_E_ARGUMENT, "%s: uses its input with channels first and with channels last",
                   im->path);
  s = write_net(im, output->step, to);
  to->input = im->channels_last ? im->raw : im->step[0].shape;
  to->channels_last = im->channels_last;
  to->softmax = im->softmax;
  return s ? s : take_sources(im, to);
}

r4_status onnx_import(struct onnx_net *to, struct onnx_model *m, const char *path, r4_shape example,
                      r4_error *e)
{
  struct importer im = {.path = path, .m = m, .e = e};
  struct inputs in = {NULL, NULL, NULL};
  *to = (struct onnx_net){0};
  r4_error_clear(e);
  if (m->nodes > MOST_STEPS)
    return r4_fail(e, R4_E_ARGUMENT, "%s: has %zu nodes, r4 reads up to %d", path, m->nodes, MOST_STEPS);
  im.step = onnx_new(m, m->nodes + 2, sizeof *im.step);
  r4_status s = im.step ? find_inputs(&im, &in) : r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
  if (!s && m->opset < OLDEST)
    s = r4_fail(e, R4_E_ARGUMENT, "%s: its operators are of version %lld, r4 reads those from %d on", path,
                (long long)m->opset, OLDEST);
  if (!s) s = read_input(&im, in.x, example);
  if (!s && !im.ids && (in.mask || in.types))
    s = r4_fail(e, R4_E_ARGUMENT, "%s: has a mask or types of tokens, but its input is not tokens", path);
  if (!s) s = read_net(&im, &in, to);
  if (!s) return R4_OK;
  r4_string_free(to->text);
  *to = (struct onnx_net){0};
  return s;
}
