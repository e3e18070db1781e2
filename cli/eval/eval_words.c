/* The substitution test in "r4 eval": answers that are right whatever words of a list stand at the masked tokens. */
#include <math.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

/* Texts of all groups. */
static double total(const r4_substituted *s, const size_t *of)
{
  size_t n = 0;
  for (size_t g = 0; g < s->groups; g++) n += of[g];
  return (double)n;
}

/* Shares over seeds. */
static r4_mean_sd over_seeds(const struct evaluation *v, double (*of)(const r4_substituted *))
{
  double x[MAX_SEEDS];
  for (size_t k = 0; k < v->summary.seeds; k++) x[k] = of(&v->measured[k].substituted);
  return r4_mean_sd_of(v->summary.seeds, x);
}

static double right(const r4_substituted *s)
{
  return total(s, s->right) / total(s, s->examples);
}

/* Of those that were tried one by one, the share that the bounds prove. */
static double proved(const r4_substituted *s)
{
  return total(s, s->proved) / total(s, s->tried);
}

static double worst_certified(const r4_substituted *s)
{
  double least = 1;
  for (size_t g = 0; g < s->groups; g++)
    if (s->examples[g]) least = fmin(least, (double)s->certified[g] / (double)s->examples[g]);
  return least;
}

/* A figure of the table. */
static r4_mean_sd figure(const struct evaluation *v, const char *key)
{
  return r4_value_over(v->measured, v->summary.seeds, key);
}
static const char CERTIFIED[] = "words_certified_accuracy", HELD[] = "words_held_accuracy";

static bool is_there(const struct evaluation *v)
{
  return v->measured->substituted.words && !v->measured->substituted.none;
}

/* ---- Text ---- */

static void add(r4_table *t, const char *name, r4_mean_sd v)
{
  char text[FIGURE_SIZE];
  r4_table_cell(t, name);
  cell(t, "%s %%", percent_text(v, 6, text));
}

/* What is not replaced, or replaces nothing. */
static void print_left_out(const r4_substituted *s)
{
  if (s->unknown)
    printf("%zu word%s of the list %s not in the vocabulary and replace%s nothing: \"%s\"%s\n", s->unknown,
           s->unknown > 1 ? "s" : "", s->unknown > 1 ? "are" : "is", s->unknown > 1 ? "" : "s",
           shown(s->first_unknown).text, s->unknown > 1 ? " first" : "");
  if (s->kept)
    printf("%zu masked word%s as %s, \"%s\" first: no other word of the list has as many pieces\n", s->kept,
           s->kept > 1 ? "s stay" : " stays", s->kept > 1 ? "they are" : "it is", shown(s->first_kept).text);
}

int words_print(const struct evaluation *v)
{
  if (!is_there(v)) return EXIT_DONE;
  const r4_substituted *s = &v->measured->substituted;
  printf("\n"
         "Substitution: correct whatever words of the list (%zu) replace the masked tokens, on %.0f texts that have "
         "some\n"
         "\n",
         s->words, total(s, s->examples));
  r4_table *t = r4_table_new();
  r4_table_column(t, NULL, 'l', 30);
  r4_table_column(t, NULL, 'l', 0);
  add(t, "correct as they are", over_seeds(v, right));
  add(t, "certified, by bounds", figure(v, CERTIFIED));
  add(t, "  in the worst group", over_seeds(v, worst_certified));
  if (total(s, s->tried) > 0) {
    add(t, "held, each replacement tried", figure(v, HELD));
    if (total(s, s->tried) < total(s, s->examples)) add(t, "  of these certified", over_seeds(v, proved));
  }
  int code = table_end(stdout, "eval", t, R4_TABLE_PLAIN);
  for (size_t k = 0; k < v->summary.seeds; k++)
    if (v->measured[k].substituted.overflowed)
      printf("the bounds of %zu texts overflowed and prove nothing (seed %zu of the run)\n",
             v->measured[k].substituted.overflowed, k);
  if (total(s, s->tried) < total(s, s->examples))
    printf("tried: %.0f texts, which have at most %zu replacements\n", total(s, s->tried), s->tries);
  print_left_out(s);
  return code;
}

/* ---- JSON ---- */

void words_add_json(r4_json *w, const struct evaluation *v)
{
  if (!is_there(v)) return;
  const r4_substituted *s = &v->measured->substituted;
  size_t overflowed = 0;
  for (size_t k = 0; k < v->summary.seeds; k++) overflowed += v->measured[k].substituted.overflowed;
  r4_json_open(w, "substitution", '{');
  r4_json_whole(w, "overflowed", (int64_t)overflowed);
  r4_json_whole(w, "words", (int64_t)s->words);
  r4_json_whole(w, "unknown_words", (int64_t)s->unknown);
  r4_json_whole(w, "kept_masked_words", (int64_t)s->kept);
  r4_json_whole(w, "examples", (int64_t)total(s, s->examples));
  json_mean_sd(w, "accuracy", over_seeds(v, right));
  json_mean_sd(w, "certified_accuracy", figure(v, CERTIFIED));
  json_mean_sd(w, "worst_group_certified_accuracy", over_seeds(v, worst_certified));
  r4_json_whole(w, "tried", (int64_t)total(s, s->tried));
  r4_json_whole(w, "most_replacements", (int64_t)s->tries);
  json_mean_sd(w, "held_accuracy_of_tried", figure(v, HELD));
  json_mean_sd(w, "certified_accuracy_of_tried", over_seeds(v, proved));
  r4_json_close(w, '}');
}
