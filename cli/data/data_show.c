/* r4 data show: what is in a data set. */
#include "data/cmd_data.h"

struct data_show_settings {
  struct source source;
  const char *split, *out;
  bool json, force;
};

static const struct option options[] = {
  SOURCE_OPTIONS(struct data_show_settings, source),
  {"split", OPTION_TEXT, offsetof(struct data_show_settings, split), NULL, 0, 0,
   "only this part: train, val or test"},
  {"out FILE", OPTION_TEXT, offsetof(struct data_show_settings, out), NULL, 0, 0,
   "also draw a contact sheet, a PNG file"},
  {"force", OPTION_FLAG, offsetof(struct data_show_settings, force), NULL, 0, 0,
   "overwrite an existing file"},
  {"json", OPTION_FLAG, offsetof(struct data_show_settings, json), NULL, 0, 0, "print JSON"},
  {0},
};

static int run(int argc, char **argv)
{
  struct data_show_settings s = {0};
  int code, split;
  r4_error e = {0};
  if (!options_read("data show", options, &s, argc, argv) || !source_split("data show", s.split, &split) ||
      (*s.out && !out_check("data show", "out", s.out, ".png", s.force)))
    return EXIT_USAGE;
  r4_data *d = source_open("data show", &s.source, &code);
  if (d && split >= 0) {
    r4_data *part = r4_data_part(d, (r4_split)split, &e);
    r4_data_free(d);
    d = part;
    if (!d) code = cli_fail("data show", e.status, e.text);
  }
  if (!d) return code;
  if (*s.out && r4_data_sheet(d, R4_SHEET_CLASSES, 0, s.out, &e)) {
    r4_data_free(d);
    return cli_fail("data show", e.status, e.text);
  }
  code = print_data(d, s.json);
  r4_data_free(d);
  return code;
}

const struct command data_show = {
  .name = "show",
  .summary = "show what is in a data set",
  .details = "Prints how many examples each class and group has in each split, how many have a mask and how much of "
             "the\n"
             "example it covers, the range of the values, and a hash of the content. With --out it also draws the "
             "first\n"
             "examples of each class, with their masks outlined.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
