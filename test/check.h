/* check.h - what the tests of the engine share: random draws, running a graph, comparing tensors.
 * Everything here fails the running cmocka test when something is wrong. */
#ifndef CHECK_H
#define CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include "r4_tools.h"

/* cmocka 2 has a new name for it, which cmocka 1 does not know. */
#ifdef assert_int_in_range
#undef assert_in_range
#define assert_in_range assert_int_in_range
#endif

/* ---- Skipping ---- */

/* Ends the test that calls it: the test passes, and a comment says what was not tested and why. Never cmocka's skip(),
 * which prints "not ok" in TAP: a failure to whoever reads it. */
#define check_skip(...)                       \
  do {                                        \
    print_message("# skipped: " __VA_ARGS__); \
    print_message("\n");                      \
    return;                                   \
  } while (0)

/* The path of a data set in $R4_DATA_DIR, valid until the next call, or NULL if it is not there. */
const char *check_data(const char *name);
#define CHECK_NEEDS_DATA(name) \
  if (!check_data(name)) check_skip("no %s in R4_DATA_DIR", name)

/* Whether there is a command to test; its path in $R4 is absolute from then on. If not, says that the program skips
 * everything: return 0 from main. */
bool check_command(void);

/* ---- Random draws ---- */

/* The seed of $R4_SEED, else 1, printed once; and a whole number of the environment. */
uint64_t check_seed(void);
long check_setting(const char *name, long otherwise);

/* Starts the stream of draws number (a, b) of the seed: what is drawn depends on nothing before. */
void draw_start(uint32_t a, uint32_t b);
double draw(double low, double high); /* a float, so that every plan sees the same number */
uint64_t draw_below(uint64_t n);
int64_t draw_between(int64_t low, int64_t high); /* both included */

/* ---- Running ---- */

/* What is being tested, for the messages of the functions below. */
extern const char *check_now;

enum { RUNNER_MAX = 96 };

/* A plan with memory for all of its inputs and outputs, in double whatever the type of the plan. */
struct runner {
  r4_plan *plan;
  r4_type type;
  size_t n_in, n_out;
  char *name[RUNNER_MAX];
  double *in[RUNNER_MAX], *out[RUNNER_MAX];
  size_t in_count[RUNNER_MAX], out_count[RUNNER_MAX];
  void *in_raw[RUNNER_MAX], *out_raw[RUNNER_MAX];
  unsigned char *block; /* of outputs that have a place in it; NULL: none has */
  bool *between;        /* by byte of the block: belongs to no output, and stays as it is */
  size_t block_bytes;
};

/* Random places in a block for n outputs, some of them elsewhere, some with a gap before them. */
void draw_places(const r4_graph *g, size_t n, const r4_id *out, size_t *place);

struct runner *runner_new(const r4_graph *g, size_t n, const r4_id *out, r4_plan_options options);
void runner_free(struct runner *r);
double *runner_input(struct runner *r, const char *name);      /* NULL if the graph has no such input */
size_t runner_count(const struct runner *r, const char *name); /* its elements; 0 if there is none */
void runner_copy_inputs(struct runner *to, const struct runner *from);
r4_status runner_try(struct runner *r, r4_error *e);
void runner_run(struct runner *r);

#define REFERENCE ((r4_plan_options){.type = R4_F64, .reference = true})
#define FAST64 ((r4_plan_options){.type = R4_F64})
#define FAST32 ((r4_plan_options){.type = R4_F32})

/* ---- Comparing ---- */

double largest_abs(const double *x, size_t n);

/* |got - want| <= tolerance * (largest |want| + floor), or fails with the worst index. */
void assert_close(const char *what, const double *got, const double *want, size_t n, double tolerance,
                  double floor);

/* lo <= x <= hi up to tolerance * (1 + largest |lo|, |hi|). */
void assert_inside(const char *what, const double *lo, const double *x, const double *hi, size_t n,
                   double tolerance);

/* ---- Graphs ---- */

/* No error so far, every invariant holds, and the text of out[0..n) reads back as the same text. */
void assert_graph(const char *what, const r4_graph *g, size_t n, const r4_id *out);

#endif
