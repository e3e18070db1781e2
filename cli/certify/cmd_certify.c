/* r4 certify: what is proved about a run's predictions, whatever is in the masks. */
#include "certify/certify.h"
#include "data/cmd_data.h"

#define AT(field) offsetof(struct certify_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORD, AT(run), NULL, 0, 0, "a folder that r4 train made"},
  {"eps", OPTION_TEXT, AT(eps), NULL, 0, 0, "masked features move by up to this much: a decimal, taken exactly"},
  {"range", OPTION_FLAG, AT(range), NULL, 0, 0, "masked features take any valid value"},
  {"valid", OPTION_TEXT, AT(valid), NULL, 0, 0,
   "lowest and highest valid value of a feature, as 0,1; none: there is no range; if not given, 0,1 for images"},
  {"words", OPTION_TEXT, AT(words), NULL, 0, 0,
   "masked words of texts are any of a list: words with commas, a file of them, or run: those of the RUN's settings"},
  {"cover", OPTION_TEXT, AT(cover), NULL, 0, 0,
   "any content of any one region of a family, as edges:0.33; its place is not known"},
  {"detect", OPTION_FLAG, AT(detect), NULL, 0, 0,
   "cover: certify that a change of the prediction is reported, by one mask at a time"},
  {"gradient", OPTION_FLAG, AT(gradient), NULL, 0, 0, "also how large the masked explanation can be: delta*"},
  {"radius", OPTION_FLAG, AT(radius), NULL, 0, 0, "also the largest eps that is certified, for each example"},
  {"semantics", OPTION_TEXT, AT(semantics), "real", 0, 0,
   "real: the stored weights in real arithmetic; any-float: every float evaluation, in any order"},
  {"method", OPTION_TEXT, AT(method), "intervals", 0, 0,
   "box: intervals; linear: walking back from the logits, tighter, slower; best: linear where intervals cannot tell"},
  {"slopes", OPTION_WHOLE, AT(slopes), "20", 0, 1e6,
   "linear, best: steps of a search for better bounds of relus where the usual ones cannot tell; 0: none"},
  {"split", OPTION_TEXT, AT(split), "test", 0, 0, "test, val or train"},
  {"seed", OPTION_WHOLE, AT(seed), "-1", -1, 1e9, "one seed of the run; -1: all of them"},
  {"examples", OPTION_WHOLE, AT(examples), "0", 0, 1e9, "the first so many; 0: all"},
  {"attack", OPTION_WHOLE, AT(attack), "3", 0, 1e6, "starts of the attack on each example; 0: no attack"},
  {"out", OPTION_TEXT, AT(out), NULL, 0, 0,
   "the certificate to write, a %d in it becomes the seed (usual: in the folder of the seed)"},
  {"data", OPTION_TEXT, AT(data), NULL, 0, 0,
   "the npz file with the examples to write, which goes with it (usual: the certificate's name with .npz)"},
  {"data-now", OPTION_TEXT, AT(data_now), NULL, 0, 0, "where the data of the RUN are now, if they are not found"},
  {"other-data", OPTION_FLAG, AT(other_data), NULL, 0, 0, "even if the run was trained on other data"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite files"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON: an object for each seed; shares from 0 to 1"},
  {0},
};

/* A line for each claim. */
static const struct claim *const claims[] = {&claim_words, &claim_cover, &claim_box, NULL};

static const struct claim *choose(const struct certify_settings *o)
{
  for (const struct claim *const *c = claims; *c; c++)
    if ((*c)->asked(o)) return *c;
  fprintf(stderr, "r4 certify: nothing is asked for; expected --eps E, --range, --words LIST or --cover FAMILY\n");
  return NULL;
}

static int run(int argc, char **argv)
{
  struct certify_settings o;
  if (!options_read("certify", options, &o, argc, argv)) return EXIT_USAGE;
  int split;
  if (!source_split("certify", *o.split ? o.split : "nothing", &split)) return EXIT_USAGE;
  const struct claim *claim = choose(&o);
  int code = claim ? claim->check(&o) : EXIT_USAGE;
  return code ? code : certify_run(&o, claim, (r4_split)split);
}

const struct command command_certify = {
  .name = "certify",
  .summary = "prove predictions for any content of the masks, and write certificates",
  .details = "Certified means proved for every content of the mask, by sound arithmetic; r4-check checks the files.\n"
             "The attack is a search for a counter-example inside the same box: the truth lies between the two.",
  .options = options,
  .threads = THREADS_HERE,
  .run = run,
};
