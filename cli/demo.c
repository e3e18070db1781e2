/* r4 demo: shortcut learning appears, and vanishes.
 *
 * Small images of a noisy stroke in one of four directions, which is the label. In training a
 * patch in the corner gives the label away by its brightness; in the test it is random. The masks
 * mark the patch. The same net is trained twice: without the masks, and with them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { SIDE = 12, FEATURES = SIDE * SIDE, PATCH = 3, MASKED = PATCH * PATCH, CLASSES = 4 };
enum { TRAIN = 4000, TEST = 2000, BATCH = 100, ATTACK_STEPS = 5 };
enum { DRAW_LABEL = 1, DRAW_PATCH, DRAW_PLACE, DRAW_CONTRAST, DRAW_NOISE, DRAW_ORDER, DRAW_START };

static const char NET[] = "dense 64, relu, dense 32, relu, dense 4";
static const char *const DIRECTION[CLASSES] = {"level", "upright", "rising", "falling"};

struct settings {
  const char *method;
  double lambda, eps;
  int64_t epochs, seed;
};

#define AT(field) offsetof(struct settings, field)
static const struct option options[] = {
  {"method", OPTION_TEXT, AT(method), "cert-r4", 0, 0, "that uses the masks: r3, adv-r4, cert-r4 or ibp-ex"},
  {"lambda", OPTION_REAL, AT(lambda), "0.5", 0, 1e6, "weight of its penalty"},
  {"eps", OPTION_REAL, AT(eps), "0.5", 0, 10, "radius of the box around the patch"},
  {"epochs", OPTION_WHOLE, AT(epochs), "30", 1, 1000, "passes over the training data"},
  {"seed", OPTION_WHOLE, AT(seed), "1", 0, 1e15, "of data, weights and order"},
  {0},
};

/* ---- Data ---- */

struct data {
  size_t n;
  float *x, *y; /* [n, FEATURES] and [n] */
};

static bool on_stroke(int class, int row, int column, int place)
{
  const int across[CLASSES] = {row, column, row + column - SIDE / 2, row - column + SIDE / 2};
  return across[class] == place;
}

/* Image i: background, stroke, noise, and the patch over it. */
static void draw_image(r4_random key, uint64_t i, int class, int patch, float *x)
{
  key.purpose = DRAW_PLACE;
  int place = SIDE / 2 - 2 + (int)r4_random_below(key, i, 5);
  key.purpose = DRAW_CONTRAST;
  double contrast = 0.3 + 0.3 * r4_random_uniform(key, i);
  key.purpose = DRAW_NOISE;
  for (int k = 0; k < FEATURES; k++) {
    int row = k / SIDE, column = k % SIDE;
    double noise = 0.15 * r4_random_normal(key, i * FEATURES + (uint64_t)k);
    x[k] = (float)(0.3 + contrast * on_stroke(class, row, column, place) + noise);
    if (row < PATCH && column < PATCH) x[k] = (float)patch / (CLASSES - 1);
  }
}

/* step tells training from test data. */
static bool make_data(struct data *d, size_t n, uint64_t seed, bool shortcut)
{
  r4_random key = {.seed = seed, .step = shortcut};
  *d = (struct data){n, calloc(n * FEATURES, sizeof *d->x), calloc(n, sizeof *d->y)};
  if (!d->x || !d->y) return false;
  for (size_t i = 0; i < n; i++) {
    key.purpose = DRAW_LABEL;
    int class = (int)r4_random_below(key, i, CLASSES);
    key.purpose = DRAW_PATCH;
    int patch = shortcut ? class : (int)r4_random_below(key, i, CLASSES);
    d->y[i] = (float)class;
    draw_image(key, i, class, patch, d->x + i * FEATURES);
  }
  return true;
}

static void free_data(struct data *d)
{
  free(d->x);
  free(d->y);
}

/* The first image of each class, side by side. */
static void print_images(const struct data *d)
{
  const float *first[CLASSES] = {d->x, d->x, d->x, d->x};
  for (size_t i = d->n; i-- > 0;) first[(int)d->y[i]] = d->x + i * FEATURES;
  for (int row = 0; row < SIDE; row++) {
    for (int k = 0; k < CLASSES * SIDE; k++) {
      float v = first[k / SIDE][row * SIDE + k % SIDE];
      char c = " .:-=+*#%@"[v < 0 ? 0 : v > 0.999f ? 9 : (int)(10 * v)];
      printf("%s%c%c", k % SIDE ? "" : "  ", c, c);
    }
    printf("\n");
  }
  for (int k = 0; k < CLASSES; k++) printf("  %-*s", 2 * SIDE, DIRECTION[k]);
  printf("\n\n");
}

/* ---- Training ---- */

/* The order of an epoch: a shuffle by Fisher and Yates. */
static void shuffle(size_t *order, size_t n, r4_random key)
{
  for (size_t i = 0; i < n; i++) order[i] = i;
  for (size_t i = n; i > 1; i--) {
    size_t k = r4_random_below(key, i, i), kept = order[k];
    order[k] = order[i - 1];
    order[i - 1] = kept;
  }
}

struct batch {
  float x[BATCH * FEATURES], y[BATCH], m[BATCH * MASKED], index[MASKED], start[BATCH * MASKED];
};

static void fill_masks(struct batch *b)
{
  for (int k = 0; k < BATCH * MASKED; k++) b->m[k] = 1;
  for (int k = 0; k < MASKED; k++) b->index[k] = (float)(k / PATCH * SIDE + k % PATCH);
}

static void fill_batch(struct batch *b, const struct data *d, const size_t *order, r4_random key)
{
  for (size_t k = 0; k < BATCH * MASKED; k++) b->start[k] = (float)(2 * r4_random_uniform(key, k) - 1);
  for (size_t k = 0; k < BATCH; k++) {
    memcpy(b->x + k * FEATURES, d->x + order[k] * FEATURES, FEATURES * sizeof *b->x);
    b->y[k] = d->y[order[k]];
  }
}

enum { MAX_PARAMS = 16 };

struct trainer {
  r4_plan *plan;
  r4_optimizer *optimizer;
  float *gradient, loss;
  struct batch *batch;
  size_t *order;
};

/* The objective and its gradient by the weights, ready to run on one batch of memory. */
static r4_status prepare(struct trainer *t, const r4_net *net, float *weights, const r4_objective_options *p,
                         r4_error *e)
{
  size_t n = r4_net_params(net);
  r4_id param[MAX_PARAMS], out[1 + MAX_PARAMS];
  r4_graph *g = r4_graph_new();
  if (!g) return R4_E_MEMORY;
  r4_net_inputs(net, g, param);
  out[0] = r4_objective_build(g, net, param, p).loss;
  r4_grad(g, out[0], n, param, out + 1);
  t->plan = r4_plan_new(g, 1 + n, out, NULL, e);
  r4_graph_free(g);
  if (!t->plan) return e->status;

  r4_status s = r4_plan_output(t->plan, 0, &t->loss, e);
  if (!s) s = r4_plan_input(t->plan, "x", t->batch->x, e);
  if (!s) s = r4_plan_input(t->plan, "y", t->batch->y, e);
  if (!s) s = r4_plan_input(t->plan, "m", t->batch->m, e);
  if (!s) s = r4_plan_input(t->plan, "index", t->batch->index, e);
  if (!s && !strcmp(p->method, "adv-r4")) s = r4_plan_input(t->plan, "start", t->batch->start, e);
  for (size_t k = 0; k < n && !s; k++) {
    size_t offset = r4_net_param_offset(net, k);
    s = r4_plan_input(t->plan, r4_net_param_name(net, k), weights + offset, e);
    if (!s) s = r4_plan_output(t->plan, 1 + k, t->gradient + offset, e);
  }
  return s;
}

static r4_status train(const r4_net *net, float *weights, const struct data *d, const struct settings *s,
                       const char *method, r4_error *e)
{
  const r4_objective_options p = {.method = method,
                                  .batch = BATCH,
                                  .masked = MASKED,
                                  .lambda = s->lambda,
                                  .eps = s->eps,
                                  .steps = ATTACK_STEPS,
                                  .random_start = true};
  const r4_optimizer_options adam = r4_optimizer_defaults(R4_ADAM);
  r4_status status = R4_E_MEMORY;
  uint32_t step = 0;
  struct trainer t = {
    .optimizer = r4_optimizer_new(r4_net_size(net), &adam, e),
    .gradient = calloc(r4_net_size(net), sizeof(float)),
    .batch = calloc(1, sizeof(struct batch)),
    .order = calloc(d->n, sizeof(size_t)),
  };
  if (!t.optimizer || !t.gradient || !t.batch || !t.order) goto done;
  fill_masks(t.batch);
  r4_net_init(net, (uint64_t)s->seed, weights);
  status = prepare(&t, net, weights, &p, e);
  for (int64_t epoch = 0; epoch < s->epochs && !status; epoch++) {
    shuffle(t.order, d->n, (r4_random){(uint64_t)s->seed, DRAW_ORDER, (uint32_t)epoch});
    for (size_t i = 0; i + BATCH <= d->n && !status; i += BATCH) {
      fill_batch(t.batch, d, t.order + i, (r4_random){(uint64_t)s->seed, DRAW_START, step++});
      status = r4_plan_run(t.plan, e);
      if (!status) r4_optimizer_step(t.optimizer, weights, t.gradient);
    }
  }
done:
  r4_plan_free(t.plan);
  r4_optimizer_free(t.optimizer);
  free(t.gradient);
  free(t.batch);
  free(t.order);
  return status;
}

/* ---- Test ---- */

/* Logits of all of d, [n, CLASSES]. */
static r4_status logits_of(const r4_net *net, const float *weights, const struct data *d, float *z,
                           r4_error *e)
{
  r4_id param[MAX_PARAMS];
  r4_graph *g = r4_graph_new();
  if (!g) return R4_E_MEMORY;
  r4_net_inputs(net, g, param);
  r4_id out = r4_net_apply(net, g, param, r4_input(g, "x", R4_SHAPE((int64_t)d->n, FEATURES)));
  r4_plan *plan = r4_plan_new(g, 1, &out, NULL, e);
  r4_graph_free(g);
  if (!plan) return e->status;
  r4_status s = r4_plan_input(plan, "x", d->x, e);
  for (size_t k = 0; k < r4_net_params(net) && !s; k++)
    s = r4_plan_input(plan, r4_net_param_name(net, k), weights + r4_net_param_offset(net, k), e);
  if (!s) s = r4_plan_output(plan, 0, z, e);
  if (!s) s = r4_plan_run(plan, e);
  r4_plan_free(plan);
  return s;
}

struct score {
  double all, group[CLASSES], worst;
};

static struct score score_of(const struct data *d, const float *z)
{
  struct score s = {.worst = 1};
  double seen[CLASSES] = {0};
  for (size_t i = 0; i < d->n; i++) {
    int best = 0, class = (int)d->y[i];
    for (int k = 1; k < CLASSES; k++)
      if (z[i * CLASSES + (size_t)k] > z[i * CLASSES + (size_t)best]) best = k;
    s.all += best == class;
    s.group[class] += best == class;
    seen[class]++;
  }
  s.all /= (double)d->n;
  for (int k = 0; k < CLASSES; k++) {
    s.group[k] /= seen[k] > 0 ? seen[k] : 1;
    s.worst = fmin(s.worst, s.group[k]);
  }
  return s;
}

static r4_status evaluate(const r4_net *net, const float *weights, const struct data *d, struct score *s,
                          r4_error *e)
{
  float *z = calloc(d->n * CLASSES, sizeof *z);
  if (!z) return R4_E_MEMORY;
  r4_status status = logits_of(net, weights, d, z, e);
  if (!status) *s = score_of(d, z);
  free(z);
  return status;
}

/* ---- The comparison ---- */

static void print_heading(void)
{
  printf("%-10s %9s |", "accuracy", "training");
  for (int k = 0; k < CLASSES; k++) printf(" %8s", DIRECTION[k]);
  printf(" %8s\n", "worst");
}

static void print_score(const char *method, struct score training, struct score test)
{
  printf("%-10s %7.1f %% |", method, 100 * training.all);
  for (int k = 0; k < CLASSES; k++) printf(" %6.1f %%", 100 * test.group[k]);
  printf(" %6.1f %%\n", 100 * test.worst);
}

static r4_status compare(const struct settings *s, const struct data *train_data,
                         const struct data *test_data, double worst[2], r4_error *e)
{
  const char *const method[2] = {"erm", s->method};
  r4_net *net = r4_net_new(NET, R4_SHAPE(FEATURES), e);
  float *weights = net ? calloc(r4_net_size(net), sizeof *weights) : NULL;
  r4_status status = weights ? R4_OK : R4_E_MEMORY;
  print_heading();
  for (int k = 0; k < 2 && !status; k++) {
    struct score training, test;
    fprintf(stderr, "training with %s ...\n", method[k]);
    status = train(net, weights, train_data, s, method[k], e);
    if (!status) status = evaluate(net, weights, train_data, &training, e);
    if (!status) status = evaluate(net, weights, test_data, &test, e);
    if (status) break;
    print_score(method[k], training, test);
    worst[k] = test.worst;
  }
  free(weights);
  r4_net_free(net);
  return status;
}

static int verdict(const char *method, const double worst[2])
{
  bool fails = worst[0]<0.5, holds = worst[1]> 0.8;
  printf("\nerm %s the patch (worst group %.0f %%); %s %s (worst group %.0f %%).\n",
         fails ? "reads" : "gets by without", 100 * worst[0], method,
         holds ? "looks at the stroke" : "does not hold either", 100 * worst[1]);
  return fails && holds ? EXIT_DONE : EXIT_NO;
}

static int run(int argc, char **argv)
{
  struct settings s;
  struct data train_data = {0}, test_data = {0};
  double worst[2] = {0};
  r4_error e = {0};
  if (!options_read("demo", options, &s, argc, argv)) return EXIT_USAGE;
  r4_threads(1, false); /* for so small a net, waking a second thread costs more than it saves */
  int code;
  r4_status status = R4_E_MEMORY;
  if (make_data(&train_data, TRAIN, (uint64_t)s.seed, true) &&
      make_data(&test_data, TEST, (uint64_t)s.seed, false)) {
    print_images(&train_data);
    status = compare(&s, &train_data, &test_data, worst, &e);
  }
  code = status ? cli_fail("demo", status, e.text) : verdict(s.method, worst);
  free_data(&train_data);
  free_data(&test_data);
  return code;
}

const struct command command_demo = {
  .name = "demo",
  .summary = "watch shortcut learning appear and vanish",
  .details = "Trains a small net twice on made-up images with a patch that gives the label away: by plain\n"
             "training (erm), and with masks that say the patch must not matter. In the test the patch is\n"
             "random. Exits with 0 if plain training fails there and the guided one does not, else with 1.",
  .options = options,
  .run = run,
  .threads = true,
};
