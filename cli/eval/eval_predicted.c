/* What nets predict for each example, in "r4 eval": a file, the mean over seeds, the confusion matrix, and the
 * difference of two runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

/* ---- Gathering ---- */

int predicted_open(struct evaluation *v, size_t classes)
{
  struct predicted *p = &v->said;
  size_t n = r4_data_count(v->data), labels = r4_data_classes(v->data);
  if (!p->asked) return EXIT_DONE;
  p->classes = classes;
  p->probability = calloc(n * classes, sizeof *p->probability);
  p->mean = calloc(n * classes, sizeof *p->mean);
  p->right = calloc(n, sizeof *p->right);
  p->count = calloc(labels * classes, sizeof *p->count);
  bool whole = p->probability && p->mean && p->right && p->count;
  return whole ? EXIT_DONE : cli_fail("eval", R4_E_MEMORY, "");
}

void predicted_close(struct evaluation *v)
{
  r4_table_free(v->said.file);
  free(v->said.probability);
  free(v->said.mean);
  free(v->said.right);
  free(v->said.count);
  free(v->said.ensemble);
}

static const char *class_name(const struct evaluation *v, size_t k, char number[FIGURE_SIZE])
{
  const char *name = r4_data_class_name(v->data, k);
  snprintf(number, FIGURE_SIZE, "class %zu", k);
  return name ? name : number;
}

/* "12,a17.png,cat,0,dog,0.25,0.75" */
static void add_line(struct evaluation *v, size_t i, const char *seed, const float *p)
{
  char number[FIGURE_SIZE];
  size_t best = 0;
  r4_example x = r4_data_example(v->data, i);
  for (size_t k = 1; k < v->said.classes; k++)
    if (p[k] > p[best]) best = k;
  cell(v->said.file, "%zu", i);
  r4_table_cell(v->said.file, x.file ? x.file : "");
  r4_table_cell(v->said.file, class_name(v, (size_t)x.label, number));
  r4_table_cell(v->said.file, seed);
  r4_table_cell(v->said.file, class_name(v, best, number));
  for (size_t k = 0; k < v->said.classes; k++) cell(v->said.file, "%.9g", (double)p[k]);
}

static void open_file(struct evaluation *v)
{
  static const char *const head[] = {"example", "file", "label", "seed", "prediction"};
  char number[FIGURE_SIZE];
  v->said.file = r4_table_new();
  for (size_t k = 0; k < sizeof head / sizeof *head; k++) r4_table_column(v->said.file, head[k], 'l', 0);
  for (size_t k = 0; k < v->said.classes; k++) r4_table_column(v->said.file, class_name(v, k, number), 'r', 0);
}

static void add_lines(struct evaluation *v, const char *seed)
{
  if (!*v->said.path) return;
  if (!v->said.file) open_file(v);
  for (size_t i = 0; i < r4_data_count(v->data); i++)
    add_line(v, i, seed, v->said.probability + i * v->said.classes);
}

void predicted_add(struct evaluation *v, size_t seed)
{
  struct predicted *p = &v->said;
  char text[FIGURE_SIZE];
  double seeds = (double)v->run->seeds;
  if (!p->asked) return;
  for (size_t i = 0; i < r4_data_count(v->data); i++) {
    size_t label = (size_t)r4_data_example(v->data, i).label, answer = (size_t)v->predicted[i];
    p->right[i] += (label == answer) / seeds;
    p->count[label * p->classes + answer] += 1 / seeds;
    for (size_t k = 0; k < p->classes; k++)
      p->mean[i * p->classes + k] += (double)p->probability[i * p->classes + k] / seeds;
  }
  snprintf(text, sizeof text, "%lld", (long long)v->run->seed[seed]);
  add_lines(v, text);
}

/* ---- The mean of seeds ---- */

static int measure_ensemble(struct evaluation *v)
{
  struct predicted *p = &v->said;
  r4_error e = {0};
  r4_measure_options o = r4_measure_defaults();
  o.specificity = v->specificity;
  for (size_t i = 0; i < r4_data_count(v->data) * p->classes; i++)
    p->probability[i] = (float)fmin(1, p->mean[i]);
  p->ensemble = calloc(1, sizeof *p->ensemble);
  r4_status s = p->ensemble ? r4_measure_predictions(v->data, p->classes, p->probability, &o, p->ensemble, &e)
                            : R4_E_MEMORY;
  if (!s) add_lines(v, "mean");
  return s ? cli_fail("eval", s, e.text) : EXIT_DONE;
}

static int write_file(struct evaluation *v)
{
  char part[PATH_MAX];
  FILE *f = file_beside(v->said.path, part);
  int code = f ? table_print(f, "eval", v->said.file, R4_TABLE_CSV) : EXIT_WORLD;
  if (f && (ferror(f) | fclose(f) || rename(part, v->said.path))) code = EXIT_WORLD;
  if (f && code) remove(part);
  if (code == EXIT_WORLD) fprintf(stderr, "r4 eval: --predictions: %s: cannot be written\n", shown(v->said.path).text);
  return code;
}

int predicted_end(struct evaluation *v)
{
  int code = v->said.asked && v->run->seeds > 1 ? measure_ensemble(v) : EXIT_DONE;
  return !code && v->said.file ? write_file(v) : code;
}

/* ---- Text ---- */

void predicted_print_ensemble(const struct evaluation *v)
{
  const r4_measured *m = v->said.ensemble;
  if (!m) return;
  printf("\nensemble, mean of the probabilities of %zu seeds:", v->run->seeds);
  bool follows = false;
  for (size_t k = 0; k < m->values; k++) {
    r4_figure_info f = r4_figure_describe(m->value[k].figure);
    char label[R4_LABEL_SIZE];
    if (f.shown < R4_SHOWN_APART || isnan(m->value[k].value)) continue;
    r4_value_label(&m->value[k], label);
    printf(f.unit == R4_UNIT_SHARE ? "%s %s %.2f %%" : "%s %s %.4g", follows ? "," : "", label,
           (f.unit == R4_UNIT_SHARE ? 100 : 1) * m->value[k].value);
    follows = true;
  }
  printf("\n");
}

int predicted_print_confusion(const struct evaluation *v)
{
  const struct predicted *p = &v->said;
  char number[FIGURE_SIZE];
  if (!p->confusion) return EXIT_DONE;
  printf("\nexamples by label (rows) and prediction (columns)%s\n", v->run->seeds > 1 ? ", mean over seeds" : "");
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', 15);
  for (size_t k = 0; k < p->classes; k++) r4_table_column(t, class_name(v, k, number), 'r', 6);
  for (size_t label = 0; label < r4_data_classes(v->data); label++) {
    r4_table_cell(t, class_name(v, label, number));
    for (size_t k = 0; k < p->classes; k++) cell(t, "%.6g", p->count[label * p->classes + k]);
  }
  return table_end(stdout, "eval", t, R4_TABLE_PLAIN);
}

static r4_interval difference(const struct evaluation *v, const struct evaluation *first)
{
  return r4_paired_difference(r4_data_count(v->data), v->said.right, first->said.right);
}

void predicted_print_differences(const struct evaluation *const *v, size_t n)
{
  for (size_t k = 1; k < n; k++) {
    r4_interval d = difference(v[k], v[0]);
    if (!isnan(d.low))
      printf("%s minus %s, all examples: %+.2f points, 95 %%: %+.2f to %+.2f (paired by example)\n", v[k]->name,
             v[0]->name, 100 * d.mean, 100 * d.low, 100 * d.high);
  }
}

/* ---- JSON ---- */

void predicted_add_json(r4_json *w, const struct evaluation *v, const struct evaluation *first)
{
  const struct predicted *p = &v->said;
  if (p->ensemble) {
    r4_json_open(w, "ensemble", '{');
    for (size_t k = 0; k < p->ensemble->values; k++)
      r4_json_real(w, p->ensemble->value[k].key, p->ensemble->value[k].value);
    r4_json_close(w, '}');
  }
  if (first) {
    r4_interval d = difference(v, first);
    r4_json_open(w, "accuracy_difference", '{');
    r4_json_text(w, "to", first->path);
    r4_json_real(w, "mean", d.mean);
    r4_json_real(w, "low", d.low);
    r4_json_real(w, "high", d.high);
    r4_json_close(w, '}');
  }
  if (!p->confusion) return;
  r4_json_open(w, "confusion", '[');
  for (size_t label = 0; label < r4_data_classes(v->data); label++) {
    r4_json_open(w, NULL, '[');
    for (size_t k = 0; k < p->classes; k++) r4_json_real(w, NULL, p->count[label * p->classes + k]);
    r4_json_close(w, ']');
  }
  r4_json_close(w, ']');
}
