/* r4 find: what gives the label away, before anything is marked. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "find/cmd_find.h"
#include "json_out.h"

#define AT(field) offsetof(struct find_settings, field)
#define SEARCH_OPTIONS                                                                               \
  {"most", OPTION_WHOLE, AT(most), "20", 1, 200, "findings, at most"},                               \
    {"all-parts",                                                                                    \
     OPTION_FLAG,                                                                                    \
     AT(all_parts),                                                                                  \
     NULL,                                                                                           \
     0,                                                                                              \
     0,                                                                                              \
     "look at examples of all parts, not those for training alone"},                                 \
    {"masked", OPTION_FLAG, AT(masked), NULL, 0, 0, "look at what is masked already, too"},          \
  {                                                                                                  \
    "permute", OPTION_WHOLE, AT(permute), "0", 0, 1e9,                                               \
      "deal labels out at random first, differently for each N: what is found then is a false alarm" \
  }

static const struct option options[] = {
  SOURCE_OPTIONS(struct find_settings, source),
  {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "a run, whose net is asked what it looks at"},
  {"quick-net", OPTION_FLAG, AT(quick_net), NULL, 0, 0, "train a small net for that, in a few minutes"},
  {"out FOLDER", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for find.json, or for what --propose makes"},
  {"propose FINDING", OPTION_TEXT, AT(propose), NULL, 0, 0,
   "name of a finding: masks for all images that show it"},
  {"from FILE", OPTION_TEXT, AT(from), NULL, 0, 0, "with --propose: a find.json, instead of a search"},
  SEARCH_OPTIONS,
  {"all", OPTION_FLAG, AT(all), NULL, 0, 0, "print all findings, with examples of each, not the first few"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {"progress", OPTION_FLAG, AT(progress), NULL, 0, 0,
   "lines on stderr such as \"find: looking: 512 of 2745\""},
  {0},
};

/* How the data are read, and what is looked at: a command that goes on needs the same. */
static const struct option reading[] = {SOURCE_OPTIONS(struct find_settings, source), {0}};
static const struct option searching[] = {SEARCH_OPTIONS, {0}};

/* ---- Progress ---- */

/* At most ten lines a second, and the last of each stage. */
void find_progress(const char *stage, size_t done, size_t all, void *user)
{
  struct find_clock *c = user;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (!c->on || (done < all && seconds < c->last + .1)) return;
  c->last = seconds;
  fprintf(stderr, "find: %s: %zu of %zu\n", stage, done, all);
}

/* ---- Printing ---- */

enum { FIRST = 5 }; /* that are printed without --all */

static void print_lean(const r4_clue *c)
{
  if (isnan(c->lean)) return;
  printf("   painting this place over costs the net %.0f +- %.0f %% of its margin (its confidence)\n",
         100 * c->lean, 100 * c->lean_se);
}

static void print_p(const r4_clue *c)
{
  if (isnan(c->p)) return;
  printf(c->p > 0 ? "   p = %.2g" : "   p < 1e-300", c->p);
  printf(" after the correction for all that was tried%s%s\n", c->pure ? "; pure" : "",
         c->local ? "; at a place" : "");
}

static void print_examples(const r4_data *d, const r4_clue *c)
{
  enum { SHOWN = 5 };
  size_t n = c->sightings < SHOWN ? c->sightings : SHOWN;
  if (c->words) return;
  printf("   such as");
  for (size_t k = 0; k < n; k++) {
    const char *file = r4_data_example(d, c->sighting[k].example).file;
    if (file)
      printf("%s %s", k ? "," : "", shown(file).text);
    else
      printf("%s number %zu", k ? "," : "", c->sighting[k].example);
  }
  printf("\n");
}

static void print_clue(const r4_data *d, const r4_clue *c, size_t number, bool examples)
{
  printf("%2zu %s\n   %s\n", number, c->id, c->what);
  print_p(c);
  print_lean(c);
  if (examples) print_examples(d, c);
  printf("\n");
}

static void print_rest(const struct find_settings *s, size_t rest)
{
  printf("%zu more, and examples of all:\n\n", rest);
  find_print_again(stdout, s);
  if (*s->run) {
    printf(" --run ");
    cli_print_word(stdout, s->run);
  }
  printf("%s --all\n\n", s->quick_net ? " --quick-net" : "");
}

/* The line for a settings file, of words that tell without exception. */
static void print_mask_words(const r4_found *f)
{
  size_t n = 0;
  for (size_t k = 0; k < r4_found_count(f); k++) {
    r4_clue c = r4_found_at(f, k);
    if (!c.words || !c.pure) continue;
    printf("%s%s",
           n++ ? ", " : "If none of the pure ones may matter, for the file of a run:\n\n  data.mask_words: ",
           c.words);
  }
  if (n) printf("\n\n");
}

static const char *net_of(const struct find_settings *s)
{
  return *s->run ? s->run : s->quick_net ? "quick" : NULL;
}

void find_print_again(FILE *f, const struct find_settings *s)
{
  fprintf(f, "  r4 find ");
  cli_print_word(f, s->source.path);
  options_print_given(f, reading, s);
  options_print_given(f, searching, s);
}

/* The same data, with what was saved, or else the same net: clusters are found again by that alone. A run says how the
 * data are read. */
static void print_command(const struct find_settings *s)
{
  find_print_again(stdout, s);
  if (*s->run) {
    printf(" --run ");
    cli_print_word(stdout, s->run);
  }
  if (*s->out) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/find.json", s->out);
    printf(" --from ");
    cli_print_word(stdout, path);
  } else if (s->quick_net) {
    printf(" --quick-net");
  }
}

static void print_next(const struct find_settings *s, const r4_found *f)
{
  printf("Which of these may matter, nobody but you can say: a smooth lesion is benign for a reason, a patch "
         "next to it\n"
         "is not. Look at the photos or texts.\n");
  r4_clue c = r4_found_at(f, r4_found_safest(f));
  if (!c.id) return;
  printf("To mark what must not matter:\n\n");
  print_command(s);
  printf(" --propose %s --out masks\n", c.id);
  if (c.words || net_of(s) || c.kind == R4_CLUE_CLUSTER) return;
  printf(
    "\nA net may see what this search does not, and masks of what it looks at (clusters) are better:\n\n");
  find_print_again(stdout, s);
  printf(" --quick-net\n");
}

static int print_text(const struct find_settings *s, const r4_data *d, const r4_found *f)
{
  char *sentence = r4_found_sentence(f);
  if (!sentence) return cli_fail("find", R4_E_MEMORY, "");
  printf("%s\n\n", sentence);
  r4_string_free(sentence);
  size_t n = r4_found_count(f), shown = s->all || n < FIRST ? n : FIRST;
  for (size_t k = 0; k < shown; k++) {
    r4_clue c = r4_found_at(f, k);
    print_clue(d, &c, k + 1, s->all || k == 0);
  }
  if (shown < n) print_rest(s, n - shown);
  print_mask_words(f);
  if (r4_found_count(f)) print_next(s, f);
  return EXIT_DONE;
}

/* ---- Searching ---- */

static int save(const struct find_settings *s, const r4_data *d, const r4_found *f)
{
  char path[PATH_MAX];
  r4_error e = {0};
  if (!*s->out) return EXIT_DONE;
  if (!folder_make(s->out)) {
    snprintf(path, sizeof path, "%s: %s", s->out, strerror(errno));
    return cli_fail("find", R4_E_IO, path);
  }
  if (!path_make(path, "%s/find.json", s->out))
    return cli_fail("find", R4_E_ARGUMENT, "the path is too long");
  if (r4_found_save(f, d, s->source.path, net_of(s), path, &e)) return cli_fail("find", e.status, e.text);
  return EXIT_DONE;
}

static int print_json(const struct find_settings *s, const r4_data *d, const r4_found *f)
{
  r4_error e = {0};
  char *text = r4_found_json(f, d, s->source.path, net_of(s), &e);
  if (!text) return cli_fail("find", e.status, e.text);
  printf("%s\n", text);
  r4_string_free(text);
  return EXIT_DONE;
}

static r4_found *look(const struct find_settings *s, const r4_data *d, struct find_net *n,
                      struct find_clock *clock, r4_error *e)
{
  const r4_find_options o = {.source = s->source.path,
                             .most = (size_t)s->most,
                             .masked = s->masked || s->unstated,
                             .all = s->all_parts,
                             .report = find_progress,
                             .user = clock};
  if (*s->from) return r4_found_load(s->from, d, e);
  r4_found *f = r4_find_scan(d, &o, e);
  if (!f || !n->net || !r4_find_clusters(f, n->net, n->weights, d, &o, e)) return f;
  r4_found_free(f);
  return NULL;
}

static int search(const struct find_settings *s, const r4_data *d, struct find_net *n,
                  struct find_clock *clock)
{
  r4_error e = {0};
  r4_found *f = look(s, d, n, clock, &e);
  if (!f) return cli_fail("find", e.status, e.text);
  int code = *s->propose ? find_propose(s, d, f, clock) : save(s, d, f);
  if (!code && !*s->propose) code = s->json ? print_json(s, d, f) : print_text(s, d, f);
  r4_found_free(f);
  return code;
}

/* ---- A check of the level ---- */

/* Labels change places within each part, by Fisher and Yates. */
static r4_data *permuted(const r4_data *d, uint64_t seed, r4_error *e)
{
  size_t n = r4_data_count(d), classes = r4_data_classes(d);
  int32_t *label = malloc((n ? n : 1) * sizeof *label);
  const char **name = malloc((classes ? classes : 1) * sizeof *name);
  size_t *of_part = malloc((n ? n : 1) * sizeof *of_part);
  r4_data *to = NULL;
  for (size_t i = 0; label && i < n; i++) label[i] = r4_data_example(d, i).label;
  for (size_t k = 0; name && k < classes; k++) name[k] = r4_data_class_name(d, k);
  for (int part = 0; label && name && of_part && part < R4_SPLITS; part++) {
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
      if ((int)r4_data_example(d, i).split == part) of_part[all++] = i;
    for (size_t i = all; i-- > 1;) {
      size_t j = (size_t)r4_random_below((r4_random){.seed = seed}, of_part[i], i + 1);
      int32_t was = label[of_part[i]];
      label[of_part[i]] = label[of_part[j]];
      label[of_part[j]] = was;
    }
  }
  if (label && name && of_part)
    to = r4_data_relabel(d, label, classes, name, e);
  else
    e->status = R4_E_MEMORY;
  free(label);
  free(name);
  free(of_part);
  return to;
}

/* A net of a run sees the data as its settings say. */
static int check_reading(const struct find_settings *s)
{
  char *given = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&given, &size);
  if (!f) return cli_fail("find", R4_E_MEMORY, "");
  bool any = options_print_given(f, reading, s);
  fclose(f);
  if (any)
    fprintf(stderr, "r4 find: --run reads the data as the settings of the run say: leave out%s\n", given);
  free(given);
  return any ? EXIT_USAGE : EXIT_DONE;
}

static int check(const struct find_settings *s)
{
  if (*s->from && !*s->propose) return cli_fail("find", R4_E_ARGUMENT, "--from is for --propose");
  if (*s->run && s->quick_net)
    return cli_fail("find", R4_E_ARGUMENT, "--run and --quick-net are two nets: choose one");
  return *s->run ? check_reading(s) : EXIT_DONE;
}

static int find_in(const struct find_settings *s, const r4_data *d, struct find_net *n,
                   struct find_clock *clock)
{
  r4_error e = {0};
  r4_data *dealt = s->permute ? permuted(d, (uint64_t)s->permute, &e) : NULL;
  if (s->permute && !dealt) return cli_fail("find", e.status, e.text);
  const r4_data *of = dealt ? dealt : d;
  int code = find_train(s, n, of, clock);
  if (!code) code = search(s, of, n, clock);
  r4_data_free(dealt);
  return code;
}

static int run(int argc, char **argv)
{
  struct find_settings s = {0};
  struct find_net n = {0};
  r4_data *d = NULL;
  if (!options_read("find", options, &s, argc, argv) || !source_read("find", &s.source)) return EXIT_USAGE;
  struct find_clock clock = {.on = s.progress};
  int code = check(&s);
  if (code) return code;
  find_progress("reading", 0, 1, &clock);
  code = find_open(&s, &n, &d);
  if (!code) find_progress("reading", 1, 1, &clock);
  if (!code) code = find_in(&s, d, &n, &clock);
  r4_data_free(d);
  find_net_close(&n);
  return code;
}

const struct command command_find = {
  .name = "find",
  .summary = "what gives the label away: shortcuts in data, before anything is marked",
  .details =
    "Of images: places of one colour, brightness or texture, files of one kind. Of texts: words, words after "
    "each\n"
    "other, words at an end, lengths. A finding is a set of training examples that look alike in one respect "
    "and\n"
    "share a label, with the chance of as many or more by luck, corrected for all that was tried: where "
    "labels were\n"
    "dealt out at random, anything at all is found once in 20 times. Pure findings at a place come first.\n"
    "doc/find.md says more. Exit code 0 also if nothing was found.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
