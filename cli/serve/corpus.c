/* Texts instead of photos: where they are, and the settings they are trained with. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "serve/serve.h"

static const char settings_file[] = "r4.yaml";

static r4_status fail(const struct site *s, r4_status status, r4_error *e, const char *why, const char *what)
{
  snprintf(e->text, sizeof e->text, "%.200s/%.100s: ", s->folder, s->corpus.table);
  size_t n = strlen(e->text);
  snprintf(e->text + n, sizeof e->text - n, why, what);
  return e->status = status;
}

/* ---- Which files ---- */

static bool ends_with(const char *name, const char *ending)
{
  size_t n = strlen(name), m = strlen(ending);
  return n > m && !strcasecmp(name + n - m, ending);
}

/* A text in DIR/CLASS or in DIR/SPLIT/CLASS. */
static bool has_text(int at, const char *folder, int depth)
{
  bool found = false;
  int fd = openat(at, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *d = fd < 0 ? NULL : fdopendir(fd);
  if (!d && fd >= 0) close(fd);
  for (struct dirent *one; d && !found && (one = readdir(d));)
    if (*one->d_name != '.')
      found =
        (depth > 0 && ends_with(one->d_name, ".txt")) || (depth < 2 && has_text(fd, one->d_name, depth + 1));
  if (d) closedir(d);
  return found;
}

bool corpus_is_folder(const struct site *s)
{
  return has_text(s->root, ".", 0);
}

bool corpus_table(const struct site *s, char name[NAME_MAX + 1])
{
  static const char *const endings[] = {".csv", ".tsv", ".jsonl"};
  int fd = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *d = fd < 0 ? NULL : fdopendir(fd);
  *name = 0;
  if (!d && fd >= 0) close(fd);
  for (struct dirent *one; d && !*name && (one = readdir(d));)
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
      if (ends_with(one->d_name, endings[k])) snprintf(name, NAME_MAX + 1, "%s", one->d_name);
  if (d) closedir(d);
  return *name != 0;
}

/* ---- What is there already ---- */

static const char *last_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Whose findings these are: another table in the same folder would lose its own. */
static r4_status check_findings(struct site *s, r4_error *e)
{
  r4_error none = {0};
  if (!strcmp(s->corpus.table, ".") || found_refresh(s, &none)) return R4_OK;
  const char *source = r4_json_as_text(r4_json_get(r4_json_get(s->found.root, "data"), "source"));
  if (!source || !strcmp(last_name(source), s->corpus.table)) return R4_OK;
  return fail(s, R4_E_ARGUMENT, e,
              "find.json next to it is about %.200s: put each table into a folder of its own", source);
}

static const char *const
  other_words =
    "r4.yaml names other words (data.mask_words): edit these, or let it say data.mask_words: mask_words.txt",
  *const no_words = "r4.yaml names no words: let it say data.mask_words: mask_words.txt";

static r4_status take_settings(struct site *s, const r4_settings *from, r4_error *e)
{
  r4_setting_value data, words, tokenizer, length, means;
  r4_status status = r4_settings_get(from, "data", &data, e);
  if (!status) status = r4_settings_get(from, "data.mask_words", &words, e);
  if (!status) status = r4_settings_get(from, "data.tokenizer", &tokenizer, e);
  if (!status) status = r4_settings_get(from, "data.max_tokens", &length, e);
  if (!status) status = r4_settings_get(from, "data.mask_means", &means, e);
  if (status) return status;
  const char *own = data.text ? data.text : "";
  if (strcmp(strncmp(own, "./", 2) ? own : own + 2, s->corpus.table))
    return fail(s, R4_E_ARGUMENT, e,
                "r4.yaml next to it is for the data \"%.200s\": put each into a folder of its own", own);
  s->corpus.other_words = words.text && *words.text && strcmp(words.text, words_file);
  if (!words.text || !*words.text || s->corpus.other_words)
    s->refuses_words = s->corpus.other_words ? other_words : no_words;
  if (!*s->corpus.tokenizer && tokenizer.text)
    snprintf(s->corpus.tokenizer, sizeof s->corpus.tokenizer, "%s", tokenizer.text);
  s->corpus.length = length.whole;
  s->corpus.means_irrelevant |= means.text && !strcmp(means.text, "irrelevant");
  return R4_OK;
}

static r4_status read_settings(struct site *s, r4_error *e)
{
  char path[PATH_MAX + 16];
  struct stamp there;
  if (place_stat(s, settings_file, &there)) return R4_OK;
  r4_settings *settings = r4_settings_new();
  snprintf(path, sizeof path, "%s/%s", s->folder, settings_file);
  r4_status status = settings ? r4_settings_read(settings, path, e) : R4_E_MEMORY;
  if (!status) status = take_settings(s, settings, e);
  r4_settings_free(settings);
  return status;
}

/* ---- Opening ---- */

r4_data_options corpus_reading(const struct site *s)
{
  return (r4_data_options){.tokenizer = s->corpus.tokenizer,
                           .length = s->corpus.length,
                           .mask_means =
                             s->corpus.means_irrelevant ? R4_MASKS_IRRELEVANT : R4_MASKS_UNSTATED};
}

static r4_status count_classes(struct site *s, r4_error *e)
{
  s->n = r4_data_count(s->corpus.data);
  for (size_t k = 0; k < r4_data_classes(s->corpus.data); k++) {
    r4_counts of = r4_data_counts(s->corpus.data, (int32_t)k, -1);
    s->classes += of.examples[R4_TRAIN] + of.examples[R4_VAL] + of.examples[R4_TEST] > 0;
  }
  if (s->classes > 1) return R4_OK;
  return fail(s, R4_E_ARGUMENT, e, "all texts are of one class%s: there is nothing to learn", "");
}

/* A path is seen from the folder of whoever asks, and the folder that is served is where tasks work. */
static void settle_tokenizer(struct site *s)
{
  char path[PATH_MAX], inside[2 * PATH_MAX];
  snprintf(inside, sizeof inside, "%s/%s", s->folder, s->corpus.tokenizer);
  if (!*s->corpus.tokenizer) return;
  if (realpath(s->corpus.tokenizer, path) || realpath(inside, path))
    memcpy(s->corpus.tokenizer, path, PATH_MAX);
}

r4_status corpus_open(struct site *s, bool means_irrelevant, r4_error *e)
{
  char path[PATH_MAX + NAME_MAX + 2];
  *e = (r4_error){0};
  s->corpus.means_irrelevant = means_irrelevant;
  s->table = strcmp(s->corpus.table, ".") != 0;
  r4_status status = read_settings(s, e);
  if (status) return status;
  settle_tokenizer(s);
  r4_data_options o = corpus_reading(s);
  snprintf(path, sizeof path, "%s/%s", s->folder, s->table ? s->corpus.table : "");
  s->corpus.data = r4_data_open(path, &o, e);
  if (!s->corpus.data) return e->status;
  if (!r4_data_vocabulary(s->corpus.data))
    return fail(s, R4_E_ARGUMENT, e, "is not a table of texts; %s", "of photos, name the folder");
  status = count_classes(s, e);
  if (!status) status = check_findings(s, e);
  return status ? status : words_refresh(s, e);
}

/* ---- Settings ---- */

/* Strings of JSON are strings of YAML, whatever is in them. */
static void put_setting(FILE *f, const char *key, const char *value)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '[');
  r4_json_text(w, NULL, value);
  r4_json_close(w, ']');
  char *quoted = r4_json_take(w);
  r4_json_free(w);
  if (quoted) fprintf(f, "%s: %.*s\n", key, (int)strlen(quoted + 1) - 1, quoted + 1);
  r4_string_free(quoted);
}

char *corpus_settings(const struct site *s)
{
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  r4_counts all = r4_data_counts(s->corpus.data, -1, -1);
  fprintf(f, "# Written by r4 serve, which will not touch it again. r4 help train lists the settings.\n");
  put_setting(f, "data", s->corpus.table);
  if (*s->corpus.tokenizer) put_setting(f, "data.tokenizer", s->corpus.tokenizer);
  if (s->corpus.means_irrelevant) fprintf(f, "data.mask_means: irrelevant\n");
  fprintf(f, "data.mask_words: %s      # the list on the page\n", words_file);
  if (!all.examples[R4_VAL])
    fprintf(f, "data.val: 0.15      # of the texts for training, as none is called val\n");
  fprintf(f,
          "net: embedding {words} 32, leaf, dense 64, relu, mean, dense {classes}\n"
          "batch: %d\n"
          "epochs: 10\n"
          "rate: 0.01\n",
          s->n < 200 ? 8 : 32);
  if (!fclose(f)) return text;
  free(text);
  return NULL;
}
