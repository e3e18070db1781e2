/* r4 data make: a data set by recipe, as an npz file. */
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"

struct data_make_settings {
  struct source source;
  const char *recipe, *val, *shades, *overlap, *split, *out;
  int64_t side;
  bool clean, force, json;
};

#define AT(field) offsetof(struct data_make_settings, field)
static const struct option options[] = {
  {"RECIPE", OPTION_WORD, AT(recipe), NULL, 0, 0, "name of the recipe: see r4 data list"},
  {"out FILE", OPTION_TEXT, AT(out), NULL, 0, 0, "the npz file to write"},
  {"from SOURCE", OPTION_TEXT, AT(source.path), NULL, 0, 0,
   "a source other than the recipe's own: a known name or a path"},
  {"seed", OPTION_WHOLE, AT(source.read.seed), "0", 0, 1e15, "seed of every random draw"},
  {"val SHARE", OPTION_TEXT, AT(val), NULL, 0, 0, "share for validation, or none; otherwise as the source has it"},
  {"split", OPTION_TEXT, AT(split), NULL, 0, 0,
   "HAM10000: split by lesion, or own: as dermamnist_split.csv says"},
  {"size", OPTION_WHOLE, AT(source.size), "0", 0, 65536, "resize images to N x N; 0: as the recipe says"},
  {"side", OPTION_WHOLE, AT(side), "0", 0, 65536, "side of the decoy in pixels; 0: as the recipe says"},
  {"shades", OPTION_TEXT, AT(shades), NULL, 0, 0, "shades of grey decoys: paper or ross"},
  {"clean", OPTION_FLAG, AT(clean), NULL, 0, 0, "leave the decoy out: the ceiling to compare with"},
  {"overlap", OPTION_TEXT, AT(overlap), NULL, 0, 0, "examples in two splits: refuse, drop or keep"},
  READ_OPTIONS(struct data_make_settings, source),
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite an existing file"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {0},
};

static bool wrong(const char *option, const char *expected, const char *got)
{
  fprintf(stderr, "r4 data make: --%s needs %s, got \"%s\"\n", option, expected, got);
  return false;
}

/* "" as the source has it, "none", or a number in (0, 1). */
static bool read_val(const char *word, double *val)
{
  char *end;
  *val = !strcmp(word, "none") ? -1 : 0;
  if (!*word || *val < 0) return true;
  *val = strtod(word, &end);
  return (end > word && !*end && *val > 0 && *val < 1) ||
         wrong("val", "none or a number between 0 and 1", word);
}

static bool read_overlap(const char *word, r4_overlap *rule)
{
  static const char *const words[] = {"", "refuse", "drop", "keep"};
  for (int k = 0; k < 4; k++) {
    *rule = (r4_overlap)k;
    if (!strcmp(words[k], word)) return true;
  }
  return wrong("overlap", "refuse, drop or keep", word);
}

/* "" is lesion. */
static bool read_split(const char *word, bool *own)
{
  *own = !strcmp(word, "own");
  return *own || !*word || !strcmp(word, "lesion") || wrong("split", "lesion or own", word);
}

/* *o looks into s. */
static bool read_recipe_options(struct data_make_settings *s, r4_recipe_options *o)
{
  if (!source_read("data make", &s->source)) return false;
  *o = (r4_recipe_options){
    .read = s->source.read,
    .from = *s->source.path ? s->source.path : NULL,
    .shades = *s->shades ? s->shades : NULL,
    .side = s->side,
    .clean = s->clean,
  };
  return read_val(s->val, &o->val) && read_overlap(s->overlap, &o->overlap) &&
         read_split(s->split, &o->read.own_split);
}

static int run(int argc, char **argv)
{
  struct data_make_settings s = {0};
  r4_recipe_options o;
  r4_error e = {0};
  if (!options_read("data make", options, &s, argc, argv) ||
      !out_check("data make", "out", s.out, ".npz", s.force) || !read_recipe_options(&s, &o))
    return EXIT_USAGE;
  r4_data *d = r4_data_make(s.recipe, &o, &e);
  if (!d || r4_data_save(d, s.out, &e)) {
    r4_data_free(d);
    return cli_fail("data make", e.status, e.text);
  }
  int code = print_data(d, s.json);
  r4_data_free(d);
  return code;
}

const struct command data_make = {
  .name = "make",
  .summary = "make a data set from a recipe",
  .details = "Takes clean data and plants a shortcut, which gives the label away in training but not in the test; "
             "masks\n"
             "mark it. The same recipe, source and seed give the same file. For example\n"
             "  r4 data make decoy-mnist --from digits --out decoy.npz\n"
             "needs nothing else. The result is described as by r4 data show.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
