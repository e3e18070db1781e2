/* r4 predict: what a run says about photos that it has never seen. */
#include "cmd_predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "runs.h"

struct predict_settings {
  const char *run, *heat, *data, *cover, *masks;
  const char *seed;
  struct rest images;
  bool csv, json, force;
};

#define AT(field) offsetof(struct predict_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORD, AT(run), NULL, 0, 0,
   "folder made by r4 train, the folder of a seed, or a model file"},
  {"IMAGES", OPTION_REST, AT(images), NULL, 0, 0,
   "PNG or JPEG files of any size, or folders of them; texts: .txt, CSV, TSV or JSONL files, folders of "
   ".txt"},
  {"csv", OPTION_FLAG, AT(csv), NULL, 0, 0, "print a table: file, prediction, its probability, and that of each "
                                            "class"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {"heat FILE", OPTION_TEXT, AT(heat), NULL, 0, 0,
   "draw what supports each prediction, for the first 24 photos: a new .png file, for texts .svg"},
  {"cover FAMILY", OPTION_TEXT, AT(cover), NULL, 0, 0,
   "predict under covering masks, so that no single region of a family decides, such as edges:0.33 (r4 help certify)"},
  {"masks FOLDER", OPTION_TEXT, AT(masks), NULL, 0, 0,
   "folder of masks with the base names of IMAGES: what they mark is hidden from the net"},
  {"seed N", OPTION_TEXT, AT(seed), "best", 0, 0,
   "seed of RUN to predict with; all: the mean of their probabilities; best: the one of the best validation"},
  {"data PATH", OPTION_TEXT, AT(data), NULL, 0, 0,
   "where the data of RUN are now: needed for the image size of a net of dense layers, unless data.size is set"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite the file of --heat"},
  {0},
};

/* Photos that are odd in one way: told once, with the first of them. */
struct odd {
  size_t n;
  const char *file;
  r4_image_info info;
};

enum { SHEET = 24 }; /* photos on a picture */

struct prediction {
  struct predict_settings o;
  struct run *run; /* NULL for a model file */
  struct nets nets;
  r4_model *model; /* the first of them */
  struct speaker who;
  char *numbered; /* names of classes that have none */
  r4_shape shape; /* of a photo, as the net sees it */
  int64_t batch;
  struct files files;
  size_t unreadable, drawn; /* photos */
  int heat_code;
  struct odd small, stretched;
  struct printer out;
  struct cover cover;
};

static int usage(const char *text)
{
  fprintf(stderr, "r4 predict: %s\nTry: r4 help predict\n", text);
  return EXIT_USAGE;
}

static int worse(int a, int b)
{
  return a > b ? a : b;
}

/* ---- The net ---- */

/* A file of another program need not name its classes. */
static int name_classes(struct prediction *x)
{
  enum { NUMBERED = 32 };
  size_t n = x->who.classes = run_classes(x->model);
  char *number = calloc(n, NUMBERED);
  x->numbered = number;
  x->who.name = calloc(n, sizeof *x->who.name);
  if (!number || !x->who.name) return cli_fail("predict", R4_E_MEMORY, "");
  for (size_t k = 0; k < n; k++) {
    const char *name = r4_model_class_name(x->model, k);
    snprintf(number + k * NUMBERED, NUMBERED, "class %zu", k);
    x->who.name[k] = name ? name : number + k * NUMBERED;
  }
  return EXIT_DONE;
}

/* Says which seed predicts. */
static void find_seed(struct prediction *x)
{
  const struct run *r = x->run;
  x->who.seed = -1;
  for (size_t k = 0; r && k < r->seeds && x->nets.n == 1; k++)
    if (r->model[k] == x->who.model) x->who.seed = r->seed[k];
  if (r && r->seeds > 1 && !strcmp(x->o.seed, "best"))
    runs_say_best("predict", r, "--seed N selects another, --seed all the mean of all");
}

/* Which seed is meant: a number, RUNS_BEST, or RUNS_FIRST of all. */
static bool read_seed(const char *word, bool *all, int64_t *seed)
{
  char *end;
  *all = !strcmp(word, "all");
  *seed = *all ? RUNS_FIRST : RUNS_BEST;
  if (*all || !strcmp(word, "best")) return true;
  errno = 0;
  *seed = strtoll(word, &end, 10);
  return *word >= '0' && *word <= '9' && !*end && !errno;
}

static int open_net(struct prediction *x)
{
  r4_error e = {0};
  r4_setting_value batch = {.whole = 256};
  int code = EXIT_DONE;
  int64_t seed;
  bool all;
  if (!read_seed(x->o.seed, &all, &seed)) return usage("--seed needs a whole number, all or best");
  if (all && (*x->o.heat || *x->o.cover))
    return usage("--heat and --cover are about one net, --seed all about the mean of several: give --seed N");
  x->who.run = x->o.run;
  x->who.nets = &x->nets;
  if (is_file(x->o.run) && name_ends_in(x->o.run, ".yaml"))
    return usage("RUN is a file of settings; expected the folder of a run that r4 train made with it");
  x->who.model = runs_model("predict", x->o.run, seed, &x->run, &code);
  if (!x->who.model) return code;
  if (!x->run && (all || seed >= 0)) return usage("--seed needs the folder of a run, not a model file");
  code = EXIT_DONE;
  if (all)
    code = nets_open(&x->nets, x->run);
  else if ((x->nets.model[0] = run_model(x->who.model, NULL, &e)))
    x->nets.n = 1;
  else
    code = cli_fail("predict", e.status, e.text);
  if (code) return code;
  x->model = x->nets.model[0];
  if (x->run) r4_settings_get(x->run->settings, "eval.batch", &batch, NULL);
  x->batch = batch.whole;
  find_seed(x);
  return name_classes(x);
}

/* ---- What it sees ---- */

/* The images of the run are size x size, if that is set. */
static bool shape_by_size(const struct prediction *x, int64_t features, r4_shape *shape)
{
  r4_setting_value size = {0};
  r4_settings_get(x->run->settings, "data.size", &size, NULL);
  int64_t pixels = size.whole * size.whole;
  if (pixels < 1 || features % pixels) return false;
  *shape = R4_SHAPE(size.whole, size.whole, features / pixels);
  return true;
}

/* Only the data of the run know what images a net of dense layers was trained on. */
static int shape_by_data(const struct prediction *x, int64_t features, r4_shape *shape)
{
  int code = EXIT_USAGE;
  r4_data *d = x->run ? run_data("predict", x->run, x->o.data, true, &code) : NULL;
  if (d) *shape = r4_data_shape(d);
  r4_data_free(d);
  if (d && r4_shape_count(*shape) == features) return EXIT_DONE;
  fprintf(
    stderr,
    "r4 predict: %s: the net takes %lld numbers; their image size comes from its training data, which are %s, or from "
    "data.size in the settings of its run\n",
    shown(x->o.run).text, (long long)features, d ? "others now" : "not here");
  return d ? EXIT_USAGE : code;
}

static int find_shape(struct prediction *x)
{
  r4_shape *s = &x->shape, takes = r4_net_input(r4_model_net(x->model));
  int64_t features = r4_shape_count(takes);
  *s = takes;
  int code = EXIT_DONE;
  if (takes.rank != 3 && !(x->run && shape_by_size(x, features, s))) code = shape_by_data(x, features, s);
  if (code || (s->rank == 3 && (s->dim[2] == 1 || s->dim[2] == 3))) return code;
  if (s->rank == 3)
    fprintf(stderr, "r4 predict: %s: was trained on images of %lld channels; photos are grey or have 3\n",
            shown(x->o.run).text, (long long)s->dim[2]);
  else
    fprintf(stderr, "r4 predict: %s: was trained on vectors of %lld features, not on images\n",
            shown(x->o.run).text, (long long)features);
  return EXIT_USAGE;
}

/* Values of arrays may be of any scale, and nothing keeps it. */
static void note_arrays(const struct prediction *x)
{
  r4_setting_value data = {0};
  if (x->run) r4_settings_get(x->run->settings, "data", &data, NULL);
  size_t n = data.text ? strlen(data.text) : 0;
  if (n > 4 && !strcmp(data.text + n - 4, ".npz"))
    fprintf(
      stderr,
      "r4 predict: the run was trained on arrays (%s), photos are numbers from 0 to 1: if the arrays were scaled "
      "differently, the predictions mean nothing\n",
      shown(data.text).text);
}

/* ---- Photos ---- */

static int list_files(struct prediction *x)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < x->o.images.n; k++) code = worse(code, files_add(&x->files, x->o.images.word[k]));
  return code;
}

static void note_odd(struct odd *o, const char *file, const r4_image_info *info)
{
  if (!o->n++) *o = (struct odd){1, file, *info};
}

/* Training does not keep the proportions either, so that only what is far from any photo is worth a word. */
static bool is_stretched(const struct prediction *x, const r4_image_info *info)
{
  enum { EXTREME = 3 };
  double was = (double)info->width / (double)info->height;
  double is = (double)x->shape.dim[1] / (double)x->shape.dim[0];
  return was > EXTREME * is || is > EXTREME * was;
}

static void tell_odd(const struct prediction *x, const struct odd *o, const char *what)
{
  if (!o->n) return;
  fprintf(stderr, "r4 predict: %zu photo%s %s the net's %lld x %lld pixels: %s has %lld x %lld\n", o->n,
          o->n == 1 ? "" : "s", what, (long long)x->shape.dim[1], (long long)x->shape.dim[0],
          shown(o->file).text, (long long)o->info.width, (long long)o->info.height);
}

static void print_one(struct prediction *x, const char *file, const r4_image_info *info,
                      const float *probability, const r4_covered *covered)
{
  struct printer *p = &x->out;
  p->covered = covered;
  if (!info->error.status) {
    if (info->width < x->shape.dim[1] || info->height < x->shape.dim[0]) note_odd(&x->small, file, info);
    if (is_stretched(x, info)) note_odd(&x->stretched, file, info);
    p->as->answer(p, file, probability);
    return;
  }
  x->unreadable++;
  fprintf(stderr, "r4 predict: %s\n", info->error.text);
  if (p->as->unreadable) p->as->unreadable(p, file, info->error.text);
}

r4_heat_options answers_explained(const char *run, const char *const *methods, size_t n, char title[TITLE])
{
  snprintf(title, TITLE, "%.160s: what supports its predictions", shown(run).text);
  r4_heat_options o = {.method = methods,
                       .methods = n,
                       .attribution = r4_attribution_defaults(),
                       .title = title,
                       .answers = true};
  o.attribution.explain = R4_EXPLAIN_LOGIT;
  return o;
}

static r4_status draw_labels(struct prediction *x, const r4_data *d, const int32_t *label, const float *probability,
                             r4_error *e)
{
  static const char *const methods[] = {"integrated"};
  char title[TITLE];
  r4_heat_options o = answers_explained(x->o.run, methods, 1, title);
  o.probability = probability;
  r4_subject net = {x->o.run, r4_model_net(x->model), r4_model_weights(x->model)};
  r4_data *named = r4_data_relabel(d, label, x->who.classes, x->who.name, e);
  r4_status s = named ? r4_heat_picture(&net, 1, named, &o, x->o.heat, NULL, e) : e->status;
  r4_data_free(named);
  return s;
}

/* The picture explains the answers. Without it these are as good. */
static void draw(struct prediction *x, const r4_data *d, const float *probability)
{
  r4_error e = {0};
  size_t n = r4_data_count(d) < SHEET ? r4_data_count(d) : SHEET, classes = x->who.classes, first[SHEET];
  int32_t label[SHEET];
  float highest[SHEET];
  for (size_t i = 0; i < n; i++) {
    first[i] = i;
    label[i] = (int32_t)most_probable(classes, probability + i * classes);
    highest[i] = probability[i * classes + (size_t)label[i]];
  }
  r4_data *some = r4_data_subset(d, n, first, &e);
  r4_status s = some ? draw_labels(x, some, label, highest, &e) : e.status;
  r4_data_free(some);
  x->drawn = n;
  if (s)
    x->heat_code = cli_fail("predict", s, e.text);
  else
    x->out.heat = x->o.heat;
}

static r4_data *read_hidden(struct prediction *x, char **file, size_t n, r4_image_info *info, r4_error *e)
{
  struct files masks = {0};
  r4_setting_value means = {0};
  r4_data *d = NULL;
  if (x->run) r4_settings_get(x->run->settings, "data.mask_means", &means, NULL);
  bool relevant = means.text && !strcmp(means.text, "relevant");
  if (files_masks(&masks, x->o.masks, file, n))
    e->status = R4_E_MEMORY;
  else
    d = r4_data_images_hidden((const char *const *)file, (const char *const *)masks.path, relevant, n, x->shape,
                              x->cover.constant, info, e);
  files_clear(&masks);
  return d;
}

static r4_data *read_photos(struct prediction *x, char **file, size_t n, r4_image_info *info, r4_error *e)
{
  return *x->o.masks ? read_hidden(x, file, n, info, e)
                     : r4_data_images((const char *const *)file, n, x->shape, info, e);
}

static r4_status predict_data(const struct prediction *x, const r4_data *d, float *probability, r4_covered *covered,
                              r4_error *e)
{
  const r4_cover_options o = {x->o.cover, x->cover.constant};
  return *x->o.cover ? r4_cover_predict(r4_model_net(x->model), r4_model_weights(x->model), d, &o, covered, e)
                     : nets_predict(&x->nets, d, x->batch, x->who.classes, probability, e);
}

/* Answers to n photos, which are in memory together. */
static int predict_block(struct prediction *x, char **file, size_t n)
{
  r4_error e = {0};
  r4_image_info *info = calloc(n, sizeof *info);
  float *probability = malloc(n * x->who.classes * sizeof *probability);
  r4_covered *covered = calloc(n, sizeof *covered);
  r4_status s = info && probability && covered ? R4_OK : R4_E_MEMORY;
  r4_data *d = s ? NULL : read_photos(x, file, n, info, &e);
  if (!s && !d && !info[n - 1].error.status) s = e.status; /* not for want of a photo that can be read */
  if (d) s = predict_data(x, d, probability, covered, &e);
  for (size_t i = 0, k = 0; i < n && !s; i++) {
    print_one(x, file[i], info + i, probability + k * x->who.classes, covered + k);
    k += !info[i].error.status;
  }
  if (d && !s && *x->o.heat && !x->drawn) draw(x, d, probability);
  r4_data_free(d);
  free(covered);
  free(probability);
  free(info);
  return s ? cli_fail("predict", s, e.text) : EXIT_DONE;
}

static const struct printing *printing_of(const struct prediction *x)
{
  if (*x->o.cover) return x->o.json ? &print_json_covered : x->o.csv ? &print_csv_covered : &print_text_covered;
  return x->o.json ? &print_json : x->o.csv ? &print_csv : &print_text;
}

/* A picture of more would be one that nobody can look at. */
static void tell_drawn(const struct prediction *x)
{
  size_t read = x->files.n - x->unreadable;
  if (x->drawn && x->drawn < read)
    fprintf(stderr, "r4 predict: %s shows the first %zu of %zu photos; for others, name these alone\n",
            shown(x->o.heat).text, x->drawn, read);
}

/* As many at a time as evaluation takes, and at least those of a picture. */
static int predict_all(struct prediction *x)
{
  size_t n = x->files.n, most = (size_t)x->batch;
  if (*x->o.heat && most < SHEET) most = SHEET;
  const struct printing *as = printing_of(x);
  if (!printer_make(&x->out, as, &x->who, &x->files)) return cli_fail("predict", R4_E_MEMORY, "");
  as->begin(&x->out);
  int code = EXIT_DONE;
  for (size_t first = 0; first < n && !code; first += most)
    code = predict_block(x, x->files.path + first, n - first < most ? n - first : most);
  if (as->end && !code) code = as->end(&x->out);
  code = worse(code, x->heat_code);
  tell_drawn(x);
  tell_odd(x, &x->small, "smaller than");
  tell_odd(x, &x->stretched, "far from the proportions of");
  if (x->unreadable) fprintf(stderr, "r4 predict: %zu of %zu photos could not be read\n", x->unreadable, n);
  return x->unreadable ? worse(code, EXIT_WORLD) : code;
}

/* The masks of --cover, and the constant of --masks. */
static int open_cover(struct prediction *x)
{
  if (*x->o.cover)
    return cover_open(&x->cover, "predict", x->o.cover, x->shape, x->model, x->run, x->o.data);
  if (!*x->o.masks) return EXIT_DONE;
  return cover_constant("predict", (size_t)x->shape.dim[2], x->model, x->run, x->o.data, &x->cover.constant);
}

/* ---- Texts ---- */

static int answer_texts(struct prediction *x)
{
  r4_error e = {0};
  const char *instead = *x->o.data ? x->o.data : NULL;
  if (x->run && r4_settings_locate(x->run->settings, x->run->folder[0], instead, &e))
    return cli_fail("predict", e.status, e.text);
  x->shape = r4_net_input(r4_model_net(x->model));
  int code = open_cover(x);
  if (code) return code;
  return predict_texts(&(struct texts_asked){.settings = x->run ? x->run->settings : NULL,
                                             .net = r4_model_net(x->model),
                                             .weights = r4_model_weights(x->model),
                                             .batch = x->batch,
                                             .who = &x->who,
                                             .files = &x->o.images,
                                             .heat = x->o.heat,
                                             .as = printing_of(x),
                                             .family = x->o.cover,
                                             .cover = &x->cover});
}

/* ---- The command ---- */

static void discard(struct prediction *x)
{
  free(x->who.name);
  free(x->numbered);
  cover_close(&x->cover);
  printer_clear(&x->out);
  files_clear(&x->files);
  nets_close(&x->nets);
  runs_free(x->run);
}

static int run(int argc, char **argv)
{
  struct prediction x = {0};
  if (!options_read("predict", options, &x.o, argc, argv)) return EXIT_USAGE;
  if (x.o.csv && x.o.json) return usage("--csv and --json: give one of the two");
  if (x.o.force && !*x.o.heat) return usage("--force is for the file of --heat, which is not given");
  if (*x.o.heat && *x.o.cover) return usage("--heat explains the net without covers; give --heat or --cover");
  int code = files_refuse_arrays(&x.o.images);
  if (!code) code = open_net(&x);
  bool texts = !code && r4_net_vocabulary(r4_model_net(x.model)) > 0;
  if (!code && *x.o.heat && !out_check("predict", "heat", x.o.heat, texts ? ".svg" : ".png", x.o.force))
    code = EXIT_USAGE;
  if (!code && texts && *x.o.masks) code = usage("--masks is for images; the run is on texts");
  if (!code) code = texts ? answer_texts(&x) : find_shape(&x);
  if (!code && !texts) code = open_cover(&x);
  if (!code && !texts) {
    int listed = list_files(&x);
    note_arrays(&x);
    code = worse(listed, x.files.n ? predict_all(&x) : EXIT_DONE);
  }
  discard(&x);
  return code;
}

const struct command command_predict = {
  .name = "predict",
  .summary = "predict classes of new photos or texts",
  .details = "Prints a line for each photo: the file, the prediction, its probability, and those of the other "
             "classes.\n"
             "Photos are resized and converted to grey or colour like the training data; a folder stands for the "
             "images\n"
             "directly in it. Of a run with several seeds the best by validation predicts, with --seed all the mean "
             "of them. --heat draws what supports each prediction (red) and what opposes it "
             "(blue).\n"
             "Photos that cannot be read are named and skipped, and the exit code is 3. For a run on texts, prints a "
             "line for\n"
             "each text of the files, by its id, or file and line; labels are ignored.\n"
             "--cover prints the prediction of two-mask inference, and whether it is certified: unchanged whatever "
             "any single\n"
             "region of the family shows. --masks fills what is marked with a constant: no prediction can depend on "
             "it.\n"
             "In --csv, names that a spreadsheet would run (=.., +.., -.., @..) begin with a single quote.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
