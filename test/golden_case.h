/* Golden files in tests: what is not there fails the test that asks for it. */
#ifndef GOLDEN_CASE_H
#define GOLDEN_CASE_H

#include "check.h"
#include "golden.h"

/* golden/FILE.txt in $R4_TEST_DIR, or else in test. */
golden *golden_open(const char *file);
/* The tensor whose name is printed by the format. */
const golden_tensor *golden_get(const golden *g, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
double golden_number(const golden *g, const char *name);
r4_shape golden_shape(const golden_tensor *t);

#endif
