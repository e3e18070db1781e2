/* r4 export: a model in formats of others. */
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "export.h"
#include "runs.h"

/* The table of formats: the name of the option and of its struct, and what its help says. */
#define FORMATS(FORMAT) \
  FORMAT(onnx, "the file to write, a new .onnx file; onnxruntime and many others run it")

struct export_settings {
  const char *run;
  int64_t seed;
  bool force;
#define FORMAT(name, help) const char *name;
  FORMATS(FORMAT)
#undef FORMAT
};

#define AT(field) offsetof(struct export_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORD, AT(run), NULL, 0, 0,
   "folder made by r4 train, the folder of a seed, or a model file"},
#define FORMAT(name, help) {#name, OPTION_TEXT, AT(name), NULL, 0, 0, help},
  FORMATS(FORMAT)
#undef FORMAT
    {"seed", OPTION_WHOLE, AT(seed), "-1", -1, 1e18, "seed of RUN; -1: the best by validation"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite files"},
  {0},
};

/* A format that is asked for, and the file. */
struct wanted {
  const struct export_format *format;
  const char *option, *file;
};

static size_t find_wanted(const struct export_settings *o, struct wanted *to)
{
  size_t n = 0;
#define FORMAT(name, help) \
  if (*o->name) to[n++] = (struct wanted){&export_##name, #name, o->name};
  FORMATS(FORMAT)
#undef FORMAT
  return n;
}

enum {
#define FORMAT(name, help) FORMAT_##name,
  FORMATS(FORMAT)
#undef FORMAT
    ALL_FORMATS
};

static int write_one(const struct wanted *w, const r4_model *m, const char *const *class_names)
{
  r4_error e = {0};
  if (w->format->save(m, class_names, w->file, &e)) return cli_fail("export", e.status, e.text);
  printf("%s: ", shown(w->file).text);
  w->format->describe(m);
  return EXIT_DONE;
}

/* A model of others need not name its classes. */
static int write_all(const struct wanted *w, size_t n, const r4_model *m)
{
  size_t classes = run_classes(m);
  const char **name = calloc(classes, sizeof *name);
  if (!name) return cli_fail("export", R4_E_MEMORY, "");
  bool named = true;
  for (size_t k = 0; k < classes; k++) named = (name[k] = r4_model_class_name(m, k)) && named;
  int code = EXIT_DONE;
  for (size_t k = 0; k < n && !code; k++) code = write_one(&w[k], m, named ? name : NULL);
  free(name);
  return code;
}

static int run(int argc, char **argv)
{
  struct export_settings o;
  struct wanted wanted[ALL_FORMATS];
  struct run *r = NULL;
  r4_error e = {0};
  int code = EXIT_DONE;
  if (!options_read("export", options, &o, argc, argv)) return EXIT_USAGE;
  size_t n = find_wanted(&o, wanted);
  if (!n)
    return cli_fail("export", R4_E_ARGUMENT, "no format is given: --onnx FILE writes ONNX; see r4 help export");
  for (size_t k = 0; k < n; k++)
    if (!out_check("export", wanted[k].option, wanted[k].file, wanted[k].format->ending, o.force))
      return EXIT_USAGE;
  const char *path = runs_model("export", o.run, o.seed < 0 ? RUNS_BEST : o.seed, &r, &code);
  r4_model *m = path ? run_model(path, NULL, &e) : NULL;
  if (path && !m) code = cli_fail("export", e.status, e.text);
  if (m && r && r->seeds > 1 && o.seed < 0)
    runs_say_best("export", r, "--seed N chooses another");
  if (m) code = write_all(wanted, n, m);
  r4_model_free(m);
  runs_free(r);
  return code;
}

const struct command command_export = {
  .name = "export",
  .summary = "export a model to another format",
  .details =
    "Writes the net with its weights in evaluation mode, including the normalisation of its input. Images are\n"
    "[batch, channels, height, width] from 0 to 1, the output is the logits; the metadata of the file has the names\n"
    "of the classes, the layout and the scale. To read ONNX files of other programs, set net: FILE.onnx and\n"
    "from: FILE.onnx in the settings of a run. See doc/onnx.md.",
  .options = options,
  .run = run,
};
