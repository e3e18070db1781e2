/* Specifications of VNN-LIB: what is accepted has finite numbers in order, constants that are declared, and cases of
 * constraints that are there. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "certify/vnnlib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static void check_number(struct vnn_number v)
{
  require(isfinite(v.lo) && isfinite(v.hi) && v.lo <= v.hi);
}

static void check_atom(const struct vnn_spec *s, const struct vnn_atom *a)
{
  check_number(a->rest);
  require(a->parts >= 1 && (a->parts == 1 || !a->input));
  for (size_t k = 0; k < a->parts; k++) {
    check_number(a->part[k].factor);
    require(a->part[k].input == a->input && a->part[k].index < (a->input ? s->inputs : s->outputs));
  }
}

static void check_case(const struct vnn_spec *s, const struct vnn_case *c)
{
  for (size_t k = 0; k < c->atoms; k++) require(c->atom[k] < s->atoms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct vnn_spec s;
  r4_error e = {0};
  r4_status status = vnnlib_parse(&s, "file", (const char *)data, size, &e);
  require(status == e.status && (!status || e.text[0]));
  require(status ? !s.cases && !s.atom : s.cases && s.inputs && s.outputs);
  for (size_t k = 0; k < s.atoms; k++) check_atom(&s, &s.atom[k]);
  for (size_t k = 0; k < s.cases; k++) check_case(&s, &s.kase[k]);
  check_case(&s, &s.common);
  vnnlib_free(&s);
  return 0;
}
