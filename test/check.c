#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "graph/graph.h"
#include "op/op_rules.h"

/* ---- Skipping ---- */

const char *check_data(const char *name)
{
  static char path[4096];
  const char *folder = getenv("R4_DATA_DIR");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "", name);
  return folder && *folder && file_exists(path) ? path : NULL;
}

bool check_command(void)
{
  const char *command = getenv("R4");
  char *full = command ? realpath(command, NULL) : NULL;
  if (!full) return printf("1..0 # SKIP $R4, the command, is not set\n"), false;
  setenv("R4", full, 1);
  free(full);
  return true;
}

/* ---- Random draws ---- */

long check_setting(const char *name, long otherwise)
{
  const char *text = getenv(name);
  char *end = NULL;
  long value = text ? strtol(text, &end, 10) : otherwise;
  return text && (end == text || *end) ? otherwise : value;
}

uint64_t check_seed(void)
{
  static bool known;
  static uint64_t seed;
  if (!known) {
    seed = (uint64_t)check_setting("R4_SEED", 1);
    printf("# seed %llu; R4_SEED=%llu repeats it\n", (unsigned long long)seed, (unsigned long long)seed);
    fflush(stdout);
    known = true;
  }
  return seed;
}

static r4_random stream;
static uint64_t drawn;

void draw_start(uint32_t a, uint32_t b)
{
  stream = (r4_random){check_seed(), a, b};
  drawn = 0;
}

double draw(double low, double high)
{
  return (double)(float)(low + (high - low) * r4_random_uniform(stream, drawn++));
}

uint64_t draw_below(uint64_t n)
{
  return r4_random_below(stream, drawn++, n);
}

int64_t draw_between(int64_t low, int64_t high)
{
  return low + (int64_t)draw_below((uint64_t)(high - low + 1));
}

/* ---- Running ---- */

const char *check_now = "";

static void add_input(struct runner *r, const r4_graph *g, uint32_t i, size_t size)
{
  const char *name = graph_name(g, (r4_id){i});
  size_t k = r->n_in++, count = (size_t)r4_shape_count(g->node[i].shape), bytes = strlen(name) + 1;
  r4_error e;
  assert_true(k < RUNNER_MAX);
  r->name[k] = malloc(bytes);
  memcpy(r->name[k], name, bytes);
  r->in_count[k] = count;
  r->in[k] = calloc(count, sizeof *r->in[k]);
  r->in_raw[k] = calloc(count, size);
  assert_int_equal(r4_plan_input(r->plan, name, r->in_raw[k], &e), R4_OK);
}

void draw_places(const r4_graph *g, size_t n, const r4_id *out, size_t *place)
{
  enum { FEW = 8, GAP = 40 };
  size_t at = 0, start = draw_below(n);
  for (size_t k = 0; k < n; k++) {
    size_t j = (start + k) % n, gap = draw_below(2) ? draw_below(GAP) : 0;
    place[j] = draw_below(FEW) ? at + gap : R4_ELSEWHERE;
    if (place[j] != R4_ELSEWHERE) at = place[j] + (size_t)r4_shape_count(r4_node_shape(g, out[j]));
  }
}

enum { UNTOUCHED = 0xa5 };

/* Memory for the outputs that have a place in the block. */
static void make_block(struct runner *r, const size_t *place, size_t size)
{
  for (size_t k = 0; k < r->n_out; k++) {
    size_t end = place[k] == R4_ELSEWHERE ? 0 : (place[k] + r->out_count[k]) * size;
    if (end > r->block_bytes) r->block_bytes = end;
  }
  r->block = malloc(r->block_bytes + 1);
  r->between = malloc(r->block_bytes + 1);
  memset(r->block, UNTOUCHED, r->block_bytes);
  memset(r->between, true, r->block_bytes);
  for (size_t k = 0; k < r->n_out; k++) {
    if (place[k] == R4_ELSEWHERE) continue;
    free(r->out_raw[k]);
    r->out_raw[k] = r->block + place[k] * size;
    memset(r->between + place[k] * size, false, r->out_count[k] * size);
  }
}

static void check_between(const struct runner *r)
{
  for (size_t i = 0; i < r->block_bytes; i++)
    if (r->between[i] && r->block[i] != UNTOUCHED)
      fail_msg("%s: byte %zu of the block belongs to no output, and is written", check_now, i);
}

static bool is_in_block(const struct runner *r, const void *p)
{
  const unsigned char *at = p;
  return r->block && at >= r->block && at < r->block + r->block_bytes;
}

struct runner *runner_new(const r4_graph *g, size_t n, const r4_id *out, r4_plan_options options)
{
  r4_error e;
  struct runner *r = calloc(1, sizeof *r);
  size_t size = options.type == R4_F64 ? sizeof(double) : sizeof(float);
  r->type = options.type;
  r->plan = r4_plan_new(g, n, out, &options, &e);
  if (!r->plan) fail_msg("%s: plan: %s: %s", check_now, r4_status_name(e.status), e.text);
  for (uint32_t i = 1; i <= g->size; i++)
    if (g->node[i].op == &op_input) add_input(r, g, i, size);
  assert_true(n <= RUNNER_MAX);
  r->n_out = n;
  for (size_t k = 0; k < n; k++) {
    r->out_count[k] = (size_t)r4_shape_count(r4_node_shape(g, out[k]));
    r->out[k] = calloc(r->out_count[k], sizeof *r->out[k]);
    r->out_raw[k] = calloc(r->out_count[k], size);
  }
  if (options.place) make_block(r, options.place, size);
  for (size_t k = 0; k < n; k++) assert_int_equal(r4_plan_output(r->plan, k, r->out_raw[k], &e), R4_OK);
  return r;
}

void runner_free(struct runner *r)
{
  if (!r) return;
  r4_plan_free(r->plan);
  for (size_t k = 0; k < r->n_in; k++) {
    free(r->name[k]);
    free(r->in[k]);
    free(r->in_raw[k]);
  }
  for (size_t k = 0; k < r->n_out; k++) {
    free(r->out[k]);
    if (!is_in_block(r, r->out_raw[k])) free(r->out_raw[k]);
  }
  free(r->block);
  free(r->between);
  free(r);
}

double *runner_input(struct runner *r, const char *name)
{
  for (size_t k = 0; k < r->n_in; k++)
    if (!strcmp(r->name[k], name)) return r->in[k];
  return NULL;
}

size_t runner_count(const struct runner *r, const char *name)
{
  for (size_t k = 0; k < r->n_in; k++)
    if (!strcmp(r->name[k], name)) return r->in_count[k];
  return 0;
}

void runner_copy_inputs(struct runner *to, const struct runner *from)
{
  for (size_t k = 0; k < from->n_in; k++) {
    double *x = runner_input(to, from->name[k]);
    if (x) memcpy(x, from->in[k], from->in_count[k] * sizeof *x);
  }
}

r4_status runner_try(struct runner *r, r4_error *e)
{
  bool wide = r->type == R4_F64;
  for (size_t k = 0; k < r->n_in; k++)
    for (size_t i = 0; i < r->in_count[k]; i++) {
      if (wide)
        ((double *)r->in_raw[k])[i] = r->in[k][i];
      else
        ((float *)r->in_raw[k])[i] = (float)r->in[k][i];
    }
  for (size_t k = 0; k < r->n_out; k++) /* what a kernel leaves out must not pass for zero: not a number */
    memset(r->out_raw[k], 0xff, r->out_count[k] * (wide ? sizeof(double) : sizeof(float)));
  r4_status s = r4_plan_run(r->plan, e);
  check_between(r);
  for (size_t k = 0; k < r->n_out; k++)
    for (size_t i = 0; i < r->out_count[k]; i++)
      r->out[k][i] = wide ? ((double *)r->out_raw[k])[i] : (double)((float *)r->out_raw[k])[i];
  return s;
}

void runner_run(struct runner *r)
{
  r4_error e;
  if (runner_try(r, &e)) fail_msg("%s: run: %s: %s", check_now, r4_status_name(e.status), e.text);
}

/* ---- Comparing ---- */

double largest_abs(const double *x, size_t n)
{
  double largest = 0;
  for (size_t i = 0; i < n; i++)
    if (!(fabs(x[i]) <= largest)) largest = fabs(x[i]);
  return largest;
}

void assert_close(const char *what, const double *got, const double *want, size_t n, double tolerance,
                  double floor)
{
  size_t worst = 0;
  double most = -1, allowed = tolerance * (largest_abs(want, n) + floor);
  for (size_t i = 0; i < n; i++) {
    double off = got[i] == want[i] ? 0 : fabs(got[i] - want[i]);
    if (off <= most) continue;
    most = off;
    worst = i;
    if (isnan(off)) break;
  }
  if (n && !(most <= allowed))
    fail_msg("%s: element %zu of %zu is %.17g, expected %.17g: off by %.3g, allowed %.3g", what, worst, n,
             got[worst], want[worst], most, allowed);
}

void assert_inside(const char *what, const double *lo, const double *x, const double *hi, size_t n,
                   double tolerance)
{
  double allowed = tolerance * (1 + fmax(largest_abs(lo, n), largest_abs(hi, n)));
  for (size_t i = 0; i < n; i++)
    if (!(lo[i] - allowed <= x[i] && x[i] <= hi[i] + allowed))
      fail_msg("%s: element %zu of %zu is %.17g, bounds are %.17g .. %.17g, allowed %.3g outside", what, i, n,
               x[i], lo[i], hi[i], allowed);
}

/* ---- Graphs ---- */

static void assert_reads_back(const char *what, const char *text, size_t n)
{
  r4_error e;
  r4_id out[RUNNER_MAX];
  size_t n_out;
  r4_graph *g = r4_graph_parse(text, RUNNER_MAX, out, &n_out, &e);
  if (!g) fail_msg("%s: its text does not read back: %s", what, e.text);
  assert_int_equal(n_out, n);
  if (graph_check(g, &e)) fail_msg("%s: after reading back: %s", what, e.text);
  char *again = r4_graph_text(g, n, out);
  assert_non_null(again);
  if (strcmp(again, text))
    fail_msg("%s: the text changes when read back:\n%s\nbecomes\n%s", what, text, again);
  r4_string_free(again);
  r4_graph_free(g);
}

/* Each operation that is needed appears in the drawing. */
static void assert_drawn(const char *what, const r4_graph *g, size_t n, const r4_id *out)
{
  bool *live;
  char label[80];
  char *dot = r4_graph_dot(g, n, out);
  assert_non_null(dot);
  assert_true(graph_live(g, n, out, &live));
  for (uint32_t i = 1; i <= g->size; i++) {
    snprintf(label, sizeof label, "[label=\"%s", g->node[i].op->name);
    if (live[i] && !strstr(dot, label))
      fail_msg("%s: %s is missing in the drawing", what, g->node[i].op->name);
  }
  free(live);
  r4_string_free(dot);
}

void assert_graph(const char *what, const r4_graph *g, size_t n, const r4_id *out)
{
  r4_error e;
  if (graph_check(g, &e)) fail_msg("%s: %s: %s", what, r4_status_name(e.status), e.text);
  char *text = r4_graph_text(g, n, out);
  assert_non_null(text);
  assert_reads_back(what, text, n);
  assert_drawn(what, g, n, out);
  r4_string_free(text);
}
