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
  {"out FOLDER", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for find.json and find.png, or for what --propose makes"},
  {"propose FINDING", OPTION_TEXT, AT(propose), NULL, 0, 0,
   "name of a finding: masks for all images that show it"},
  {"from FILE", OPTION_TEXT, AT(from), NULL, 0, 0, "with --propose: a find.json, instead of a search"},
  SEARCH_OPTIONS,
  {"all", OPTION_FLAG, AT(all), NULL, 0, 0, "print all findings, with examples of each, not the first few"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "write masks into a folder that has some"},
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
  char *said = r4_clue_leaning(c);
  if (said) printf("   %s\n", said);
  r4_string_free(said);
}

static void print_p(const r4_clue *c)
{
  if (isnan(c->p)) {
    printf("   no p: what a net looks at is not tested\n");
    return;
  }
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

static void print_margin(const r4_found *f)
{
  for (size_t k = 0; k < r4_found_count(f); k++) {
    if (isnan(r4_found_at(f, k).lean)) continue;
    printf("The margin is how much the net prefers the class to all others; the prediction turns where it is gone.\n");
    return;
  }
}

/* Of texts: the person's own choice, never ours. Nothing is masked that nobody has judged. */
static void print_next_of_words(void)
{
  printf("To mask words that must not matter, and only these, for the file of a run:\n\n"
         "  data.mask_words: WORD, WORD\n");
}

/* Why the command is not about the first finding. */
static void print_passed_over(const r4_found *f, size_t k)
{
  if (k) printf("%s has no place that could be marked; %s is the first that has.\n", r4_found_at(f, 0).id,
                r4_found_at(f, k).id);
}

/* What can be drawn. */
static bool has_sheet(const r4_data *d, const r4_found *f)
{
  r4_shape shape = r4_data_shape(d);
  return r4_found_count(f) && shape.rank == 3 && (shape.dim[2] == 1 || shape.dim[2] == 3);
}

static void print_sheet(const struct find_settings *s)
{
  if (*s->out)
    printf("%s/find.png shows examples of each, with its place.\n", shown(s->out).text);
  else
    printf("--out FOLDER draws examples of each, with its place, in FOLDER/find.png.\n");
}

static void print_next(const struct find_settings *s, const r4_data *d, const r4_found *f)
{
  size_t k = r4_found_markable(f);
  r4_clue c = r4_found_at(f, k);
  print_margin(f);
  printf("Which of these may matter, nobody but you can say: look at the %s and decide.\n",
         r4_data_shape(d).rank == 3 ? "photos" : "texts");
  if (has_sheet(d, f)) print_sheet(s);
  if (!c.id) return;
  if (c.words) {
    print_next_of_words();
    return;
  }
  print_passed_over(f, k);
  printf("To mark one that must not matter, here number %zu:\n\n", k + 1);
  print_command(s);
  printf(" --propose %s --out masks\n", c.id);
  if (net_of(s) || c.kind == R4_CLUE_CLUSTER) return;
  printf("\nWhich of these a net leans on, and what else it looks at:\n\n");
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
  if (r4_found_count(f)) print_next(s, d, f);
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
  if (!has_sheet(d, f)) return EXIT_DONE;
  if (!path_make(path, "%s/find.png", s->out)) return cli_fail("find", R4_E_ARGUMENT, "the path is too long");
  return r4_found_sheet(f, d, path, &e) ? cli_fail("find", e.status, e.text) : EXIT_DONE;
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
                             .seed = s->source.read.seed,
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
