/* r4 bench: the time of a full training step on random data. */
#include <stdlib.h>
#include <string.h>

#include "bench_data.h"
#include "cli.h"
#include "json_out.h"
#include "timer.h"

struct bench_settings {
  const char *net, *objective;
  int64_t batch, threads, tokens, masked, corner, steps, samples, seed;
  double lambda, eps, seconds;
  struct words set;
  bool json, profile;
};

#define AT(field) offsetof(struct bench_settings, field)
static const struct option options[] = {
  {"net", OPTION_TEXT, AT(net), "mlp784-512-10", 0, 0, "the net: a name (r4 nets)"},
  {"objective", OPTION_TEXT, AT(objective), "cert-r4", 0, 0,
   "the method (r4 help methods)"},
  {"batch", OPTION_WHOLE, AT(batch), "256", 1, 1e6, "examples per step"},
  {"threads", OPTION_WHOLE, AT(threads), "0", 0, 1024, "threads to compute with; 0: one for each CPU"},
  {"tokens", OPTION_WHOLE, AT(tokens), "0", 0, 1e6, "tokens of a text; 0: as many as the net takes"},
  {"masked", OPTION_WHOLE, AT(masked), "0", 0, 1e9, "mask N features; 0: 30 % of all, at random"},
  {"corner", OPTION_WHOLE, AT(corner), "0", 0, 4096,
   "images: mask a square of N x N in one of the four corners"},
  {"steps", OPTION_WHOLE, AT(steps), "10", 1, 1000, "steps of an attack"},
  {"samples", OPTION_WHOLE, AT(samples), "10", 1, 1000, "points per example, for methods that use several"},
  {"lambda", OPTION_REAL, AT(lambda), "1", 0, 1e30, "weight of the penalty"},
  {"eps", OPTION_REAL, AT(eps), "0.1", 0, 1e30, "radius of the box"},
  {"seed", OPTION_WHOLE, AT(seed), "0", 0, 1e15, "seed of data and weights"},
  {"set KEY=VALUE", OPTION_LIST, AT(set), NULL, 0, 0,
   "any other setting of r4 train, such as frozen_statistics=true; may be repeated"},
  {"seconds", OPTION_REAL, AT(seconds), "2", 0, 3600, "seconds to measure for"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {"profile", OPTION_FLAG, AT(profile), NULL, 0, 0, "also print the time of each kernel"},
  {0},
};

struct job {
  struct bench_settings s;
  r4_settings *settings;
  r4_trainer *trainer;
  double first_loss; /* the same in every run */
  int64_t steps;     /* done */
  r4_error error;
};

struct result {
  struct timing timing;
  double flops, peak;
  size_t slab_bytes, kernels;
  int threads;
};

/* ---- The trainer ---- */

static bool set(struct job *j, const char *key, const char *value)
{
  char line[1024];
  int length = snprintf(line, sizeof line, "%s=%s", key, value);
  if (length < (int)sizeof line) return !r4_settings_set(j->settings, line, "options", &j->error);
  j->error.status = R4_E_ARGUMENT;
  snprintf(j->error.text, sizeof j->error.text, "%s is too long", key);
  return false;
}

static bool set_number(struct job *j, const char *key, double value)
{
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  return set(j, key, text);
}

static bool weigh_the_others(struct job *j, const r4_method_info *method)
{
  bool ok = true;
  for (size_t k = 1; k < method->terms && ok; k++) {
    char key[64];
    snprintf(key, sizeof key, "lambda.%s", method->term[k]);
    ok = set_number(j, key, j->s.lambda);
  }
  return ok;
}

/* The plain form of each method: clean examples in the data term, a penalty that is there from the first step on, and
 * that all examples have. */
static bool choose_form(struct job *j)
{
  const struct bench_settings *s = &j->s;
  if (!set(j, "method", s->objective)) return false;
  r4_method_info method = r4_method_describe(s->objective);
  bool ok = set(j, "net", s->net) && set_number(j, "batch", (double)s->batch) &&
            set_number(j, "seed", (double)s->seed) && set_number(j, "epochs", 1e9);
  if (!ok || !method.guided) return ok;
  return set_number(j, "lambda", s->lambda) && weigh_the_others(j, &method) && set_number(j, "eps", s->eps) &&
         set_number(j, "attack.steps", (double)s->steps) && set_number(j, "samples", (double)s->samples) &&
         set(j, "penalty.mean", "all") && set(j, "penalty.form", "linear") && set(j, "explain", "loss") &&
         set(j, "fill", "none") && set_number(j, "penalty.after", 0) && set(j, "penalty.cap", "false");
}

static bool choose_settings(struct job *j)
{
  bool ok = choose_form(j);
  for (size_t k = 0; k < j->s.set.n && ok; k++)
    ok = !r4_settings_set(j->settings, j->s.set.word[k], "--set", &j->error);
  return ok;
}

static r4_net *open_net(const struct bench_settings *s, r4_error *e)
{
  return r4_net_open(s->net, s->tokens ? R4_SHAPE(s->tokens) : R4_SCALAR, e);
}

static void warn_of_precision(const struct job *j)
{
  r4_setting_value v = {0};
  const char *missing = r4_bf16_missing();
  r4_settings_get(j->settings, "precision", &v, NULL);
  if (missing && v.text && !strcmp(v.text, "bf16"))
    fprintf(stderr, "r4 bench: precision is bf16, but %s: measuring float\n", missing);
}

static bool prepare(struct job *j)
{
  r4_error *e = &j->error;
  const struct bench_masks masks = {.listed = j->s.masked, .corner = j->s.corner};
  j->settings = r4_settings_new();
  if (!j->settings) e->status = R4_E_MEMORY;
  if (!j->settings || !choose_settings(j)) return false;
  warn_of_precision(j);
  r4_net *net = open_net(&j->s, e);
  r4_data *data = net ? bench_data(net, (size_t)j->s.batch, masks, (uint64_t)j->s.seed, e) : NULL;
  if (data) j->trainer = r4_trainer_new(j->settings, data, e);
  r4_data_free(data);
  r4_net_free(net);
  return j->trainer;
}

static void release(struct job *j)
{
  r4_trainer_free(j->trainer);
  r4_settings_free(j->settings);
}

/* ---- Measuring ---- */

static bool train_step(void *job)
{
  struct job *j = job;
  r4_progress p;
  if (r4_trainer_step(j->trainer, &p, &j->error)) return false;
  if (!j->steps++) {
    j->first_loss = p.loss;
    if (j->s.profile) r4_plan_profile(r4_trainer_plan(j->trainer));
  }
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
  float *a = calloc(3 * N * N, sizeof *a);
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
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "net", j->s.net);
  r4_json_text(w, "objective", j->s.objective);
  r4_json_whole(w, "batch", j->s.batch);
  r4_json_whole(w, "threads", r->threads);
  r4_json_whole(w, "masked", j->s.masked);
  r4_json_real(w, "ms_per_step", 1e3 * r->timing.seconds);
  r4_json_real(w, "flops", r->flops);
  r4_json_real(w, "peak_share", share(r));
  r4_json_real(w, "peak_flops_per_second", r->peak);
  r4_json_whole(w, "slab_bytes", (int64_t)r->slab_bytes);
  r4_json_whole(w, "kernels", (int64_t)r->kernels);
  r4_json_real(w, "loss", j->first_loss);
  r4_json_whole(w, "samples", (int64_t)r->timing.all);
  r4_json_whole(w, "clean_samples", (int64_t)r->timing.clean);
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
  printf("%10.4f loss of the first of %lld steps\n", j->first_loss, (long long)j->steps);
}

static int report(const struct job *j, const struct result *r)
{
  int code = EXIT_DONE;
  if (j->s.json)
    code = print_json(j, r);
  else
    print_text(j, r);
  if (!j->s.profile || code) return code;
  char *text = r4_plan_text(r4_trainer_plan(j->trainer));
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
    const r4_plan *plan = r4_trainer_plan(j.trainer);
    r.flops = r4_plan_flops(plan);
    r.slab_bytes = r4_plan_slab_bytes(plan);
    r.kernels = r4_plan_kernels(plan);
    code = report(&j, &r);
  }
  release(&j);
  return code;
}

const struct command command_bench = {
  .name = "bench",
  .summary = "measure the time of a training step",
  .details = "A full step of r4 train (batch, loss, gradient with respect to all weights, Adam) on random data. A "
             "sample\n"
             "counts only if its threads hardly waited for a CPU. The peak of the machine is measured in the same "
             "run, with a\n"
             "product of 1024 x 1024 matrices.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
