/* The claim "box": whatever is in the mask, within eps or within the valid range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "box_range.h"
#include "certify/certify.h"
#include "certify/part.h"
#include "timer.h"

static bool asked(const struct certify_settings *o)
{
  return *o->eps || o->range;
}

static const char *const methods[] = {"intervals", "linear", "best", "complete"}; /* by r4_bound_method; branching */
enum { COMPLETE = R4_BOUND_BEST + 1, METHODS };

static int method_of(const struct certify_settings *o) /* METHODS: none */
{
  int k = 0;
  while (k < METHODS && strcmp(o->method, methods[k])) k++;
  return k;
}

static r4_bound_method bounds_of(const struct certify_settings *o)
{
  return method_of(o) == COMPLETE ? R4_BOUND_BEST : (r4_bound_method)method_of(o);
}

static int check(const struct certify_settings *o)
{
  bool plain = method_of(o) == R4_BOUND_INTERVALS;
  const char *wrong =
    *o->eps && o->range       ? "--eps and --range: give one of the two"
    : *o->cover               ? "--cover and a box: give one of the two"
    : method_of(o) == METHODS ? "--method: expected intervals, linear, best or complete"
    : !(o->seconds > 0)       ? "--seconds: expected a number above 0"
    : !plain && strcmp(o->semantics, "real")
      ? "--semantics any-float: expected --method intervals, as linear bounds are of real arithmetic"
    : !plain && o->radius ? "--radius: expected --method intervals"
                          : NULL;
  if (wrong) fprintf(stderr, "r4 certify: %s\n", wrong);
  if (wrong) return EXIT_USAGE;
  int code = certify_check_vnnlib(o);
  return code ? code : certify_check_semantics(o);
}

static void file_name(const struct certify_settings *o, char *to, size_t size)
{
  const char *semantics = strcmp(o->semantics, "real") ? "-any-float" : "";
  const char *method = method_of(o) == R4_BOUND_INTERVALS ? "" : o->method;
  snprintf(to, size, "box-%.40s%s%s%s", o->range ? "range" : o->eps, semantics, *method ? "-" : "", method);
}

/* ---- What is kept beside the model, until the certificate is there ---- */

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
  char train[R4_HASH_SIZE];
  r4_data_hash(j->train, train); /* whose contents an attack takes */
  return certify_key(j, to, size, "box %s %.400s %s %s %s %d %d", train, o->eps ? o->eps : "range",
                     o->low ? o->low : "-", o->low ? o->high : "-", j->o->semantics, o->radius, o->gradient);
}

/* ---- Bounds, and the attack ---- */

struct work {
  struct certify_job *j;
  r4_certify_options options;
  char key[2 * PATH_SIZE];
  double began;
  struct part kept;
  size_t before, done; /* starts of the attack at the beginning, and by now */
};

static r4_status prove(const struct certify_job *j, const r4_certify_options *o, r4_error *e)
{
  return r4_certify_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, o, j->example, e);
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
  w->options.user = w;
  r4_status s = r4_attack_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, &w->options, j->train,
                              (size_t)j->o->attack, 0, j->example, e);
  part_close(&w->kept);
  return s;
}

static bool branched(size_t done, size_t of, void *user)
{
  struct work *w = user;
  certify_progress(w->j, "branching", done, of, w->began);
  return true;
}

/* Behind the attack: what is broken needs no proof. */
static r4_status branch(struct work *w, r4_error *e)
{
  const struct certify_job *j = w->j;
  w->began = timer_now();
  w->options.done = 0;
  w->options.progress = branched;
  w->options.user = w;
  return r4_branch_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, &w->options, j->example, e);
}

static int certify(struct certify_job *j)
{
  r4_certificate *c = &j->certificate;
  r4_error e = {0};
  if (certify_check_masks(j)) return EXIT_USAGE;
  if (!box_range("certify", j->o->valid, j->run->settings, j->data, &j->valid)) return EXIT_USAGE;
  *c = (r4_certificate){.claim = "box",
                        .semantics = j->o->semantics,
                        .method = j->o->method,
                        .low = j->valid.there ? j->valid.low : NULL,
                        .high = j->valid.there ? j->valid.high : NULL,
                        .eps = j->o->range ? "range" : j->o->eps};
  struct work w = {.j = j,
                   .options = {.eps = j->o->range ? NULL : j->o->eps,
                               .low = c->low,
                               .high = c->high,
                               .semantics =
                                 strcmp(c->semantics, "real") ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL,
                               .method = bounds_of(j->o),
                               .seconds = j->o->seconds,
                               .slopes = method_of(j->o) == R4_BOUND_INTERVALS ? 0 : j->o->slopes,
                               .radius = j->o->radius,
                               .gradient = j->o->gradient}};
  int code = key_of(j, &w.options, w.key, sizeof w.key);
  if (code) return code;
  char path[PART_PATH];
  part_path(j, "part", path);
  r4_status s = certify_from_part(j, path, w.key, &w.options, prove, &e);
  j->attacked = !s && j->o->attack > 0;
  if (j->attacked) s = attack(&w, &e);
  if (!s && method_of(j->o) == COMPLETE) s = branch(&w, &e);
  return s ? cli_fail("certify", s, e.text) : certify_vnnlib(j, &w.options);
}

/* r4 eval --certify has intervals in real arithmetic and the valid values of the run. */
static bool figures(const struct certify_job *j, r4_measured *to)
{
  const char *box = j->certificate.eps;
  if (*j->o->valid || strcmp(j->o->semantics, "real") || method_of(j->o) != R4_BOUND_INTERVALS) return false;
  return !r4_certified_measure(j->data, j->example, box, j->attacked, to, NULL);
}

const struct claim claim_box = {
  .name = "box", .asked = asked, .check = check, .file_name = file_name, .certify = certify, .kept = kept,
  .saved = saved, .figures = figures};
