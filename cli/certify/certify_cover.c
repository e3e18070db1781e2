/* Certificates by covering masks: whatever is put into any one region of a family, wherever it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certify.h"
#include "certify/part.h"
#include "cover_open.h"
#include "json_out.h"
#include "table_out.h"
#include "timer.h"

/* Passes between two lines of progress; what an interruption costs at most. */
enum { PASSES_AT_ONCE = 1024 };

static bool asked(const struct certify_settings *o)
{
  return *o->cover;
}

static int check(const struct certify_settings *o)
{
  const char *of_boxes = *o->eps       ? "eps"
                         : o->range    ? "range"
                         : o->gradient ? "gradient"
                         : o->radius   ? "radius"
                         : *o->vnnlib  ? "vnnlib"
                         : strcmp(o->method, "intervals") ? "method"
                                                          : NULL;
  if (!of_boxes) return EXIT_DONE;
  fprintf(stderr,
          "r4 certify: --%s is for the content of given masks, --cover for any one region: give one of the two\n",
          of_boxes);
  return EXIT_USAGE;
}

static void file_name(const struct certify_settings *o, char *to, size_t size)
{
  snprintf(to, size, "cover-%s%s", o->cover, o->detect ? "-detect" : "");
  for (char *c = to; *c; c++)
    if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789.-", *c)) *c = '-';
}

/* ---- What is kept ---- */

static void print(FILE *f, const void *item, size_t size)
{
  const r4_covered *x = item;
  (void)size;
  fprintf(f, "%d %d %d %d %d %a %a", (int)x->alone, (int)x->predicted, x->agreed, x->detected, x->recovered,
          (double)x->one_margin, (double)x->margin);
}

static bool scan(const char *line, void *item, size_t size)
{
  int alone, predicted, agreed, detected, recovered, length = 0;
  float one_margin, margin;
  (void)size;
  if (sscanf(line, "%d %d %d %d %d %a %a%n", &alone, &predicted, &agreed, &detected, &recovered, &one_margin, &margin,
             &length) != 7 ||
      line[length])
    return false;
  *(r4_covered *)item = (r4_covered){.alone = alone,
                                     .predicted = predicted,
                                     .agreed = agreed,
                                     .detected = detected,
                                     .recovered = recovered,
                                     .one_margin = one_margin,
                                     .margin = margin};
  return true;
}

static const struct part_kind covered_lines = {sizeof(r4_covered), print, scan};

/* ---- Passes ---- */

struct work {
  struct certify_job *j;
  struct cover cover;
  r4_covered *x; /* [examples] */
  size_t examples;
};

/* What the passes that are kept are of. */
static int key_of(const struct work *w, char *to, size_t size)
{
  r4_error e = {0};
  char model[R4_HASH_SIZE], data[R4_HASH_SIZE];
  if (r4_file_hash(w->j->run->model[w->j->seed], model, &e)) return cli_fail("certify", e.status, e.text);
  r4_data_hash(w->j->data, data);
  snprintf(to, size, "r4-cover-part %s %s %s %.60s %s", R4_VERSION, model, data, w->j->o->cover,
           w->j->line[0]);
  return EXIT_DONE;
}

static r4_status look_at(const struct work *w, size_t first, size_t n, r4_error *e)
{
  const r4_model *m = w->j->model;
  size_t *example = calloc(n + 1, sizeof *example);
  const r4_cover_options o = {w->j->o->cover, w->cover.constant};
  for (size_t i = 0; example && i < n; i++) example[i] = first + i;
  r4_data *part = example ? r4_data_subset(w->j->data, n, example, e) : NULL;
  r4_status s = part      ? r4_cover_predict(r4_model_net(m), r4_model_weights(m), part, &o, w->x + first, e)
                : example ? e->status
                          : R4_E_MEMORY;
  r4_data_free(part);
  free(example);
  return s;
}

static int look_at_all(struct work *w, struct part *kept, size_t done)
{
  r4_error e = {0};
  double began = timer_now();
  size_t masks = r4_cover_masks(w->cover.masks), each = masks * (masks + 1) / 2,
         here = PASSES_AT_ONCE / each + 1;
  r4_status s = R4_OK;
  for (size_t before = done; done < w->examples && !s; done += here) {
    if (here > w->examples - done) here = w->examples - done;
    s = look_at(w, done, here, &e);
    if (!s) part_add(kept, here, w->x + done);
    if (!s) certify_progress(w->j, "cover", done + here - before, w->examples - before, began);
  }
  return s ? cli_fail("certify", s, e.text) : EXIT_DONE;
}

/* What is done is kept beside the model, for recovery and detection alike. */
static void part_path(const struct certify_job *j, char path[PART_PATH])
{
  char name[128];
  file_name(&(struct certify_settings){.cover = j->o->cover}, name, sizeof name);
  snprintf(path, PART_PATH, "%s/%s-%s.part", j->run->folder[j->seed], name, j->o->split);
}

static bool kept(const struct certify_job *j)
{
  char path[PART_PATH];
  part_path(j, path);
  return is_file(path);
}

static void saved(const struct certify_job *j)
{
  char path[PART_PATH];
  part_path(j, path);
  remove(path);
}

static int run_passes(struct work *w)
{
  char key[2 * PATH_SIZE], path[PART_PATH];
  struct part kept;
  int code = key_of(w, key, sizeof key);
  if (code) return code;
  part_path(w->j, path);
  size_t done = part_open(&kept, &covered_lines, path, key, w->examples, w->x);
  if (done) fprintf(stderr, "r4 certify: %zu of %zu examples were already done\n", done, w->examples);
  code = look_at_all(w, &kept, done);
  part_close(&kept);
  return code;
}

/* ---- What it says ---- */

static void count(struct cover_counts *to, int32_t label, const r4_covered *x)
{
  bool correct = x->predicted == label;
  to->examples++;
  to->alone += x->alone == label;
  to->correct += correct;
  to->recovered += correct && x->recovered;
  to->detected += correct && x->detected;
}

static void count_all(const struct work *w, struct cover_row *to)
{
  const r4_data *d = w->j->data;
  snprintf(to->about, sizeof to->about, "%s", r4_cover_about(w->cover.masks));
  for (size_t i = 0; i < w->examples; i++) {
    r4_example one = r4_data_example(d, i);
    count(&to->all, one.label, &w->x[i]);
    if (one.label < COVER_ROWS) count(&to->class[one.label], one.label, &w->x[i]);
    if (one.group < COVER_ROWS) count(&to->group[one.group], one.label, &w->x[i]);
  }
}

static void write_lines(const struct work *w)
{
  struct certify_job *j = w->j;
  for (size_t i = 0; i < w->examples; i++) {
    const r4_covered *x = &w->x[i];
    bool holds = j->o->detect ? x->detected : x->recovered;
    float margin = j->o->detect ? x->one_margin : x->margin;
    j->example[i] = (r4_certified){.label = r4_data_example(j->data, i).label,
                                   .predicted = x->predicted < 0 ? 0 : x->predicted,
                                   .margin = holds ? (double)margin : -INFINITY,
                                   .holds = holds,
                                   .radius = NAN};
  }
  j->certificate = (r4_certificate){.claim = "cover",
                                    .semantics = "this-program",
                                    .method = j->o->detect ? "one-mask" : "two-mask",
                                    .cover = j->o->cover,
                                    .fill = j->line[0]};
}

/* The constant, every bit of it; of tokens the id. */
static bool write_constant(const struct work *w)
{
  size_t length = 0, n = r4_cover_constants(w->cover.masks);
  bool tokens = r4_data_vocabulary(w->j->data) > 0;
  for (size_t k = 0; k < n && length < PATH_SIZE; k++)
    length += (size_t)snprintf(w->j->line[0] + length, PATH_SIZE - length, tokens ? "%s%.0f" : "%s%a",
                               k ? "," : "", (double)w->cover.constant[k]);
  return length < PATH_SIZE;
}

static int certify(struct certify_job *j)
{
  struct work w = {.j = j, .examples = r4_data_count(j->data)};
  int code =
    cover_open(&w.cover, "certify", j->o->cover, r4_data_shape(j->data), j->model, j->run, j->o->data_now);
  w.x = calloc(w.examples + 1, sizeof *w.x);
  j->cover = calloc(1, sizeof *j->cover);
  if (!code && (!w.x || !j->cover)) code = cli_fail("certify", R4_E_MEMORY, "");
  if (!code && !write_constant(&w))
    code = cli_fail("certify", R4_E_ARGUMENT, "the constant has too many channels");
  if (!code) code = run_passes(&w);
  if (!code) {
    count_all(&w, j->cover);
    write_lines(&w);
  }
  free(w.x);
  cover_close(&w.cover);
  return code;
}

const struct claim claim_cover = {.name = "cover",
                                  .asked = asked,
                                  .check = check,
                                  .file_name = file_name,
                                  .certify = certify,
                                  .kept = kept,
                                  .saved = saved};

/* ---- Printing ---- */

static void add_row(r4_table *t, const char *kind, const char *name, const struct cover_counts *c)
{
  if (!c->examples) return;
  cell(t, "%s%s", kind, shown(name).text);
  const size_t count[] = {c->examples, c->alone, c->correct, c->recovered, c->detected};
  for (size_t k = 0; k < sizeof count / sizeof *count; k++) cell(t, "%zu", count[k]);
}

/* Groups that are the classes are not said twice. */
static bool groups_are_classes(const r4_data *d)
{
  for (size_t i = 0; i < r4_data_count(d); i++)
    if (r4_data_example(d, i).group != r4_data_example(d, i).label) return false;
  return true;
}

int cover_print(const r4_data *d, const struct cover_row *x)
{
  static const char *const headings[] = {"examples", "net alone", "correct", "certified", "or reported"};
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', 6);
  for (size_t k = 0; k < 5; k++) r4_table_column(t, headings[k], 'r', 8);
  for (size_t k = 0; k < r4_data_classes(d) && k < COVER_ROWS; k++)
    add_row(t, "class ", r4_data_class_name(d, k), &x->class[k]);
  for (size_t k = 0; k < r4_data_groups(d) && k < COVER_ROWS && !groups_are_classes(d); k++)
    add_row(t, "group ", r4_data_group_name(d, k), &x->group[k]);
  add_row(t, "", "all", &x->all);
  int code = table_end(stdout, "certify", t, R4_TABLE_PLAIN);
  if (code) return code;
  printf("\nWhatever is put into %s:\n", x->about);
  for (size_t k = 0; k < r4_data_classes(d) && k < COVER_ROWS; k++)
    if (x->class[k].examples)
      printf("  %s: %zu detected, %zu of them certified, %zu certified or reported\n",
             shown(r4_data_class_name(d, k)).text, x->class[k].correct, x->class[k].recovered,
             x->class[k].detected);
  printf("detected: by two-mask inference (r4 predict --cover). certified: provably detected whatever\n"
         "the region shows. reported: predictions under one mask differ, so a change of the region is noticed.\n");
  return EXIT_DONE;
}

static void add_json(r4_json *w, const char *key, const char *name, const struct cover_counts *c)
{
  if (!c->examples) return;
  r4_json_open(w, key, '{');
  if (name) r4_json_text(w, "name", name);
  r4_json_whole(w, "examples", (int64_t)c->examples);
  r4_json_whole(w, "net_alone", (int64_t)c->alone);
  r4_json_whole(w, "correct", (int64_t)c->correct);
  r4_json_whole(w, "certified", (int64_t)c->recovered);
  r4_json_whole(w, "certified_or_reported", (int64_t)c->detected);
  r4_json_close(w, '}');
}

void cover_json(r4_json *w, const r4_data *d, const struct cover_row *x)
{
  r4_json_text(w, "about", x->about);
  add_json(w, "counts", NULL, &x->all);
  r4_json_open(w, "classes", '[');
  for (size_t k = 0; k < r4_data_classes(d) && k < COVER_ROWS; k++)
    add_json(w, NULL, r4_data_class_name(d, k), &x->class[k]);
  r4_json_close(w, ']');
  r4_json_open(w, "groups", '[');
  for (size_t k = 0; k < r4_data_groups(d) && k < COVER_ROWS; k++)
    add_json(w, NULL, r4_data_group_name(d, k), &x->group[k]);
  r4_json_close(w, ']');
}
