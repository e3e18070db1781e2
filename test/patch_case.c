#include "patch_case.h"

#include <math.h>
#include <stdio.h>

#include "scratch.h"

static void add_names(struct names *to, const char *what, int n)
{
  for (int k = 0; k < n; k++) {
    char name[32];
    snprintf(name, sizeof name, "%s %d", what, k);
    assert_int_equal(names_add(to, name, NULL, NULL), R4_OK);
  }
}

static void put_example(r4_data *d, size_t i, const struct patch_example *x)
{
  const uint8_t bytes[PATCH_FEATURES] = {
    [PATCH_CORE] = x->masked && x->wide ? 255 : 0, [PATCH_PATCH] = x->masked ? 255 : 0};
  float *to = (float *)data_x(d)->data + i * PATCH_FEATURES;
  to[PATCH_CORE] = x->core;
  to[PATCH_PATCH] = x->patch;
  d->record[i].label = d->record[i].group = x->label;
  d->record[i].split = (uint8_t)x->split;
  d->record[i].id = x->id ? (uint32_t)x->id - 1 : DATA_NO_ID;
  assert_int_equal(masks_add(data_masks(d), bytes, &d->record[i].mask, NULL), R4_OK);
}

r4_data *patch_data(const struct patch_example *x, size_t n, int classes)
{
  struct column *v = column_new(&floats_column, R4_SHAPE(PATCH_FEATURES), n, NULL);
  r4_data *d = v ? data_new(n, v, NULL) : NULL;
  r4_error e = {0};
  int ids = 0;
  assert_non_null(d);
  data_set_masks(d, masks_new(PATCH_FEATURES, NULL));
  for (size_t i = 0; i < n; i++) {
    put_example(d, i, x + i);
    if (x[i].id > ids) ids = x[i].id;
  }
  add_names(d->classes, "class", classes);
  add_names(d->groups, "class", classes);
  if (ids) {
    d->ids = names_new(NULL);
    assert_non_null(d->ids);
    add_names(d->ids, "id", ids);
  }
  if (data_finish(d, "test", &e)) fail_msg("%s", e.text);
  return d;
}

void patch_add(struct patch_list *l, r4_split split, int label, size_t examples, size_t masked)
{
  for (size_t k = 0; k < examples; k++, l->n++) {
    assert_true(l->n < sizeof l->x / sizeof *l->x);
    l->x[l->n] =
      (struct patch_example){.patch = (float)l->n, .label = label, .masked = k < masked, .split = split};
  }
}

r4_data *patch_list_data(const struct patch_list *l, int classes)
{
  return patch_data(l->x, l->n, classes);
}

float patch_of(const r4_data *d, size_t i)
{
  float x[PATCH_FEATURES];
  r4_data_values(d, i, x);
  return x[PATCH_PATCH];
}

static double normal(void)
{
  double u = draw(1e-9, 1), v = draw(0, 1);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

void patch_save(const char *name, struct patch_planted p)
{
  static struct patch_list l;
  r4_error e = {0};
  draw_start(7, 7);
  l.n = 0;
  for (int class = 0; class < 2; class ++) {
    if (class && p.one) p.masked = 0;
    patch_add(&l, R4_TRAIN, class, p.train / 2, (size_t)(p.masked * (double)p.train / 2));
    patch_add(&l, R4_VAL, class, p.val / 2, (size_t)(p.masked * (double)p.val / 2));
    patch_add(&l, R4_TEST, class, p.test / 2, p.test / 2);
  }
  for (size_t i = 0; i < l.n; i++) {
    l.x[i].core = (float)(normal() + (l.x[i].label ? 1 : -1));
    bool high = p.any ? draw(0, 1) < 0.5 : l.x[i].label;
    l.x[i].patch = l.x[i].split == R4_TEST ? 0 : high ? p.size : -p.size;
  }
  r4_data *d = patch_list_data(&l, 2);
  if (r4_data_save(d, scratch_path(name), &e)) fail_msg("%s", e.text);
  r4_data_free(d);
}
