/* Nets that others have trained, as "r4 data get" leaves them, say what they should. Reads $R4_DATA_DIR (resnet50,
 * minilm, and photographs of ImageNet, imagenet_photos20/NAME_LABEL.jpg), and skips what is not there. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* The logits of one example. */
static void answer(const r4_net *n, const float *weights, const float *x, float *logits)
{
  r4_error e = {0};
  r4_id *param = calloc(r4_net_params(n), sizeof *param);
  r4_shape input = r4_net_input(n), batch = {.rank = input.rank + 1, .dim = {1}};
  memcpy(batch.dim + 1, input.dim, (size_t)input.rank * sizeof *input.dim);
  r4_graph *g = r4_graph_new();
  r4_net_inputs(n, g, param);
  r4_id z = r4_net_apply(n, g, param, r4_input(g, "x", batch));
  r4_plan *p = r4_plan_new(g, 1, &z, NULL, &e);
  r4_status s = p ? r4_plan_input(p, "x", x, &e) : e.status;
  for (size_t k = 0; k < r4_net_params(n) && !s; k++)
    s = r4_plan_input(p, r4_net_param_name(n, k), weights + r4_net_param_offset(n, k), &e);
  if (!s) s = r4_plan_output(p, 0, logits, &e);
  if (!s) s = r4_plan_run(p, &e);
  if (s) fail_msg("%s", e.text);
  r4_plan_free(p);
  r4_graph_free(g);
  free(param);
}

/* ---- ResNet-50 ---- */

enum { SIDE = 224, PIXELS = SIDE * SIDE, CLASSES = 1000 };

/* Squeezed to 224 x 224. */
static void read_photograph(const char *path, float *x)
{
  r4_error e = {0};
  r4_data *d = r4_data_images(&path, 1, R4_SHAPE(SIDE, SIDE, 3), NULL, &e);
  if (!d) fail_msg("%s", e.text);
  r4_data_values(d, 0, x);
  r4_data_free(d);
}

static bool is_right(const r4_net *n, const float *weights, const char *path)
{
  static float x[3 * PIXELS], logits[CLASSES];
  const char *label = strrchr(path, '_');
  int best = 0;
  read_photograph(path, x);
  answer(n, weights, x, logits);
  for (int k = 1; k < CLASSES; k++)
    if (logits[k] > logits[best]) best = k;
  return label && best == strtol(label + 1, NULL, 10);
}

static void resnet50_names_photographs(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("imagenet_photos20");
  CHECK_NEEDS_DATA("resnet50/resnet50.safetensors");
  r4_error e = {0};
  r4_load_report report;
  r4_net *bare = r4_net_open("resnet50(first=2, second=1, eps=0.001)", R4_SCALAR, &e), *n = NULL;
  if (bare) n = r4_net_preprocessed(bare, check_data("resnet50/resnet50.safetensors"), "auto", &e);
  if (!n) fail_msg("%s", e.text);
  r4_net_free(bare);
  float *weights = calloc(r4_net_size(n), sizeof *weights);
  if (r4_net_load(n, check_data("resnet50/resnet50.safetensors"), NULL, weights, &report, &e))
    fail_msg("%s", e.text);
  assert_int_equal(report.taken, 267);
  int photographs = 0, right = 0;
  DIR *d = opendir(check_data("imagenet_photos20"));
  assert_non_null(d);
  for (struct dirent *entry; (entry = readdir(d));) {
    char path[4500];
    if (*entry->d_name == '.') continue;
    snprintf(path, sizeof path, "%s/%s", check_data("imagenet_photos20"), entry->d_name);
    photographs++;
    right += is_right(n, weights, path);
  }
  closedir(d);
  print_message("# %d of %d photographs\n", right, photographs);
  assert_true(4 * right >= 3 * photographs);
  free(weights);
  r4_net_free(n);
}

/* ---- MiniLM ---- */

enum { WIDTH = 384 };

/* The mean over the tokens of what the encoder says, of length 1: the classifier hands it on. */
static void embed(int64_t tokens, const float *id, float *to)
{
  r4_error e = {0};
  r4_load_report report;
  const r4_load_options o = {.skip = "classifier.*", .ignore = "pooler.*"};
  r4_net *n = r4_net_open("bert(layers=6, width=384, heads=12, inner=1536, pool=mean, classes=384)",
                          R4_SHAPE(tokens), &e);
  if (!n) fail_msg("%s", e.text);
  float *weights = calloc(r4_net_size(n), sizeof *weights);
  if (r4_net_load(n, check_data("minilm/model.fp16.safetensors"), &o, weights, &report, &e))
    fail_msg("%s", e.text);
  assert_int_equal(report.taken, 101);
  for (size_t k = 0; k < r4_net_params(n); k++)
    for (size_t i = 0; !strcmp(r4_net_param_name(n, k), "classifier.weight") && i < WIDTH; i++)
      weights[r4_net_param_offset(n, k) + i * WIDTH + i] = 1;
  answer(n, weights, id, to);
  double square = 0;
  for (int k = 0; k < WIDTH; k++) square += (double)to[k] * (double)to[k];
  for (int k = 0; k < WIDTH; k++) to[k] = (float)((double)to[k] / sqrt(square));
  free(weights);
  r4_net_free(n);
}

static double cosine(const float *a, const float *b)
{
  double sum = 0;
  for (int k = 0; k < WIDTH; k++) sum += (double)a[k] * (double)b[k];
  return sum;
}

/* "The weather is lovely today.", "It's so sunny outside!" and "He drove to the stadium.", whose cosines
 * sentence-transformers publishes for all-MiniLM-L6-v2. */
static void minilm_has_the_published_cosines(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("minilm/model.fp16.safetensors");
  float a[WIDTH], b[WIDTH], c[WIDTH];
  embed(8, (const float[]){101, 1996, 4633, 2003, 8403, 2651, 1012, 102}, a);
  embed(9, (const float[]){101, 2009, 1005, 1055, 2061, 11559, 2648, 999, 102}, b);
  embed(8, (const float[]){101, 2002, 5225, 2000, 1996, 3346, 1012, 102}, c);
  print_message("# cosines %.4f %.4f %.4f\n", cosine(a, b), cosine(a, c), cosine(b, c));
  assert_true(fabs(cosine(a, b) - 0.6660) < 5e-4);
  assert_true(fabs(cosine(a, c) - 0.1046) < 5e-4);
  assert_true(fabs(cosine(b, c) - 0.1411) < 5e-4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(resnet50_names_photographs),
    cmocka_unit_test(minilm_has_the_published_cosines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
