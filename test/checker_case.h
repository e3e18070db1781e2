/* checker_case.h - r4-check in the process of a test: it is linked without its main.c, and comes back from what it
 * cannot go on with. To be included by one file of a program. */
#ifndef CHECKER_CASE_H
#define CHECKER_CASE_H

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check/check.h"
#include "certificate_case.h"
#include "scratch.h"

static jmp_buf back;
static char reason[400];

void refuse(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  longjmp(back, 1);
}

void *take(size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size);
  assert_non_null(p);
  return p;
}

/* The checker keeps what it needs to its end. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0";
}

enum { REFUSED = -1 };
static struct certificate checked;
static struct net checked_net;

/* REFUSED, or the verdict of the first line; others are in checked. */
static inline int check_files(const struct case_file file[CASE_FILES])
{
  struct bytes b[CASE_FILES];
  for (int k = 0; k < CASE_FILES; k++) b[k] = (struct bytes){file[k].at, file[k].n};
  checked = (struct certificate){0};
  checked_net = (struct net){.first = NULL};
  *reason = 0;
  int came_back = setjmp(back);
  if (!came_back) check(b[CASE_CERTIFICATE], b[CASE_MODEL], b[CASE_DATA], &checked, &checked_net);
  fesetround(FE_TONEAREST);
  return came_back ? REFUSED : checked.n ? (int)checked.line[0].verdict : (int)OPEN;
}

static struct case_file last[CASE_FILES];

static inline int check_case(const struct certificate_case *c)
{
  case_free(last);
  case_write(c, last);
  return check_files(last);
}

/* The same net and data as the last, and another claim. */
static inline int check_again(const struct certificate_case *c)
{
  case_certificate(c, last);
  return check_files(last);
}

static inline const char *name_of(int verdict)
{
  static const char *const name[] = {"refused", "open", "holds", "cannot tell", "does not hold"};
  return name[verdict + 1];
}

static inline void expect(const struct certificate_case *c, int verdict, int expected)
{
  if (verdict != expected)
    fail_msg("%s, %smargin %a: %s, expected %s. %s", c->net, c->what, c->line[0].margin, name_of(verdict),
             name_of(expected), reason);
}

static inline void expect_case(const struct certificate_case *c, int expected)
{
  expect(c, check_case(c), expected);
}

static inline void expect_again(const struct certificate_case *c, int expected)
{
  expect(c, check_again(c), expected);
}

/* The claim with margin m holds, and one with the next number above does not. */
static inline void expect_margin(struct certificate_case c, double m)
{
  c.line[0].margin = m;
  expect_case(&c, HOLDS);
  c.line[0].margin = nextafter(m, INFINITY);
  int verdict = check_again(&c);
  if (verdict == HOLDS || verdict == REFUSED) fail_msg("%s: more than %a: %s %s", c.net, m, name_of(verdict), reason);
}

#define REAL_BOX "claim box\nsemantics real\nmethod intervals\n"
#define FLOAT_BOX "claim box\nsemantics any-float\nmethod intervals\n"
#define FLOATS(...) ((const float[]){__VA_ARGS__})

/* z = (x0 - x1 + 1/4, x1), relu before; x = (3, 1), eps 1/2 for x0, 1/4 for x1. */
static const struct certificate_case two = {.net = "relu, dense 2",
                                            .input = {1, {2}},
                                            .weight = FLOATS(1, -1, 0, 1, 0.25, 0),
                                            .n = 1,
                                            .x = FLOATS(3, 1),
                                            .mask = FLOATS(1, 0.5),
                                            .claim = REAL_BOX,
                                            .what = "eps 0.5\n",
                                            .line = {{0, 0, 1}}};

#endif
