/* The claim "box": whatever is in the mask, within eps or within the valid range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "box_range.h"
#include "certify/certify.h"
#include "certify/part.h"
#include "timer.h"

enum { PART_PATH = PATH_SIZE + 200 };

static bool asked(const struct certify_settings *o)
{
  return *o->eps || o->range;
}

static int check(const struct certify_settings *o)
{
  const char *wrong = *o->eps && o->range ? "--eps and --range: expected one of them"
                      : *o->cover         ? "--cover and a box: expected one of them"
                      : strcmp(o->semantics, "real") && strcmp(o->semantics, "any-float")
                        ? "--semantics: expected real or any-float"
                        : NULL;
  if (wrong) fprintf(stderr, "r4 certify: %s\n", wrong);
  return wrong ? EXIT_USAGE : EXIT_DONE;
}

static void file_name(const struct certify_settings *o, char *to, size_t size)
{
  const char *semantics = strcmp(o->semantics, "real") ? "-any-float" : "";
  snprintf(to, size, "box-%.40s%s", o->range ? "range" : o->eps, semantics);
}

/* ---- What is kept beside the model, until the certificate is there ---- */

static void print(FILE *f, const void *item, size_t size)
{
  const r4_certified *x = item;
  (void)size;
  fprintf(f, "%d %d %a %d %a %a", (int)x->label, (int)x->predicted, x->margin, x->holds, x->radius, x->delta);
}

static bool scan(const char *line, void *item, size_t size)
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

/* A start of the attack: for each example a 1 if it is broken by now. */
static void print_start(FILE *f, const void *item, size_t size)
{
  for (size_t i = 0; i < size; i++) fputc(((const bool *)item)[i] ? '1' : '0', f);
}

static bool scan_start(const char *line, void *item, size_t size)
{
  bool *broken = item;
  if (strlen(line) != size || strspn(line, "01") != size) return false;
  for (size_t i = 0; i < size; i++) broken[i] = line[i] == '1';
  return true;
}

static const struct part_kind example_lines = {sizeof(r4_certified), print, scan};

static void part_path(const struct certify_job *j, const char *what, char path[PART_PATH])
{
  char name[128];
  file_name(j->o, name, sizeof name);
  snprintf(path, PART_PATH, "%s/%s-%s.%s", j->run->folder[j->seed], name, j->o->split, what);
}

static bool kept(const struct certify_job *j)
{
  char path[PART_PATH];
  part_path(j, "part", path);
  return is_file(path);
}

static void saved(const struct certify_job *j)
{
  char path[PART_PATH];
  part_path(j, "part", path);
  remove(path);
  part_path(j, "attack.part", path);
  remove(path);
}

/* What the lines are of. */
static int key_of(const struct certify_job *j, const r4_certify_options *o, char *to, size_t size)
{
  r4_error e = {0};
  char model[R4_HASH_SIZE], data[R4_HASH_SIZE], train[R4_HASH_SIZE];
  if (r4_file_hash(j->run->model[j->seed], model, &e)) return cli_fail("certify", e.status, e.text);
  r4_data_hash(j->data, data);
  r4_data_hash(j->train, train); /* whose contents an attack takes */
  snprintf(to, size, "r4-box-part %s %s %s %s %.400s %s %s %s %d %d", R4_VERSION, model, data, train,
           o->eps ? o->eps : "range", o->low ? o->low : "-", o->low ? o->high : "-", j->o->semantics, o->radius,
           o->gradient);
  return EXIT_DONE;
}

/* ---- Bounds, and the attack ---- */

struct work {
  struct certify_job *j;
  r4_certify_options options;
  char key[2 * PATH_SIZE];
  double began;
  struct part kept;
  size_t before, done; /* examples, or starts, at the beginning and by now */
};

static bool proved(size_t done, size_t of, void *user)
{
  struct work *w = user;
  if (done > w->done) part_add(&w->kept, done - w->done, w->j->example + w->done);
  if (done > w->done) w->done = done;
  certify_progress(w->j, "bounds", done - w->before, of - w->before, w->began);
  return true;
}

static r4_status prove(struct work *w, r4_error *e)
{
  const struct certify_job *j = w->j;
  char path[PART_PATH];
  size_t n = r4_data_count(j->data);
  part_path(j, "part", path);
  w->before = w->done = part_open(&w->kept, &example_lines, path, w->key, n, j->example);
  if (w->done) fprintf(stderr, "r4 certify: %zu of %zu examples were done before\n", w->done, n);
  w->began = timer_now();
  w->options.done = w->done;
  w->options.progress = proved;
  r4_status s =
    r4_certify_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, &w->options, j->example, e);
  part_close(&w->kept);
  return s;
}

static void keep_start(struct work *w)
{
  size_t n = r4_data_count(w->j->data);
  bool *broken = calloc(n + 1, sizeof *broken);
  for (size_t i = 0; broken && i < n; i++) broken[i] = w->j->example[i].broken;
  if (broken) part_add(&w->kept, 1, broken);
  free(broken);
}

static bool attacked(size_t done, size_t of, void *user)
{
  struct work *w = user;
  size_t n = r4_data_count(w->j->data);
  for (; n && w->done < done / n; w->done++) keep_start(w);
  certify_progress(w->j, "attack", done - w->before * n, of - w->before * n, w->began);
  return true;
}

/* What the last start that is kept had broken. */
static void take_starts(struct work *w, const char *path)
{
  size_t n = r4_data_count(w->j->data), starts = (size_t)w->j->o->attack;
  const struct part_kind lines = {n, print_start, scan_start};
  bool *broken = calloc(starts * n + 1, sizeof *broken);
  if (!broken) return;
  w->before = w->done = part_open(&w->kept, &lines, path, w->key, starts, broken);
  for (size_t i = 0; i < n && w->done; i++) w->j->example[i].broken = broken[(w->done - 1) * n + i];
  free(broken);
}

static r4_status attack(struct work *w, r4_error *e)
{
  const struct certify_job *j = w->j;
  char path[PART_PATH];
  part_path(j, "attack.part", path);
  w->before = w->done = 0;
  take_starts(w, path);
  w->began = timer_now();
  w->options.done = w->done;
  w->options.progress = attacked;
  r4_status s = r4_attack_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, &w->options, j->train,
                              (size_t)j->o->attack, 0, j->example, e);
  part_close(&w->kept);
  return s;
}

/* A box of one point proves nothing that anybody asked. */
static int check_masks(const struct certify_job *j)
{
  for (size_t i = 0; i < r4_data_count(j->data); i++)
    if (r4_data_has_mask(j->data, i)) return EXIT_DONE;
  fprintf(stderr, "r4 certify: none of the %zu examples of %s has a mask, so nothing in them may change; --cover FAMILY "
                  "needs no masks\n", r4_data_count(j->data), j->o->split);
  return EXIT_USAGE;
}

static int certify(struct certify_job *j)
{
  r4_certificate *c = &j->certificate;
  r4_error e = {0};
  if (check_masks(j)) return EXIT_USAGE;
  if (!box_range("certify", j->o->valid, j->run->settings, j->data, &j->valid)) return EXIT_USAGE;
  *c = (r4_certificate){.claim = "box",
                        .semantics = j->o->semantics,
                        .method = "intervals",
                        .low = j->valid.there ? j->valid.low : NULL,
                        .high = j->valid.there ? j->valid.high : NULL,
                        .eps = j->o->range ? "range" : j->o->eps};
  struct work w = {.j = j,
                   .options = {.eps = j->o->range ? NULL : j->o->eps,
                               .low = c->low,
                               .high = c->high,
                               .semantics =
                                 strcmp(c->semantics, "real") ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL,
                               .radius = j->o->radius,
                               .gradient = j->o->gradient}};
  w.options.user = &w;
  int code = key_of(j, &w.options, w.key, sizeof w.key);
  if (code) return code;
  r4_status s = prove(&w, &e);
  j->attacked = !s && j->o->attack > 0;
  if (j->attacked) s = attack(&w, &e);
  return s ? cli_fail("certify", s, e.text) : EXIT_DONE;
}

/* r4 eval --certify has real arithmetic and the valid values of the run. */
static bool figures(const struct certify_job *j, r4_measured *to)
{
  const char *box = j->certificate.eps;
  if (*j->o->valid || strcmp(j->o->semantics, "real")) return false;
  return !r4_certified_measure(j->data, j->example, box, j->attacked, to, NULL);
}

const struct claim claim_box = {
  .name = "box", .asked = asked, .check = check, .file_name = file_name, .certify = certify, .kept = kept, .saved = saved,
  .figures = figures};
