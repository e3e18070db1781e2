/* Predictions under covering masks, as text, as CSV and as JSON. */
#include <stdlib.h>

#include "cmd_predict.h"
#include "json_out.h"
#include "table_out.h"

/* What is known of a prediction, in words. */
static const char *verdict(const r4_covered *x)
{
  if (x->recovered) return "certified";
  return x->agreed ? "not certified" : "one region decides";
}

/* A net without a finite logit has predicted nothing. */
static const char *class_name(const struct printer *p, int32_t class)
{
  return class < 0 ? "none" : p->who->name[class];
}

static void text_covered(struct printer *p, const char *file, const float *probability)
{
  (void)probability;
  char *name = shown_whole(file);
  printf("%-*s  %s   %s\n", p->width, name ? name : "?", shown(class_name(p, p->covered->predicted)).text,
         verdict(p->covered));
  free(name);
}

static void csv_begin(struct printer *p)
{
  static const char *const headings[] = {"file", "prediction", "certified", "agreed", "net_alone"};
  p->table = r4_table_new();
  for (size_t k = 0; k < sizeof headings / sizeof *headings; k++)
    r4_table_column(p->table, headings[k], 'l', 0);
  p->code = table_print(stdout, "predict", p->table, R4_TABLE_CSV);
}

static void csv_covered(struct printer *p, const char *file, const float *probability)
{
  const r4_covered *x = p->covered;
  (void)probability;
  csv_name(p->table, file);
  csv_name(p->table, class_name(p, x->predicted));
  cell(p->table, "%s", x->recovered ? "true" : "false");
  cell(p->table, "%s", x->agreed ? "true" : "false");
  csv_name(p->table, class_name(p, x->alone));
  if (!p->code) p->code = table_print(stdout, "predict", p->table, R4_TABLE_CSV);
}

static void json_covered(struct printer *p, const char *file, const float *probability)
{
  const r4_covered *x = p->covered;
  (void)probability;
  json_photo(p->json, file);
  r4_json_text(p->json, "prediction", class_name(p, x->predicted));
  r4_json_flag(p->json, "certified", x->recovered);
  r4_json_flag(p->json, "agreed", x->agreed);
  r4_json_text(p->json, "net_alone", class_name(p, x->alone));
  r4_json_close(p->json, '}');
}

const struct printing print_text_covered = {.begin = no_heading, .answer = text_covered};
const struct printing print_csv_covered = {.begin = csv_begin, .answer = csv_covered, .end = csv_end};
const struct printing print_json_covered = {json_begin, json_covered, json_unreadable, json_end};
