#include "random_tree.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 3, PARTS = 4 };

/* A text that grows, the shape that it has come to, and how many names were given. */
struct writer {
  struct random_tree *t;
  r4_shape at;
  int names;
};

static void add(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct writer *w, const char *format, ...)
{
  size_t used = strlen(w->t->text);
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->t->text + used, TREE_TEXT - used, format, args);
  va_end(args);
  assert_true(n >= 0 && used + (size_t)n < TREE_TEXT);
}

static bool one_in(uint64_t n)
{
  return !draw_below(n);
}

static void maybe_name(struct writer *w)
{
  static const char *const stems[] = {"a", "conv", "b.c", "layer", "_x-y", "0z", "repeat", "sum"};
  if (one_in(3)) add(w, "%s%d: ", stems[draw_below(sizeof stems / sizeof *stems)], w->names++);
}

static void write_row(struct writer *w, int depth, bool keeps);

/* ---- Single parts: each keeps the shape if it has to ---- */

static void write_point(struct writer *w)
{
  static const char *const points[] = {
    "relu", "relu6", "gelu", "tanh", "batchnorm", "batchnorm eps 0.01 momentum 0.2", "dropout 0.25"};
  add(w, "%s", points[draw_below(sizeof points / sizeof *points)]);
}

static void write_conv(struct writer *w, bool keeps)
{
  int64_t c = w->at.dim[2], k = draw_between(1, 3),
          s = keeps || w->at.dim[0] < 4 || w->at.dim[1] < 4 ? 1 : draw_between(1, 2);
  bool wise = one_in(3);
  int64_t out = keeps || wise ? c : draw_between(1, 2) * 2;
  if (wise)
    add(w, "depthwise %lld same", (long long)k);
  else
    add(w, "conv %lld %lld same", (long long)out, (long long)k);
  if (s > 1) add(w, " s%lld", (long long)s);
  if (!wise && c % 2 == 0 && out % 2 == 0 && one_in(3)) add(w, " g2");
  if (one_in(3)) add(w, " nobias");
  w->at = R4_SHAPE((w->at.dim[0] - 1) / s + 1, (w->at.dim[1] - 1) / s + 1, out);
}

static void write_pool(struct writer *w, bool keeps)
{
  const char *kind = one_in(2) ? "maxpool" : "avgpool";
  if (keeps || w->at.dim[0] < 2 || w->at.dim[1] < 2) {
    add(w, "%s 3 s1 p1", kind);
    return;
  }
  add(w, "%s 2", kind);
  w->at.dim[0] /= 2, w->at.dim[1] /= 2;
}

static void write_image_part(struct writer *w, bool keeps)
{
  if (one_in(3)) {
    write_pool(w, keeps);
  } else if (!keeps && one_in(5)) {
    w->at.dim[2] += 2;
    add(w, "subsample %lld", (long long)w->at.dim[2]);
  } else {
    write_conv(w, keeps);
  }
}

static void write_wide_part(struct writer *w, bool keeps)
{
  int last = w->at.rank - 1;
  if (w->at.rank == 2 && one_in(2)) {
    add(w, "attention %lld", w->at.dim[1] % 2 ? 1LL : (long long)draw_between(1, 2));
  } else if (one_in(3)) {
    add(w, one_in(2) ? "layernorm" : "layernorm eps 0.1");
  } else {
    if (!keeps) w->at.dim[last] = draw_between(2, 6);
    add(w, "dense %lld%s", (long long)w->at.dim[last], one_in(3) ? " nobias" : "");
  }
}

/* ---- Parts with brackets ---- */

/* The shortcut does what the end of the branch does to the shape. */
static void write_residual(struct writer *w, int depth, bool keeps)
{
  add(w, "residual(");
  write_row(w, depth + 1, true);
  if (!keeps && one_in(2)) {
    int64_t n = 2 * draw_between(1, 3), s = draw_between(1, 2);
    for (int k = 0; k < 2; k++) {
      add(w, k ? "; " : ", ");
      if (w->at.rank == 3)
        add(w, "conv %lld 1 s%lld", (long long)n, (long long)s);
      else
        add(w, "dense %lld", (long long)n);
    }
    if (w->at.rank == 3) w->at.dim[0] = (w->at.dim[0] - 1) / s + 1, w->at.dim[1] = (w->at.dim[1] - 1) / s + 1;
    w->at.dim[w->at.rank - 1] = n;
  }
  add(w, ")");
}

static void write_sum(struct writer *w, int depth)
{
  int branches = 1 + (int)draw_below(3);
  add(w, "sum(");
  for (int k = 0; k < branches; k++) {
    if (k) add(w, ";");
    write_row(w, depth + 1, true);
  }
  add(w, ")");
}

static void write_one(struct writer *w, int depth, bool keeps)
{
  uint64_t what = draw_below(8);
  if (depth < DEPTH && what == 0) {
    write_residual(w, depth, keeps);
  } else if (depth < DEPTH && what == 1) {
    write_sum(w, depth);
  } else if (depth < DEPTH && what == 2) {
    add(w, "(");
    write_row(w, depth + 1, keeps);
    add(w, ")");
  } else if (what == 3) {
    write_point(w);
  } else if (w->at.rank == 3) {
    write_image_part(w, keeps);
  } else {
    write_wide_part(w, keeps);
  }
}

/* Names of their own in what is repeated would be given twice, but for brackets that have none: so no names in it. */
static void write_item(struct writer *w, int depth, bool keeps)
{
  static const char *const bodies[] = {"(relu, batchnorm)", "(residual(gelu, (batchnorm)), tanh)", "relu6",
                                       "batchnorm"};
  maybe_name(w);
  if (one_in(6))
    add(w, "repeat %d %s", 1 + (int)draw_below(3), bodies[draw_below(4)]);
  else
    write_one(w, depth, keeps);
}

static void write_row(struct writer *w, int depth, bool keeps)
{
  int parts = 1 + (int)draw_below(PARTS - (uint64_t)depth);
  for (int k = 0; k < parts; k++) {
    if (k) add(w, one_in(8) ? " # a comment\n , " : ", ");
    write_item(w, depth, keeps);
  }
}

/* ---- Nets ---- */

static void begin(struct writer *w)
{
  struct random_tree *t = w->t;
  uint64_t kind = draw_below(3);
  if (kind == 0) {
    t->input = R4_SHAPE(draw_between(2, 8));
    return;
  }
  if (kind == 1) {
    t->input = R4_SHAPE(draw_between(4, 9), draw_between(4, 9), draw_between(1, 3));
    return;
  }
  t->tokens = 7;
  t->input = R4_SHAPE(draw_between(2, 5));
  w->at = R4_SHAPE(t->input.dim[0], 2 * draw_between(1, 3));
  long long width = (long long)w->at.dim[1];
  add(w, "words: (sum(embedding 7 %lld; at: position 6 %lld; type 2 %lld), leaf), ", width, width, width);
}

static void finish(struct writer *w)
{
  static const char *const ends[2][2] = {{"first", "mean"}, {"globalpool", "flatten"}};
  if (w->at.rank > 1) add(w, ", %s", ends[w->at.rank == 3][draw_below(2)]);
  add(w, ", last: dense %d", 1 + (int)draw_below(4));
}

void random_tree_draw(struct random_tree *t)
{
  struct writer w = {.t = t};
  *t = (struct random_tree){0};
  begin(&w);
  if (!t->tokens) w.at = t->input;
  write_row(&w, 0, false);
  finish(&w);
}
