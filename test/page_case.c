#include "page_case.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/data.h"

enum { EXAMPLES = 40, PIXELS = PAGE_SIDE * PAGE_SIDE };

/* Names that no program may give, but a file may have. */
static void rename_all(struct names **l, const char *const *name)
{
  r4_error e = {0};
  struct names *own = names_new(&e);
  for (size_t k = 0; k < (*l)->n; k++) names_add(own, name[k], NULL, &e);
  names_drop(*l);
  *l = own;
}

/* A stripe for each class, a bright corner that is masked, and noise. */
static void make_data(struct page_case *c)
{
  static float x[EXAMPLES * PIXELS], mask[EXAMPLES * PIXELS];
  static int32_t label[EXAMPLES], group[EXAMPLES];
  static r4_split split[EXAMPLES];
  memset(mask, 0, sizeof mask);
  draw_start(1, 2);
  for (int i = 0; i < EXAMPLES; i++) {
    label[i] = i % 2;
    group[i] = c->groups ? (int32_t)((size_t)i % c->groups) : label[i];
    split[i] = R4_TEST;
    for (int k = 0; k < PIXELS; k++) x[i * PIXELS + k] = (float)draw(0, 0.5);
    for (int k = 0; k < PAGE_SIDE; k++) x[i * PIXELS + (2 + label[i]) * PAGE_SIDE + k] += 0.4f;
    x[i * PIXELS] = mask[i * PIXELS] = 1;
  }
  r4_data_arrays a = {.n = EXAMPLES, .floats = x, .labels = label, .groups = group, .splits = split};
  a.shape = c->no_images ? R4_SHAPE(PIXELS) : R4_SHAPE(PAGE_SIDE, PAGE_SIDE, 1);
  a.classes = 2;
  a.group_count = c->groups ? c->groups : 2;
  if (!c->no_masks) a.mask_floats = mask, a.mask_means = R4_MASKS_IRRELEVANT;
  r4_error e = {0};
  c->d = r4_data_new(&a, &e);
  if (!c->d) fail_msg("%s", e.text);
  rename_all(&c->d->classes, c->class_name);
  if (!c->groups) rename_all(&c->d->groups, c->class_name);
}

static void make_net(struct page_case *c)
{
  r4_error e = {0};
  c->net = r4_net_open(c->no_images ? "dense 2" : "flatten, dense 2", r4_data_shape(c->d), &e);
  if (!c->net) fail_msg("%s", e.text);
  c->weights = malloc(r4_net_size(c->net) * sizeof *c->weights);
  r4_net_init(c->net, NULL, 3, c->weights, NULL);
}

void page_case_make(struct page_case *c)
{
  static const char *const method[PAGE_RUNS] = {"method=erm", "method=r3", "method=cert-r4"};
  r4_error e = {0};
  make_data(c);
  make_net(c);
  c->measured = calloc(PAGE_SEEDS, sizeof *c->measured);
  for (size_t k = 0; k < PAGE_SEEDS; k++) {
    c->folder[k] = scratch_folder();
    c->seed[k] = (int64_t)k;
    if (r4_measure(c->net, c->weights, c->d, NULL, &c->measured[k], &e)) fail_msg("%s", e.text);
  }
  for (size_t k = 0; k < PAGE_RUNS; k++) {
    c->settings[k] = r4_settings_new();
    assert_int_equal(r4_settings_set(c->settings[k], method[k], "test", &e), R4_OK);
    c->run[k] = (r4_report_run){.name = c->run_name[k],
                                .settings = c->settings[k],
                                .seeds = PAGE_SEEDS,
                                .seed = c->seed,
                                .folder = c->folder,
                                .measured = c->measured,
                                .subject = {c->run_name[k], c->net, c->weights}};
  }
}

void page_case_free(struct page_case *c)
{
  for (size_t k = 0; k < PAGE_RUNS; k++) r4_settings_free(c->settings[k]);
  r4_data_free(c->d);
  r4_net_free(c->net);
  free(c->weights);
  free(c->measured);
}

char *page_case_write(const struct page_case *c, const r4_report_options *o)
{
  r4_error e = {0};
  uint8_t *text = NULL;
  size_t size;
  if (r4_report_write(c->run, PAGE_RUNS, c->d, o, scratch_path("page.html"), &e)) fail_msg("%s", e.text);
  assert_int_equal(file_read(scratch_path("page.html"), 1 << 24, &text, &size, &e), R4_OK);
  assert_int_equal(strlen((char *)text), size);
  return (char *)text;
}
