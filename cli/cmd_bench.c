/* r4 bench: the time of a full training step (loss, weight gradients, Adam) on random data. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "timer.h"

struct bench_settings {
  const char *net, *objective;
  int64_t batch, threads, masked, corner, steps, samples, seed;
  double lambda, eps, seconds;
  bool json, profile;
};

#define AT(field) offsetof(struct bench_settings, field)
static const struct option options[] = {
  {"net", OPTION_TEXT, AT(net), "mlp784-512-10", 0, 0, "mlpA-B-..., derm28 or derm64"},
  {"objective", OPTION_TEXT, AT(objective), "cert-r4", 0, 0,
   "a method: see the setting \"method\" of r4 train"},
  {"batch", OPTION_WHOLE, AT(batch), "256", 1, 1e6, "examples per step"},
  {"threads", OPTION_WHOLE, AT(threads), "0", 0, 1024, "0: one per CPU"},
  {"masked", OPTION_WHOLE, AT(masked), "0", 0, 1e9, "mask N features; 0: 30 % of all, at random"},
  {"corner", OPTION_WHOLE, AT(corner), "0", 0, 4096,
   "images: mask a square of N x N in one of the four corners"},
  {"steps", OPTION_WHOLE, AT(steps), "10", 1, 1000, "of an attack"},
  {"samples", OPTION_WHOLE, AT(samples), "10", 1, 1000, "of methods that look at several points"},
  {"lambda", OPTION_REAL, AT(lambda), "1", 0, 1e30, "weight of the penalty"},
  {"eps", OPTION_REAL, AT(eps), "0.1", 0, 1e30, "radius of the box"},
  {"seed", OPTION_WHOLE, AT(seed), "0", 0, 1e15, "of data and weights"},
  {"seconds", OPTION_REAL, AT(seconds), "2", 0, 3600, "to measure"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {"profile", OPTION_FLAG, AT(profile), NULL, 0, 0, "also the time of each kernel"},
  {0},
};

enum { DRAW_X = 1, DRAW_Y, DRAW_M, DRAW_INDEX }; /* purposes of random numbers */
static const double MASKED_SHARE = 0.3;

struct job {
  struct bench_settings s;
  r4_net *net;
  r4_plan *plan;
  r4_optimizer *optimizer;
  float *weights, *gradient, *x, *y, *m;
  r4_reach *reach;
  float *index, *at; /* NULL unless the objective has them */
  struct drawn {
    r4_drawn how;
    float *to;
  } * drawn;              /* inputs that a step draws anew */
  size_t masks, draws;    /* elements of m; inputs */
  float loss, first_loss; /* of the last step, and of the first: the same in every run */
  uint32_t step;
  r4_error error;
};

struct result {
  struct timing timing;
  double flops, peak;
  size_t slab_bytes, kernels;
  int threads;
};

static r4_random key(const struct job *j, uint32_t purpose)
{
  return (r4_random){(uint64_t)j->s.seed, purpose, j->step};
}

/* ---- Data ---- */

/* On lines of the cache of their own, as all buffers of the peers are. */
static float *zeros(size_t n)
{
  size_t bytes = (n * sizeof(float) + 63) / 64 * 64;
  float *p = n < SIZE_MAX / 8 ? aligned_alloc(64, bytes) : NULL;
  return p ? memset(p, 0, bytes) : NULL;
}

/* The first n of a shuffle of all features. */
static bool draw_index(const struct job *j, size_t features)
{
  size_t n = (size_t)j->s.masked;
  size_t *order = calloc(features, sizeof *order);
  if (!order) return false;
  for (size_t k = 0; k < features; k++) order[k] = k;
  for (size_t k = 0; k < n; k++) {
    size_t other = k + r4_random_below(key(j, DRAW_INDEX), k, features - k), kept = order[k];
    order[k] = order[other];
    order[other] = kept;
    j->index[k] = (float)order[k];
  }
  free(order);
  return true;
}

static r4_rect corner(const struct job *j, uint64_t which)
{
  r4_shape image = r4_net_input(j->net);
  int64_t n = j->s.corner;
  return (r4_rect){which & 1 ? image.dim[0] - n : 0, which & 2 ? image.dim[1] - n : 0, n, n};
}

static void draw_corners(const struct job *j)
{
  r4_shape image = r4_net_input(j->net);
  for (size_t i = 0; i < (size_t)j->s.batch; i++) {
    r4_rect p = corner(j, r4_random_below(key(j, DRAW_M), i, 4));
    for (int64_t row = p.top; row < p.top + p.height; row++)
      for (int64_t k = p.left * image.dim[2]; k < (p.left + p.width) * image.dim[2]; k++)
        j->m[((int64_t)i * image.dim[0] + row) * image.dim[1] * image.dim[2] + k] = 1;
  }
}

/* Listed features are masked everywhere; else each pixel, with all of its channels, by chance. */
static void draw_masks(const struct job *j)
{
  r4_shape input = r4_net_input(j->net);
  size_t channels = input.rank == 3 ? (size_t)input.dim[2] : 1;
  if (j->reach) {
    draw_corners(j);
    return;
  }
  for (size_t i = 0; i < j->masks; i++)
    j->m[i] = j->s.masked || r4_random_uniform(key(j, DRAW_M), i / channels) < MASKED_SHARE;
}

static bool make_data(struct job *j)
{
  size_t batch = (size_t)j->s.batch, features = (size_t)r4_shape_count(r4_net_input(j->net));
  size_t size = r4_net_size(j->net);
  j->masks = batch * (j->s.masked ? (size_t)j->s.masked : features);
  j->weights = zeros(size);
  j->gradient = zeros(size);
  j->x = zeros(batch * features);
  j->y = zeros(batch);
  j->m = zeros(j->masks);
  if (j->s.masked && !(j->index = zeros((size_t)j->s.masked))) return false;
  if (j->reach && !(j->at = zeros(batch * r4_reach_places(j->reach)))) return false;
  if (!j->weights || !j->gradient || !j->x || !j->y || !j->m) return false;

  r4_net_init(j->net, (uint64_t)j->s.seed, j->weights);
  for (size_t i = 0; i < batch * features; i++) j->x[i] = (float)r4_random_uniform(key(j, DRAW_X), i);
  for (size_t i = 0; i < batch; i++)
    j->y[i] = (float)r4_random_below(key(j, DRAW_Y), i, (uint64_t)r4_net_classes(j->net));
  draw_masks(j);
  return !j->s.masked || draw_index(j, features);
}

/* ---- Building ---- */

static r4_status bind_drawn(struct job *j, const r4_objective *o, r4_error *e)
{
  r4_status status = R4_OK;
  j->drawn = calloc(o->draws + 1, sizeof *j->drawn);
  for (; j->drawn && j->draws < o->draws && !status; j->draws++) {
    struct drawn *d = &j->drawn[j->draws];
    *d = (struct drawn){o->drawn[j->draws], zeros(o->drawn[j->draws].count)};
    if (!d->to) return e->status = R4_E_MEMORY;
    status = r4_plan_input(j->plan, d->how.name, d->to, e);
  }
  return j->drawn ? status : (e->status = R4_E_MEMORY);
}

/* Outputs of the plan: the loss, then the gradient with respect to each parameter. */
static r4_status make_plan(struct job *j, r4_error *e)
{
  size_t params = r4_net_params(j->net);
  const r4_objective_options p = {
    .method = j->s.objective,
    .batch = j->s.batch,
    .masked = j->s.masked,
    .reach = j->reach,
    .lambda = j->s.lambda,
    .eps = j->s.eps,
    .lambda_r3 = j->s.lambda,
    .steps = (int)j->s.steps,
    .samples = (int)j->s.samples,
    .random_start = true,
  };
  r4_objective o = {0};
  const char *message = "out of memory";
  r4_graph *g = r4_graph_new();
  r4_id *param = calloc(2 * params + 1, sizeof *param), *out = NULL;
  e->status = R4_E_MEMORY;
  if (g && param) {
    out = param + params;
    r4_net_inputs(j->net, g, param);
    o = r4_objective_build(g, j->net, param, &p);
    out[0] = o.loss;
    r4_grad(g, out[0], params, param, out + 1);
    e->status = r4_graph_status(g, &message);
  }
  if (e->status)
    snprintf(e->text, sizeof e->text, "%s", message);
  else
    j->plan = r4_plan_new(g, 1 + params, out, &(r4_plan_options){.profile = j->s.profile}, e);
  if (j->plan) bind_drawn(j, &o, e);
  free(param);
  r4_graph_free(g);
  return e->status;
}

static r4_status bind(struct job *j, r4_error *e)
{
  const struct {
    const char *name;
    const float *data;
  } input[] = {{"x", j->x}, {"y", j->y}, {"m", j->m}, {"index", j->index}, {"at", j->at}};
  r4_status status = r4_plan_output(j->plan, 0, &j->loss, e);
  for (size_t k = 0; !status && k < sizeof input / sizeof *input; k++)
    if (input[k].data) status = r4_plan_input(j->plan, input[k].name, input[k].data, e);
  for (size_t k = 0; !status && k < r4_net_params(j->net); k++) {
    size_t offset = r4_net_param_offset(j->net, k);
    status = r4_plan_input(j->plan, r4_net_param_name(j->net, k), j->weights + offset, e);
    if (!status) status = r4_plan_output(j->plan, 1 + k, j->gradient + offset, e);
  }
  return status;
}

static bool open_reach(struct job *j, r4_error *e)
{
  r4_rect each[4];
  if (!j->s.corner || !r4_method_describe(j->s.objective).guided) return true;
  for (unsigned k = 0; k < 4; k++) each[k] = corner(j, k);
  j->reach = r4_reach_new(j->net, 4, each, false, e);
  return j->reach != NULL;
}

static bool prepare(struct job *j)
{
  r4_error *e = &j->error;
  r4_optimizer_options adam = r4_optimizer_defaults(R4_ADAM);
  if (!(j->net = r4_net_named(j->s.net, e)) || !open_reach(j, e) || make_plan(j, e)) return false;
  if (!make_data(j)) {
    e->status = R4_E_MEMORY;
    snprintf(e->text, sizeof e->text, "out of memory");
    return false;
  }
  j->optimizer = r4_optimizer_new(r4_net_size(j->net), &adam, e);
  return j->optimizer && !bind(j, e);
}

static void release(struct job *j)
{
  r4_reach_free(j->reach);
  r4_net_free(j->net);
  r4_plan_free(j->plan);
  r4_optimizer_free(j->optimizer);
  float *const array[] = {j->weights, j->gradient, j->x, j->y, j->m, j->index, j->at};
  for (size_t k = 0; k < sizeof array / sizeof *array; k++) free(array[k]);
  for (size_t k = 0; k < j->draws; k++) free(j->drawn[k].to);
  free(j->drawn);
}

/* ---- Measuring ---- */

static bool train_step(void *job)
{
  struct job *j = job;
  j->step++;
  for (size_t k = 0; k < j->draws; k++)
    r4_drawn_fill(&j->drawn[k].how, (uint64_t)j->s.seed, j->step, NULL, j->drawn[k].to);
  int64_t channels = r4_net_input(j->net).dim[2];
  if (j->reach && r4_reach_find(j->reach, (size_t)j->s.batch, channels, j->m, j->at, &j->error)) return false;
  if (r4_plan_run(j->plan, &j->error)) return false;
  if (j->step == 1) j->first_loss = j->loss;
  r4_optimizer_step(j->optimizer, j->weights, j->gradient);
  return true;
}

static bool run_plan(void *plan)
{
  return r4_plan_run(plan, NULL) == R4_OK;
}

/* The machine's peak, in flops per second: the best of a product of large square matrices. */
static double measure_peak(void)
{
  enum { N = 1024 };
  double best = 0, peak = 0;
  float *a = zeros(3 * N * N);
  r4_graph *g = r4_graph_new();
  if (!a || !g) goto done;
  for (size_t i = 0; i < 2 * N * N; i++) a[i] = (float)(i % 17) / 17;
  r4_id out = r4_matmul(g, r4_input(g, "a", R4_SHAPE(N, N)), r4_input(g, "b", R4_SHAPE(N, N)), false, false);
  r4_plan *plan = r4_plan_new(g, 1, &out, NULL, NULL);
  if (!plan) goto done;
  r4_plan_input(plan, "a", a, NULL);
  r4_plan_input(plan, "b", a + N * N, NULL);
  r4_plan_output(plan, 0, a + 2 * N * N, NULL);
  if (timer_best(run_plan, plan, 0.5, &best)) peak = 2.0 * N * N * N / best;
  r4_plan_free(plan);
done:
  r4_graph_free(g);
  free(a);
  return peak;
}

/* ---- Reporting ---- */

static double share(const struct result *r)
{
  return r->peak > 0 ? r->flops / r->timing.seconds / r->peak : 0;
}

static int print_json(const struct job *j, const struct result *r)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, '{');
  json_text(w, "net", j->s.net);
  json_text(w, "objective", j->s.objective);
  json_whole(w, "batch", j->s.batch);
  json_whole(w, "threads", r->threads);
  json_whole(w, "masked", j->s.masked);
  json_real(w, "ms_per_step", 1e3 * r->timing.seconds);
  json_real(w, "flops", r->flops);
  json_real(w, "peak_share", share(r));
  json_real(w, "peak_flops_per_second", r->peak);
  json_whole(w, "slab_bytes", (int64_t)r->slab_bytes);
  json_whole(w, "kernels", (int64_t)r->kernels);
  json_real(w, "loss", j->first_loss);
  json_whole(w, "samples", (int64_t)r->timing.all);
  json_whole(w, "clean_samples", (int64_t)r->timing.clean);
  r4_json_close(w, '}');
  return json_print(stdout, "bench", w);
}

static void print_text(const struct job *j, const struct result *r)
{
  printf("%s, %s, batch %lld, ", j->s.net, j->s.objective, (long long)j->s.batch);
  if (j->s.corner)
    printf("masks in corners of %lld x %lld", (long long)j->s.corner, (long long)j->s.corner);
  else if (j->s.masked)
    printf("%lld masked features", (long long)j->s.masked);
  else
    printf("masks on all features");
  printf(", %d threads\n", r->threads);
  printf("%10.3f ms per step (median; %zu of %zu samples undisturbed)\n", 1e3 * r->timing.seconds,
         r->timing.clean, r->timing.all);
  printf("%10.3f GFLOP per step, %.0f %% of the measured peak of %.0f GFLOP/s\n", 1e-9 * r->flops,
         100 * share(r), 1e-9 * r->peak);
  printf("%10.3f MB of intermediate values, %zu kernels\n", 1e-6 * (double)r->slab_bytes, r->kernels);
  printf("%10.4f loss of the first step, %.4f after %u\n", (double)j->first_loss, (double)j->loss, j->step);
}

static int report(const struct job *j, const struct result *r)
{
  int code = EXIT_DONE;
  if (j->s.json)
    code = print_json(j, r);
  else
    print_text(j, r);
  if (!j->s.profile || code) return code;
  char *text = r4_plan_text(j->plan);
  if (!text) return cli_fail("bench", R4_E_MEMORY, "out of memory");
  fputs(text, j->s.json ? stderr : stdout);
  r4_string_free(text);
  return EXIT_DONE;
}

static int run(int argc, char **argv)
{
  struct job j = {0};
  if (!options_read("bench", options, &j.s, argc, argv)) return EXIT_USAGE;
  struct result r = {.threads = threads_use("bench", (int)j.s.threads, true)};
  int code;
  if (prepare(&j)) r.peak = measure_peak();
  if (j.error.status || !timer_measure(train_step, &j, j.s.seconds, &r.timing)) {
    code = cli_fail("bench", j.error.status, j.error.text);
  } else {
    double again = measure_peak(); /* before and after, since the machine may be busy at times */
    if (again > r.peak) r.peak = again;
    r.flops = r4_plan_flops(j.plan);
    r.slab_bytes = r4_plan_slab_bytes(j.plan);
    r.kernels = r4_plan_kernels(j.plan);
    code = report(&j, &r);
  }
  release(&j);
  return code;
}

const struct command command_bench = {
  .name = "bench",
  .summary = "measure the time of a training step",
  .details = "A full step (loss, gradient with respect to all weights, Adam) on random data. A sample of the "
             "time counts only\n"
             "if the threads hardly waited for a CPU. The machine's peak is measured in the same run by a\n"
             "product of 1024 x 1024 matrices.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
