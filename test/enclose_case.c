#include "enclose_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void boxes_add(struct boxes *b, const char *name, size_t count, bool moves)
{
  snprintf(b->name[b->n], sizeof b->name[0], "%s", name);
  b->lo[b->n] = calloc(count + 1, sizeof(double));
  b->hi[b->n] = moves ? calloc(count + 1, sizeof(double)) : b->lo[b->n];
  b->count[b->n++] = count;
}

void boxes_free(struct boxes *b)
{
  for (size_t k = 0; k < b->n; k++) {
    if (b->hi[k] != b->lo[k]) free(b->hi[k]);
    free(b->lo[k]);
  }
}

r4_status enclose(const r4_graph *g, r4_id y, const struct boxes *b, r4_semantics semantics, double *lo, double *hi,
                  r4_error *e)
{
  r4_ends input[RUNNER_MAX];
  for (size_t k = 0; k < b->n; k++) input[k] = (r4_ends){b->name[k], b->lo[k], b->hi[k]};
  return r4_enclose(g, y, b->n, input, semantics, lo, hi, e);
}

void assert_within(const char *what, const double *lo, const double *x, const double *hi, size_t n, double room)
{
  for (size_t i = 0; i < n; i++)
    if (isfinite(x[i]) && !(lo[i] <= x[i] + room && x[i] - room <= hi[i]))
      fail_msg("%s: element %zu is %a, not in [%a, %a]", what, i, x[i], lo[i], hi[i]);
}

void move(struct runner *r, const struct boxes *b, int number)
{
  for (size_t k = 0; k < b->n; k++) {
    double *x = runner_input(r, b->name[k]);
    for (size_t i = 0; x && i < b->count[k]; i++) {
      double lo = b->lo[k][i], hi = b->hi[k][i], at = draw(0, 1);
      if (number % 3 == 1) at = (double)draw_below(2);
      if (number % 3 == 2) at = (double)draw_below(3) / 2;
      x[i] = at == 1 ? hi : fmin(fmax(lo + at * (hi - lo), lo), hi);
    }
  }
  runner_run(r);
}
