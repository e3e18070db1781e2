/* What the claims box and words share: margins of examples, which are kept beside the model until the certificate is
 * there. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certify.h"
#include "certify/part.h"
#include "timer.h"

static void print_example(FILE *f, const void *item, size_t size)
{
  const r4_certified *x = item;
  (void)size;
  fprintf(f, "%d %d %a %d %a %a", (int)x->label, (int)x->predicted, x->margin, x->holds, x->radius, x->delta);
}

static bool scan_example(const char *line, void *item, size_t size)
{
  int label, predicted, holds, length = 0;
  double margin, radius, delta;
  (void)size;
  if (sscanf(line, "%d %d %la %d %la %la%n", &label, &predicted, &margin, &holds, &radius, &delta, &length) != 6 ||
      line[length] || holds != (margin > 0 && isfinite(margin)))
    return false;
  *(r4_certified *)item = (r4_certified){
    .label = label, .predicted = predicted, .margin = margin, .holds = holds, .radius = radius, .delta = delta};
  return true;
}

static const struct part_kind example_lines = {sizeof(r4_certified), print_example, scan_example};

int certify_key(const struct certify_job *j, char *to, size_t size, const char *format, ...)
{
  r4_error e = {0};
  char model[R4_HASH_SIZE], data[R4_HASH_SIZE];
  if (r4_file_hash(j->run->model[j->seed], model, &e)) return cli_fail("certify", e.status, e.text);
  r4_data_hash(j->data, data);
  int n = snprintf(to, size, "r4-part %s %s %s ", R4_VERSION, model, data);
  va_list args;
  va_start(args, format);
  n += vsnprintf(to + n, size - (size_t)n, format, args);
  va_end(args);
  return n < (int)size ? EXIT_DONE : cli_fail("certify", R4_E_ARGUMENT, "the claim has too many letters");
}

int certify_check_semantics(const struct certify_settings *o)
{
  if (!strcmp(o->semantics, "real") || !strcmp(o->semantics, "any-float")) return EXIT_DONE;
  fprintf(stderr, "r4 certify: --semantics: expected real or any-float\n");
  return EXIT_USAGE;
}

int certify_check_masks(const struct certify_job *j)
{
  for (size_t i = 0; i < r4_data_count(j->data); i++)
    if (r4_data_has_mask(j->data, i)) return EXIT_DONE;
  fprintf(stderr,
          "r4 certify: none of the %zu examples of %s has a mask, so nothing in them may change; "
          "--cover FAMILY needs no masks\n",
          r4_data_count(j->data), j->o->split);
  return EXIT_USAGE;
}

struct proving {
  struct certify_job *j;
  struct part kept;
  size_t done;         /* examples by now                                  */
  size_t last, stage;  /* what was reported last, and in which stage       */
  size_t from;         /* examples that this stage has nothing to do with  */
  double began;        /* the stage                                        */
};

/* Linear bounds come back to examples that intervals leave open, and better slopes once more: the time that is left is
 * that of the stage, whose examples take alike. */
static void follow_stage(struct proving *w, size_t done, size_t of)
{
  if (w->last && (done <= w->last || w->last == of)) {
    w->stage++;
    w->from = done - 1;
    w->began = timer_now();
  }
  w->last = done;
}

static bool proved(size_t done, size_t of, void *user)
{
  struct proving *w = user;
  if (done > w->done) part_add(&w->kept, done - w->done, w->j->example + w->done);
  if (done > w->done) w->done = done;
  static const char *const stages[] = {"bounds", "linear bounds", "linear bounds of better slopes"};
  follow_stage(w, done, of);
  certify_progress(w->j, stages[w->stage < 2 ? w->stage : 2], done - w->from, of - w->from, w->began);
  return true;
}

r4_status certify_from_part(struct certify_job *j, const char *path, const char *key, const r4_certify_options *options,
                            r4_status (*prove)(const struct certify_job *, const r4_certify_options *, r4_error *),
                            r4_error *e)
{
  struct proving w = {.j = j, .began = timer_now()};
  bool again = options->method != R4_BOUND_INTERVALS, before = is_file(path); /* linear bounds come back to examples */
  size_t n = r4_data_count(j->data);
  w.from = w.done = part_open(&w.kept, &example_lines, path, key, again ? 0 : n, j->example);
  if (again) part_close(&w.kept);
  if (again && before)
    fprintf(stderr, "r4 certify: begins again, as --method %s was interrupted before all examples were done\n",
            j->o->method);
  if (w.done) fprintf(stderr, "r4 certify: %zu of %zu examples were already done\n", w.done, n);
  r4_certify_options o = *options;
  o.done = w.done;
  o.progress = proved;
  o.user = &w;
  r4_status s = prove(j, &o, e);
  part_close(&w.kept);
  return s;
}
