/* r4 eval: accuracy by group and fragility of a run, over its seeds. */
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "eval/eval.h"
#include "experiment/figures.h"

struct eval_settings {
  struct words runs;
  const char *split, *data, *swap, *noise, *pointing, *cover, *certify, *by, *predictions;
  struct contents contents;
  struct noise levels;
  struct pointing points;
  struct words set;
  char kappa_set[40];
  int64_t kappa, attack;
  double eps, specificity;
  bool other_data, json, confusion, force;
};

#define AT(field) offsetof(struct eval_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORDS, AT(runs), NULL, 0, 0, "folders made by r4 train; several are compared side by side"},
  {"split", OPTION_TEXT, AT(split), SPLIT_AUTO, 0, 0, SPLIT_HELP},
  {"eps", OPTION_REAL, AT(eps), "-1", -1, 1e6, "radius of the box of fragility; -1: the setting eval.eps"},
  {"kappa", OPTION_WHOLE, AT(kappa), "-1", -1, 1e9,
   "number of masked examples to measure fragility on; 0: none; -1: the setting eval.kappa_examples"},
  {"swap KINDS", OPTION_TEXT, AT(swap), NULL, 0, 0,
   "what replaces masked content in the swap test: swap (default), blank, mean, noise, colour, blur; paste: put "
   "masked content of training examples on all; several with commas; none: no test"},
  {"noise LEVELS", OPTION_TEXT, AT(noise), NULL, 0, 0,
   "relative core sensitivity: levels of noise, such as 0.5,1,2; usual: 0.25 to 4; published: as in the published "
   "code"},
  {"pointing METHODS", OPTION_TEXT, AT(pointing), NULL, 0, 0,
   "pointing games: whether these attributions (r4 help explain) point at the core, such as gradcam,integrated"},
  {"cover FAMILY", OPTION_TEXT, AT(cover), NULL, 0, 0,
   "accuracy under covering masks, and how much of it no one region can change, such as edges:0.33 (r4 help certify)"},
  {"certify BOX", OPTION_TEXT, AT(certify), NULL, 0, 0,
   "accuracy that is proved for any content of the masks: range: any valid value; a number, such as 0.1: a change of "
   "up to this much; and accuracy under attack (r4 help certify)"},
  {"attack", OPTION_WHOLE, AT(attack), "3", 0, 1e6, "--certify: starts of the attack on each example; 0: no attack"},
  {"specificity", OPTION_REAL, AT(specificity), "0.95", 1e-9, 1,
   "two classes: report the sensitivity to the second one at this specificity"},
  {"by COLUMN", OPTION_TEXT, AT(by), NULL, 0, 0,
   "accuracy for each value of a further column of metadata.csv, or of the table of texts"},
  {"confusion", OPTION_FLAG, AT(confusion), NULL, 0, 0, "examples by label and prediction"},
  {"predictions FILE", OPTION_TEXT, AT(predictions), NULL, 0, 0,
   "a CSV file to write: label, prediction and probabilities of each example, by seed and by their mean"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite the file of --predictions"},
  {"set KEY=VALUE", OPTION_LIST, AT(set), NULL, 0, 0,
   "change eval.eps, eval.batch, eval.kappa_examples, eval.draws or data.cache; may be repeated"},
  {"data PATH", OPTION_TEXT, AT(data), NULL, 0, 0, "where the data of the RUNs are now, if they have moved"},
  {"other-data", OPTION_FLAG, AT(other_data), NULL, 0, 0,
   "accept data other than those the RUN was trained on"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0,
   "print JSON: an object for each RUN; shares from 0 to 1; null: there is no such figure"},
  {0},
};

/* ---- The command ---- */

/* A table for each set of data: figures of different data do not belong side by side. Changes v. */
static int print_tables(const struct evaluation **v, size_t n)
{
  int code = EXIT_DONE;
  for (bool further = false; n && !code; further = true) {
    const struct evaluation *same[MAX_WORDS], *first = v[0];
    size_t found = 0, rest = 0;
    for (size_t k = 0; k < n; k++) *(strcmp(v[k]->hash, first->hash) ? &v[rest++] : &same[found++]) = v[k];
    if (further) printf("\n");
    if (further || rest) printf("Data %.12s: %s\n\n", first->hash, shown(r4_data_about(first->data)).text);
    code = eval_print_comparison(same, found);
    n = rest;
  }
  return code;
}

/* The first before run k that is of the same data, or NULL. */
static const struct evaluation *same_data(const struct evaluation **v, size_t k)
{
  for (size_t i = 0; i < k; i++)
    if (!strcmp(v[i]->hash, v[k]->hash)) return v[i];
  return NULL;
}

static int print_all(const struct evaluation **v, size_t n, bool json)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < n && !code && json; k++) code = eval_print_json(v[k], same_data(v, k));
  if (json) return code;
  code = n == 1 ? eval_print_table(v[0]) : print_tables(v, n);
  for (size_t k = 0; k < n && !code; k++) {
    if (n > 1 && (v[k]->noise.asked || v[k]->pointing->n || *v[k]->by.column || v[k]->said.confusion))
      printf("\n%s\n", v[k]->label);
    code = predicted_print_confusion(v[k]);
    if (!code) code = noise_print(v[k]);
    if (!code) code = pointing_print(v[k]);
    if (!code) code = by_print(v[k]);
  }
  return code;
}

static bool asks_for_kappa(const struct eval_settings *o)
{
  bool set = false;
  for (size_t k = 0; k < o->set.n; k++)
    set |= !strncmp(o->set.word[k], "eval.eps=", 9) || !strncmp(o->set.word[k], "eval.kappa_examples=", 20);
  return set || o->eps >= 0;
}

static int evaluate(const struct eval_settings *o, r4_split split, const struct contents *contents,
                    struct evaluation *v)
{
  const struct eval_how how = {.data = o->data, .eps = o->eps, .other_data = o->other_data, .set = &o->set};
  *v = (struct evaluation){.path = v->path,
                           .label = v->label,
                           .name = v->name,
                           .split = o->split,
                           .contents = *contents,
                           .words_asked = true,
                           .kappa_asked = asks_for_kappa(o),
                           .noise = o->levels,
                           .pointing = &o->points,
                           .cover = *o->cover ? o->cover : NULL,
                           .certify = *o->certify ? o->certify : NULL,
                           .attack = o->attack,
                           .by.column = o->by,
                           .specificity = o->specificity,
                           .said = {.asked = true, .confusion = o->confusion, .path = o->predictions},
                           .swap_asked = *o->swap};
  return eval_measure(&how, v, split);
}

/* Where swapping hides what validation found, and nobody has chosen, other contents are tried as well: of one run, as
 * several side by side have the same rows. */
static int evaluate_run(const struct eval_settings *o, r4_split split, struct evaluation *v)
{
  struct contents more;
  int code = evaluate(o, split, &o->contents, v);
  if (code > EXIT_NO || o->runs.n > 1 || *o->swap || *o->predictions || !swap_may_show_more(v)) return code;
  eval_forget(v);
  return swap_contents("swap,paste,blank", &more) ? evaluate(o, split, &more, v) : EXIT_USAGE;
}

/* A run that cannot be evaluated does not keep the others from being printed; the exit code is the worst of all. */
static int evaluate_all(const struct eval_settings *o, r4_split split, struct evaluation *v)
{
  const struct evaluation *good[MAX_WORDS];
  static char label[MAX_WORDS][PATH_SIZE];
  const char *name[MAX_WORDS];
  size_t n = 0;
  int worst = EXIT_DONE;
  runs_name(&o->runs, label, name);
  for (size_t k = 0; k < o->runs.n; k++) {
    v[k] = (struct evaluation){.path = o->runs.word[k], .label = label[k], .name = name[k]};
    int code = evaluate_run(o, split, &v[k]);
    if (code <= EXIT_NO) good[n++] = &v[k];
    if (code > worst) worst = code;
  }
  int code = print_all(good, n, o->json);
  return code > worst ? code : worst;
}

static int run(int argc, char **argv)
{
  struct eval_settings o;
  r4_split split;
  if (!options_read("eval", options, &o, argc, argv)) return EXIT_USAGE;
  if (!run_split("eval", o.split, &split)) return EXIT_USAGE;
  if (!swap_contents(o.swap, &o.contents) || !noise_levels(o.noise, &o.levels) ||
      !pointing_methods(o.pointing, &o.points))
    return EXIT_USAGE;
  if (*o.predictions && o.runs.n > 1) {
    fprintf(stderr, "r4 eval: --predictions: expected one RUN, not %zu\n", o.runs.n);
    return EXIT_USAGE;
  }
  if (*o.predictions && !out_check("eval", "predictions", o.predictions, ".csv", o.force)) return EXIT_USAGE;
  if (o.kappa >= 0 && o.set.n < MAX_WORDS) {
    snprintf(o.kappa_set, sizeof o.kappa_set, "eval.kappa_examples=%lld", (long long)o.kappa);
    o.set.word[o.set.n++] = o.kappa_set;
  }
  struct evaluation *v = calloc(o.runs.n, sizeof *v);
  if (!v) return cli_fail("eval", R4_E_MEMORY, "");
  int code = evaluate_all(&o, split, v);
  for (size_t k = 0; k < o.runs.n; k++) eval_forget(&v[k]);
  free(v);
  return code;
}

const struct command command_eval = {
  .name = "eval",
  .summary = "measure accuracy by group, use of the shortcut, and fragility",
  .details =
    "Prints a table for one run; several runs are side by side, in a table for each data set. Figures are means\n"
    "over the seeds of a run, with standard deviations. The worst group is found for each seed, then averaged;\n"
    "next to it is the published figure, the lowest mean of a group. kappa is none (null in JSON) if no example\n"
    "has a mask, and inf (the text \"inf\" in JSON) if the bounds overflowed. The swap test replaces masked\n"
    "content with that of examples of other classes, eval.draws times each, and counts the predictions that\n"
    "change and the correct ones that are lost; if only some classes have masks, the content is pasted on\n"
    "examples of the others. The verdict below it is that of the page, too. A collapsed net, which predicts a\n"
    "single class, would have the best kappa of all: it is named (\"constant\" and \"predicts_only\" in JSON), and\n"
    "the exit code is 1. For several runs the exit code is the largest.\n"
    "Intervals (95 %) are over examples: Wilson's for one net; for several runs, that of the paired difference\n"
    "of accuracies. For several seeds, their ensemble (the mean of the probabilities) is measured as well.\n"
    "doc/figures.md has the formulas.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
