/* Answers as text, as CSV and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "cmd_predict.h"
#include "experiment/figures.h"
#include "table_out.h"

enum { WIDEST = 60 };

struct ranked {
  float probability;
  size_t class;
};

size_t most_probable(size_t classes, const float *probability)
{
  size_t best = 0;
  for (size_t k = 1; k < classes; k++)
    if (probability[k] > probability[best]) best = k;
  return best;
}

char *shown_whole(const char *s)
{
  size_t n = r4_text_printable(s, NULL, 0);
  char *to = malloc(n + 1);
  if (to) r4_text_printable(s, to, n + 1);
  return to;
}

bool printer_make(struct printer *p, const struct printing *as, const struct speaker *who,
                  const struct files *files)
{
  *p = (struct printer){.as = as, .who = who, .json = r4_json_new()};
  p->rank = malloc(who->classes * sizeof *p->rank);
  for (size_t k = 0; k < files->n; k++) {
    size_t n = r4_text_printable(files->path[k], NULL, 0);
    if (n <= WIDEST && (int)n > p->width) p->width = (int)n;
  }
  return p->json && p->rank;
}

void printer_clear(struct printer *p)
{
  r4_json_free(p->json);
  r4_table_free(p->table);
  free(p->rank);
  *p = (struct printer){0};
}

/* ---- Text ---- */

void no_heading(struct printer *p)
{
  (void)p;
}

static int by_rank(const void *a, const void *b)
{
  const struct ranked *x = a, *y = b;
  if (x->probability != y->probability) return x->probability > y->probability ? -1 : 1;
  return (x->class > y->class) - (x->class < y->class);
}

static void text_answer(struct printer *p, const char *file, const float *probability)
{
  size_t classes = p->who->classes;
  for (size_t k = 0; k < classes; k++) p->rank[k] = (struct ranked){probability[k], k};
  qsort(p->rank, classes, sizeof *p->rank, by_rank);
  char *name = shown_whole(file);
  printf("%-*s", p->width, name ? name : "?");
  for (size_t k = 0; k < classes; k++)
    printf("%s%s %.4f", k == 1 ? "   " : "  ", shown(p->who->name[p->rank[k].class]).text,
           (double)p->rank[k].probability);
  printf("\n");
  free(name);
}

const struct printing print_text = {.begin = no_heading, .answer = text_answer};

/* ---- CSV ---- */

static bool is_number(const char *s)
{
  char *end;
  strtod(s, &end);
  return end > s && !*end;
}

/* A spreadsheet runs a text that begins as a formula does, but for a quote before it, which it does not show. */
void csv_name(r4_table *t, const char *name)
{
  bool formula = *name && strchr("=+-@\t\r", *name) && !is_number(name);
  size_t n = strlen(name) + 1;
  char *quoted = formula ? malloc(n + 1) : NULL;
  if (quoted) {
    *quoted = '\'';
    memcpy(quoted + 1, name, n);
  }
  r4_table_cell(t, formula ? quoted ? quoted : "" : name);
  free(quoted);
}

/* The headings and then each answer at once: there may be very many. */
static void csv_begin(struct printer *p)
{
  p->table = r4_table_new();
  r4_table_column(p->table, "file", 'l', 0);
  r4_table_column(p->table, "prediction", 'l', 0);
  r4_table_column(p->table, "probability", 'l', 0);
  for (size_t k = 0; k < p->who->classes; k++) r4_table_column(p->table, p->who->name[k], 'l', 0);
  p->code = table_print(stdout, "predict", p->table, R4_TABLE_CSV);
}

static void csv_answer(struct printer *p, const char *file, const float *probability)
{
  size_t best = most_probable(p->who->classes, probability);
  csv_name(p->table, file);
  csv_name(p->table, p->who->name[best]);
  cell(p->table, "%.9g", (double)probability[best]);
  for (size_t k = 0; k < p->who->classes; k++) cell(p->table, "%.9g", (double)probability[k]);
  if (!p->code) p->code = table_print(stdout, "predict", p->table, R4_TABLE_CSV);
}

int csv_end(struct printer *p)
{
  return p->code;
}

const struct printing print_csv = {.begin = csv_begin, .answer = csv_answer, .end = csv_end};

/* ---- JSON ---- */

void json_begin(struct printer *p)
{
  r4_json *w = p->json;
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "run", p->who->run);
  r4_json_text(w, "model", p->who->model);
  if (p->who->seed < 0)
    r4_json_text(w, "seed", p->who->nets->n > 1 ? "all" : NULL);
  else
    r4_json_whole(w, "seed", p->who->seed);
  r4_json_open(w, "classes", '[');
  for (size_t k = 0; k < p->who->classes; k++) r4_json_text(w, NULL, p->who->name[k]);
  r4_json_close(w, ']');
  r4_json_open(w, "photos", '[');
}

void json_photo(r4_json *w, const char *file)
{
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "file", file);
}

static void json_answer(struct printer *p, const char *file, const float *probability)
{
  r4_json *w = p->json;
  size_t best = most_probable(p->who->classes, probability);
  json_photo(w, file);
  r4_json_text(w, "prediction", p->who->name[best]);
  r4_json_real(w, "probability", probability[best]);
  r4_json_open(w, "probabilities", '[');
  for (size_t k = 0; k < p->who->classes; k++) r4_json_real(w, NULL, probability[k]);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}

void json_unreadable(struct printer *p, const char *file, const char *why)
{
  json_photo(p->json, file);
  r4_json_text(p->json, "error", why);
  r4_json_close(p->json, '}');
}

int json_end(struct printer *p)
{
  r4_json *w = p->json;
  r4_json_close(w, ']');
  r4_json_text(w, "heat", p->heat);
  r4_json_close(w, '}');
  p->json = NULL;
  return json_print(stdout, "predict", w);
}

const struct printing print_json = {json_begin, json_answer, json_unreadable, json_end};
