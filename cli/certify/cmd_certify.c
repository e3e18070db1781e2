/* r4 certify: what is proved about a run's predictions, whatever is in the masks. */
#include "certify/certify.h"
#include "data/cmd_data.h"

#define AT(field) offsetof(struct certify_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORD, AT(run), NULL, 0, 0, "folder made by r4 train"},
  {"eps", OPTION_TEXT, AT(eps), NULL, 0, 0, "how far masked features may move: a decimal, taken exactly"},
  {"range", OPTION_FLAG, AT(range), NULL, 0, 0, "masked features may take any valid value"},
  {"valid LOW,HIGH", OPTION_TEXT, AT(valid), NULL, 0, 0,
   "lowest and highest valid value of a feature, such as 0,1; none: no limits (default: 0,1 for images)"},
  {"words", OPTION_TEXT, AT(words), NULL, 0, 0,
   "masked words of texts may be any of a list: words separated by commas, a file of them, or run: those of the RUN's "
   "settings"},
  {"cover FAMILY", OPTION_TEXT, AT(cover), NULL, 0, 0,
   "any content in any one region of a family, such as edges:0.33, wherever it is"},
  {"detect", OPTION_FLAG, AT(detect), NULL, 0, 0,
   "--cover: certify that a changed prediction is reported, using one mask at a time"},
  {"gradient", OPTION_FLAG, AT(gradient), NULL, 0, 0, "also bound the masked explanation: delta*"},
  {"radius", OPTION_FLAG, AT(radius), NULL, 0, 0, "also find the largest certified eps of each example"},
  {"semantics", OPTION_TEXT, AT(semantics), "real", 0, 0,
   "real: the stored weights in real arithmetic; any-float: every float evaluation, in any order"},
  {"method", OPTION_TEXT, AT(method), "intervals", 0, 0,
   "how --eps and --range are proved: intervals; linear: walking back from the logits, tighter, slower; best: linear "
   "where intervals cannot tell; "
   "complete: best, then branch and bound where that cannot tell"},
  {"seconds", OPTION_REAL, AT(seconds), "10", 0, 1e9,
   "complete: seconds of branch and bound for each example, at most"},
  {"slopes", OPTION_WHOLE, AT(slopes), "20", 0, 1e6,
   "linear, best, complete: steps of a search for better bounds of relus where the usual ones cannot tell; 0: none"},
  {"split", OPTION_TEXT, AT(split), SPLIT_AUTO, 0, 0, SPLIT_HELP},
  {"seed", OPTION_WHOLE, AT(seed), "-1", -1, 1e9, "only this seed of the run; -1: all"},
  {"examples", OPTION_WHOLE, AT(examples), "0", 0, 1e9, "number of examples, from the first on; 0: all"},
  {"attack", OPTION_WHOLE, AT(attack), "3", 0, 1e6, "random starts of the attack on each example; 0: no attack"},
  {"out FILE", OPTION_TEXT, AT(out), NULL, 0, 0,
   "the certificate to write; %d stands for the seed (default: in the folder of the seed)"},
  {"data FILE", OPTION_TEXT, AT(data), NULL, 0, 0,
   "the npz file to write, with the examples of the certificate (default: certificate-SPLIT.npz in RUN; with --out, "
   "its name with .npz)"},
  {"vnnlib DIR", OPTION_TEXT, AT(vnnlib), NULL, 0, 0,
   "--eps, --range: also write the claims for other verifiers: the net as ONNX, a VNN-LIB file for each example "
   "with a mask"},
  {"data-now PATH", OPTION_TEXT, AT(data_now), NULL, 0, 0, "where the data of RUN are now, if they have moved"},
  {"other-data", OPTION_FLAG, AT(other_data), NULL, 0, 0, "accept data other than those RUN was trained on"},
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
  fprintf(stderr, "r4 certify: nothing to certify; expected --eps E, --range, --words LIST or --cover FAMILY\n");
  return NULL;
}

static int run(int argc, char **argv)
{
  struct certify_settings o;
  if (!options_read("certify", options, &o, argc, argv)) return EXIT_USAGE;
  r4_split split;
  if (!run_split("certify", o.split, &split)) return EXIT_USAGE;
  const struct claim *claim = choose(&o);
  int code = claim ? claim->check(&o) : EXIT_USAGE;
  return code ? code : certify_run(&o, claim, split);
}

const struct command command_certify = {
  .name = "certify",
  .summary = "prove predictions for any masked content, and write certificates",
  .details = "Certified means proved for every content of the mask, in sound arithmetic; r4-check verifies the "
             "files.\n"
             "The attack searches for a counter-example in the same box: the exact share lies between the two.",
  .options = options,
  .threads = THREADS_HERE,
  .run = run,
};
