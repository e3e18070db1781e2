/* Pretrained nets on real photos, whose labels are in their names: NAME_LABEL.png. Reads $R4_DATA_DIR, and skips what
 * is not there. Inputs are preprocessed as is usual for the architecture, which the nets bring along; PyTorch gives the
 * same answers with the same weights and preprocessing. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { PHOTOS = 20 };

struct pretrained {
  const char *net, *weights, *photos; /* paths in the folder of data */
  r4_shape input;
  int right; /* at least so many of the photos */
};

static r4_data *open_photos(const char *folder, r4_shape input, int *label)
{
  char pattern[4300];
  glob_t found;
  r4_error e = {0};
  snprintf(pattern, sizeof pattern, "%s/*_*_*.*g", folder); /* png, jpg, jpeg */
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, PHOTOS);
  for (size_t k = 0; k < PHOTOS; k++) label[k] = (int)strtol(strrchr(found.gl_pathv[k], '_') + 1, NULL, 10);
  r4_data *d = r4_data_images((const char *const *)found.gl_pathv, PHOTOS, input, NULL, &e);
  globfree(&found);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* A plan for one photo at a time. */
struct asked {
  r4_net *net;
  r4_plan *plan;
  float *weights, *x, *z;
};

static struct asked open_net(const struct pretrained *p, const char *weights)
{
  r4_error e = {0};
  r4_net *bare = r4_net_open(p->net, p->input, &e);
  struct asked a = {.net = bare ? r4_net_preprocessed(bare, weights, "auto", &e) : NULL};
  if (!a.net) fail_msg("%s", e.text);
  r4_net_free(bare);
  a.weights = calloc(r4_net_size(a.net), sizeof(float));
  a.x = malloc((size_t)r4_shape_count(p->input) * sizeof(float));
  a.z = malloc((size_t)r4_net_classes(a.net) * sizeof(float));
  if (r4_net_load(a.net, weights, NULL, a.weights, NULL, &e)) fail_msg("%s", e.text);
  r4_graph *g = r4_graph_new();
  r4_id *param = malloc(r4_net_params(a.net) * sizeof *param);
  r4_net_inputs(a.net, g, param);
  r4_shape one = R4_SHAPE(1, p->input.dim[0], p->input.dim[1], 3);
  r4_id z = r4_net_apply(a.net, g, param, r4_input(g, "x", one));
  a.plan = r4_plan_new(g, 1, &z, NULL, &e);
  if (!a.plan) fail_msg("%s", e.text);
  for (size_t k = 0; k < r4_net_params(a.net); k++)
    r4_plan_input(a.plan, r4_net_param_name(a.net, k), a.weights + r4_net_param_offset(a.net, k), &e);
  r4_plan_input(a.plan, "x", a.x, &e);
  r4_plan_output(a.plan, 0, a.z, &e);
  free(param);
  r4_graph_free(g);
  return a;
}

static void close_net(struct asked *a)
{
  r4_plan_free(a->plan);
  r4_net_free(a->net);
  free(a->weights);
  free(a->x);
  free(a->z);
}

static int answer(struct asked *a)
{
  r4_error e = {0};
  int best = 0;
  if (r4_plan_run(a->plan, &e)) fail_msg("%s", e.text);
  for (int k = 1; k < (int)r4_net_classes(a->net); k++)
    if (a->z[k] > a->z[best]) best = k;
  return best;
}

static void ask_about_photos(const struct pretrained *p)
{
  char weights[4200], photos[4200];
  int label[PHOTOS], right = 0;
  snprintf(weights, sizeof weights, "%s", check_data(p->weights));
  snprintf(photos, sizeof photos, "%s", check_data(p->photos));
  r4_data *d = open_photos(photos, p->input, label);
  struct asked a = open_net(p, weights);
  for (size_t k = 0; k < PHOTOS; k++) {
    r4_data_values(d, k, a.x);
    right += answer(&a) == label[k];
  }
  close_net(&a);
  r4_data_free(d);
  print_message("# %s: %d of %d right\n", p->net, right, PHOTOS);
  assert_true(right >= p->right);
}

static void cifar(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("cifar_resnet20");
  const struct pretrained p = {.net = "resnet20-cifar",
                               .weights = "cifar_resnet20/resnet20.safetensors",
                               .photos = "cifar_resnet20",
                               .input = R4_SHAPE(32, 32, 3),
                               .right = 20};
  ask_about_photos(&p);
}

/* Whole photos made 224 x 224. */
static void efficientnet(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("efficientnet_lite0");
  CHECK_NEEDS_DATA("imagenet_photos20");
  const struct pretrained p = {.net = "efficientnet-lite0",
                               .weights = "efficientnet_lite0/efficientnet_lite0.safetensors",
                               .photos = "imagenet_photos20",
                               .input = R4_SHAPE(224, 224, 3),
                               .right = 17};
  ask_about_photos(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cifar), cmocka_unit_test(efficientnet)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("real_nets", tests, NULL, NULL);
}
